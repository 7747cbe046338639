"""Tables with named columns, of files and in memory: which column holds what, and what its cells are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.checks import Input
from pytest_riskguard.data.headers import WANTED, missing_columns, number, places
from pytest_riskguard.data.ids import Ids, IntArray, begins_of
from pytest_riskguard.data.qrels import Qrels, qrels_of
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.runs import Run, run_of
from pytest_riskguard.data.text_blocks import FloatArray, RefusedError, numbers
from pytest_riskguard.data.topics import Topics, topics_of
from pytest_riskguard.errors import DataError

#: Columns without a meaning: the index that pandas writes.
_INDEX = ("", "unnamed: 0", "__index_level_0__")
_NONE: Mapping[str, str] = MappingProxyType({})


# Columns: texts as ``Ids`` (nothing has no length), numbers as an array (nothing is NaN), or any values of Python.


Column = Ids | npt.NDArray[np.integer] | npt.NDArray[np.floating] | Sequence[Any]
_NOTHING = type(None)
T = TypeVar("T")
#: The largest whole number that a float holds exactly.
_MAX_EXACT = 2**53


def packed(cells: Sequence[Any]) -> Column:
    """Values of Python as a column in less memory, where all are text, or all are numbers, or nothing."""
    kinds = set(map(type, cells))
    try:
        if str in kinds and kinds <= {str, _NOTHING}:
            return Ids.of(cells if len(kinds) == 1 else [cell or "" for cell in cells])
        if float in kinds and kinds <= {float, _NOTHING}:
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
    kinds = {getattr(part, "dtype", None) for part in parts}
    if len(kinds) == 1 and None not in kinds:
        return np.concatenate(parts)
    return [cell for part in parts for cell in _cells(part)]


def _cells(column: Column) -> Sequence[Any]:
    if isinstance(column, Ids):
        return column.strings()
    return column.tolist() if isinstance(column, np.ndarray) else column


def stripped(ids: Ids) -> Ids:
    """Texts without white space around them."""
    rows = np.flatnonzero(ids.odd & (ids.lengths > 0))
    before = ids.at(rows).strings()
    after = [text.strip() for text in before]
    if before == after:
        return ids
    texts = Ids.of(after)
    starts, lengths = ids.starts.astype(np.int64), ids.lengths.copy()
    starts[rows], lengths[rows] = texts.starts + len(ids.text), texts.lengths
    return Ids(np.concatenate([ids.text, texts.text]), starts, lengths)


def _whole_numbers(column: npt.NDArray[Any]) -> Ids | None:
    """Numbers as ids, NaN as nothing; None where one is not whole, or may be another as a float."""
    filled = np.ones(len(column), dtype=bool)
    if column.dtype.kind == "f":
        filled = ~np.isnan(column)
        column = np.where(filled, column, 0)
        if not ((np.abs(column) < _MAX_EXACT) & (column == np.floor(column))).all():
            return None
        column = column.astype(np.int64)
    width = 21  # of the longest number of 64 bits, with its sign
    digits = column.astype(f"S{width}").view(np.uint8)
    lengths = np.count_nonzero(digits.reshape(-1, width), axis=1)
    return Ids(digits, width * np.arange(len(column)), np.where(filled, lengths, 0))


class Table:
    """Columns under their names.

    ``column`` makes the column at a place; ``lines`` has the line of each row, which is else the number of the row.
    """

    def __init__(
        self,
        given: Input,
        names: Iterable[str],
        column: Callable[[int], Column],
        lines: npt.NDArray[np.integer] | Sequence[int | None] | None = None,
    ) -> None:
        self.given, self.names, self.lines = given, [name.strip() for name in names], lines
        self.column = cache(column)

    def line(self, row: int) -> int | None:
        """The line of a row, for an error."""
        line = row + 1 if self.lines is None else self.lines[row]
        return None if line is None else int(line)

    def refuse(self, row: int, problem: str) -> DataError:
        """The error to raise for a row."""
        return self.given.refuse(self.line(row), problem)

    def text(self, place: int, what: str) -> Ids:
        """The cells of a column as text. A whole number is the id that it is, also as a float."""
        column = self.column(place)
        if isinstance(column, Ids):
            return stripped(column)
        if isinstance(column, np.ndarray) and (ids := _whole_numbers(column)) is not None:
            return ids
        texts = self._each(column, text_of, f"text or a whole number as the {what}")
        try:
            return Ids.of(texts)
        except UnicodeEncodeError as problem:
            found = f"found half of a character in {problem.object!r:.60}"
            raise self.refuse(texts.index(problem.object), f"expected text as the {what}, {found}") from None

    def numbers(self, place: int, what: str) -> FloatArray:
        """The numbers in a column, NaN for nothing."""
        column = self.column(place)
        values: FloatArray | None = None
        try:
            if isinstance(column, Ids):
                return numbers(stripped(column))
            if isinstance(column, np.ndarray) or set(map(type, column)) <= {int, float, _NOTHING}:
                values = np.asarray(column, dtype=np.float64)
        except (RefusedError, OverflowError):
            pass
        if values is None or np.isinf(values).any():
            return np.array(self._each(column, _number_of, f"a number as the {what}"))
        return values

    def _each(self, column: Column, convert: Callable[[Any], T | None], expected: str) -> list[T]:
        """Each cell converted; refuses the first for which there is nothing."""
        converted = []
        for row, cell in enumerate(_cells(column)):
            if (value := convert(cell)) is None:
                raise self.refuse(row, f"expected {expected}, found {cell!r:.60}")
            converted.append(value)
        return converted

    def tag(self, place: int) -> list[str | None]:
        """The cells of a column as what they say of a topic; None for lists and objects."""
        return [as_tag(cell) for cell in _cells(self.column(place))]


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
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return None
    value = number(str(cell).strip())
    return None if math.isnan(value) else value


def as_tag(cell: Any) -> str | None:
    """What a further column says of a topic; None for lists and objects."""
    if isinstance(cell, bool):
        return str(cell).lower()
    return f"{cell:g}" if isinstance(cell, float) and not math.isnan(cell) else text_of(cell)


# What a table holds, by its kind.


class _Rows:
    """Some rows of a table, with the columns that hold what is wanted."""

    def __init__(self, table: Table, kind: Kind, given: Mapping[str, str]) -> None:
        if (problem := missing_columns(table.names, kind, given)) is not None:
            listed = ", ".join(map(repr, table.names[:10])) or "none"
            raise table.given.refuse(None, f"expected named columns, but {problem}; found the columns {listed}")
        self.table, self.columns = table, places(table.names, WANTED[kind], kind, given)
        lowered = [name.lower() for name in table.names]
        for place in self.columns.values():
            if (count := lowered.count(lowered[place])) > 1:
                raise table.given.refuse(None, f"expected one column {table.names[place]!r}, found {count}")
        self.by_text = "topic" not in self.columns

    def text(self, what: str) -> Ids:
        return self.table.text(self.columns[what], what)

    def numbers(self, what: str) -> FloatArray:
        return self.table.numbers(self.columns[what], what)

    def filled(self, what: str, rows: IntArray | slice = slice(None)) -> Ids:
        """The texts of a column in some rows, none of them empty."""
        texts = self.text(what).at(rows)
        if len(texts) and int(texts.lengths.min()) == 0:
            row = int(np.argmin(texts.lengths))
            name = self.table.names[self.columns[what]]
            expected = f"expected a {what} in column {name!r}"
            raise self.table.refuse(row if isinstance(rows, slice) else int(rows[row]), f"{expected}, found nothing")
        return texts

    def topics(self, rows: IntArray) -> tuple[Ids, dict[str, str]]:
        """The topics of some rows, or their query texts where there are no ids; topic -> text if both are there."""
        if self.by_text:
            return self.filled("query", rows), {}
        topics = self.filled("topic", rows)
        known: dict[str, str] = {}
        if "query" in self.columns:
            texts = self.text("query").at(rows)
            heads = np.flatnonzero((begins_of(topics) | begins_of(texts)) & (texts.lengths > 0))
            pairs = zip(topics.at(heads).strings(), texts.at(heads).strings(), strict=True)
            for row, (topic, text) in zip(rows[heads].tolist(), pairs, strict=True):
                if (other := known.setdefault(topic, text)) != text:
                    found = f"found {other!r:.60} and {text!r:.60} of {topic!r}"
                    raise self.table.refuse(row, f"expected one query text for each topic, {found}")
        return topics, known


def judgements_of(table: Table, given: Mapping[str, str] = _NONE) -> Qrels:
    """The judgements of a table: a query, or a document, without a grade has not been judged yet."""
    found = _Rows(table, "judgements", given)
    grades = found.numbers("grade")
    rows = np.flatnonzero(~np.isnan(grades))
    topics, texts = found.topics(rows)
    documents = found.filled("document", rows)
    judges = found.text("judge").at(rows) if "judge" in found.columns else None

    def lines() -> list[int | None]:
        return list(map(table.line, rows.tolist()))

    return qrels_of(
        table.given, topics, documents, grades[rows], judges, lines=lines, by_text=found.by_text, texts=texts
    )


def run_of_table(table: Table, given: Mapping[str, str] = _NONE) -> Run:
    """The run of a table with a row for each document; without scores, its ranks are the order that users saw."""
    found = _Rows(table, "rankings", given)
    documents = found.filled("document")
    topics, texts = found.topics(np.arange(len(documents)))
    scores, ranks = (found.numbers(what) if what in found.columns else None for what in ("score", "rank"))
    if scores is not None and ranks is not None and np.isnan(scores).all():
        scores = None
    lines, by_text = table.lines, found.by_text
    return run_of(table.given, topics, documents, scores, ranks, lines=lines, by_text=by_text, texts=texts)


def topics_of_table(table: Table, given: Mapping[str, str] = _NONE) -> Topics:
    """One for each row; further columns are tags."""
    found = _Rows(table, "topics", given)
    texts = found.filled("query").strings()
    topics: list[str] | list[None] = [None] * len(texts) if found.by_text else found.filled("topic").strings()
    weights: list[float] = []
    if "weight" in found.columns:
        weights = found.numbers("weight").tolist()
        for row in (row for row, weight in enumerate(weights) if not weight > 0):
            cell = _cells(table.column(found.columns["weight"]))[row]
            raise table.refuse(row, f"expected a weight above 0, found {cell!r:.60}")
    tags = {
        name: table.tag(place)
        for place, name in enumerate(table.names)
        if place not in found.columns.values() and name.lower() not in _INDEX
    }
    return topics_of(table.given, topics, texts, tags, weights, lines=list(map(table.line, range(len(texts)))))
