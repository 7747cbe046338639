"""Folders that are either complete or absent, and the digests of the files in them.

Not every system can replace a folder in one step. A new folder is therefore written in a work folder, as
``.tmp-NUMBER/new``. ``publish`` renames the old one to ``.tmp-NUMBER/old`` and then the new one to its place. A
reader that comes between the two renames, or after a process was killed there, finds both in the work folder and
reads the old one. So at every moment one of the two is in use and complete.

Anybody who can add files to a store can make folders with such names. A work folder is ours only if the file
``riskguard.json`` in it has the number that the file system gave to the folder, which a checkout cannot reproduce;
everything else is neither read nor touched.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import stat
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_riskguard.baselines.manifest import name_problem
from pytest_riskguard.errors import BaselineError
from pytest_riskguard.formats.input_files import GZIP, ContentError, blocks, open_regular
from pytest_riskguard.formats.limits import RUN_BYTES

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
            tidy(root)
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
    if not stat.S_ISREG(status.st_mode) or is_link(lock) or status.st_size:
        kind = "a link" if is_link(lock) else "something else"
        raise BaselineError(f"{lock}: expected the empty file that writers lock, found {kind}; delete it")


#: Names of work folders; those of baselines begin with a letter or digit.
_WORK = re.compile(r"\.tmp-[0-9a-f]{32}")
_NEW, _OLD, _MARKER = "new", "old", "riskguard.json"
_MAX_MARKER_BYTES = 1000
#: How often to look for a name that was neither in its place nor in a work folder: it may have moved in between.
_LOOKS = 10


def sha256(content: bytes) -> str:
    """``sha256:...`` of some bytes."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def gzip_digest(path: Path) -> str:
    """``sha256:...`` of what a gzip file holds; errors as for ``input_files.blocks``."""
    with open_regular(path) as file:
        if file.read(2) != GZIP:
            raise ContentError("not a gzip file")
    digest = hashlib.sha256()
    for block in blocks(path, RUN_BYTES):
        digest.update(block)
    return f"sha256:{digest.hexdigest()}"


def copy_compressed(source: Path, target: Path) -> str:
    """Write the decompressed bytes of ``source``, a run, as gzip, the same bytes each time; return their digest."""
    digest = hashlib.sha256()
    with target.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
        for block in blocks(source, RUN_BYTES):
            digest.update(block)
            packed.write(block)
    return f"sha256:{digest.hexdigest()}"


def write_compressed(write: Callable[[gzip.GzipFile], None], target: Path) -> None:
    """Write as gzip what ``write`` gives, the same bytes each time."""
    with target.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
        write(packed)


def copy_folder(
    source: Path, target: Path, *, without: Path | None = None, only: Collection[str] | None = None
) -> None:
    """Copy the contents of ``source`` into an existing folder; links stay links.

    The path ``without`` and names that are there already are left out; so are all names but ``only``, if given.
    """
    names = [path.name for path in source.iterdir()] if only is None else only
    for path in (source / name for name in names):
        copy = target / path.name
        if path == without or os.path.lexists(copy):
            continue
        if path.is_symlink():
            copy.symlink_to(path.readlink(), target_is_directory=path.is_dir())
        elif path.is_dir():
            copy.mkdir()
            copy_folder(path, copy, without=without)
        else:
            shutil.copyfile(path, copy)  # not its mode: a copy must be writable to be flushed


def is_link(path: Path) -> bool:
    """Whether a path is a link, or what Windows calls a junction."""
    is_junction = getattr(os.path, "isjunction", None)  # from Python 3.12 on
    return path.is_symlink() or (is_junction is not None and is_junction(path))


def newest(root: Path, name: str) -> Path | None:
    """The folder of ``name``, or the old one while it is being replaced; None if there is neither."""
    for _ in range(_LOOKS):
        if (root / name).exists():
            return root / name
        for work in _work_folders(root):
            if _replaces(work) == name and _is_between(work):
                return work / _OLD
    return None


def held_names(root: Path) -> set[str]:
    """Names of the folders under ``root`` without work folders, and of those that are being replaced."""
    # Each name is looked up by itself: a folder may leave its place after it was listed, and be back before its work
    # folder is looked into.
    return {name for name in _listed_names(root) if _is_held(root, name)}


def _listed_names(root: Path) -> set[str]:
    """Names in ``root`` and those that are being replaced, listed until the same work folders are there twice."""
    names: set[str] = set()
    before = None
    for _ in range(_LOOKS):
        try:
            entries = {path.name for path in root.iterdir()}
        except FileNotFoundError:
            return set()
        works = {name for name in entries if _WORK.fullmatch(name)}
        names |= (entries - works) | {name for work in works if (name := _replaces(root / work))}
        if works == before:
            break
        before = works
    return names


def _is_held(root: Path, name: str) -> bool:
    for _ in range(_LOOKS):
        if (root / name).is_dir():
            return True
        if (root / name).is_file():
            return False
        if any(_replaces(work) == name and _is_between(work) for work in _work_folders(root)):
            return True
    return False


def unfinished_names(root: Path) -> set[str]:
    """Names whose folder is being written or replaced, or was when the process was killed."""
    works = [work for work in _work_folders(root) if _is_folder(work / _NEW)]
    return {name for work in works if (name := _replaces(work))}


@contextmanager
def temporary_folder(root: Path, name: str) -> Iterator[Path]:
    """An empty folder for ``publish`` to put in the place of ``name``; deleted at the end if it was not."""
    work = _made_work_folder(root, replaces=name)
    try:
        (work / _NEW).mkdir()
        yield work / _NEW
    finally:
        _finish(work, replaces=name)


def delete(path: Path) -> None:
    """Delete a file, a folder as far as possible, or a link but not its target."""
    if path.is_dir() and not is_link(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def publish(new: Path, target: Path) -> None:
    """Put a temporary folder in the place of another, which may exist; the caller holds the store's lock."""
    _flush_all(new.parent)
    if os.path.lexists(target):
        target.rename(new.parent / _OLD)
    new.rename(target)  # if it fails, the end of the temporary folder moves the old one back
    _flush(target.parent)


def withdraw(target: Path) -> None:
    """Delete a folder in one step; the caller holds the store's lock."""
    work = _made_work_folder(target.parent, replaces="")
    try:
        target.rename(work / _OLD)
        _flush(target.parent)
    finally:
        _finish(work, replaces="")


def tidy(root: Path) -> None:
    """Finish or undo what a killed process has left behind; the caller holds the store's lock."""
    for work in _work_folders(root):
        replaces = _replaces(work)
        if replaces is not None or _is_barely_made(work):
            _finish(work, replaces=replaces or "")


def _made_work_folder(root: Path, *, replaces: str) -> Path:
    """A new work folder, for a folder that replaces another one, or with an empty ``replaces`` for one to delete."""
    work = root / f".tmp-{uuid.uuid4().hex}"
    work.mkdir()
    try:
        marker = {"made_by": "pytest-riskguard", "folder": work.stat().st_ino, "replaces": replaces}
        (work / _MARKER).write_text(json.dumps(marker) + "\n", encoding="utf-8")
    except BaseException:
        delete(work)
        raise
    return work


def _work_folders(root: Path) -> list[Path]:
    """Folders with the name of a work folder, ours or not."""
    try:
        return [path for path in root.iterdir() if _WORK.fullmatch(path.name) and _is_folder(path)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _replaces(work: Path) -> str | None:
    """The name whose folder a work folder replaces, empty if none; None if the work folder is not ours or gone."""
    try:
        number = work.lstat().st_ino
        if not _is_marker(work / _MARKER):
            return None
        marker = json.loads((work / _MARKER).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    ours = {"made_by": "pytest-riskguard", "folder": number}
    if not isinstance(marker, dict) or number == 0 or not (ours.items() <= marker.items()):
        return None
    name = marker.get("replaces")
    return name if isinstance(name, str) and (not name or name_problem(name) is None) else None


def _is_between(work: Path) -> bool:
    """Whether a replacement is between its two renames, or was when its process was killed."""
    return _is_folder(work / _NEW) and _is_folder(work / _OLD)


def _is_barely_made(work: Path) -> bool:
    """Whether a work folder holds nothing yet, or nothing but the marker, which may be incomplete."""
    try:
        return all(path.name == _MARKER and _is_marker(path) for path in work.iterdir())
    except OSError:
        return False


def _is_marker(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_MARKER_BYTES


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not is_link(path)


def _finish(work: Path, *, replaces: str) -> None:
    """Move the old folder back if a replacement has stopped between its renames, and delete our work folder.

    The marker goes last, so that a work folder that is deleted only in part is still known to be ours.
    """
    if replaces and _is_between(work) and not os.path.lexists(work.parent / replaces):
        (work / _OLD).rename(work.parent / replaces)
    for path in (work / _NEW, work / _OLD):
        delete(path)
    if not any(os.path.lexists(path) for path in (work / _NEW, work / _OLD)):  # otherwise a later writer tries again
        delete(work / _MARKER)
    with suppress(OSError):  # what is left in it is not ours, or cannot be deleted now
        work.rmdir()


def _flush_all(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_symlink():  # a link is stored with the entries of its folder
            continue
        if path.is_dir():
            _flush_all(path)
        else:
            _flush(path)
    _flush(folder)


def _flush(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on the disk."""
    folder = path.is_dir()
    if folder and os.name == "nt":  # Windows cannot open a folder
        return
    # Windows flushes only what was opened for writing.
    handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
