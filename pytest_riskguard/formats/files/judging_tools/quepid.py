"""The ratings of a case as Quepid exports and imports them: CSV ``query,docid,rating``, or JSON.

Queries are known by their texts. A cell that a spreadsheet would run as a formula has one space before it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from pytest_riskguard.formats.columns import number
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.files.judging_tools.json_node import JsonNode
from pytest_riskguard.formats.files.judging_tools.parts import require
from pytest_riskguard.formats.records import Judgement, Kind, Records

_HEADERS = (["query", "docid", "rating"], ["query", "doc_id", "rating"])
_FORMULA = ("=", "+", "-", "@")


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
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


def judgements(file: InputFile) -> Records[Judgement]:
    """The ratings; queries without any are left out."""
    require(fits(file, "judgements"), file)
    return Records(_of_json(file) if file.looks_like_json else _of_table(file), by_text=True)


def _of_json(file: InputFile) -> Iterator[Judgement]:
    seen: set[str] = set()
    for query in JsonNode.of(file)["queries"].items():
        text = query["query"].text()
        if text in seen:
            raise query.refuse(f"expected each query once, found {text!r:.60} again")
        seen.add(text)
        for document, rating in query["ratings"].entries():
            if rating.value is not None:
                yield Judgement(text, document.strip(), rating.number())


def _of_table(file: InputFile) -> Iterator[Judgement]:
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
