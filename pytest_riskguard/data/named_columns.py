"""Tables with named columns, of files and in memory: which column holds what, and what its cells are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain, islice
from types import NoneType
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.checks import ROWS_AT_ONCE, GivenLines, Lines, Rows
from pytest_riskguard.data.given_file import InputData
from pytest_riskguard.data.headers import NO_HEADER, missing_columns, number, places
from pytest_riskguard.data.ids import FloatArray, Ids
from pytest_riskguard.data.input_files import InputFile, Kind, Misfit
from pytest_riskguard.data.qrels import Qrels, qrels_of
from pytest_riskguard.data.runs import Run, run_of
from pytest_riskguard.data.scores import scores_of_table
from pytest_riskguard.data.text_blocks import RefusedError, numbers
from pytest_riskguard.data.topics import Topics, topics_of

#: Columns without a meaning: the index that pandas writes.
_INDEX = ("", "unnamed: 0", "__index_level_0__")
#: Texts, where an empty cell has length 0; numbers, where it is NaN; or any values of Python.
Column = Ids | npt.NDArray[np.integer] | npt.NDArray[np.floating] | Sequence[Any]
#: The largest whole number that a float holds exactly.
_MAX_EXACT = 2**53


# What columns are made of.


def packed(cells: Column) -> Column:
    """Values of Python as a column in less memory, where all are text, or all are numbers, or nothing."""
    if isinstance(cells, Ids | np.ndarray):
        return cells
    kinds = set(map(type, cells))
    try:
        if str in kinds and kinds <= {str, NoneType}:
            return Ids.of(cells if len(kinds) == 1 else [cell or "" for cell in cells])
        if float in kinds and kinds <= {float, NoneType}:
            return np.array(cells, dtype=np.float64)
        if kinds == {int}:
            return np.array(cells, dtype=np.int64)
    except (UnicodeEncodeError, OverflowError):  # half a character; more than 64 bits
        pass
    return cells


def joined(parts: Sequence[Any]) -> Column:
    """The cells of several columns as one."""
    if all(isinstance(part, Ids) for part in parts):
        return Ids.joined(parts)
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    return [cell for part in parts for cell in values_of(part)]


def values_of(column: Column) -> Sequence[Any]:
    """The cells of a column as values of Python."""
    if isinstance(column, Ids):
        return column.strings()
    return column.tolist() if isinstance(column, np.ndarray) else column


def _stripped(ids: Ids) -> Ids:
    texts = ids.at(ids.odd).strings()
    return ids if all(text == text.strip() for text in texts) else Ids.of(map(str.strip, ids.strings()))


def _is_nothing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def text_of(cell: Any) -> str | None:
    """A cell as text, empty for nothing; a whole number is the id that it is, also as a float; None of others."""
    if isinstance(cell, str):
        return cell.strip()
    if _is_nothing(cell):
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _MAX_EXACT:
        return str(int(cell))
    return str(cell) if isinstance(cell, int) and not isinstance(cell, bool) else None


def _number_of(cell: Any) -> float | None:
    """The number in a cell, NaN for nothing; None of others."""
    if _is_nothing(cell) or (isinstance(cell, str) and not cell.strip()):
        return math.nan
    if not isinstance(cell, str | int | float):
        return None
    value = number(str(cell).strip())
    return None if math.isnan(value) else value


def _as_tag(cell: Any) -> str | None:
    """What a further column says of a topic; None for lists and objects."""
    if isinstance(cell, bool):
        return str(cell).lower()
    return f"{cell:g}" if isinstance(cell, float) and not math.isnan(cell) else text_of(cell)


class Table(Rows):
    """Columns under their names, of which ``find`` finds those that hold what is wanted.

    ``column`` makes the column at a place; ``lines`` has the line of each row, which is else the number of the row.
    """

    def __init__(
        self, given: InputData, names: Iterable[str], column: Callable[[int], Column], lines: GivenLines = None
    ) -> None:
        super().__init__(given, self._row_numbers if lines is None else lines)
        self.names = [name.strip() for name in names]
        self.column = cache(lambda place: packed(column(place)))
        #: What is wanted -> the place of its column.
        self.places: Mapping[str, int] = {}

    def find(self, kind: Kind) -> Table:
        """Set ``places`` and return the table; refuses one that lacks what is needed, or has two columns for it."""
        given = self.given.columns
        if (problem := missing_columns(self.names, kind, given)) is not None:
            raise self.given.refuse(None, f"expected named columns, but {problem}")
        self.places = places(self.names, kind, given)
        lowered = [name.lower() for name in self.names]
        for place in self.places.values():
            if (count := lowered.count(lowered[place])) > 1:
                raise self.given.refuse(None, f"expected one column {self.names[place]!r}, found {count}")
        return self

    def _row_numbers(self) -> Lines:
        return range(1, 1 + len(self.column(next(iter(self.places.values())))))

    def text(self, what: str) -> Ids:
        """The cells of a column as text, as ``text_of`` gives them."""
        column = self.column(self.places[what])
        if isinstance(column, Ids):
            return _stripped(column)
        if isinstance(column, np.ndarray) and column.dtype.kind != "f":
            some = np.array_split(column, 1 + len(column) // ROWS_AT_ONCE)
            return Ids.joined([Ids.of(map(str, part.tolist())) for part in some])
        texts = self._each(column, text_of, f"text or a whole number as the {what}")
        return self.ids(texts, what, is_text=True)

    def numbers(self, what: str) -> FloatArray:
        """The numbers in a column, NaN for nothing."""
        column = self.column(self.places[what])
        if isinstance(column, Ids):
            with suppress(RefusedError):
                return numbers(_stripped(column))
        elif isinstance(column, np.ndarray) and not np.isinf(column).any():
            return column.astype(np.float64, copy=False)
        return np.array(self._each(column, _number_of, f"a number as the {what}"), dtype=np.float64)

    def _each(self, column: Column, convert: Callable[[Any], Any], expected: str) -> list[Any]:
        """Each cell converted; refuses the first for which there is nothing."""
        converted = []
        for row, cell in enumerate(values_of(column)):
            if (value := convert(cell)) is None:
                raise self.error(row, f"expected {expected}, found {cell!r:.60}")
            converted.append(value)
        return converted

    @property
    def by_text(self) -> bool:
        """Whether it names queries by their texts alone."""
        return "topic" not in self.places

    def topics(self) -> tuple[Ids, dict[str, str]]:
        """The topics of the rows, or their query texts where there are no ids; topic -> text if both are there."""
        if self.by_text:
            queries = self.text("query")
            if queries.lengths.min(initial=1) == 0:
                raise self.error(int(np.argmin(queries.lengths)), "expected a query, found nothing")
            return queries, {}
        topics = self.text("topic")
        known: dict[str, str] = {}
        if "query" in self.places:
            pairs = zip(topics.strings(), self.text("query").strings(), strict=True)
            for row, (topic, text) in enumerate(pairs):
                if text and (other := known.setdefault(topic, text)) != text:
                    found = f"found {other!r:.60} and {text!r:.60} of {topic!r}"
                    raise self.error(row, f"expected one query text for each topic, {found}")
        return topics, known


def table_of_rows(given: InputData, rows: Iterable[Mapping[Any, Any]], lines: GivenLines = None) -> Table:
    """The columns of rows with named cells, of which each may lack some; many rows at a time, which saves memory."""
    rows, parts = iter(rows), []
    while some := list(islice(rows, ROWS_AT_ONCE)):
        held = dict.fromkeys(chain.from_iterable(some))
        parts.append((len(some), {name: packed([row.get(name) for row in some]) for name in held}))
    names = list(dict.fromkeys(name for _, part in parts for name in part))

    def column(place: int) -> Column:
        return joined([part.get(names[place], [None] * count) for count, part in parts])

    return Table(given, map(str, names), column, lines)


def columns_misfit(file: InputFile, kind: Kind, names: Iterable[str]) -> Misfit:
    """Why a file with these columns does not hold that."""
    names = list(names)
    if (problem := missing_columns(names, kind, file.columns)) is None:
        return None
    is_data = not all(math.isnan(number(name)) for name in names)
    return f"{NO_HEADER}: {', '.join(names)!r:.60}" if is_data else f"its columns do not fit: {problem}"


# What a table holds, by its kind.


def judgements_of(table: Table) -> Qrels:
    """The judgements of a table: a query, or a document, without a grade has not been judged yet."""
    grades = table.find("judgements").numbers("grade")
    if not (judged := np.flatnonzero(~np.isnan(grades))).size and len(grades) and not table.given.is_part:
        raise table.given.refuse(None, "its column grade is empty")
    topics, texts = table.topics()
    judges = table.text("judge").at(judged) if "judge" in table.places else None
    return qrels_of(
        table.given,
        topics.at(judged),
        table.text("document").at(judged),
        grades[judged],
        judges,
        lines=table.at(judged).lines,
        by_text=table.by_text,
        texts=texts,
    )


def run_of_table(table: Table) -> Run:
    """The run of a table with a row for each document; without scores, its ranks are the order that users saw."""
    documents = table.find("rankings").text("document")
    topics, texts = table.topics()
    scores, ranks = (table.numbers(what) if what in table.places else None for what in ("score", "rank"))
    if scores is not None and ranks is not None:
        if np.isnan(ranks).all():
            ranks = None
        elif np.isnan(scores).all():
            scores = None
    lines, by_text = table.lines, table.by_text
    return run_of(table.given, topics, documents, scores, ranks, lines=lines, by_text=by_text, texts=texts)


def topics_of_table(table: Table) -> Topics:
    """One for each row; further columns are tags."""
    texts = table.find("topics").text("query").strings()
    topics = None if table.by_text else table.text("topic").strings()
    weights = table.numbers("weight").tolist() if "weight" in table.places else []
    for row, weight in enumerate(weights):
        if not weight > 0:
            raise table.error(row, f"expected a weight above 0, found {weight:g}")
    tags = [
        (name, list(map(_as_tag, values_of(table.column(place)))))
        for place, name in enumerate(table.names)
        if place not in table.places.values() and name.lower() not in _INDEX
    ]
    return topics_of(table.given, topics, texts, tags, weights, lines=table.lines)


#: Functions that read a table, by what it holds.
READERS: Mapping[Kind, Callable[[Table], Any]] = {
    "judgements": judgements_of,
    "rankings": run_of_table,
    "topics": topics_of_table,
    "scores": scores_of_table,
}
