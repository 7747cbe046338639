"""The lock of a store: one process writes at a time."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_riskguard.baselines import atomic_folder
from pytest_riskguard.errors import BaselineError

LOCK = ".lock"
#: Seconds that a writer waits for another one.
LOCK_TIMEOUT = 60.0


@contextmanager
def locked(root: Path) -> Iterator[None]:
    """Hold the lock of the store ``root``, after removing what killed writers left behind.

    A ``BaselineError`` if the store cannot be written, before or while the lock is held, or another process holds it.
    """
    from filelock import FileLock, Timeout

    lock = root / LOCK
    try:
        root.mkdir(parents=True, exist_ok=True)
        _check(lock)
        with FileLock(lock, timeout=LOCK_TIMEOUT):
            atomic_folder.tidy(root)
            yield
    except Timeout:
        raise BaselineError(
            f"{lock}: another process has been writing to this store for over {LOCK_TIMEOUT:g} "
            "seconds; wait until it is done and try again"
        ) from None
    except (OSError, NotImplementedError) as error:  # filelock raises the latter where a file system has no locks
        why = getattr(error, "strerror", None) or error
        raise BaselineError(f"{root}: the store cannot be written ({why})") from error


def _check(lock: Path) -> None:
    """Raise ``BaselineError`` unless the lock is the empty file that we make: locking may empty a file."""
    try:
        status = lock.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(status.st_mode) or atomic_folder.is_link(lock) or status.st_size:
        kind = "a link" if atomic_folder.is_link(lock) else "something else"
        raise BaselineError(f"{lock}: expected the empty file that writers lock, found {kind}; delete it")
