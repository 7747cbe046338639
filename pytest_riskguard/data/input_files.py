"""Input files: regular files, plain or gzip, or at an address, read up to ``limits``, refused with file and line."""

from __future__ import annotations

import atexit
import csv
import gzip
import hashlib
import io
import json
import re
import stat
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, Literal

from pytest_riskguard.data.given_file import GivenFile, InputData, json_digest, names_collection
from pytest_riskguard.errors import FileError, MissingFileError, UsageError
from pytest_riskguard.limits import LINE_BYTES, LINES, RATIO, TABLE_BYTES, Limit
from pytest_riskguard.serialization import JsonError, parsed_value
from pytest_riskguard.text import nearest

GZIP = b"\x1f\x8b"
_BLOCK = 2**19
#: Bytes from which a format is recognised.
START_BYTES = 2**16
_BOM = b"\xef\xbb\xbf"
#: Decompressed bytes above which the ratio counts: a smaller file is no burden.
FREE_BYTES = 4 * 2**20

#: What to do about a line of something else, by what it looks like.
_MISTAKEN = {
    rb"\s*<": "this is a page for browsers, such as an error or a login; save the data themselves",
    rb"[^\s,;]+[,;][^\s]*$": "columns are separated by white space; a table of commas has a header line, such as "
    "query_id,doc_id,score",
    rb"\S+\s+\S+\s+\S+\s+\d+\s+[-+.\deE]+\s+\S+$": "this is a run; name the file that was meant",
    rb"\S+\s+\S+\s+\S+\s+-?\d+$": "these are judgements; name the file that was meant",
}


def open_regular(path: Path) -> BinaryIO:
    """A regular file, opened for reading in binary; a pipe is not waited for.

    ``MissingFileError`` for anything else: nothing there, a folder, a pipe, a socket or a device, or a link to one.
    """
    try:
        mode = path.stat().st_mode  # opening a pipe would wait, and opening a device may have effects
        if stat.S_ISREG(mode):
            return path.open("rb")
    except FileNotFoundError:
        close = remedy = None
        with suppress(OSError):
            close = nearest(path.name, [near.name for near in path.parent.iterdir()], cutoff=0.8)
        if close is not None:
            remedy = f"did you mean {close!r}?"
        elif re.fullmatch(r"[\w.]+:\w+", path.name):
            remedy = (
                f"a function is asked as the candidate of a riskguard.yaml: `riskguard init --candidate {path.name}`"
            )
        raise MissingFileError(path, None, "no such file", remedy) from None
    except (OSError, ValueError) as problem:  # a NUL in the path
        raise _unreadable(path, problem) from None
    found = "a folder" if stat.S_ISDIR(mode) else "a pipe or device"
    raise MissingFileError(path, None, f"expected a regular file, found {found}")


def read_limited(path: Path, limit: Limit, *, error: type[FileError] = FileError) -> bytes:
    """The bytes of a regular file; errors as ``blocks``."""
    return b"".join(blocks(path, limit, error=error))


def blocks(path: Path, limit: Limit, *, error: type[FileError] = FileError) -> Iterator[bytes]:
    """The bytes of a regular file in blocks, decompressed if it is gzip, which its first two bytes say.

    ``error`` is raised if the file has too many, or far more than before decompression, and for a damaged gzip;
    ``MissingFileError`` as ``open_regular``.
    """
    with open_regular(path) as file:
        try:
            is_packed = file.read(2) == GZIP
            file.seek(0)
            text: Any = gzip.GzipFile(fileobj=file) if is_packed else file
            total = 0
            while block := text.read(_BLOCK):
                total += len(block)
                if total > limit.value:
                    raise error(path, None, limit.problem(total))
                if total > FREE_BYTES and total > RATIO.value * file.tell():
                    raise error(path, None, RATIO.problem(total // file.tell()))
                yield block
        except (EOFError, gzip.BadGzipFile, zlib.error) as problem:
            damaged = f"expected a whole gzip file, found a damaged one ({problem}); copy it again"
            raise error(path, None, damaged) from None
        except OSError as problem:
            raise _unreadable(path, problem) from None


def _unreadable(path: Path, problem: OSError | ValueError) -> MissingFileError:
    return MissingFileError(path, None, f"cannot be read ({getattr(problem, 'strerror', None) or problem})")


# One file as its reader sees it: its start, to find out what it is, its lines, its content.


_LFS = b"version https://git-lfs"
#: Lines with their numbers.
Lines = Iterator[tuple[int, bytes]]


#: What a file may hold.
Kind = Literal["judgements", "rankings", "topics", "scores"]
#: Why a file does not have a format: None if it has it, and empty if it is nothing like it.
Misfit = str | None


class InputFile(InputData):
    """One file, or one part of it (``FILE#PART``).

    ``error`` is raised, with file and line, for content that cannot be read; ``MissingFileError`` for a path that is
    not a readable regular file. With ``content`` the path only names the file. A byte order mark is not read.
    """

    def __init__(
        self,
        given: Path | str | GivenFile,
        *,
        error: type[FileError],
        limit: Limit = TABLE_BYTES,
        content: bytes | None = None,
    ) -> None:
        self.given = GivenFile.of(given)
        self.path, self.part = self.given.path, self.given.part
        super().__init__(self.path.as_posix() if names_collection(self.path) else self.path.name, reason=error.reason)
        self.labels, self.ties, self.columns = self.given.labels, self.given.ties, self.given.columns
        self.limit, self._error, self._content = limit, error, content
        self._digest: str | None = None

    def inside(self, path: Path) -> InputFile:
        """A file in this folder, read as was said of the folder."""
        file = InputFile(replace(self.given, path=path), error=self._error, limit=self.limit)
        file.queries, file.labels, file.measures = self.queries, self.labels, self.measures
        return file

    @property
    def digest(self) -> str | None:
        """``sha256:<hex>`` of the decompressed bytes, and of the part and columns named; None until all are read."""
        if self._digest is None or not (self.part or self.columns):
            return self._digest
        return json_digest([self._digest, self.part, sorted(self.columns.items())])

    @cached_property
    def start(self) -> bytes:
        """The first bytes, with a byte order mark."""
        return next(self._raw(), b"")[:START_BYTES]

    @cached_property
    def content(self) -> bytes:
        """All bytes."""
        return b"".join(self.blocks())

    def blocks(self) -> Iterator[bytes]:
        """All bytes, about half a million at a time."""
        digest = hashlib.sha256()
        for index, block in enumerate(self._raw()):
            digest.update(block)
            yield block if index else block.removeprefix(_BOM)
        self._digest = f"sha256:{digest.hexdigest()}"

    def _raw(self) -> Iterator[bytes]:
        if self._content is None:
            return blocks(self.path, self.limit, error=self._error)
        return iter([self._content] if self._content else [])

    def texts(self, longest: Limit = LINE_BYTES) -> Lines:
        """Whole lines, about half a million bytes at a time, with the number of the first of them, from 1.

        Each text ends with a line feed, but for the last of the file. Refuses bytes that are not UTF-8, NUL, and too
        many lines; a line of more bytes than ``longest`` only if it is much longer.
        """
        number, rest = 1, b""
        for block in self.blocks():
            cut = block.rfind(b"\n") + 1
            if cut:
                text, rest = b"".join((rest, memoryview(block)[:cut])), block[cut:]
                count = self._checked(number, text)
                yield number, text
                number += count
            else:
                rest += block
            if len(rest) > longest.value:
                raise self._too_long(number, rest, longest)
        if rest:
            self._checked(number, rest)
            yield number, rest

    def lines(self, longest: Limit = LINE_BYTES) -> Lines:
        """The lines, blank ones too, without their line feeds, each with its number."""
        most = longest.value
        for first, text in self.texts(longest):
            for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), first):
                if len(line) > most:
                    raise self._too_long(number, line, longest)
                yield number, line

    @cached_property
    def first_line(self) -> str:
        """The first line that is not blank, as far as it is in ``start``; empty for files that are not text."""
        if b"\0" in self.start:
            return ""
        text = self.start.removeprefix(_BOM).decode(errors="replace")
        return next((line for line in text.splitlines() if line.strip()), "")

    def table(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """The rows of a table that are not blank, the header first, each with the number of its last line."""
        lines = (line for _, text in self.texts() for line in io.StringIO(text.decode(), newline="\n"))
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for row in rows:
                if "".join(row).strip():
                    yield rows.line_num, row
        except csv.Error as problem:
            expected = "expected lines that end with LF or CRLF, and quotes around whole cells only"
            raise self.refuse(rows.line_num, f"{expected}: {problem}") from None

    @property
    def looks_like_json(self) -> bool:
        """Whether the first character is one of a JSON object or list."""
        return self.first_line.lstrip()[:1] in ("{", "[")

    @cached_property
    def json(self) -> Any:
        """The whole file as one JSON value; the error of a file that is not JSON."""
        try:
            return parsed_value(self.content)
        except JsonError as problem:
            raise self.refuse(problem.line, problem.problem) from None

    @cached_property
    def json_or_none(self) -> Any:
        """As ``json``; None for a file that is not one JSON value."""
        is_lines = self.first_object is not None and b"\n" in self.start.strip()
        if is_lines or not self.looks_like_json:
            return None
        with suppress(FileError):
            return self.json
        return None

    @cached_property
    def first_object(self) -> dict[str, Any] | None:
        """The first line as a JSON object; None if it is not one: then the file is not JSON Lines."""
        if not self.looks_like_json:  # the rest of a run may be large
            return None
        line, newline, _ = self.start.removeprefix(_BOM).lstrip().partition(b"\n")
        if not newline:  # it may be long
            line = self.content.lstrip().partition(b"\n")[0]
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None

    def json_lines(self) -> Iterator[tuple[int, Any]]:
        """The JSON value of each line that is not blank, with the line's number."""
        for first, text in self.texts():
            try:
                values = _flat_objects(text)
            except (ValueError, TypeError, RecursionError):  # one by one: a line is wrong, or all are right
                for number, line in enumerate(text.split(b"\n"), first):
                    try:
                        if line.strip():
                            yield number, parsed_value(line)
                    except JsonError as problem:
                        raise self.refuse(
                            number, f"expected one JSON value in each line: {problem.problem}"
                        ) from None
            else:
                yield from enumerate(values, first)

    def refuse(self, line: int | str | None, problem: str, remedy: str | None = None) -> FileError:
        """The error to raise for this file; ``line`` is the number of one, or a place in words."""
        if isinstance(line, str):
            return self._error(self.path, None, f"{line}: {problem}", remedy)
        return self._error(self.path, line, problem, remedy)

    def refuse_line(self, number: int, line: bytes, expected: str, found: str) -> FileError:
        """The error to raise for one line, which it quotes; it says so if git left a pointer there."""
        if line.startswith(_LFS):
            found = "a Git LFS pointer instead of the file; run `git lfs pull`"
        if number > 1 and self.content.endswith(line):  # without the end of the line
            remedy: str | None = "the file may be cut off; write it again"
        else:
            remedy = next((advice for look, advice in _MISTAKEN.items() if re.match(look, line)), None)
        return self.refuse(number, f"expected {expected}, found {found}: {_shown(line)}", remedy)

    def _too_long(self, number: int, line: bytes, longest: Limit) -> FileError:
        return self.refuse(number, f"{longest.problem(len(line))}: {_shown(line)}")

    def _checked(self, first: int, text: bytes) -> int:
        """Refuse NUL, bytes that are not UTF-8 and too many lines; the number of lines."""
        import numpy as np  # not for files that are not read by lines

        count = int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n"))) + (not text.endswith(b"\n"))
        last = first - 1 + count
        if last > LINES.value:
            raise self.refuse(None, LINES.problem(last))
        place, remedy = text.find(b"\0"), None
        problem = "expected text, found a NUL byte; is this a binary file, or UTF-16?"
        try:
            if not text.isascii():
                text.decode()
        except UnicodeDecodeError as error:
            place = error.start
            remedy = "unpack it, unless it is gzip; save a spreadsheet as CSV, and text of another encoding as UTF-8"
            problem = f"expected UTF-8 text, found byte 0x{text[place]:02x}"
        if place >= 0:
            raise self.refuse(first + text.count(b"\n", 0, place), problem, remedy)
        return count


def _flat_objects(text: bytes) -> list[Any]:
    """The JSON objects of lines, read at once; ``ValueError`` for blank lines, inner objects, keys that repeat."""
    text = text.rstrip()
    # ``int`` refuses NaN; inner objects, repeated keys and '":' in a text have more of these than there are keys
    objects: list[Any] = json.loads(b"[%b]" % text.replace(b"\n", b","), parse_constant=int)
    if len(objects) != 1 + text.count(b"\n") or text.count(b'":') != sum(map(len, objects)):
        raise ValueError
    return objects


def _shown(line: bytes) -> str:
    return f"{line.decode(errors='replace').rstrip()!r:.80}"


def imported(module: str, *, what: str, extra: str | None = None) -> ModuleType:
    """A module of another package; ``UsageError`` if it is not installed, which says how to install it."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        install = package if extra is None else f"'pytest-riskguard[{extra}]'"
        raise UsageError(f"{what} needs {package}: pip install {install}") from None


# Files at addresses such as ``s3://bucket/run.gz``: copied to this machine while they are read. fsspec opens them,
# with the package that the user has installed for the address. Credentials are found where that package looks for
# them, never in an address.


#: ``pathlib`` leaves one of the two slashes. One letter before the colon is a drive.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+-]+):/+([^/].*)", re.DOTALL)


def is_address(path: Path | str) -> bool:
    """Whether a path is an address: a scheme, a colon and a slash."""
    return _ADDRESS.fullmatch(Path(path).as_posix()) is not None


def address_of(path: Path | str) -> str:
    """The address that a path was made of; ``UsageError`` for one that hands over secrets or opens others."""
    found = _ADDRESS.fullmatch(Path(path).as_posix())
    assert found is not None
    scheme, rest = found[1].lower(), found[2]
    if "::" in rest:
        raise UsageError(f"{scheme}: expected one address, found several joined by '::'; name the file itself")
    if "@" in rest.split("/")[0] or "?" in rest:  # reports name files
        raise UsageError(
            f"{scheme}: expected an address without user, password or query, since reports name files; give "
            "credentials as the package for this address expects them"
        )
    return f"{scheme}:///{rest}" if scheme in ("file", "local") else f"{scheme}://{rest}"


@contextmanager
def local_copy(path: Path, limit: Limit) -> Iterator[Path]:
    """A copy of the file at an address, under its own name, until the block ends.

    ``FileError`` if it has more bytes than the limit allows, ``MissingFileError`` if it cannot be read. Each
    ``FileError`` about the copy names the address instead.
    """
    address = address_of(path)
    with tempfile.TemporaryDirectory(prefix="riskguard-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, path.name)
        try:
            _copy(address, copy, limit)
            yield copy
        except FileError as error:
            if error.where != copy:
                raise
            raise type(error)(address, error.line, error.fault, error.remedy) from None


def kept_copy(path: Path, limit: Limit) -> Path:
    """A copy of the file at an address that is there until this process ends; errors as ``local_copy``."""
    copies = ExitStack()
    atexit.register(copies.close)
    return copies.enter_context(local_copy(path, limit))


def _copy(address: str, copy: Path, limit: Limit) -> None:
    """Copy what is at an address; what packages raise becomes ``MissingFileError`` of the address."""
    core = imported("fsspec.core", extra="remote", what=f"{address}: an address")
    total = 0
    try:
        files, place = core.url_to_fs(address)
        with files.open(place, "rb") as source, copy.open("wb") as target:
            while block := source.read(_BLOCK):
                total += target.write(block)
                if total > limit.value:
                    raise FileError(copy, None, limit.problem(total))
    except FileError:
        raise
    except FileNotFoundError:
        raise MissingFileError(address, None, "no such file") from None
    except ImportError as problem:  # it names the package for this address
        raise UsageError(f"{address}: {problem}") from None
    except Exception as problem:
        raise MissingFileError(address, None, f"cannot be read ({type(problem).__name__}: {problem})") from None
