"""Folders that are either complete or absent.

Not every system can replace a folder in one step. A new folder is therefore written under another name; the old one
is renamed, and then the new one gets its place. A reader that comes between the two, or after a process was killed
there, reads the old one, which the next writer puts back.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_riskguard.errors import BaselineError

LOCK = ".lock"
#: Seconds that a writer waits for another one.
LOCK_TIMEOUT = 60.0
#: Before the name of a folder that is being written or deleted, and of one that is being replaced.
_NEW, _OLD = ".tmp-new-", ".tmp-old-"


@contextmanager
def locked(root: Path) -> Iterator[None]:
    """Hold the lock of the store ``root``, after removing what killed writers left behind.

    A ``BaselineError`` if the store cannot be written, before or while the lock is held, or another process holds it.
    """
    from filelock import FileLock, Timeout

    lock = root / LOCK
    try:
        root.mkdir(parents=True, exist_ok=True)
        with FileLock(lock, timeout=LOCK_TIMEOUT):
            for path in list(root.glob(".tmp-*-*")):
                _finish(root, path.name.removeprefix(_NEW).removeprefix(_OLD))
            yield
    except Timeout:
        raise BaselineError(
            f"another process has been writing to this store for over {LOCK_TIMEOUT:g} seconds; wait until it is "
            "done and try again",
            where=lock,
        ) from None
    except (OSError, NotImplementedError) as error:  # filelock raises the latter where a file system has no locks
        why = getattr(error, "strerror", None) or error
        raise BaselineError(f"the store cannot be written ({why})", where=root) from error


def newest(root: Path, name: str) -> Path | None:
    """The folder of ``name``, or the old one while it is being replaced; None if there is neither."""
    places = (root / name, root / f"{_OLD}{name}", root / name)  # it may move between two looks
    return next((place for place in places if place.is_dir()), None)


def held_names(root: Path) -> set[str]:
    """Names of the folders under ``root``, of those that are being replaced too."""
    if not root.exists():
        return set()
    # twice: one that gets another name while they are listed may be missed
    names = {path.name.removeprefix(_OLD) for _ in range(2) for path in root.iterdir()}
    return {name for name in names if newest(root, name) is not None}


@contextmanager
def replaced(root: Path, name: str) -> Iterator[Path]:
    """An empty folder that takes the place of ``name`` at the end; the caller holds the store's lock."""
    new, target = root / f"{_NEW}{name}", root / name
    try:
        new.mkdir()
        yield new
        if target.exists():
            target.rename(root / f"{_OLD}{name}")
        new.rename(target)
    finally:
        _finish(root, name)


def delete(root: Path, name: str) -> None:
    """Delete a folder in one step; the caller holds the store's lock."""
    (root / name).rename(root / f"{_NEW}{name}")
    _finish(root, name)


def _finish(root: Path, name: str) -> None:
    """Put the old folder back if nothing has taken its place, and delete what else is left of a replacement."""
    old = root / f"{_OLD}{name}"
    if old.exists() and not (root / name).exists():
        old.rename(root / name)
    for left in (old, root / f"{_NEW}{name}"):
        shutil.rmtree(left, ignore_errors=True)
