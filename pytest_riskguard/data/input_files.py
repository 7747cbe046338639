"""Input files: regular files only, opened once, and read up to ``limits``."""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from pytest_riskguard.errors import MissingFileError
from pytest_riskguard.limits import RATIO, Limit


class ContentError(Exception):
    """The bytes of a file cannot be read; the message says why, without naming the file."""


class LimitError(ContentError):
    """A file is larger than a limit; the message gives the figure, the limit and the variable that scales it."""


GZIP = b"\x1f\x8b"
_BLOCK = 2**20
#: Decompressed bytes above which the ratio counts: a smaller file is no burden.
FREE_BYTES = 4 * 2**20
#: Compressed bytes that may be read for one block of text; empty gzip members and endless headers have no text.
_MAX_PACKED_PER_BLOCK = 8 * _BLOCK


def bytes_beyond(text: str, most: int) -> int:
    """How many bytes a text has, if they are more than ``most``; else 0."""
    if 4 * len(text) <= most:  # a character has at most four
        return 0
    size = len(text.encode(errors="replace"))
    return size if size > most else 0


def is_file(path: Path) -> bool:
    """Whether a file is there; not where the path cannot be looked at, of which whoever opens it says why."""
    try:
        return path.is_file()
    except OSError:  # a name that is too long, a folder that may not be entered
        return False


def is_folder(path: Path) -> bool:
    """Whether a folder is there, as ``is_file``."""
    try:
        return path.is_dir()
    except OSError:
        return False


def open_regular(path: Path) -> BinaryIO:
    """A regular file, opened for reading in binary; a pipe is not waited for.

    What was opened is checked, not its path, which may be another file a moment later. ``MissingFileError`` for
    anything else: nothing there, a folder, a pipe, a socket or a device, or a link to one.
    """
    try:
        _refuse_irregular(path, path.stat().st_mode)  # before it is opened: opening a device may have effects
        flags = (getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
        handle = os.open(path, os.O_RDONLY | sum(flags))
    except FileNotFoundError:
        raise MissingFileError(path, None, "no such file") from None
    except ValueError as problem:  # a NUL in the path
        raise MissingFileError(path, None, f"not a path: {problem}") from None
    except OSError as problem:
        raise _unreadable(path, problem) from None
    try:
        _refuse_irregular(path, os.fstat(handle).st_mode)
    except BaseException:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def read_limited(path: Path, limit: Limit) -> bytes:
    """The bytes of a regular file; ``LimitError`` if they are too many, ``MissingFileError`` as ``open_regular``."""
    with open_regular(path) as file:
        try:
            _refuse_size(file, limit)
            content = file.read(limit.value + 1)
        except OSError as problem:
            raise _unreadable(path, problem) from None
    if len(content) > limit.value:
        raise LimitError(limit.problem(len(content)))
    return content


def blocks(path: Path, limit: Limit, *, start: int = 0) -> Iterator[bytes]:
    """The bytes of a regular file in blocks, decompressed if it is gzip, which its first two bytes say.

    With ``start``, the bytes from there on, as they are. ``LimitError`` if the file has too many, or far more than
    before decompression; ``ContentError`` for a damaged gzip; ``MissingFileError`` as ``open_regular``.
    """
    with open_regular(path) as file:
        try:
            packed = not start and file.read(2) == GZIP
            file.seek(start)
            yield from _unpacked(file, limit) if packed else _plain(file, limit)
        except EOFError:
            raise _damaged("one that ends too early (truncated)") from None
        except (gzip.BadGzipFile, zlib.error) as problem:
            raise _damaged(f"a damaged one ({problem})") from None
        except OSError as problem:
            raise _unreadable(path, problem) from None


def _plain(file: BinaryIO, limit: Limit) -> Iterator[bytes]:
    _refuse_size(file, limit)
    most, total = limit.value, file.tell()
    while block := file.read(_BLOCK):
        total += len(block)
        if total > most:  # the file has grown, or its size is not known before it is read
            raise LimitError(limit.problem(total))
        yield block


def _unpacked(file: BinaryIO, limit: Limit) -> Iterator[bytes]:
    most, ratio, total = limit.value, RATIO.value, 0
    packed = _Packed(file)
    with gzip.GzipFile(fileobj=packed, mode="rb") as text:
        while block := text.read(_BLOCK):
            total += len(block)
            if total > most:
                raise LimitError(limit.problem(total))
            if total > FREE_BYTES and total > ratio * file.tell():
                raise LimitError(RATIO.problem(total // file.tell()))
            packed.block_begins = file.tell()
            yield block


class _Packed:
    """A gzip file that stops when much is read from it without giving any text."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.block_begins = file, 0

    def read(self, size: int) -> bytes:
        """Some bytes more."""
        if self._file.tell() - self.block_begins > _MAX_PACKED_PER_BLOCK:
            raise LimitError(f"expected text in a gzip file, found {_MAX_PACKED_PER_BLOCK:,} bytes without any")
        return self._file.read(size)

    def seek(self, position: int) -> int:
        """Needed by the file protocol; nothing is read twice."""
        return self._file.seek(position)


def _refuse_irregular(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise MissingFileError(path, None, "expected a file, found a folder")
    if not stat.S_ISREG(mode):  # a pipe cannot be read twice, and a device may never end
        raise MissingFileError(path, None, "expected a regular file, found a pipe, socket or device")


def _refuse_size(file: BinaryIO, limit: Limit) -> None:
    size = os.fstat(file.fileno()).st_size
    if size > limit.value:
        raise LimitError(limit.problem(size))


def _damaged(found: str) -> ContentError:
    return ContentError(f"expected a whole gzip file, found {found}; copy it again")


def _unreadable(path: Path, problem: OSError) -> MissingFileError:
    return MissingFileError(path, None, f"cannot be read ({problem.strerror or problem})")
