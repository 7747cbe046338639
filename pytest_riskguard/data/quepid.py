"""CSV as Quepid's pages write it.

Quotes are doubled in every cell, but only cells with a comma or a line end are quoted: ``19"" monitor`` means
``19" monitor``, which readers of CSV refuse or get wrong.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pytest_riskguard.data.columns import SYNONYMS, number
from pytest_riskguard.data.content import InputFile, Misfit
from pytest_riskguard.data.judging_tools import JsonNode, labels, only_part, require
from pytest_riskguard.data.records import Judgement, Kind, Ranking, Records


def rows(file: InputFile) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the number of its last line; cells without spaces around them."""
    row: list[str] = []
    open_cell: str | None = None  # a quoted cell whose end has not come yet
    number = 0
    for number, line in file.lines():
        rest: str | None = line.decode().removesuffix("\r")
        while rest is not None:
            if open_cell is None and _is_quoted(rest):
                open_cell, rest = "", rest[1:]
            if open_cell is None:
                cell, comma, after = (rest or "").partition(",")
                rest = after if comma else None
            else:
                inside, is_closed, after = _until_quote(rest or "")
                open_cell += inside
                if not is_closed:
                    open_cell += "\n"
                    break
                if after and not after.startswith(","):
                    raise file.refuse(number, f"expected a comma after a quoted cell, found {after!r:.40}")
                cell, open_cell = open_cell, None
                rest = after[1:] if after else None
            row.append(cell.replace('""', '"').strip())
        if open_cell is None:
            if any(row):
                yield number, row
            row = []
    if open_cell is not None:
        raise file.refuse(number, "expected the end of a quoted cell, found the end of the file")


def _is_quoted(text: str) -> bool:
    """An odd number of quotes at the start: doubled ones are part of the cell."""
    return (len(text) - len(text.lstrip('"'))) % 2 == 1


def _until_quote(text: str) -> tuple[str, bool, str]:
    """What stands before the quote that ends a cell, whether there is one, and what follows it."""
    place = 0
    while (place := text.find('"', place)) >= 0:
        if text[place : place + 2] != '""':
            return text[:place], True, text[place + 1 :]
        place += 2
    return text, False, ""


# The ratings of a case as Quepid exports and imports them: CSV ``query,docid,rating``, or JSON.
#
# Queries are known by their texts. A cell that a spreadsheet would run as a formula has one space before it.


_HEADERS = (["query", "docid", "rating"], ["query", "doc_id", "rating"])
_FORMULA = ("=", "+", "-", "@")


def quepid_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file is JSON with the ratings of queries, or a table with exactly Quepid's three columns."""
    if file.looks_like_json:
        value = file.json_or_none
        queries = value.get("queries") if isinstance(value, dict) else None
        first = queries[0] if isinstance(queries, list) and queries else None
        if isinstance(first, dict) and "query" in first and "ratings" in first:
            return None
        reason = "it has no list 'queries' of objects with 'query' and 'ratings'"
        return Misfit(reason, 0 if queries is None else 3)
    if _cells(file.first_line) in _HEADERS:
        return None
    return Misfit("its first line is not query,docid,rating")


def quepid_judgements(file: InputFile) -> Records[Judgement]:
    """The ratings; queries without any are left out."""
    require(quepid_fits(file, "judgements"), file)
    return Records(_quepid_of_json(file) if file.looks_like_json else _quepid_of_table(file), by_text=True)


def _quepid_of_json(file: InputFile) -> Iterator[Judgement]:
    seen: set[str] = set()
    for query in JsonNode.of(file)["queries"].items():
        text = query["query"].text()
        if text in seen:
            raise query.refuse(f"expected each query once, found {text!r:.60} again")
        seen.add(text)
        for document, rating in query["ratings"].entries():
            if rating.value is not None:
                yield Judgement(text, document.strip(), rating.number())


def _quepid_of_table(file: InputFile) -> Iterator[Judgement]:
    rows = file.table(",")
    next(rows, None)
    for line, row in rows:
        if len(row) != 3:
            raise file.refuse(line, f"expected 3 columns (query, docid, rating), found {len(row)}")
        query, document, rating = (cell.strip() for cell in row)
        if not rating:  # a query, or a document, that nobody has rated yet
            continue
        if not (query and document):
            raise file.refuse(line, "expected a query and a docid beside a rating, found an empty cell")
        grade = number(rating)
        if grade != grade:
            raise file.refuse(line, f"expected a number as the rating, found {rating!r:.60}")
        yield Judgement(query, document, grade, line=line)


def written(rows: Iterable[tuple[str, str, str]]) -> bytes:
    """A table of query, docid and rating; an empty rating asks for one."""
    buffer = io.StringIO(newline="")
    table = csv.writer(buffer, lineterminator="\n")
    table.writerow(_HEADERS[0])
    table.writerows([safe(cell) for cell in row] for row in rows)
    return buffer.getvalue().encode()


def safe(cell: str) -> str:
    """A cell that no spreadsheet runs: Quepid removes the space when it reads the file."""
    return f" {cell}" if cell.startswith(_FORMULA) and number(cell) != number(cell) else cell


def _cells(line: str) -> list[str]:
    return [cell.strip().lower() for cell in line.split(",")]


# The judgements of a Quepid book, by several judges: CSV with a column for each judge, or JSON.


_FIRST = (["query", "docid"], ["query", "doc_id"])
#: Columns that say something else than what a judge thinks.
_NO_JUDGES = frozenset(name for names in SYNONYMS.values() for name in names)
#: The judge of judgements without a user.
_NOBODY = "anonymous"


def quepid_book_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file is JSON with pairs of queries and documents, or a table with judges beside query and docid."""
    if file.looks_like_json:
        value = file.json_or_none
        if isinstance(value, dict) and isinstance(value.get("query_doc_pairs"), list):
            return None
        return Misfit("it has no list 'query_doc_pairs'")
    header = next(csv.reader([file.first_line]), [])
    names = [cell.strip().lower() for cell in header]
    if names[:2] not in _FIRST or len(names) < 3:
        return Misfit("its first line is not query,docid and the names of judges")
    if others := _NO_JUDGES.intersection(names[2:]):
        return Misfit(f"its column {sorted(others)[0]!r} is not the name of a judge")
    return None


def quepid_book_judgements(file: InputFile) -> Records[Judgement]:
    """A grade by each judge who gave one."""
    require(quepid_book_fits(file, "judgements"), file)
    return Records(_quepid_book_of_json(file) if file.looks_like_json else _quepid_book_of_table(file), by_text=True)


def _quepid_book_of_json(file: InputFile) -> Iterator[Judgement]:
    for pair in JsonNode.of(file)["query_doc_pairs"].items():
        query, document = pair["query_text"].text(), pair["doc_id"].identifier()
        given = pair.get("judgements")
        for judgement in given.items() if given is not None else ():
            rating, judge = judgement.get("rating"), judgement.get("user_email")
            unrateable = judgement.get("unrateable")
            if rating is None or (unrateable is not None and unrateable.value is True):
                continue
            yield Judgement(query, document, rating.number(), judge=_NOBODY if judge is None else judge.text())


def _quepid_book_of_table(file: InputFile) -> Iterator[Judgement]:
    rows = file.table(",")
    _, header = next(rows, (1, []))
    judges = [cell.strip() for cell in header[2:]]
    if repeated := [judge for judge in judges if not judge or judges.count(judge) > 1]:
        raise file.refuse(1, f"expected a name of its own for every judge, found {repeated[0]!r:.60}")
    for line, row in rows:
        if len(row) != len(header):
            raise file.refuse(line, f"expected {len(header)} columns as in the header, found {len(row)}")
        query, document = row[0].strip(), row[1].strip()
        for judge, cell in zip(judges, row[2:], strict=True):
            if not cell.strip():
                continue
            grade = number(cell.strip())
            if grade != grade:
                raise file.refuse(line, f"expected a number as the grade of {judge!r:.60}, found {cell!r:.60}")
            if not (query and document):
                raise file.refuse(line, "expected a query and a docid beside a grade, found an empty cell")
            yield Judgement(query, document, grade, judge=judge, line=line)


# Quepid's snapshots (CSV, JSON), which are rankings, and the detailed export of a case, which has ratings too.


_SNAPSHOT = ("Snapshot Name", "Query Text", "Doc ID", "Doc Position")
_DETAILED = ("Team Name", "Case Name", "Query Text", "Doc ID", "Rating")
#: Ratings of documents that nobody has rated.
_UNRATED = ("", "--")


def quepid_snapshot_fits(file: InputFile, kind: Kind) -> Misfit | None:
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


def quepid_snapshot_judgements(file: InputFile) -> Records[Judgement]:
    """The ratings of a detailed export."""
    require(quepid_snapshot_fits(file, "judgements"), file)
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


def quepid_snapshot_rankings(file: InputFile) -> Records[Ranking]:
    """The documents of each query by position; ``FILE#NAME`` names one of several snapshots."""
    require(quepid_snapshot_fits(file, "rankings"), file)
    ranked = _quepid_snapshot_of_json(file) if file.looks_like_json else _quepid_snapshot_of_table(file)
    return Records(ranked, by_text=True, is_ordered=True)


def _quepid_snapshot_of_table(file: InputFile) -> Iterator[Ranking]:
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


def _quepid_snapshot_of_json(file: InputFile) -> Iterator[Ranking]:
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
