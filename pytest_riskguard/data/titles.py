"""The documents of a collection: which there are, and their titles and addresses, for people who read reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_riskguard.data.arrow import parquet_cells
from pytest_riskguard.data.given_file import AS_GIVEN, LabelRules
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.errors import DocumentsFormatError
from pytest_riskguard.limits import CORPUS_BYTES
from pytest_riskguard.text import web_address

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
        self._known: dict[str, tuple[str | None, str | None]] = {}

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
        if self._file is not None and not self._known.keys() >= {*documents}:
            wanted = {*documents, *also()} - self._known.keys()
            found: dict[str, tuple[str | None, str | None]] = dict.fromkeys(wanted, (None, None))
            for document, title, url in read_titles(self._file, wanted, rules):
                first_title, first_url = found[document]
                found[document] = (first_title or title, first_url or url)
            self._known |= found
        known = [(document, *self._known[document]) for document in documents if document in self._known]
        return {name: title for name, title, _ in known if title}, {name: url for name, _, url in known if url}


def read_titles(
    path: Path, wanted: Collection[str], rules: LabelRules = AS_GIVEN
) -> Iterator[tuple[str, str | None, str | None]]:
    """Id, title and address of each wanted document in a file: JSON Lines, a table with tabs, or Parquet.

    A line of JSON is an object whose id is text or a number under one of ``ID_NAMES``; a table has a header with one
    of them. Titles are cut to ``MAX_TITLE`` characters; an address that is not one of http or https is left out.
    Where ids name passages, a document comes once for each.

    ``DocumentsFormatError`` for a line that is neither, an id or a title of another type, a header without an id, and
    more than a limit of ``input_files`` allows; ``MissingFileError`` for a path that cannot be read; ``UsageError``
    for Parquet without the package that reads it.
    """
    wanted = frozenset(wanted)
    file = InputFile(path, error=DocumentsFormatError, limit=CORPUS_BYTES)
    for line, cells in _rows(file):
        given = next((cells[name] for name in ID_NAMES if name in cells), None)
        if isinstance(given, float) and given.is_integer():
            given = int(given)
        if isinstance(given, int) and not isinstance(given, bool):
            given = str(given)
        if not isinstance(given, str) or not given.strip():
            raise file.refuse(line, f"expected an id under one of {', '.join(ID_NAMES)}, found {given!r:.60}")
        if (document := rules.document(given.strip())) not in wanted:
            continue
        title, url = cells.get(TITLE), cells.get(URL)
        for name, text in ((TITLE, title), (URL, url)):
            if not isinstance(text, str | None):
                raise file.refuse(line, f"expected text as {name}, found {text!r:.60}")
        title = " ".join((title or "").split())
        short = title if len(title) <= MAX_TITLE else f"{title[: MAX_TITLE - 1]}…"
        yield document, short or None, None if url is None else web_address(url)


def _rows(file: InputFile) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    """What the file says of each document, with its line."""
    if file.start.startswith(b"PAR1"):
        yield from parquet_cells(file, (*ID_NAMES, TITLE, URL))
        return
    if not file.first_line:
        raise file.refuse(None, "expected one JSON object per line, or a table with a header, found an empty file")
    lines = ((line, text) for line, text in file.lines() if text.strip())
    if file.looks_like_json:
        for line, text in lines:
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                value = None
            if not isinstance(value, dict):
                raise file.refuse_line(line, text, "a JSON object in each line", "something else")
            yield line, value
        return
    line, text = next(lines)
    header = [name.strip().lower() for name in text.decode().split("\t")]
    if {*ID_NAMES}.isdisjoint(header) or len({*header}) < len(header):
        expected = f"JSON Lines, or a header with tabs that names {', '.join(ID_NAMES[:3])}, each column once"
        raise file.refuse_line(line, text, expected, "neither")
    for line, text in lines:
        cells = text.decode().rstrip("\r").split("\t")
        if len(cells) != len(header):
            raise file.refuse_line(line, text, f"{len(header)} columns with tabs between them", str(len(cells)))
        yield line, dict(zip(header, cells, strict=True))
