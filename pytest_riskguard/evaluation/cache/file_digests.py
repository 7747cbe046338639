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
from pathlib import Path

from pytest_riskguard.evaluation.cache.cache_folder import CacheFolder

#: A file that changed within so many nanoseconds before it was read may change again without looking different.
RESTING_NS = 2_000_000_000

#: What differs when a file is replaced or rewritten.
Stamp = tuple[int, int, int, int, int]


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
    return time.time_ns() - max(stamp[3:]) > RESTING_NS


def file_digest(path: Path, folder: CacheFolder) -> str | None:
    """The SHA-256 of a file's bytes; None if it is no regular file, cannot be read, or changes meanwhile."""
    stamp = stamp_of(path)
    if stamp is None:
        return None
    name = _entry_name(path, stamp)
    return _kept(folder, name) or _computed(path, stamp, folder, name)


def _computed(path: Path, stamp: Stamp, folder: CacheFolder, name: str) -> str | None:
    try:
        with path.open("rb") as file:
            if _stamp(os.fstat(file.fileno())) != stamp:
                return None
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
    if stamp_of(path) != stamp:
        return None
    if is_at_rest(stamp):
        folder.write("files", name, f"{name} {digest}\n".encode())
    return digest


def _kept(folder: CacheFolder, name: str) -> str | None:
    """The digest that an entry holds, which repeats its own name."""
    content = folder.read("files", name)
    said, _, digest = (content or b"").decode("ascii", "replace").removesuffix("\n").partition(" ")
    return digest if said == name and len(digest) == len(name) and set(digest) <= set("0123456789abcdef") else None


def _entry_name(path: Path, stamp: Stamp) -> str:
    return hashlib.sha256(json.dumps([str(path.absolute()), *stamp]).encode()).hexdigest()
