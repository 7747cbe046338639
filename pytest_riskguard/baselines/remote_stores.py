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
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from pytest_riskguard.baselines.names import name_problem
from pytest_riskguard.data.remote import address_of, files_below, is_address, local_copy
from pytest_riskguard.errors import BaselineError, FileError, MissingFileError, UsageError
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


def shown(path: Path) -> str:
    """A path as messages name it: by its address, if it is in a copy of what is there."""
    for folder, address in _COPIES.items():
        if path.is_relative_to(folder):
            return "/".join([address, *path.relative_to(folder).parts])
    return str(path)


def local_folder(place: Path) -> Path:
    """A folder with the baselines at an address, for this process.

    ``BaselineError`` if they cannot be read, exceed a limit or are not those that the digest pins.
    """
    address, digest = pinned(place)
    copy = _Copy(address)
    if (found := _digest(copy.everything().encode())) != digest:
        raise copy.error(
            f"expected the digest {digest}, found {found}: the baselines were changed after the digest was "
            "pinned; if they should have been, pin the new digest, else restore them"
        )
    return copy.folder


def digest_of(place: Path) -> str:
    """The digest that pins a store, at an address or in a folder; a digest behind the address is not looked at."""
    if is_address(place):
        return _digest(_Copy(address_of(place).partition("#")[0]).everything().encode())
    files = {path.relative_to(place).as_posix(): path for path in place.rglob("*") if path.is_file()}
    listing = _listing((name, _digest(path.read_bytes())) for name, path in files.items() if _is_of_store(name))
    if not listing:
        raise BaselineError(f"{place}: no baselines, so there is nothing to pin", reason="missing_input")
    return _digest(listing.encode())


class _Copy:
    """A folder of this process that receives the files of a store; it is deleted at the end of the process."""

    def __init__(self, address: str) -> None:
        self._address = address
        outer = Path(os.path.realpath(tempfile.mkdtemp(prefix="riskguard-")))
        atexit.register(shutil.rmtree, outer, ignore_errors=True)
        self._name = re.sub(r"[^A-Za-z0-9._-]", "_", address.rstrip("/").rpartition("/")[2]).strip(".") or "baselines"
        self.folder = outer / self._name
        self.folder.mkdir()
        _COPIES[self.folder] = address
        self._bytes = 0

    def error(self, problem: str, *, reason: str = "bad_baseline") -> BaselineError:
        return BaselineError(f"{self._address}: {problem}", reason=reason, problem=f"{self._name}: {problem}")

    def everything(self) -> str:
        """Copy all files from the address; returns their listing."""
        try:
            files = {name: size for name, size in files_below(Path(self._address)).items() if _is_of_store(name)}
        except MissingFileError as error:
            raise self._unreadable(error) from None
        if not files:
            raise self.error("no baselines there", reason="missing_input")
        if len(files) > STORE_FILES.value:
            raise self.error(STORE_FILES.problem(len(files)))
        self._check_size(sum(size or 0 for size in files.values()))
        return _listing((name, _digest(self._fetched(name))) for name in sorted(files))

    def _fetched(self, name: str) -> bytes:
        try:
            with local_copy(Path(self._address) / name, STORE_BYTES) as path:
                content = path.read_bytes()
        except FileError as error:
            raise self._unreadable(error) from None
        self._bytes += len(content)
        self._check_size(self._bytes)
        self._write(name, content)
        return content

    def _check_size(self, found: int) -> None:
        if found > STORE_BYTES.value:
            raise self.error(STORE_BYTES.problem(found))

    def _unreadable(self, error: FileError) -> BaselineError:
        return BaselineError(str(error), reason="missing_input", problem=f"{self._name}: {error.problem}")

    def _write(self, name: str, content: bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _listing(digests: Iterable[tuple[str, str]]) -> str:
    by_name: Mapping[str, str] = dict(digests)
    return "".join(f"{by_name[name]} {name}\n" for name in sorted(by_name))


def _is_of_store(name: str) -> bool:
    """Whether a path in a store is that of a file of a baseline: everything else is left where it is."""
    found = _FILE.fullmatch(name)
    return found is not None and name_problem(found["name"]) is None


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
