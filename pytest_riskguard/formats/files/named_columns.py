"""Tables with a header that names their columns: comma, semicolon or tab between them, cells quoted where needed."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.named_rows import NamedRows, NumberedRow, known_columns, missing_columns, with_header
from pytest_riskguard.formats.records import Judgement, Kind, Ranking, Records, TopicRow

_DELIMITERS = "\t;,"
#: A table with one column has no delimiter; only one of query texts makes sense.
_ONE_COLUMN = frozenset({"query", "query_text", "querytext"})


def fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the first line names the columns that are needed."""
    delimiter = _delimiter(file, kind)
    if delimiter is None:
        return Misfit("the first line has no comma, semicolon or tab")
    header = _cells(file.first_line, delimiter)
    problem = missing_columns(header, kind, file.columns)
    if problem is None:
        return None
    is_meant = known_columns(header, kind) > 0 or file.name.lower().removesuffix(".gz").endswith(".csv")
    nearness = 3 if file.columns else 2 if is_meant else 0
    return Misfit(f"its first line is not a header that fits: {problem}", nearness)


def judgements(file: InputFile) -> Records[Judgement]:
    """A row for each judged document; rows without a grade are left out."""
    return _rows(file, "judgements").judgements()


def rankings(file: InputFile) -> Records[Ranking]:
    """A row for each document; where there are no scores, the rank counts."""
    return _rows(file, "rankings").rankings()


def topics(file: InputFile) -> Records[TopicRow]:
    """A row for each topic; further columns are tags."""
    return _rows(file, "topics").topics()


def _rows(file: InputFile, kind: Kind) -> NamedRows:
    header, rows = with_header(file.table(_delimiter(file, kind) or ","))
    return NamedRows(header, _of_length(len(header), rows, file), kind, file.refuse, file.columns)


def _of_length(columns: int, rows: Iterable[NumberedRow], file: InputFile) -> Iterator[NumberedRow]:
    for line, row in rows:
        if len(row) != columns:
            raise file.refuse(line, f"expected {columns} columns as in the header, found {len(row)}")
        yield line, row


def _delimiter(file: InputFile, kind: Kind) -> str | None:
    """The character between the columns of the first line; of several, the one that separates most known names."""
    line = file.first_line
    if file.looks_like_json:
        return None
    present = [character for character in _DELIMITERS if character in line]
    if not present:
        return "," if kind == "topics" and line.strip().lower() in _ONE_COLUMN else None
    return max(present, key=lambda character: (known_columns(_cells(line, character), kind), line.count(character)))


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])
