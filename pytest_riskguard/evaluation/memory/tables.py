"""Tables in memory: columns with names, as frames and rows with named fields have them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_riskguard.evaluation.memory.input_data import Input
from pytest_riskguard.evaluation.memory.values import identifier, number, plain, shown
from pytest_riskguard.formats.columns import SYNONYMS, WANTED, NamedRows, NumberedRow, missing_columns, named, places
from pytest_riskguard.formats.measure_names import AVERAGES, standard_name
from pytest_riskguard.formats.records import Judgement, Kind, Ranking, Records, Score, TopicRow


@dataclass(frozen=True)
class Table:
    """Columns under their names; ``column`` gives the values of one by its place."""

    given: Input
    names: tuple[str, ...]
    column: Callable[[int], Sequence[object]]

    @property
    def has_documents(self) -> bool:
        """Whether one of the columns holds documents or their ranks."""
        return bool(places(self.names, ["document", "rank"]))

    def named_rows(self, kind: Kind) -> NamedRows:
        """The rows, to be read as those of a file are; refuses a table without the columns that are needed."""
        if (problem := missing_columns(self.names, kind)) is not None:
            listed = ", ".join(map(repr, self.names[:10])) or "none"
            raise self.given.refuse(None, f"expected named columns, but {problem}; found the columns {listed}")
        used = sorted(places(self.names, WANTED[kind], kind).values())
        if kind == "topics":  # further columns are tags
            used = [*range(len(self.names))]
        return NamedRows([self.names[place] for place in used], self._rows(used), kind, self.given.refuse)

    def _rows(self, used: Sequence[int]) -> Iterator[NumberedRow]:
        columns = [[plain(cell) for cell in self.column(place)] for place in used]
        yield from enumerate(zip(*columns, strict=True), 1)


def judgements(table: Table) -> Records[Judgement]:
    """A row for each judged document; rows without a grade are left out."""
    return table.named_rows("judgements").judgements()


def rankings(table: Table) -> Records[Ranking]:
    """A row for each document; where there are no scores, the rank counts."""
    return table.named_rows("rankings").rankings()


def topics(table: Table) -> Records[TopicRow]:
    """A row for each topic; further columns are tags."""
    return table.named_rows("topics").topics()


def scores(table: Table, system: str | None = None) -> Records[Score]:
    """One system's scores: a row for each topic and measure, or a row for each topic and a column for each measure.

    ``system`` says whose rows count in a table of several systems; rows of averages are left out.
    """
    columns = places(table.names, ["measure", "topic", "value", "system"])
    if columns.keys() >= {"measure", "topic", "value"}:
        return Records(list(_long_scores(table, columns, _rows_of(table, columns, system))))
    columns = places(table.names, ["topic", "system"])
    return Records(list(_wide_scores(table, columns, _rows_of(table, columns, system))))


def _rows_of(table: Table, columns: Mapping[str, int], system: str | None) -> Iterator[tuple[int, str]]:
    """The rows of one system, each with its number and its topic."""
    if "topic" not in columns:
        listed = ", ".join(map(repr, table.names[:10])) or "none"
        raise table.given.refuse(None, f"expected a column for {named(['topic'])}; found the columns {listed}")
    topics = table.column(columns["topic"])
    systems = [str(name) for name in table.column(columns["system"])] if "system" in columns else [""] * len(topics)
    present = dict.fromkeys(systems)
    if len(present) > 1 and system not in present:
        listed = ", ".join(present)
        problem = f"expected the scores of one system, found those of {listed}: say whose with `name=`"
        raise table.given.refuse(None, problem)
    for row, (key, owner) in enumerate(zip(topics, systems, strict=True), 1):
        topic = identifier(table.given, row, key, "topic")
        if topic not in AVERAGES and (len(present) == 1 or owner == system):
            yield row, topic


def _long_scores(table: Table, columns: Mapping[str, int], rows: Iterable[tuple[int, str]]) -> Iterator[Score]:
    measures, values = table.column(columns["measure"]), table.column(columns["value"])
    for row, topic in rows:
        measure = str(measures[row - 1])
        yield _score(table.given, row, topic, measure, values[row - 1])._replace(measure=standard_name(measure))


def _wide_scores(table: Table, columns: Mapping[str, int], rows: Iterable[tuple[int, str]]) -> Iterator[Score]:
    measured = [
        (name, table.column(place))
        for place, name in enumerate(table.names)
        if place not in columns.values() and name.strip().lower() not in SYNONYMS["query"]
    ]
    for row, topic in rows:
        yield from (_score(table.given, row, topic, name, cells[row - 1]) for name, cells in measured)


def _score(given: Input, row: int, topic: str, measure: str, value: Any) -> Score:
    finite = number(value)
    if finite != finite:
        expected = f"expected a finite number as the {measure} of topic {topic!r}"
        raise given.refuse(row, f"{expected}, found {shown(value)}")
    return Score(topic, measure, finite, row)
