"""Addresses of stores with the digest of what is there: ``s3://bucket/baselines#sha256:...``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from pytest_riskguard.errors import UsageError
from pytest_riskguard.formats.remote_files import address_of

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class Pinned(NamedTuple):
    """An address and the digest of the store there, ``sha256:`` and 64 digits."""

    address: str
    digest: str


def pinned(place: Path | str) -> Pinned:
    """What is behind an address; ``UsageError`` without a digest, because anything could be there then."""
    address, _, digest = address_of(place).partition("#")
    if _DIGEST.fullmatch(digest) is None:
        found = f"found {digest!r:.80}" if digest else "found none"
        raise UsageError(
            f"{address}: expected the digest of the baselines there, such as {address}#sha256:..., {found}; "
            f"`riskguard baseline list --store {address}` prints it"
        )
    return Pinned(address, digest)
