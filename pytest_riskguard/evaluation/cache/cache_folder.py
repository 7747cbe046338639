"""The folder where riskguard keeps what it can compute again: for one user, up to a size, and never needed.

Nothing here fails: where the folder cannot be used there is none, what cannot be written is not kept, and what cannot
be read is not there. Nobody but the user can put anything into it, because a folder that belongs to somebody else, or
that others may write to, is not used.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_riskguard import run_context
from pytest_riskguard.formats.input_files import Limit

VARIABLE = "RISKGUARD_CACHE"
OFF = "off"
SIZE = Limit("RISKGUARD_CACHE_SIZE", 2**30, "bytes in the cache")
#: The folders in which entries lie; nothing else is ever deleted.
KINDS = ("scores", "runs", "files", "baselines")
#: Seconds that one process waits while another computes what both need.
PATIENCE = 600.0

_ENTRY = re.compile(r"[0-9a-f]{64}")
_UNFINISHED = re.compile(r"\.[0-9a-f]{32}")
#: After so many seconds nobody is writing to a file any more.
_ABANDONED = 3600.0
_LOCKS = "locks"
#: What an entry takes on most disks, however small it is.
_BLOCK = 4096
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
#: Files of the folder that keep it out of backups and repositories.
_MARKS = {
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n# Kept by riskguard; can be deleted at any time.\n",
    ".gitignore": "*\n",
}


@dataclass(frozen=True)
class Entry:
    """A file of the cache: its bytes on the disk, and when it was last used, in seconds."""

    path: Path
    size: int
    used: float


def location() -> Path | None:
    """Where the cache would be; None where it is switched off, or there is no home folder."""
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return None if named.lower() == OFF else Path(named).absolute()
    try:
        return _of_user()
    except RuntimeError:  # no home folder
        return None


def _of_user() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "riskguard" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "riskguard"
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if Path(named).is_absolute() else Path.home() / ".cache") / "riskguard"


def cache_folder() -> CacheFolder | None:
    """The cache of this user, made if need be; None where it is switched off or cannot be used."""
    root = location() if run_context.current().cached else None
    return None if root is None or unusable(root) is not None else CacheFolder(root)


def unusable(root: Path) -> str | None:
    """Why a folder cannot hold the cache; None if it can, and it is there then."""
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = root.stat()
        if hasattr(os, "geteuid"):
            if status.st_uid != os.geteuid():
                return "it belongs to another user"
            if status.st_mode & _OTHERS_MAY_WRITE:
                return "other users may write to it"
        if not os.access(root, os.W_OK | os.X_OK):
            return "it cannot be written"
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the path
        return f"it cannot be used ({getattr(problem, 'strerror', None) or problem})"
    return None


@dataclass(frozen=True)
class CacheFolder:
    """Entries by kind and name; a name has 64 digits, those of a SHA-256."""

    root: Path

    def read(self, kind: str, name: str) -> bytes | None:
        """An entry, which counts as used now; None if it is not there, or is not a file of this user."""
        path = self._path(kind, name)
        try:
            flags = (getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
            with os.fdopen(os.open(path, os.O_RDONLY | sum(flags)), "rb") as file:
                status = os.fstat(file.fileno())
                if not _is_own_file(status) or status.st_size > SIZE.value:
                    return None
                content = file.read(status.st_size)
            with suppress(OSError):
                os.utime(path)
            return content
        except OSError:
            return None

    def write(self, kind: str, name: str, content: bytes) -> None:
        """Keep an entry, whole or not at all; one that takes more than half of the cache is not kept."""
        if len(content) > SIZE.value // 2:
            return
        path = self._path(kind, name)
        unfinished = path.with_name(f".{uuid.uuid4().hex}")
        try:
            self._mark()
            path.parent.mkdir(mode=0o700, exist_ok=True)
            handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            unfinished.replace(path)
        except OSError:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)

    def entries(self) -> list[Entry]:
        """All entries, the least recently used first."""
        found = [Entry(path, max(status.st_size, _BLOCK), status.st_mtime) for path, status in self._files(_ENTRY)]
        return sorted(found, key=lambda entry: (entry.used, entry.path))

    def trim(self) -> None:
        """Delete what was not used for longest until the rest is no larger than the limit."""
        entries, limit = self.entries(), SIZE.value
        total = sum(entry.size for entry in entries)
        for entry in entries:
            if total <= limit:
                break
            _delete(entry.path)
            total -= entry.size
        now = time.time()
        for path, status in self._files(_UNFINISHED):
            if now - status.st_mtime > _ABANDONED:
                _delete(path)

    def clear(self) -> list[Entry]:
        """Delete all entries; those that were there."""
        entries = self.entries()
        for path in [entry.path for entry in entries] + [path for path, _ in self._files(_UNFINISHED)]:
            _delete(path)
        return entries

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Hold the lock of an entry, so that others wait for it instead of computing the same.

        A process that waited too long, or cannot lock, goes on without: it does work twice, and nothing else happens.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self.root / _LOCKS / name[:2], timeout=PATIENCE, mode=0o600)
        try:
            (self.root / _LOCKS).mkdir(mode=0o700, exist_ok=True)
            lock.acquire()
        except (Timeout, OSError, NotImplementedError):  # the last where a file system has no locks
            yield
            return
        try:
            yield
        finally:
            lock.release()

    def _path(self, kind: str, name: str) -> Path:
        return self.root / kind / name

    def _mark(self) -> None:
        for name, text in _MARKS.items():
            if not (self.root / name).exists():
                (self.root / name).write_text(text, encoding="utf-8")

    def _files(self, name: re.Pattern[str]) -> Iterator[tuple[Path, os.stat_result]]:
        """Files of ours, with their status; folders that are links are left alone."""
        for kind in KINDS:
            folder = self.root / kind
            with suppress(OSError):
                if not stat.S_ISDIR(folder.lstat().st_mode):
                    continue
                for found in os.scandir(folder):
                    if name.fullmatch(found.name):
                        with suppress(OSError):  # another process has deleted it
                            yield Path(found.path), found.stat(follow_symlinks=False)


def _is_own_file(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and (not hasattr(os, "geteuid") or status.st_uid == os.geteuid())


def _delete(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
