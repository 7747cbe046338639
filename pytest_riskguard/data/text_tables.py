"""Tables with a header that names their columns: comma, semicolon or tab between them, cells quoted where needed."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from pytest_riskguard.data.columns import (
    WANTED,
    NamedRows,
    NumberedRow,
    known_columns,
    missing_columns,
    of_length,
    places,
    with_header,
)
from pytest_riskguard.data.content import START_BYTES, InputFile, Misfit
from pytest_riskguard.data.records import Judgement, Kind, Ranking, Records, TopicRow

_DELIMITERS = "\t;,"
#: A table with one column has no delimiter; only one of query texts makes sense.
_ONE_COLUMN = frozenset({"query", "query_text", "querytext"})


def csv_fits(file: InputFile, kind: Kind) -> Misfit | None:
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


def csv_judgements(file: InputFile) -> Records[Judgement]:
    """A row for each judged document; rows without a grade are left out."""
    return _csv_rows(file, "judgements").judgements()


def csv_rankings(file: InputFile) -> Records[Ranking]:
    """A row for each document; where there are no scores, the rank counts."""
    return _csv_rows(file, "rankings").rankings()


def csv_topics(file: InputFile) -> Records[TopicRow]:
    """A row for each topic; further columns are tags."""
    return _csv_rows(file, "topics").topics()


def _csv_rows(file: InputFile, kind: Kind) -> NamedRows:
    header, rows = with_header(file.table(_delimiter(file, kind) or ","))
    return NamedRows(header, of_length(len(header), rows, file), kind, file.refuse, file.columns)


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


# Tables with tabs: judgements and rankings with named columns; topics also without a header, or with tags.
#
# ``data`` reads tables of topics line by line, so that only their recognition is here.


#: How a header names its first two columns; a row with other names is not a header.
TOPIC_NAMES = ("topic", "id", "qid", "query_id")
TEXT_NAMES = ("query", "text", "title")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


tsv_judgements, tsv_rankings = csv_judgements, csv_rankings


def tsv_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the first line has a tab, and is a header where one is needed."""
    if "\t" not in file.first_line or file.looks_like_json:
        return Misfit("the first line has no tab", 0 if kind != "topics" or file.looks_like_json else 1)
    if kind != "topics":
        return csv_fits(file, kind)
    first, second = (cell.strip().lower() for cell in file.first_line.split("\t")[:2])
    is_header = first in TOPIC_NAMES and second in TEXT_NAMES
    if is_header and _is_quoted(file):
        return Misfit("its cells are quoted")
    if file.columns or (not is_header and csv_fits(file, kind) is None):
        return Misfit("its columns are named, and are not an id, then a query text")
    return None


def _is_quoted(file: InputFile) -> bool:
    """Whether cells are quoted as in CSV: some hold doubled quotes, and none begins with a quote otherwise."""
    lines = file.start.decode(errors="replace").splitlines()
    if len(file.start) == START_BYTES:  # the last line may go on
        del lines[-1]
    cells = [cell for line in lines for cell in line.split("\t")]
    quoted = [cell for cell in cells if cell.startswith('"')]
    return any('""' in cell[1:-1] for cell in quoted) and all(map(_QUOTED.fullmatch, quoted))


# JSON Lines with named keys: an object for each row, one in a line, or all in one JSON list.


def jsonl_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the first object has the keys that are needed."""
    if not file.looks_like_json:
        return Misfit("it is not JSON")
    first = _first(file)
    if first is None:
        return Misfit("it is neither one JSON object in each line nor a list of objects", 1)
    if kind == "topics" and {"title", "text"} <= first.keys() and "query" not in first:
        return Misfit("its objects have titles and texts: they are documents", 2)
    problem = missing_columns(first, kind, file.columns)
    if problem is None:
        values = list(first.values())
        if any(
            isinstance(values[place], dict | list)
            for place in places(first, WANTED[kind], kind, file.columns).values()
        ):
            return Misfit("its columns hold objects or lists; write a row as an object (pandas: orient='records')", 4)
        return None
    nearness = 3 if file.columns else 1 + min(known_columns(first, kind), 2)
    return Misfit(f"its first object does not fit: {problem}", nearness)


def jsonl_judgements(file: InputFile) -> Records[Judgement]:
    """An object for each judged document; null as the grade means not judged."""
    return _jsonl_rows(file, "judgements").judgements()


def jsonl_rankings(file: InputFile) -> Records[Ranking]:
    """An object for each document; where there are no scores, the rank counts."""
    return _jsonl_rows(file, "rankings").rankings()


def jsonl_topics(file: InputFile) -> Records[TopicRow]:
    """An object for each topic; further texts and numbers are tags."""
    return _jsonl_rows(file, "topics").topics()


def _jsonl_rows(file: InputFile, kind: Kind) -> NamedRows:
    keys: dict[tuple[str, ...], tuple[str, ...]] = {}  # each set of keys once: rows mostly have the same ones
    objects = [
        (line, keys.setdefault(names := tuple(row), names), tuple(row.values())) for line, row in _objects(file)
    ]
    header = list(dict.fromkeys(name for names in keys for name in names))
    places_of = {names: [names.index(name) if name in names else None for name in header] for names in keys}
    rows: Iterator[NumberedRow] = (
        (line, [None if place is None else values[place] for place in places_of[names]])
        for line, names, values in objects
    )
    return NamedRows(header, rows, kind, file.refuse, file.columns)


def _first(file: InputFile) -> dict[str, Any] | None:
    if file.first_line.lstrip().startswith("["):
        rows = file.json_or_none
        return rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else None
    return file.first_object


def _objects(file: InputFile) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """The objects, with their lines in JSON Lines, with their places in a list."""
    is_list = file.first_line.lstrip().startswith("[")
    rows: Iterable[tuple[int, Any]] = enumerate(file.json, 1) if is_list else file.json_lines()
    for line, row in rows:
        if not isinstance(row, dict):
            raise file.refuse(line, f"expected a JSON object, found {json.dumps(row):.60}")
        yield line, row
