"""The documents of a collection: which there are, and their titles and addresses, for people who read reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pytest_riskguard.data.arrow import parquet_cells
from pytest_riskguard.data.content import InputFile
from pytest_riskguard.data.given_file import AS_GIVEN, LabelRules
from pytest_riskguard.data.text_files import LineReader
from pytest_riskguard.errors import DocumentsFormatError, FileError
from pytest_riskguard.limits import CORPUS_BYTES
from pytest_riskguard.text import web_address

_Lines = LineReader[DocumentsFormatError]
#: The cells of a document, and the error to raise for them, of what was expected and what was found.
_Row = tuple[dict[str, Any], Callable[[str, str], FileError]]
#: Keys, or columns, that may hold the id, and those that are read.
ID_NAMES = ("id", "_id", "docid", "doc_id", "docno")
TITLE, URL = "title", "url"
#: Characters of the longest title that is kept.
MAX_TITLE = 300


class DocumentTitles:
    """The titles and addresses in a documents file, which is read when the first of them is wanted.

    ``address`` is that of any document, with ``{id}`` for its id.
    """

    def __init__(self, file: Path | None = None, address: str | None = None) -> None:
        self.address = address
        self._file = file
        self._looked_up: set[str] = set()
        self._titles: dict[str, str] = {}
        self._urls: dict[str, str] = {}

    @property
    def file_name(self) -> str | None:
        """The name of the documents file, if there is one."""
        return None if self._file is None else self._file.name

    def gone(self, documents: Collection[str], rules: LabelRules = AS_GIVEN) -> frozenset[str]:
        """Those of the documents that the file does not have; none without a file. Errors as ``of``."""
        if self._file is None:
            return frozenset()
        return frozenset(documents).difference(name for name, _, _ in read_titles(self._file, documents, rules))

    def of(
        self,
        documents: Collection[str],
        also: Callable[[], Collection[str]] = tuple,
        rules: LabelRules = AS_GIVEN,
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Title and address of each of these documents that the file has them for.

        ``also`` gives documents that may be wanted later, so that the file is not read again for these.
        ``DocumentsFormatError`` or ``MissingFileError`` if it cannot be read.
        """
        if self._file is not None and not self._looked_up.issuperset(documents):
            wanted = {*documents, *also()} - self._looked_up
            for document, title, url in read_titles(self._file, wanted, rules):
                if title:
                    self._titles.setdefault(document, title)
                if url:
                    self._urls.setdefault(document, url)
            self._looked_up |= wanted
        titles = {document: self._titles[document] for document in documents if document in self._titles}
        return titles, {document: self._urls[document] for document in documents if document in self._urls}


def read_titles(
    path: Path, wanted: Collection[str], rules: LabelRules = AS_GIVEN
) -> Iterator[tuple[str, str | None, str | None]]:
    """Id, title and address of each wanted document in a file: JSON Lines, a table with tabs, or Parquet.

    A line of JSON is an object whose id is text or a number under one of ``ID_NAMES``; a table has a header with one
    of them. Titles are cut to ``MAX_TITLE`` characters; an address that is not one of http or https is left out.
    Where ids name passages, a document comes once for each.

    Raises
    ------
    DocumentsFormatError
        A line that is neither, an id or a title of another type, a header without an id, more than a limit of
        ``input_files`` allows.
    MissingFileError
        The path cannot be read.
    UsageError
        Parquet without the package that reads it.
    """
    wanted = frozenset(wanted)
    file = InputFile(path, error=DocumentsFormatError, limit=CORPUS_BYTES)
    for cells, refuse in _parquet_rows(file) if file.start.startswith(b"PAR1") else _line_rows(path):
        given = next((cells[name] for name in ID_NAMES if name in cells), None)
        document = _id_of(given)
        if document is None:
            raise refuse(f"an id under one of {', '.join(ID_NAMES)}", repr(given)[:60])
        if (document := rules.document(document)) not in wanted:
            continue
        title, url = cells.get(TITLE), cells.get(URL)
        for name, text in ((TITLE, title), (URL, url)):
            if not isinstance(text, str | None):
                raise refuse(f"text as {name}", repr(text)[:60])
        yield document, _short(title), None if url is None else web_address(url)


def _parquet_rows(file: InputFile) -> Iterator[_Row]:
    for number, cells in parquet_cells(file, (*ID_NAMES, TITLE, URL)):

        def refuse(expected: str, found: str, number: int | None = number) -> DocumentsFormatError:
            return DocumentsFormatError(file.path, number, f"expected {expected}, found {found}")

        yield cells, refuse


def _line_rows(path: Path) -> Iterator[_Row]:
    """The rows of JSON Lines, or of a table with a header."""
    lines = LineReader(path, error=DocumentsFormatError, size=CORPUS_BYTES)
    header: list[str] | None = None
    is_table = None
    for number, line in lines:
        if not line.strip():
            continue
        if is_table is None:
            is_table = not line.lstrip().startswith(b"{")
            if is_table:
                header = _header(lines, number, line)
                continue
        cells = _row(lines, number, line, header) if header is not None else _object(lines, number, line)
        yield cells, partial(lines.refuse_line, number, line)
    if is_table is None:
        raise lines.refuse_empty("one JSON object per line, or a table with a header")


def _id_of(given: object) -> str | None:
    """An id as text, of whole numbers their digits; None if it is not an id."""
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    if isinstance(given, int) and not isinstance(given, bool):
        given = str(given)
    return given.strip() or None if isinstance(given, str) else None


def _object(lines: _Lines, number: int, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise lines.refuse_line(number, line, "a JSON object in each line", "something else")
    return value


def _header(lines: _Lines, number: int, line: bytes) -> list[str]:
    names = [cell.strip().lower() for cell in line.decode().rstrip("\r").split("\t")]
    if not any(name in names for name in ID_NAMES):
        expected = f"JSON Lines, or a header with tabs that names {', '.join(ID_NAMES[:3])}"
        raise lines.refuse_line(number, line, expected, "neither")
    if len(set(names)) < len(names):
        raise lines.refuse_line(number, line, "a name of its own for every column", "one twice")
    return names


def _row(lines: _Lines, number: int, line: bytes, header: Sequence[str]) -> dict[str, Any]:
    cells = line.decode().rstrip("\r").split("\t")
    if len(cells) != len(header):
        raise lines.refuse_line(number, line, f"{len(header)} columns with tabs between them", str(len(cells)))
    return dict(zip(header, cells, strict=True))


def _short(title: str | None) -> str | None:
    text = " ".join((title or "").split())
    return (text if len(text) <= MAX_TITLE else text[: MAX_TITLE - 1] + "…") or None
