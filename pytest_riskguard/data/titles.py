"""The documents of a collection: which there are, and their titles and addresses, for people who read reports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_riskguard.data.given_file import AS_GIVEN, LabelRules
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.named_columns import text_of
from pytest_riskguard.data.text_tables import objects_of, rows_of, whole_rows
from pytest_riskguard.errors import DocumentsFormatError
from pytest_riskguard.limits import CORPUS_BYTES
from pytest_riskguard.text import web_address

#: Keys, or columns, that may hold the id.
ID_NAMES = ("id", "_id", "docid", "doc_id", "docno")
#: Characters of the longest title that is kept.
MAX_TITLE = 300
_NONE = "", ""


class DocumentTitles:
    """The titles and addresses in a documents file, which is read when the first of them is wanted.

    ``address`` is that of any document, with ``{id}`` for its id.
    """

    def __init__(self, file: Path | None = None, address: str | None = None) -> None:
        self.file, self.address = file, address
        self._known: dict[str, tuple[str, str]] = {}

    def of(
        self, documents: Collection[str], also: Callable[[], Collection[str]] = tuple, rules: LabelRules = AS_GIVEN
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Title and address of each of these documents that the file has them for.

        ``also`` gives documents that may be wanted later, so that the file is not read again for these.
        ``DocumentsFormatError`` or ``MissingFileError`` if it cannot be read.
        """
        if self.file is not None and not self._known.keys() >= {*documents}:
            wanted = {*documents, *also()} - self._known.keys()
            self._known |= dict.fromkeys(wanted, _NONE) | read_titles(self.file, wanted, rules)
        known = {document: self._known.get(document, _NONE) for document in documents}
        titles, urls = ({document: two[place] for document, two in known.items() if two[place]} for place in (0, 1))
        return titles, urls


def read_titles(path: Path, wanted: Collection[str], rules: LabelRules = AS_GIVEN) -> dict[str, tuple[str, str]]:
    """Title and address of each wanted document in a file: JSON Lines, a table with tabs, or Parquet.

    A line of JSON is an object whose id is text or a number under one of ``ID_NAMES``; a table has a header with one
    of them. Titles are cut to ``MAX_TITLE`` characters; what is no text, and an address that is not one of
    http or https, is left out. Where ids name passages, a document has the first title and address of its passages.

    ``DocumentsFormatError`` for a line that is neither, an id of another type, a header without an id, and
    more than a limit of ``input_files`` allows; ``MissingFileError`` for a path that cannot be read; ``UsageError``
    for Parquet without the package that reads it.
    """
    wanted = frozenset(wanted)
    file = InputFile(path, error=DocumentsFormatError, limit=CORPUS_BYTES)
    titles: dict[str, tuple[str, str]] = {}
    for line, cells in _rows(file):
        given = next((cells[name] for name in ID_NAMES if name in cells), None)
        if not (name := text_of(given)):
            raise file.refuse(line, f"expected an id under one of {', '.join(ID_NAMES)}, found {given!r:.60}")
        if (document := rules.document(name)) not in wanted:
            continue
        title, url = (text_of(cells.get(name)) or "" for name in ("title", "url"))
        title = " ".join(title.split())[:MAX_TITLE]
        known, known_url = titles.get(document, _NONE)
        titles[document] = known or title, known_url or web_address(url) or ""
    return titles


def _rows(file: InputFile) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    """What the file says of each document, with its line."""
    if file.start.startswith(b"PAR1"):
        from pytest_riskguard.data.arrow import parquet_cells

        yield from parquet_cells(file, (*ID_NAMES, "title", "url"))
        return
    if file.looks_like_json:
        yield from objects_of(file)
        return
    rows = rows_of(file, "\t")
    header = [name.strip().lower() for name in next(rows, (0, [""]))[1]]
    if {*ID_NAMES}.isdisjoint(header):
        expected = f"JSON Lines, or a header with tabs that names {', '.join(ID_NAMES[:3])}"
        raise file.refuse_line(1, file.first_line.encode(), expected, "neither")
    yield from ((line, dict(zip(header, cells, strict=True))) for line, cells in whole_rows(file, header, rows))
