"""Folders that are either complete or absent, and the digests of the files in them.

Not every system can replace a folder in one step. ``publish`` therefore renames the old folder to ``.previous-NAME``
before the new one takes its place; a reader that finds only ``.previous-NAME`` uses that. So at every moment one of
the two is there and complete.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_riskguard.formats.input_files import GZIP, RUN_BYTES, ContentError, blocks, open_regular

_TEMPORARY = ".tmp-"
_PREVIOUS = ".previous-"


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


def copy_folder(source: Path, target: Path, *, without: Path | None = None) -> None:
    """Copy the contents of ``source``, except the path ``without``, into an existing folder; links stay links."""
    for path in source.iterdir():
        copy = target / path.name
        if path == without:
            continue
        if path.is_symlink():
            copy.symlink_to(path.readlink(), target_is_directory=path.is_dir())
        elif path.is_dir():
            copy.mkdir()
            copy_folder(path, copy, without=without)
        else:
            shutil.copyfile(path, copy)  # not its mode: a copy must be writable to be flushed


def newest(root: Path, name: str) -> Path | None:
    """The folder of ``name``, or else its ``.previous-`` folder; None if there is neither."""
    folder, previous = root / name, root / f"{_PREVIOUS}{name}"
    # The third check is for a replacement that ended between the first two.
    return next((path for path in (folder, previous, folder) if path.exists()), None)


def held_names(root: Path) -> set[str]:
    """Names of the folders under ``root``; a ``.previous-`` folder counts under its own name."""
    try:
        entries = [entry.name for entry in root.iterdir() if entry.is_dir()]
    except FileNotFoundError:
        return set()
    return {name.removeprefix(_PREVIOUS) for name in entries if not name.startswith(_TEMPORARY)}


@contextmanager
def temporary_folder(root: Path) -> Iterator[Path]:
    """A new folder on the file system of ``root``, deleted at the end unless it was moved."""
    folder = root / f"{_TEMPORARY}{uuid.uuid4().hex}"
    folder.mkdir()
    try:
        yield folder
    finally:
        delete(folder)


def delete(path: Path) -> None:
    """Delete a file, a folder as far as possible, or a link but not its target."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def publish(new: Path, target: Path) -> None:
    """Put ``new`` in the place of ``target``, which may exist; the caller holds the store's lock."""
    _flush_all(new)
    previous = target.with_name(f"{_PREVIOUS}{target.name}")
    if target.exists():
        target.rename(previous)
    try:
        new.rename(target)
    except OSError:
        if previous.exists():
            previous.rename(target)
        raise
    _flush(target.parent)
    delete(previous)


def withdraw(target: Path) -> None:
    """Delete a folder in one step; the caller holds the store's lock."""
    renamed = target.with_name(f"{_TEMPORARY}{uuid.uuid4().hex}")
    target.rename(renamed)
    _flush(target.parent)
    delete(renamed)


def tidy(root: Path) -> None:
    """Finish or undo what a killed process has left behind; the caller holds the store's lock."""
    for path in list(root.iterdir()):
        if path.name.startswith(_TEMPORARY):
            delete(path)
        elif path.name.startswith(_PREVIOUS):
            target = root / path.name.removeprefix(_PREVIOUS)
            if target.exists():
                delete(path)
            else:
                path.rename(target)


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
