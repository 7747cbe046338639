"""Digests of files as they lie on the disk, without reading those that have not changed since they were last read.

As git's index does: a file with the same place, size and times as before has the same content. Times are coarse on
some disks, so a file is believed only if it was at rest for a while before it was read.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pytest_riskguard.errors import MissingFileError
from pytest_riskguard.evaluation.cache.cache_folder import CacheFolder, cache_folder
from pytest_riskguard.formats.input_files import RATIO, RUN_BYTES, open_regular

#: A file that changed within so many nanoseconds before it was read may change again without looking different.
RESTING_NS = 2_000_000_000

#: What differs when a file is replaced or rewritten.
Stamp = tuple[int, int, int, int, int]
_BLOCK = 2**20


def stamp_of(path: Path) -> Stamp | None:
    """What the file system says about a regular file; None for anything else."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return _stamp(status) if stat.S_ISREG(status.st_mode) else None


def _stamp(status: os.stat_result) -> Stamp:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def is_at_rest(stamp: Stamp) -> bool:
    """Whether a file that has this stamp now would look different if it changed again."""
    return time.time_ns() - max(stamp[3], stamp[4]) > RESTING_NS


def file_digest(path: Path, folder: CacheFolder) -> str | None:
    """The SHA-256 of a file's bytes; None if it is no regular file, cannot be read, or changes meanwhile.

    None as well for a file that is too large to be a run.
    """
    stamp = stamp_of(path)
    if stamp is None or stamp[2] > RUN_BYTES.value:
        return None
    name = _entry_name(path, stamp)
    return _kept(folder, name) or _computed(path, stamp, folder, name)


def files_digest(paths: Sequence[Path], folder: CacheFolder) -> str | None:
    """One SHA-256 for the names and bytes of several files; None if ``file_digest`` gives none for one of them.

    The cache holds one entry for all of them, however many they are.
    """
    stamps = [stamp_of(path) for path in paths]
    if not all(stamp is not None and stamp[2] <= RUN_BYTES.value for stamp in stamps):
        return None
    known = [[str(path.absolute()), *(stamp or ())] for path, stamp in zip(paths, stamps, strict=True)]
    name = hashlib.sha256(json.dumps(["files", known]).encode()).hexdigest()
    if (kept := _kept(folder, name)) is not None:
        return kept
    digests = [_bytes_digest(path) for path in paths]
    if None in digests or stamps != [stamp_of(path) for path in paths]:
        return None
    named = [[path.name, digest] for path, digest in zip(paths, digests, strict=True)]
    digest = hashlib.sha256(json.dumps(named).encode()).hexdigest()
    if all(stamp is not None and is_at_rest(stamp) for stamp in stamps):
        _keep(folder, name, digest)
    return digest


def text_digest(path: Path, digest_of_text: Callable[[Path], str]) -> str:
    """What ``digest_of_text`` gives for a packed file: the digest of its text.

    The file is always read, but unpacked only if the cache does not know what these bytes unpack to.
    """
    folder = cache_folder()
    packed = None if folder is None else _bytes_digest(path)
    known = None if folder is None or packed is None else _kept(folder, _text_name(packed))
    if known is not None:
        return f"sha256:{known}"
    with unpacking(path) as tell:
        digest = digest_of_text(path)
        tell(digest)
    return digest


@contextmanager
def unpacking(path: Path) -> Iterator[Callable[[str], None]]:
    """While the text of a packed file is read: a function that takes its digest, for ``text_digest`` to remember."""
    folder = cache_folder()
    packed = None if folder is None else _bytes_digest(path)

    def tell(digest: str) -> None:
        if folder is not None and packed is not None and _bytes_digest(path) == packed:
            _keep(folder, _text_name(packed), digest.removeprefix("sha256:"))

    yield tell


def _text_name(packed: str) -> str:
    return hashlib.sha256(json.dumps(["text", packed, RUN_BYTES.value, RATIO.value]).encode()).hexdigest()


def _bytes_digest(path: Path) -> str | None:
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_size > RUN_BYTES.value:
                return None
            return sha256_of(file)
    except (OSError, MissingFileError):
        return None


def sha256_of(file: BinaryIO) -> str:
    """The digest of what is left of an open file, in 64 digits."""
    digest = hashlib.sha256()
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def _computed(path: Path, stamp: Stamp, folder: CacheFolder, name: str) -> str | None:
    try:
        with open_regular(path) as file:
            if _stamp(os.fstat(file.fileno())) != stamp:
                return None
            digest = sha256_of(file)
    except (OSError, MissingFileError):
        return None
    if stamp_of(path) != stamp:
        return None
    if is_at_rest(stamp):
        _keep(folder, name, digest)
    return digest


def _keep(folder: CacheFolder, name: str, digest: str) -> None:
    folder.write("files", name, f"{name} {digest}\n".encode())


def _kept(folder: CacheFolder, name: str) -> str | None:
    """The digest that an entry holds, which repeats its own name."""
    content = folder.read("files", name)
    said, _, digest = (content or b"").decode("ascii", "replace").removesuffix("\n").partition(" ")
    return digest if said == name and len(digest) == len(name) and set(digest) <= set("0123456789abcdef") else None


def _entry_name(path: Path, stamp: Stamp) -> str:
    return hashlib.sha256(json.dumps([str(path.absolute()), *stamp]).encode()).hexdigest()
