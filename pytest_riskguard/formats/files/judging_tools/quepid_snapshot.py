"""Quepid's snapshots (CSV, JSON), which are rankings, and the detailed export of a case, which has ratings too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pytest_riskguard.formats.columns import number
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.files.judging_tools.browser_csv import rows
from pytest_riskguard.formats.files.judging_tools.json_node import JsonNode
from pytest_riskguard.formats.files.judging_tools.parts import labels, only_part, require
from pytest_riskguard.formats.records import Judgement, Kind, Ranking, Records

_SNAPSHOT = ("Snapshot Name", "Query Text", "Doc ID", "Doc Position")
_DETAILED = ("Team Name", "Case Name", "Query Text", "Doc ID", "Rating")
#: Ratings of documents that nobody has rated.
_UNRATED = ("", "--")


def fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the file has Quepid's columns, or is JSON of a snapshot with its documents."""
    if file.looks_like_json:
        snapshots = _json_snapshots(file)
        if kind == "rankings" and snapshots and all("docs" in snapshot for snapshot in snapshots):
            return None
        return Misfit("it is not a snapshot with 'docs' and 'queries'")
    header = file.first_line.split(",")
    if set(_DETAILED) <= set(header) or (kind == "rankings" and set(_SNAPSHOT) <= set(header)):
        return None
    return Misfit("its first line does not have the columns of a Quepid snapshot or of a detailed export")


def judgements(file: InputFile) -> Records[Judgement]:
    """The ratings of a detailed export."""
    require(fits(file, "judgements"), file)
    return Records(_ratings(file), by_text=True)


def _ratings(file: InputFile) -> Iterator[Judgement]:
    for row in _rows(file):
        cell = row.cells["Rating"]
        if cell in _UNRATED:
            continue
        grade = number(cell)
        if grade != grade:
            raise file.refuse(row.line, f"expected a number as the rating, found {cell!r:.60}")
        yield Judgement(row.query, row.document, grade, line=row.line)


def rankings(file: InputFile) -> Records[Ranking]:
    """The documents of each query by position; ``FILE#NAME`` names one of several snapshots."""
    require(fits(file, "rankings"), file)
    ranked = _of_json(file) if file.looks_like_json else _of_table(file)
    return Records(ranked, by_text=True, is_ordered=True)


def _of_table(file: InputFile) -> Iterator[Ranking]:
    all_rows = list(_rows(file))
    snapshots = list(dict.fromkeys(row.snapshot for row in all_rows))
    called = labels([name for name, _ in snapshots], [other for _, other in snapshots])
    part = only_part(file, called, "snapshot")
    chosen = snapshots[called.index(part)]
    first: dict[str, int] = {}
    by_query: dict[str, list[tuple[float, str]]] = {}
    for place, row in enumerate(row for row in all_rows if row.snapshot == chosen):
        cell = row.cells.get("Doc Position", str(place))
        position = number(cell)
        if position != position:
            raise file.refuse(row.line, f"expected a number as the position, found {cell!r:.60}")
        first.setdefault(row.query, row.line)
        by_query.setdefault(row.query, []).append((position, row.document))
    for query, documents in by_query.items():
        documents.sort(key=lambda pair: pair[0])
        yield Ranking(query, [document for _, document in documents], line=first[query])


class _Row(NamedTuple):
    """One row of a table, with its columns by name."""

    line: int
    query: str
    document: str
    cells: Mapping[str, str]

    @property
    def snapshot(self) -> tuple[str, str]:
        """Name and time of the snapshot; name and id of the case in a detailed export."""
        if "Snapshot Name" in self.cells:
            return self.cells["Snapshot Name"], self.cells.get("Snapshot Time", "")
        return self.cells["Case Name"], self.cells.get("Case ID", "")


def _rows(file: InputFile) -> Iterator[_Row]:
    table = rows(file)
    _, header = next(table, (1, []))
    for line, row in table:
        if len(row) < len(header):  # further columns are fields of the documents, which have no names in some exports
            raise file.refuse(line, f"expected at least {len(header)} columns as in the header, found {len(row)}")
        cells = dict(zip(header, row, strict=False))
        query, document = cells["Query Text"], cells["Doc ID"]
        if not query:
            raise file.refuse(line, "expected a query text, found an empty cell")
        if document:
            yield _Row(line, query, document, cells)


def _json_snapshots(file: InputFile) -> list[dict[str, object]]:
    value = file.json_or_none
    found = value.get("snapshots", [value]) if isinstance(value, dict) else value
    if not isinstance(found, list):
        return []
    return [one for one in found if isinstance(one, dict) and isinstance(one.get("queries"), list)]


def _of_json(file: InputFile) -> Iterator[Ranking]:
    whole = JsonNode.of(file)
    if isinstance(whole.value, dict):
        several = whole.get("snapshots")
        snapshots = [whole] if several is None else list(several.items())
    else:
        snapshots = list(whole.items())
    names, ids = ([_text(snapshot, key) for snapshot in snapshots] for key in ("name", "id"))
    called = labels(names, ids)
    snapshot = snapshots[called.index(only_part(file, called, "snapshot"))]
    texts = {query["query_id"].identifier(): query["query_text"].text() for query in snapshot["queries"].items()}
    for query, documents in snapshot["docs"].entries():
        if query not in texts:  # deleted from the case since the snapshot was made
            continue
        # documents with a rating that the search did not return are kept in a snapshot as well
        returned = [doc["id"].identifier() for doc in documents.items() if not _is_true(doc.get("rated_only"))]
        yield Ranking(texts[query], returned)


def _text(node: JsonNode, key: str) -> str:
    value = node.get(key)
    return "" if value is None else value.identifier()


def _is_true(node: JsonNode | None) -> bool:
    return node is not None and node.value is True
