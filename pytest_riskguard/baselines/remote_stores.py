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

from pytest_riskguard.baselines.manifest import name_problem
from pytest_riskguard.baselines.pins import pinned
from pytest_riskguard.errors import BaselineError, MissingFileError
from pytest_riskguard.evaluation.cache.cache_folder import CacheFolder, cache_folder
from pytest_riskguard.formats.files.remote_files import address_of, files_below, is_address, local_copy
from pytest_riskguard.formats.input_files import Limit, LimitError

BYTES = Limit("RISKGUARD_MAX_STORE_BYTES", 4_000_000_000, "bytes in the baselines at an address")
FILES = Limit("RISKGUARD_MAX_STORE_FILES", 100_000, "files in the baselines at an address")
#: The entries of the cache that hold listings and files of stores, each under its digest.
KIND = "baselines"

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
    """A folder with the baselines at an address, for this process; from the cache, if they are there.

    ``BaselineError`` if they cannot be read, exceed a limit or are not those that the digest pins.
    """
    address, digest = pinned(place)
    copy = _Copy(address, cache_folder())
    listing = copy.kept_listing(digest)
    if listing is None:
        listing = copy.everything()
        if (found := _digest(listing.encode())) != digest:
            raise copy.error(
                f"expected the digest {digest}, found {found}: the baselines were changed after the digest was "
                "pinned; if they should have been, pin the new digest, else restore them"
            )
        copy.keep(listing)
    else:
        copy.listed_files(listing)
    return copy.folder


def digest_of(place: Path) -> str:
    """The digest that pins a store, at an address or in a folder; a digest behind the address is not looked at."""
    if is_address(place):
        copy = _Copy(address_of(place).partition("#")[0], cache_folder())
        copy.keep(listing := copy.everything())
        return _digest(listing.encode())
    files = {path.relative_to(place).as_posix(): path for path in place.rglob("*") if path.is_file()}
    listing = _listing((name, _digest(path.read_bytes())) for name, path in files.items() if _is_of_store(name))
    if not listing:
        raise BaselineError(f"{place}: no baselines, so there is nothing to pin", reason="missing_input")
    return _digest(listing.encode())


class _Copy:
    """A folder of this process that receives the files of a store; it is deleted at the end of the process."""

    def __init__(self, address: str, cache: CacheFolder | None) -> None:
        self._address, self._cache = address, cache
        outer = Path(os.path.realpath(tempfile.mkdtemp(prefix="riskguard-")))
        atexit.register(shutil.rmtree, outer, ignore_errors=True)
        self._name = re.sub(r"[^A-Za-z0-9._-]", "_", address.rstrip("/").rpartition("/")[2]).strip(".") or "baselines"
        self.folder = outer / self._name
        self.folder.mkdir()
        _COPIES[self.folder] = address
        self._bytes, self._fetched_names = 0, list[str]()

    def error(self, problem: str, *, reason: str = "bad_baseline") -> BaselineError:
        return BaselineError(f"{self._address}: {problem}", reason=reason, problem=f"{self._name}: {problem}")

    def kept_listing(self, digest: str) -> str | None:
        """The listing with this digest, if the cache has it."""
        content = self._kept(digest)
        return None if content is None else content.decode()

    def everything(self) -> str:
        """Copy all files from the address; returns their listing."""
        try:
            files = {name: file.size for name, file in files_below(Path(self._address)).items() if _is_of_store(name)}
        except MissingFileError as error:
            raise self._unreadable(error) from None
        if not files:
            raise self.error("no baselines there", reason="missing_input")
        if len(files) > FILES.value:
            raise self.error(FILES.problem(len(files)))
        self._check_size(sum(size or 0 for size in files.values()))
        return _listing((name, _digest(self._fetched(name))) for name in sorted(files))

    def listed_files(self, listing: str) -> None:
        """Copy the files of a listing from the cache, and those that it has lost from the address."""
        for line in listing.splitlines():
            digest, _, name = line.partition(" ")
            content = self._kept(digest)
            if content is not None:
                self._write(name, content)
            elif (found := _digest(self._fetched(name))) != digest:
                raise self.error(f"{name}: expected the digest {digest}, found {found}; restore what was pinned")
        self.keep(listing)

    def keep(self, listing: str) -> None:
        """Put what was fetched into the cache, and last the listing, which says that the files are there."""
        if self._cache is None or not self._fetched_names:
            return
        for name in self._fetched_names:
            content = (self.folder / name).read_bytes()
            self._cache.write(KIND, _hexadecimal(_digest(content)), content)
        self._cache.write(KIND, _hexadecimal(_digest(listing.encode())), listing.encode())
        self._cache.trim()

    def _kept(self, digest: str) -> bytes | None:
        """What the cache holds under a digest, if that is its digest."""
        content = None if self._cache is None else self._cache.read(KIND, _hexadecimal(digest))
        return content if content is not None and _digest(content) == digest else None

    def _fetched(self, name: str) -> bytes:
        try:
            with local_copy(Path(self._address) / name, BYTES) as path:
                content = path.read_bytes()
        except LimitError as error:
            raise self.error(f"{name}: {error}") from None
        except MissingFileError as error:
            raise self._unreadable(error) from None
        self._bytes += len(content)
        self._check_size(self._bytes)
        self._write(name, content)
        self._fetched_names.append(name)
        return content

    def _check_size(self, found: int) -> None:
        if found > BYTES.value:
            raise self.error(BYTES.problem(found))

    def _unreadable(self, error: MissingFileError) -> BaselineError:
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


def _hexadecimal(digest: str) -> str:
    return digest.removeprefix("sha256:")
