"""Stores at an address: read only, and only what the digest behind it pins, see ``pins``.

The digest is that of a listing: a line for each file of each baseline, sorted by path, with the digest of its bytes
and its path in the store. So it changes with every file. Nothing is read before the listing has the pinned digest.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from pytest_riskguard.baselines.names import name_problem
from pytest_riskguard.data.remote import address_of, files_below, is_address, local_copy
from pytest_riskguard.errors import BaselineError, FileError, UsageError
from pytest_riskguard.limits import STORE_BYTES, STORE_FILES

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


_FILE = re.compile(
    r"(?P<name>[^/]+)(/history/[0-9]{1,9})?(/replicates/[0-9]{1,9})?"
    r"/(manifest\.json|scores\.tsv|queries\.tsv|run\.gz)"
)
#: The addresses whose baselines are in a folder of this process.
_COPIES: dict[Path, str] = {}


def shown(path: Path) -> Path | str:
    """A path as messages name it: by its address, if it is in a copy of what is there."""
    for folder, address in _COPIES.items():
        if path.is_relative_to(folder):
            return "/".join([address, *path.relative_to(folder).parts])
    return path


def local_folder(place: Path) -> Path:
    """A folder with the baselines at an address, for this process.

    ``BaselineError`` if they cannot be read, exceed a limit or are not those that the digest pins.
    """
    address, digest = pinned(place)
    folder, found = _copied(address)
    if found != digest:
        raise _error(
            address,
            f"expected the digest {digest}, found {found}: the baselines were changed after the digest was "
            "pinned; if they should have been, pin the new digest, else restore them",
        )
    return folder


def digest_of(place: Path) -> str:
    """The digest that pins a store, at an address or in a folder; a digest behind the address is not looked at."""
    if is_address(place):
        return _copied(address_of(place).partition("#")[0])[1]
    files = {path.relative_to(place).as_posix(): path for path in place.rglob("*") if path.is_file()}
    listing = "".join(f"{_digest(files[name].read_bytes())} {name}\n" for name in sorted(files) if _is_of_store(name))
    if not listing:
        raise BaselineError(f"{place}: no baselines, so there is nothing to pin", reason="missing_input")
    return _digest(listing.encode())


def _copied(address: str) -> tuple[Path, str]:
    """A folder of this process with the baselines at an address, and their digest; it is deleted with the process."""
    outer = Path(os.path.realpath(tempfile.mkdtemp(prefix="riskguard-")))
    atexit.register(shutil.rmtree, outer, ignore_errors=True)
    folder, listing, total = outer / _name(address), "", 0
    folder.mkdir()
    _COPIES[folder] = address
    try:
        sizes = {name: size or 0 for name, size in files_below(Path(address)).items() if _is_of_store(name)}
        if not sizes:
            raise _error(address, "no baselines there", reason="missing_input")
        for limit, found in ((STORE_FILES, len(sizes)), (STORE_BYTES, sum(sizes.values()))):
            if found > limit.value:
                raise _error(address, limit.problem(found))
        for name in sorted(sizes):
            with local_copy(Path(address) / name, STORE_BYTES) as path:
                content = path.read_bytes()
            total += len(content)
            if total > STORE_BYTES.value:
                raise _error(address, STORE_BYTES.problem(total))
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
            listing += f"{_digest(content)} {name}\n"
    except FileError as error:
        name = f"{_name(address)}: {error.name}"
        raise BaselineError(
            error.fault, where=error.where, line=error.line, name=name, reason="missing_input"
        ) from None
    return folder, _digest(listing.encode())


def _name(address: str) -> str:
    """What reports call a store."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", address.rstrip("/").rpartition("/")[2]).strip(".") or "baselines"


def _error(address: str, problem: str, *, reason: str = "bad_baseline") -> BaselineError:
    return BaselineError(problem, where=address, name=_name(address), reason=reason)


def _is_of_store(name: str) -> bool:
    """Whether a path in a store is that of a file of a baseline: everything else is left where it is."""
    found = _FILE.fullmatch(name)
    return found is not None and name_problem(found["name"]) is None


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
