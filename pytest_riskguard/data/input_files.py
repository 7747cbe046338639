"""Input files: regular files only, plain or gzip, read up to ``limits``, and refused with file and line."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from itertools import accumulate, islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar

from pytest_riskguard.data.given_file import GivenFile, names_collection
from pytest_riskguard.errors import FileError, MissingFileError, UsageError
from pytest_riskguard.limits import LINE_BYTES, LINES, RATIO, TABLE_BYTES, Limit
from pytest_riskguard.serialization import JsonError, parsed_value

if TYPE_CHECKING:
    from pytest_riskguard.data.records import TopicKeys


class ContentError(Exception):
    """The bytes of a file cannot be read; the message says why, without naming the file."""


class LimitError(ContentError):
    """A file is larger than a limit; the message gives the figure, the limit and the variable that scales it."""


GZIP = b"\x1f\x8b"
_BLOCK = 2**20
#: How many rows of a table are read together.
_ROWS = 2**14
#: Bytes from which a format is recognised.
START_BYTES = 2**16
_BOM = b"\xef\xbb\xbf"
#: Decompressed bytes above which the ratio counts: a smaller file is no burden.
FREE_BYTES = 4 * 2**20


def bytes_beyond(text: str, most: int) -> int:
    """How many bytes a text has, if they are more than ``most``; else 0."""
    if 4 * len(text) <= most:  # a character has at most four
        return 0
    size = len(text.encode(errors="replace"))
    return size if size > most else 0


def is_folder(path: Path) -> bool:
    """Whether a folder is there; not where the path cannot be looked at."""
    return os.path.isdir(path)  # noqa: PTH112 - it raises nothing


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


def blocks(path: Path, limit: Limit, *, size: int | None = None) -> Iterator[bytes]:
    """The bytes of a regular file in blocks, decompressed if it is gzip, which its first two bytes say.

    ``LimitError`` if the file has too many, or far more than before decompression; ``ContentError`` for a damaged
    gzip; ``MissingFileError`` as ``open_regular``.
    """
    most, ratio, total = limit.value, RATIO.value, 0
    with open_regular(path) as file:
        try:
            is_packed = file.read(2) == GZIP
            _refuse_size(file, limit, spare=FREE_BYTES if is_packed else 0)
            file.seek(0)
            text: Any = gzip.GzipFile(fileobj=file) if is_packed else file
            while block := text.read(size or _BLOCK):
                total += len(block)
                if total > most:  # the file has grown, or its size is not known before it is read
                    raise LimitError(limit.problem(total))
                if total > FREE_BYTES and total > ratio * file.tell():
                    raise LimitError(RATIO.problem(total // file.tell()))
                yield block
        except EOFError:
            raise _damaged("one that ends too early (truncated)") from None
        except (gzip.BadGzipFile, zlib.error) as problem:
            raise _damaged(f"a damaged one ({problem})") from None
        except OSError as problem:
            raise _unreadable(path, problem) from None


def _refuse_irregular(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise MissingFileError(path, None, "expected a file, found a folder")
    if not stat.S_ISREG(mode):  # a pipe cannot be read twice, and a device may never end
        raise MissingFileError(path, None, "expected a regular file, found a pipe, socket or device")


def _refuse_size(file: BinaryIO, limit: Limit, *, spare: int = 0) -> None:
    size = os.fstat(file.fileno()).st_size
    if size > limit.value + spare:
        raise LimitError(limit.problem(size))


def _damaged(found: str) -> ContentError:
    return ContentError(f"expected a whole gzip file, found {found}; copy it again")


def _unreadable(path: Path, problem: OSError) -> MissingFileError:
    return MissingFileError(path, None, f"cannot be read ({problem.strerror or problem})")


# One file as its reader sees it: its start, to find out what it is, its lines, its content.


#: How files that are not text begin: Parquet, Arrow, Feather of the first version, LZ4.
_BINARY = (b"PAR1", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff", b"\x04\x22\x4d\x18")
#: The first bytes of files that were compressed by a program other than gzip.
_PACKED = {rb"\xfd7zXZ\0": "xz", rb"BZh\d[1\x17]": "bzip2", rb"\x28\xb5\x2f\xfd": "zstd", rb"PK\x03\x04": "zip"}
_LFS = b"version https://git-lfs"
_CONFLICTS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
#: The escape of a character that needs two of them.
_HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
#: How many bad lines of a file are named after the first.
MAX_LINES = 10

_Row = TypeVar("_Row")
#: Lines with their numbers.
Lines = Iterator[tuple[int, bytes]]
#: What a line should hold and what it holds; None of a good line.
LineCheck = Callable[[bytes], tuple[str, str] | None]


class Misfit(NamedTuple):
    """Why a file does not have a format; of several, the reason with the greatest ``nearness`` is shown."""

    reason: str
    nearness: int = 0


class InputFile:
    """One file, or one part of it (``FILE#PART``).

    ``error`` is raised, with file and line, for content that cannot be read; ``MissingFileError`` for a path that is
    not a readable regular file. With ``content`` the path only names the file. ``keys`` finds topics by their texts.
    Everything is read without a byte order mark.
    """

    def __init__(
        self,
        given: Path | GivenFile,
        *,
        error: type[FileError],
        limit: Limit = TABLE_BYTES,
        content: bytes | None = None,
        keys: TopicKeys | None = None,
    ) -> None:
        self.given = given if isinstance(given, GivenFile) else GivenFile(given)
        self.path, self.part, self.columns = self.given.path, self.given.part, self.given.columns
        self.labels, self.ties, self.keys = self.given.labels, self.given.ties, keys
        self.limit, self.is_part = limit, False
        self._error, self._content = error, content
        self._digest: str | None = None

    @property
    def name(self) -> str:
        """The file's name, without its folder; the whole name of a collection."""
        return self.path.as_posix() if names_collection(self.path) else self.path.name

    @property
    def digest(self) -> str:
        """``sha256:<hex>`` of the decompressed bytes; known once all of them have been read."""
        assert self._digest is not None
        return self._digest

    @cached_property
    def start(self) -> bytes:
        """The first bytes, with a byte order mark."""
        return next(self._raw(START_BYTES), b"")[:START_BYTES]

    @cached_property
    def content(self) -> bytes:
        """All bytes."""
        return b"".join(self.blocks())

    def blocks(self) -> Iterator[bytes]:
        """All bytes, about a million at a time."""
        digest = hashlib.sha256()
        for index, block in enumerate(self._raw()):
            digest.update(block)
            yield block if index else block.removeprefix(_BOM)
        self._digest = f"sha256:{digest.hexdigest()}"

    def _raw(self, size: int | None = None) -> Iterator[bytes]:
        if self._content is not None:
            size = size or _BLOCK
            yield from (self._content[start : start + size] for start in range(0, len(self._content), size))
            return
        try:
            yield from blocks(self.path, self.limit, size=size)
        except ContentError as problem:
            raise self.refuse(None, str(problem)) from None

    def texts(self, longest: Limit = LINE_BYTES) -> Lines:
        """Whole lines, about a million bytes at a time, with the number of the first of them, from 1.

        Each text ends with a line feed, but for the last of the file. Refuses bytes that are not UTF-8, NUL, and too
        many lines; a line of more bytes than ``longest`` only if it is much longer.
        """
        number, rest = 1, b""
        for block in self.blocks():
            cut = block.rfind(b"\n") + 1
            if cut:
                text, rest = rest + block[:cut], block[cut:]
                yield number, self._checked(number, text)
                number += text.count(b"\n")
            else:
                rest += block
            self._refuse_long(number, rest, longest)
        if rest:
            yield number, self._checked(number, rest)

    def lines(self, longest: Limit = LINE_BYTES) -> Lines:
        """The lines, blank ones too, without their line feeds, each with its number."""
        most = longest.value
        for first, text in self.texts(longest):
            lines = text.removesuffix(b"\n").split(b"\n")
            if max(map(len, lines)) > most:
                for number, line in enumerate(lines, first):
                    self._refuse_long(number, line, longest)
            yield from enumerate(lines, first)

    @cached_property
    def first_line(self) -> str:
        """The first line that is not blank, as far as it is in ``start``; empty for files that are not text."""
        if self.start.startswith(_BINARY):
            return ""
        text = self.start.removeprefix(_BOM).decode(errors="replace")
        return next((line for line in text.splitlines() if line.strip()), "")

    def table(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """The rows of a table that are not blank, the header first, with the number of each row's last line."""
        for lines, rows in self.tables(delimiter):
            yield from zip(lines, rows, strict=True)

    def tables(self, delimiter: str) -> Iterator[tuple[Sequence[int], Sequence[list[str]]]]:
        """The same, many rows at a time."""
        lines = (line for _, text in self.texts() for line in io.StringIO(text.decode(), newline="\n"))
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            first = 1
            while some := list(islice(rows, _ROWS)):
                numbers: Sequence[int] = range(first, rows.line_num + 1)
                if len(numbers) != len(some):  # cells go on in the next line
                    feeds = (sum(cell.count("\n") for cell in row) for row in some)
                    numbers = [first + row + feed for row, feed in enumerate(accumulate(feeds))]
                first = rows.line_num + 1
                if all(row and row[0] > " " for row in some):
                    yield numbers, some
                elif filled := [pair for pair in zip(numbers, some, strict=True) if "".join(pair[1]).strip()]:
                    yield tuple(zip(*filled, strict=True))  # type: ignore[misc]
        except csv.Error as problem:
            if "new-line" in str(problem):
                raise self.refuse(rows.line_num, "expected lines that end with LF or CRLF, found CR alone") from None
            raise self.refuse(rows.line_num, f"expected quotes around whole cells only: {problem}") from None

    @property
    def looks_like_json(self) -> bool:
        """Whether the first character is one of a JSON object or list."""
        return self.first_line.lstrip()[:1] in ("{", "[")

    @property
    def json(self) -> Any:
        """The whole file as one JSON value; the error of a file that is not JSON."""
        value, problem = self._parsed
        if problem is not None:
            raise self.refuse(problem.line, problem.problem)
        return value

    @property
    def json_or_none(self) -> Any:
        """As ``json``; None for a file that is not one JSON value."""
        return self._parsed[0] if self.looks_like_json else None

    @cached_property
    def _parsed(self) -> tuple[Any, JsonError | None]:
        try:
            return _json_value(self.content), None
        except JsonError as problem:
            return None, problem

    @cached_property
    def first_object(self) -> dict[str, Any] | None:
        """The first line as a JSON object; None if it is not one: then the file is not JSON Lines."""
        if not self.looks_like_json:  # the rest of a run may be large
            return None
        line, newline, _ = self.start.removeprefix(_BOM).lstrip().partition(b"\n")
        if not newline:  # it may be long
            line, newline, _ = self.content.lstrip().partition(b"\n")
        if not newline:  # one line is read once
            return self.json_or_none if isinstance(self.json_or_none, dict) else None
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None

    def json_lines(self) -> Iterator[tuple[int, Any]]:
        """The JSON value of each line that is not blank, with the line's number."""
        for number, line in self.lines():
            if not line.strip():
                continue
            try:
                yield number, _json_value(line)
            except JsonError as problem:
                raise self.refuse(number, f"expected one JSON value in each line: {problem.problem}") from None

    def chosen(self, parts: Mapping[str, Sequence[_Row]], what: str) -> Sequence[_Row]:
        """The rows of the part that ``FILE#PART`` names, or those of the only part; nothing of a file without rows.

        The error of this file if there is no part of that name, or several and none is named; ``what`` says what a
        part is, such as a system.
        """
        if self.part is None and len(parts) <= 1:
            return next(iter(parts.values()), ())
        if self.part is not None and self.part in parts:
            return parts[self.part]
        names = ", ".join(f"{name!r:.60}" for name in [*parts][:10])
        if self.part is not None:
            raise self.refuse(None, f"expected a {what} named {self.part!r:.60}, found {names or 'none'}")
        example = f"{self.name}#{next(iter(parts))}"
        raise self.refuse(
            None, f"expected one {what}, found {len(parts)}: {names}; name one of them, such as {example!r:.100}"
        )

    def refuse(self, line: int | None, problem: str) -> FileError:
        """The error to raise for this file."""
        return self._error(self.path, line, problem)

    def refuse_line(self, number: int, line: bytes, expected: str, found: str) -> FileError:
        """The error to raise for one line, which it quotes; it says so if git left a pointer or a conflict there."""
        return self.refuse(number, _problem(line, expected, found))

    def refuse_lines(self, number: int, line: bytes, rest: Lines, check: LineCheck) -> FileError:
        """The error to raise for a line and the bad ones among the ``rest``, whose numbers it gives."""
        problem = _problem(line, *(check(line) or ("another line", "this one")))
        others: list[int] = []
        try:
            if not line.startswith(_LFS):
                others += islice((n for n, other in rest if check(other) is not None), MAX_LINES + 1)
        except FileError:  # what else is wrong with the file is said once its lines are right
            pass
        if others:
            listed = ", ".join(map(str, others[:MAX_LINES]))
            more = ", ..." if len(others) > MAX_LINES else ""
            what = f"lines {listed}{more} are" if len(others) > 1 else f"line {listed} is"
            problem += f" ({what} wrong, too)"
        return self.refuse(number, problem)

    def _refuse_long(self, number: int, line: bytes, longest: Limit) -> None:
        if len(line) > (most := longest.value):
            self._check_text(number, line[:most], is_cut=True)
            raise self.refuse(number, f"{longest.problem(len(line), limit=most)}: {shown(line)}")

    def _checked(self, first: int, text: bytes) -> bytes:
        self._check_text(first, text)
        last, most = first - 1 + text.count(b"\n") + (not text.endswith(b"\n")), LINES.value
        if last > most:
            raise self.refuse(None, LINES.problem(last, limit=most))
        return text

    def _check_text(self, first: int, text: bytes, *, is_cut: bool = False) -> None:
        try:
            if not text.isascii():
                text.decode()
        except UnicodeDecodeError as problem:
            if is_cut and problem.reason == "unexpected end of data":  # half a character is no encoding error then
                return
            line = first + text.count(b"\n", 0, problem.start)
            hint = "; save it as UTF-8"
            if first == 1 and (packed := compression_hint(text)):
                hint = packed
            elif self.path.suffix == ".gz" and line == 1:
                hint = "; its name says gzip, its content does not"
            raise self.refuse(line, f"expected UTF-8 text, found byte 0x{text[problem.start]:02x}{hint}") from None
        nul = text.find(b"\0")
        if nul >= 0:
            line = first + text.count(b"\n", 0, nul)
            raise self.refuse(line, "expected text, found a NUL byte; is this a binary file, or UTF-16?")


def _json_value(content: bytes) -> Any:
    """As ``parsed_value``, without texts that no file could hold: escapes may name half a character."""
    value = parsed_value(content)
    if half := _HALF_CHARACTER.search(content):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            line, escape = content.count(b"\n", 0, half.start()) + 1, half[0].decode()
            raise JsonError(f"expected whole characters, found half of one ({escape}...)", line=line) from None
    return value


def compression_hint(start: bytes) -> str:
    """What to say of a file that no text reader reads, if it begins as a compressed one does; else nothing."""
    packed = next((name for magic, name in _PACKED.items() if re.match(magic, start)), None)
    return f"; it is compressed with {packed}: unpack it, only gzip is read" if packed is not None else ""


def shown(line: bytes) -> str:
    """A line for an error message: quoted, control characters escaped, cut to 80 characters."""
    text = line.decode(errors="replace").rstrip("\r\n")
    return repr(text if len(text) <= 80 else text[:79] + "…")


def _problem(line: bytes, expected: str, found: str) -> str:
    if line.startswith(_LFS):
        return f"expected {expected}; found a Git LFS pointer instead of the file; run `git lfs pull`: {shown(line)}"
    if line.startswith(_CONFLICTS):
        return f"expected {expected}; found a merge conflict marker; resolve the conflict: {shown(line)}"
    return f"expected {expected}, found {found}: {shown(line)}"


def imported(module: str, *, what: str, extra: str | None = None) -> ModuleType:
    """A module of another package; ``UsageError`` if it is not installed, which says how to install it."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        install = package if extra is None else f"'pytest-riskguard[{extra}]'"
        raise UsageError(f"{what} needs {package}: pip install {install}") from None
