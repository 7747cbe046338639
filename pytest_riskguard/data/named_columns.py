"""Tables with named columns, of files and in memory: which column holds what, and what its cells are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.checks import Input
from pytest_riskguard.data.ids import Ids, IntArray, begins_of
from pytest_riskguard.data.measure_names import AVERAGES
from pytest_riskguard.data.records import WANTED, Judgement, Kind, Ranking, Records, TopicRow
from pytest_riskguard.data.text_blocks import FloatArray, RefusedError, numbers
from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.limits import DOCUMENTS
from pytest_riskguard.text import did_you_mean

#: What a column may hold -> its names, in lower case, the usual one first.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "topic": (
        *("topic", "qid", "query_id", "query-id", "queryid", "q_id", "query id", "topic_id", "topicid", "_id", "id"),
    ),
    "query": ("query", "query_text", "querytext", "query text", "text", "title", "keywords", "search_term"),
    # docno before docid: frames of PyTerrier have both, and docid is a number inside the index
    "document": (
        *("document", "docno", "docid", "doc_id", "doc-id", "document_id", "documentid", "did", "pid", "passage_id"),
        *("corpus-id", "corpus_id", "corpusid", "doc id", "product_id", "item_id", "objectid"),
    ),
    "grade": ("grade", "label", "rating", "relevance", "rel", "judgement", "judgment", "score", "gain"),
    "score": ("score", "sim", "similarity", "relevance", "_score", "value"),
    "rank": ("rank", "position", "pos", "doc position"),
    "judge": ("judge", "rater", "assessor", "annotator", "user", "judge_id"),
    "measure": ("measure", "metric"),
    "value": ("value", "score"),
    "weight": ("weight",),
    "system": ("name", "system", "model", "run", "run_name"),
}
_IDS = ("_id", "id")
_TEXTS_OF_DOCUMENTS = ("text", "title")
#: Names that mean something else in a table of this kind.
_OTHER: Mapping[Kind, Mapping[str, tuple[str, ...]]] = {
    "judgements": {"topic": _IDS, "query": _TEXTS_OF_DOCUMENTS},
    "rankings": {"topic": _IDS, "query": _TEXTS_OF_DOCUMENTS, "score": ("relevance", "value")},
}
_NEEDED: Mapping[Kind, tuple[str, ...]] = {
    "judgements": ("document", "grade"),
    "rankings": ("document",),
    "topics": ("query",),
    "scores": ("measure", "value"),
}
#: Columns without a meaning: the index that pandas writes.
_INDEX = ("", "unnamed: 0", "__index_level_0__")
_NONE: Mapping[str, str] = MappingProxyType({})


def names_of(what: str, kind: Kind | None = None) -> tuple[str, ...]:
    """The names of a column in a table of this kind, or in any; in one of documents, ``id`` names these."""
    other = _OTHER.get(kind, {}) if kind else {}
    names = tuple(name for name in SYNONYMS[what] if name not in other.get(what, ()))
    return (*names, *_IDS) if what == "document" and other else names


def places(
    header: Iterable[str], wanted: Sequence[str], kind: Kind | None = None, given: Mapping[str, str] = _NONE
) -> dict[str, int]:
    """Which column holds what, for those wanted that are there; no column is used twice.

    Names are compared in lower case. Of several columns that could hold one thing, the one whose name comes first
    among its synonyms is taken. ``given`` names the columns of some things, which then have no other.
    """
    names = [name.strip().lower() for name in header]
    found = {what: names.index(name.strip().lower()) for what, name in given.items() if name.strip().lower() in names}
    for what in wanted:
        free = [name for name in names_of(what, kind) if name in names and names.index(name) not in found.values()]
        if free and what not in given:
            found[what] = names.index(free[0])
    return found


def named(wanted: Sequence[str], kind: Kind | None = None) -> str:
    """For a message: the columns that are needed, each with its usual names."""
    return ", ".join(f"{what} ({', '.join(names_of(what, kind)[:4])}, ...)" for what in wanted)


def known_columns(header: Iterable[str], kind: Kind) -> int:
    """How many of the columns of this kind a header has."""
    return len(places(header, WANTED[kind], kind))


def missing_columns(header: Iterable[str], kind: Kind, given: Mapping[str, str] = _NONE) -> str | None:
    """What a header lacks to hold rows of this kind, for a message; None if nothing."""
    header = [name.strip() for name in header]
    if unknown := next((what for what in given if what not in WANTED[kind]), None):
        hint = did_you_mean(unknown, WANTED[kind])
        raise UsageError(f"columns: {unknown!r} is not one of {', '.join(WANTED[kind])}{hint}")
    columns = places(header, WANTED[kind], kind, given)
    if absent := next((name for what, name in given.items() if what not in columns), None):
        return f"it has no column {absent!r}, only {', '.join(map(repr, header[:20]))}"
    is_score = kind == "judgements" and "grade" not in given and header[columns.get("grade", 0)].lower() == "score"
    if is_score and places(header, ("rank",)):
        return "its scores stand beside ranks: it holds rankings"
    missing = [what for what in _NEEDED[kind] if what not in columns]
    if not columns.keys() & {"topic", "query"}:
        missing.append("topic")
    if kind == "rankings" and not columns.keys() & {"rank", "score"}:
        missing.append("score")
    return f"it names no column for {named(missing, kind)}" if missing else None


def number(cell: str) -> float:
    """The finite number in a cell; NaN for anything else."""
    try:
        value = math.nan if "_" in cell else float(cell)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


# Columns: texts as ``Ids`` (nothing has no length), numbers as an array (nothing is NaN), or any values of Python.


#: Topic, measure, value and line.
ScoreRow = tuple[str, str, float, int | None]
Column = Ids | npt.NDArray[np.integer] | npt.NDArray[np.floating] | Sequence[Any]
_NOTHING = type(None)
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


def joined(parts: Sequence[Column]) -> Column:
    """The cells of several columns as one."""
    if all(isinstance(part, Ids) for part in parts):
        return Ids.joined(parts)  # type: ignore[arg-type]
    if all(isinstance(part, np.ndarray) for part in parts) and len({part.dtype for part in parts}) == 1:  # type: ignore[union-attr]
        return np.concatenate(parts)  # type: ignore[arg-type]
    return [cell for part in parts for cell in _cells(part)]


def _cells(column: Column) -> Sequence[Any]:
    if isinstance(column, Ids):
        return column.strings()
    return column.tolist() if isinstance(column, np.ndarray) else column


def stripped(ids: Ids) -> Ids:
    """Texts without white space around them."""
    filled = np.flatnonzero(ids.lengths)
    first = ids.text[ids.starts[filled]]
    last = ids.text[ids.starts[filled] + ids.lengths[filled] - 1]
    rows = filled[(first - 0x21 > 0x5D) | (last - 0x21 > 0x5D)]  # not between ! and ~
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
        texts = [
            cell.strip() if type(cell) is str else self._text(row, cell, what)
            for row, cell in enumerate(_cells(column))
        ]
        try:
            return Ids.of(texts)
        except UnicodeEncodeError as problem:
            row = texts.index(problem.object)
            found = f"found half of a character in {problem.object!r:.60}"
            raise self.refuse(row, f"expected text as the {what}, {found}") from None

    def _text(self, row: int, cell: Any, what: str) -> str:
        match cell:
            case bool():
                pass
            case int():
                return str(cell)
            case float() if math.isnan(cell):
                return ""
            case float() if cell.is_integer() and abs(cell) < _MAX_EXACT:
                return str(int(cell))
            case None:
                return ""
        raise self.refuse(row, f"expected text or a whole number as the {what}, found {cell!r:.60}")

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
            return np.array([self._number(row, cell, what) for row, cell in enumerate(_cells(column))])
        return values

    def _number(self, row: int, cell: Any, what: str) -> float:
        value = math.nan
        match cell:
            case None:
                return math.nan
            case str():
                if not (text := cell.strip()):
                    return math.nan
                value = number(text)
            case bool():
                pass
            case int() | float():
                if cell != cell:
                    return math.nan
                value = number(str(cell))
        if math.isnan(value):
            raise self.refuse(row, f"expected a number as the {what}, found {cell!r:.60}")
        return value

    def tag(self, place: int) -> list[str | None]:
        """The cells of a column as what they say of a topic; None for lists and objects."""
        return [as_tag(cell) for cell in _cells(self.column(place))]


def as_tag(cell: Any) -> str | None:
    """What a further column says of a topic; None for lists and objects."""
    match cell:
        case str():
            return cell.strip()
        case bool():
            return str(cell).lower()
        case None:
            return ""
        case int():
            return str(cell)
        case float():
            return "" if math.isnan(cell) else f"{cell:g}"
    return None


# What a table holds, by its kind.


class _Rows:
    """Some rows of a table, with the columns that hold what is wanted."""

    def __init__(self, table: Table, kind: Kind, given: Mapping[str, str]) -> None:
        if (problem := missing_columns(table.names, kind, given)) is not None:
            raise table.given.refuse(None, f"expected named columns, but {problem}")
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


def judgements_of(table: Table, given: Mapping[str, str] = _NONE) -> Records[Judgement]:
    """One for each row that has a grade: a query, or a document, without one has not been judged yet."""
    found = _Rows(table, "judgements", given)
    grades = found.numbers("grade")
    rows = np.flatnonzero(~np.isnan(grades))
    topics, texts = found.topics(rows)
    documents = found.filled("document", rows).strings()
    judges = found.text("judge").at(rows).strings() if "judge" in found.columns else [""] * len(rows)
    lines = map(table.line, rows.tolist())
    columns = (topics.strings(), documents, grades[rows].tolist(), judges, lines)
    return Records(map(Judgement, *columns), by_text=found.by_text, texts=texts)


def rankings_of(table: Table, given: Mapping[str, str] = _NONE) -> Records[Ranking]:
    """One for each topic, ordered by score, or else by rank: that is then the order that users saw."""
    found = _Rows(table, "rankings", given)
    scores, ranks = (found.numbers(what) if what in found.columns else None for what in ("score", "rank"))
    documents = found.filled("document")
    rows = np.arange(len(documents))
    topics, texts = found.topics(rows)
    if scores is not None and ranks is not None and np.isnan(scores).all():
        scores = None
    if scores is not None and np.isnan(scores).any():
        row = int(np.argmax(np.isnan(scores)))
        (document,) = documents.at(slice(row, row + 1)).strings()
        raise table.refuse(row, f"expected a number as the score of {document!r}, found nothing")
    grouped = _grouped(found, topics.strings(), documents.strings(), scores, ranks)
    return Records(grouped, by_text=found.by_text, texts=texts, is_ordered=scores is None)


def _grouped(
    found: _Rows, topics: list[str], documents: list[str], scores: FloatArray | None, ranks: FloatArray | None
) -> Iterator[Ranking]:
    by_topic: dict[str, list[int]] = {}
    for row, topic in enumerate(topics):
        by_topic.setdefault(topic, []).append(row)
    most = max(map(len, by_topic.values()), default=0)
    if most > DOCUMENTS.value:
        raise found.table.given.refuse(None, DOCUMENTS.problem(most))
    for topic, rows in by_topic.items():
        names, line = [documents[row] for row in rows], found.table.line(rows[0])
        of_topic = [] if ranks is None else ranks[rows].tolist()
        if scores is not None:
            whole = [int(rank) for rank in of_topic if float(rank).is_integer()]
            yield Ranking(topic, names, scores[rows].tolist(), line, whole if len(whole) == len(rows) else None)
            continue
        at_rank: dict[float, str] = {}
        for row, name, rank in zip(rows, names, of_topic, strict=True):
            if math.isnan(rank):
                raise found.table.refuse(row, f"expected a number as the rank of {name!r}, found nothing")
            if rank in at_rank:
                two = f"{rank:g} for both {at_rank[rank]!r} and {name!r}"
                raise found.table.refuse(row, f"expected each rank once in topic {topic!r}, found {two}")
            at_rank[rank] = name
        yield Ranking(topic, [at_rank[rank] for rank in sorted(at_rank)], None, line)


def topics_of(table: Table, given: Mapping[str, str] = _NONE) -> Records[TopicRow]:
    """One for each row; further columns are tags."""
    found = _Rows(table, "topics", given)
    texts = found.filled("query").strings()
    ids: list[str] | list[None] = [None] * len(texts) if found.by_text else found.filled("topic").strings()
    weights: list[float] | list[None] = [None] * len(texts)
    if "weight" in found.columns:
        values = found.numbers("weight")
        for row in np.flatnonzero(~(values > 0)).tolist():
            cell = _cells(table.column(found.columns["weight"]))[row]
            raise table.refuse(row, f"expected a weight above 0, found {cell!r:.60}")
        weights = values.tolist()
    tags = {
        name: table.tag(place)
        for place, name in enumerate(table.names)
        if place not in found.columns.values() and name.lower() not in _INDEX
    }
    rows = (
        TopicRow(
            ids[row],
            text,
            {name: tag for name, cells in tags.items() if (tag := cells[row]) is not None},
            weights[row],
            table.line(row),
        )
        for row, text in enumerate(texts)
    )
    return Records(rows)


def score_rows_of(table: Table, given: Mapping[str, str] = _NONE) -> dict[str, list[ScoreRow]]:
    """System -> topic, measure, value and line of each of its scores; rows of averages are left out."""
    found = _Rows(table, "scores", given)
    topics = found.filled("topic").strings()
    systems = found.text("system").strings() if "system" in found.columns else [""] * len(topics)
    columns = (topics, found.filled("measure").strings(), found.numbers("value").tolist(), systems)
    by_system: dict[str, list[ScoreRow]] = {}
    for row, (topic, measure, value, system) in enumerate(zip(*columns, strict=True)):
        if topic not in AVERAGES:
            by_system.setdefault(system, []).append((topic, measure, value, table.line(row)))
    return by_system
