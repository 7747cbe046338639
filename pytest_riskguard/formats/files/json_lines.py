"""JSON Lines with named keys: an object for each row, one in a line, or all in one JSON list."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from pytest_riskguard.formats.columns import places
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.named_rows import WANTED, NamedRows, NumberedRow, known_columns, missing_columns
from pytest_riskguard.formats.records import Judgement, Kind, Ranking, Records, TopicRow


def fits(file: InputFile, kind: Kind) -> Misfit | None:
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


def judgements(file: InputFile) -> Records[Judgement]:
    """An object for each judged document; null as the grade means not judged."""
    return _rows(file, "judgements").judgements()


def rankings(file: InputFile) -> Records[Ranking]:
    """An object for each document; where there are no scores, the rank counts."""
    return _rows(file, "rankings").rankings()


def topics(file: InputFile) -> Records[TopicRow]:
    """An object for each topic; further texts and numbers are tags."""
    return _rows(file, "topics").topics()


def _rows(file: InputFile, kind: Kind) -> NamedRows:
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
