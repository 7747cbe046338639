"""A file of any format: its start, to find out what it is, and its whole content, read once."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from pytest_riskguard.data.given_file import names_collection
from pytest_riskguard.data.input_files import ContentError, blocks
from pytest_riskguard.data.text_files import LineReader
from pytest_riskguard.errors import FileError, UsageError
from pytest_riskguard.limits import LINE_BYTES, TABLE_BYTES, Limit
from pytest_riskguard.serialization import JsonError, parsed_value

#: Bytes from which a format is recognised.
START_BYTES = 2**16
#: The escape of a character that needs two of them.
_HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
#: How files that are not text begin: Parquet, Arrow, Feather of the first version, LZ4.
_BINARY = (b"PAR1", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff", b"\x04\x22\x4d\x18")


_Row = TypeVar("_Row")


class Misfit(NamedTuple):
    """Why a file does not have a format; of several, the reason with the greatest ``nearness`` is shown."""

    reason: str
    nearness: int = 0


class InputFile:
    """One file, plain or gzip, or one part of it (``FILE#PART``).

    ``error`` is raised, with file and line, for content that cannot be read; ``MissingFileError`` for a path that is
    not a readable regular file. With ``content`` the path only names the file. ``columns`` says which column of a
    table holds what, where its name does not; ``download`` is for collections that ``path`` names.
    """

    def __init__(
        self,
        path: Path,
        *,
        error: type[FileError],
        part: str | None = None,
        limit: Limit = TABLE_BYTES,
        content: bytes | None = None,
        columns: Mapping[str, str] | None = None,
        download: bool = False,
    ) -> None:
        self.path, self.part, self.download = Path(path), part, download
        self.columns = dict(columns or {})
        self.keys: TopicKeys | None = None
        self.labels, self.ties = AS_GIVEN, cast("Ties | None", None)
        self._error, self._limit, self._given = error, limit, content
        self._digest: str | None = None

    @property
    def name(self) -> str:
        """The file's name, without its folder; the whole name of a collection."""
        return self.path.as_posix() if names_collection(self.path) else self.path.name

    @cached_property
    def start(self) -> bytes:
        """The first bytes, decompressed."""
        if self._given is not None:
            return self._given[:START_BYTES]
        return next(self._blocks(), b"")[:START_BYTES]

    @cached_property
    def content(self) -> bytes:
        """All bytes, decompressed, without a byte order mark."""
        return b"".join(self.blocks())

    def blocks(self) -> Iterator[bytes]:
        """The same about a million bytes at a time; after the last of them ``digest`` is known."""
        digest = hashlib.sha256()
        for index, block in enumerate(self._blocks() if self._given is None else [self._given]):
            digest.update(block)
            yield block if index else block.removeprefix(b"\xef\xbb\xbf")
        self._digest = f"sha256:{digest.hexdigest()}"

    @property
    def digest(self) -> str:
        """``sha256:<hex>`` of the decompressed bytes."""
        assert self._digest is not None, "known once the whole file has been read"
        return self._digest

    @cached_property
    def first_line(self) -> str:
        """The first line that is not blank, as far as it is in ``start``; empty for files that are not text."""
        if self.start.startswith(_BINARY):
            return ""
        text = self.start.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
        return next((line for line in text.splitlines() if line.strip()), "")

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
        line, newline, _ = self.content.lstrip().partition(b"\n")
        if not newline:  # one line may be long, and is read once
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

    @property
    def limit(self) -> Limit:
        """How many bytes it may have."""
        return self._limit

    def lines(self, line_size: Limit = LINE_BYTES) -> LineReader[FileError]:
        """The lines, with their numbers."""
        return LineReader(self.path, error=self._error, line_size=line_size, content=self.content)

    def table(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """The rows of a table that are not blank, the header first, with the number of each row's last line."""
        lines = self.lines()
        number = 0

        def text() -> Iterator[str]:
            nonlocal number
            for line_number, line in lines:
                number = line_number
                yield line.decode() + "\n"

        try:
            for row in csv.reader(text(), delimiter=delimiter, strict=True):
                if any(cell.strip() for cell in row):
                    yield number, row
        except csv.Error as problem:
            if "new-line" in str(problem):
                raise self.refuse(number, "expected lines that end with LF or CRLF, found CR alone") from None
            raise self.refuse(number, f"expected quotes around whole cells only: {problem}") from None

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

    def _blocks(self) -> Iterator[bytes]:
        try:
            yield from blocks(self.path, self._limit)
        except ContentError as problem:
            raise self.refuse(None, str(problem)) from None


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


def imported(module: str, *, what: str, extra: str | None = None) -> ModuleType:
    """A module of another package; ``UsageError`` if it is not installed, which says how to install it."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        install = package if extra is None else f"'pytest-riskguard[{extra}]'"
        raise UsageError(f"{what} needs {package}: pip install {install}") from None
