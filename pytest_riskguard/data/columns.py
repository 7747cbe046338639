"""Named columns of tables and keys of JSON Lines, under the names that search tools give them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

from pytest_riskguard.data.content import InputFile
from pytest_riskguard.data.measure_names import AVERAGES, standard_name
from pytest_riskguard.data.named_columns import (
    SYNONYMS,
    as_tag,
    known_columns,
    missing_columns,
    named,
    names_of,
    number,
    places,
)
from pytest_riskguard.data.records import WANTED, Judgement, Kind, Ranking, Records, Score, TopicRow
from pytest_riskguard.limits import DOCUMENTS


def whole(value: float) -> float:
    """A number to be written: without a decimal point where it needs none."""
    return int(value) if float(value).is_integer() else float(value)


# Rows with named columns, whether of a table, JSON Lines, Parquet or a frame in memory: what they say.
#
# Cells are text, or what JSON and Arrow have: numbers, None for nothing, lists and objects.


#: Columns without a meaning: the index that pandas writes.
_INDEX = ("", "unnamed: 0", "__index_level_0__")
#: The largest whole number that a float holds exactly.
_MAX_EXACT = 2**53

__all__ = [
    "SYNONYMS",
    "WANTED",
    "NamedRows",
    "NumberedRow",
    "as_tag",
    "known_columns",
    "missing_columns",
    "named",
    "names_of",
    "number",
    "of_length",
    "places",
    "whole",
    "with_header",
]

#: A row with its line in the file, if it has one.
NumberedRow = tuple[int | None, Sequence[Any]]


class NamedRows:
    """The rows below a header.

    ``refuse`` makes the error for a line, or for the whole if that is None; ``given`` names columns.
    """

    def __init__(
        self,
        header: Sequence[str],
        rows: Iterable[NumberedRow],
        kind: Kind,
        refuse: Callable[[int | None, str], Exception],
        given: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.header = [name.strip() for name in header]
        self._rows, self._kind, self._refuse = rows, kind, refuse
        if (problem := missing_columns(self.header, kind, given)) is not None:
            raise refuse(None, f"expected named columns, but {problem}")
        self._columns = places(self.header, WANTED[kind], kind, given)
        lowered = [name.lower() for name in self.header]
        for place in self._columns.values():
            if lowered.count(lowered[place]) > 1:
                raise refuse(
                    None, f"expected one column {self.header[place]!r}, found {lowered.count(lowered[place])}"
                )
        self._by_text = "topic" not in self._columns
        self._texts: dict[str, str] = {}

    def judgements(self) -> Records[Judgement]:
        """One for each row that has a grade: a query, or a document, without one has not been judged yet."""
        return Records(self._judgements(), by_text=self._by_text, texts=self._texts)

    def _judgements(self) -> Iterator[Judgement]:
        for line, row in self._rows:
            grade = self._number(line, row, "grade")
            if grade is not None:
                judge = self._text(line, row, "judge")
                yield Judgement(self._topic(line, row), self._document(line, row), grade, judge, line)

    def rankings(self) -> Records[Ranking]:
        """One for each topic, ordered by score, or else by rank: that is then the order that users saw."""
        by_topic = self._grouped
        has_scores = "score" in self._columns and not (
            "rank" in self._columns and all(hit.score is None for hits in by_topic.values() for hit in hits)
        )
        rows = (
            self._by_score(topic, hits) if has_scores else self._by_rank(topic, hits)
            for topic, hits in by_topic.items()
        )
        return Records(rows, by_text=self._by_text, texts=self._texts, is_ordered=not has_scores)

    @cached_property
    def _grouped(self) -> dict[str, list[_Hit]]:
        by_topic: dict[str, list[_Hit]] = {}
        most_documents = DOCUMENTS.value
        for line, row in self._rows:
            rank = self._number(line, row, "rank")
            hit = _Hit(line, self._document(line, row), self._number(line, row, "score"), rank)
            hits = by_topic.setdefault(self._topic(line, row), [])
            hits.append(hit)
            if len(hits) > most_documents:  # now: a packed table of few bytes may have millions of rows
                raise self._refuse(None, DOCUMENTS.problem(len(hits)))
        return by_topic

    def _by_score(self, topic: str, hits: Sequence[_Hit]) -> Ranking:
        scores = []
        for hit in hits:
            if hit.score is None:
                raise self._refuse(hit.line, f"expected a number as the score of {hit.document!r}, found nothing")
            scores.append(hit.score)
        ranks = [int(hit.rank) for hit in hits if hit.rank is not None and float(hit.rank).is_integer()]
        return Ranking(
            topic, [hit.document for hit in hits], scores, hits[0].line, ranks if len(ranks) == len(hits) else None
        )

    def _by_rank(self, topic: str, hits: Sequence[_Hit]) -> Ranking:
        at_rank: dict[float, str] = {}
        for hit in hits:
            if hit.rank is None:
                raise self._refuse(hit.line, f"expected a number as the rank of {hit.document!r}, found nothing")
            if hit.rank in at_rank:
                two = f"{hit.rank:g} for both {at_rank[hit.rank]!r} and {hit.document!r}"
                raise self._refuse(hit.line, f"expected each rank once in topic {topic!r}, found {two}")
            at_rank[hit.rank] = hit.document
        return Ranking(topic, [at_rank[rank] for rank in sorted(at_rank)], None, hits[0].line)

    def scores(self) -> dict[str, list[Score]]:
        """System -> its scores, one for each row; rows of averages are left out."""
        by_system: dict[str, list[Score]] = {}
        for line, row in self._rows:
            topic, measure = self._filled(line, row, "topic"), self._filled(line, row, "measure")
            if topic in AVERAGES:
                continue
            value = self._number(line, row, "value")
            if value is None or not math.isfinite(value):
                expected = f"expected a finite number as the {measure} of topic {topic!r:.60}"
                raise self._refuse(line, f"{expected}, found {row[self._columns['value']]!r:.60}")
            score = Score(topic, standard_name(measure), value, line)
            by_system.setdefault(self._text(line, row, "system"), []).append(score)
        return by_system

    def topics(self) -> Records[TopicRow]:
        """One for each row; further columns are tags."""
        return Records(self._topics())

    def _topics(self) -> Iterator[TopicRow]:
        used = self._columns.values()
        tags = [
            (place, name)
            for place, name in enumerate(self.header)
            if place not in used and name.lower() not in _INDEX
        ]
        for line, row in self._rows:
            weight = None
            if "weight" in self._columns:
                weight = self._number(line, row, "weight")
                if weight is None or not weight > 0:
                    found = row[self._columns["weight"]]
                    raise self._refuse(line, f"expected a weight above 0, found {found!r:.60}")
            values = {name: tag for place, name in tags if (tag := as_tag(row[place])) is not None}
            topic = None if self._by_text else self._filled(line, row, "topic")
            yield TopicRow(topic, self._filled(line, row, "query"), values, weight, line)

    def _topic(self, line: int | None, row: Sequence[Any]) -> str:
        """The topic of a row: its id, or its query text where there are no ids."""
        if self._by_text:
            return self._filled(line, row, "query")
        topic, text = self._filled(line, row, "topic"), self._text(line, row, "query")
        if text and self._texts.setdefault(topic, text) != text:
            other = self._texts[topic]
            raise self._refuse(
                line, f"expected one query text for each topic, found {other!r:.60} and {text!r:.60} of {topic!r}"
            )
        return topic

    def _document(self, line: int | None, row: Sequence[Any]) -> str:
        return self._filled(line, row, "document")

    def _filled(self, line: int | None, row: Sequence[Any], what: str) -> str:
        if not (text := self._text(line, row, what)):
            name = self.header[self._columns[what]]
            raise self._refuse(line, f"expected a {what} in column {name!r}, found nothing")
        return text

    def _text(self, line: int | None, row: Sequence[Any], what: str) -> str:
        """A cell as text; empty if there is none. A whole number is the id that it is, also as a float."""
        place = self._columns.get(what)
        cell = None if place is None else row[place]
        match cell:
            case str():
                return cell.strip()
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
        raise self._refuse(line, f"expected text or a whole number as the {what}, found {cell!r:.60}")

    def _number(self, line: int | None, row: Sequence[Any], what: str) -> float | None:
        """The number in a cell; None where there is no such column or nothing in it."""
        place = self._columns.get(what)
        cell = None if place is None else row[place]
        value = math.nan
        match cell:
            case None:
                return None
            case str():
                if not (text := cell.strip()):
                    return None
                value = number(text)
            case bool():
                pass
            case int() | float():
                if cell != cell:  # what pandas has for nothing
                    return None
                value = float(cell)
        if not math.isfinite(value):
            raise self._refuse(line, f"expected a number as the {what}, found {cell!r:.60}")
        return value


class _Hit:
    """A document of a ranking with what its row says."""

    __slots__ = ("document", "line", "rank", "score")

    def __init__(self, line: int | None, document: str, score: float | None, rank: float | None) -> None:
        self.line, self.document, self.score, self.rank = line, document, score, rank


def with_header(rows: Iterator[NumberedRow]) -> tuple[list[str], Iterator[NumberedRow]]:
    """The header of a table, its first row, and the rows below."""
    _, header = next(rows, (1, ()))
    return [str(name) for name in header], rows


def of_length(columns: int, rows: Iterable[NumberedRow], file: InputFile) -> Iterator[NumberedRow]:
    """The rows of a table below a header of so many columns; the error of the file for one of another length."""
    for line, row in rows:
        if len(row) != columns:
            raise file.refuse(line, f"expected {columns} columns as in the header, found {len(row)}")
        yield line, row
