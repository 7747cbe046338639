"""Which shape data in memory have, and the reader for it; no library is imported unless an object of it comes in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, Protocol

from pytest_riskguard.evaluation.memory import mappings, tables
from pytest_riskguard.evaluation.memory.frames import (
    Frame,
    Series,
    is_frame,
    is_series,
    mapping_of_series,
    table_of_frame,
)
from pytest_riskguard.evaluation.memory.input_data import Input, InputData
from pytest_riskguard.evaluation.memory.ranx_objects import is_of_ranx, mapping_of, scores_of
from pytest_riskguard.evaluation.memory.rows import table_of_rows
from pytest_riskguard.evaluation.memory.values import shown
from pytest_riskguard.formats.records import Judgement, Ranking, Records, Score, TopicRow


class Row(Protocol):
    """For type checkers: a row with named fields, as those of ir_measures and ir_datasets."""

    @property
    def query_id(self) -> Any:
        """The topic."""


Rows = Iterable[Row] | Iterable[Mapping[str, Any]]

#: Rankings in memory, for type checkers; ranx' ``Run``, which has no types, is one too.
RankingsData = Mapping[Any, Iterable[Any]] | Frame | Rows
#: Judgements in memory; ranx' ``Qrels`` are too.
JudgementsData = Mapping[Any, Iterable[Any]] | Frame | Rows
#: Topics in memory.
TopicsData = Mapping[Any, str | Mapping[str, Any]] | Frame | Rows
#: Per-topic scores in memory, for named measures.
ScoresData = Mapping[Any, Mapping[Any, float]] | Frame | Rows
#: Per-topic scores for one measure, or rankings.
SystemData = Mapping[Any, float | Iterable[Any]] | Series | Frame | Rows

_RANKINGS = (
    "a mapping topic -> {document: score} or topic -> [document, ...], a frame with columns for topic, document and "
    "score, a ranx Run, or rows such as ir_measures.ScoredDoc"
)
_SYSTEM = (
    "scores (a mapping topic -> score, a series, a frame) or rankings (a mapping topic -> {document: score}, ...)"
)
_JUDGEMENTS = (
    "a mapping topic -> {document: grade}, a frame with columns for topic, document and grade, ranx Qrels, or rows "
    "such as ir_measures.Qrel"
)
_TOPICS = "a mapping topic -> query text, a frame with columns for topic and query, or rows with these fields"
_SCORES = (
    "a mapping topic -> {measure: value}, a frame with topics, measures and values, an evaluated ranx Run, or "
    "rows such as ir_measures.Metric"
)


def is_data(value: object) -> bool:
    """Whether an object may be data in memory: anything but a path, text, a number or a function."""
    if is_of_ranx(value) or is_frame(value) or is_series(value) or isinstance(value, Mapping):
        return True
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def settled(data: Any) -> Any:
    """The data, which may be looked at more than once: an iterator is read."""
    return list(data) if isinstance(data, Iterator) else data


def are_topic_scores(data: Any, what: str) -> bool:
    """Whether data hold per-topic scores rather than rankings; read an iterator by ``settled`` before.

    ``TypeError`` for what is neither; ``what`` is what the error calls it.
    """
    if not is_data(data):
        hint = "; `score_run` reads run files" if isinstance(data, str | PathLike) else ""
        raise TypeError(f"{what}: expected {_SYSTEM}; found {shown(data)}{hint}")
    if is_series(data):
        return True
    if is_of_ranx(data):
        return False
    if isinstance(data, Mapping):
        answer = next(iter(data.values()), 0.0)
        return not isinstance(answer, Mapping | Iterable) or isinstance(answer, str | bytes)
    table = _table(data, InputData(what, reason="bad_run"))
    return table is not None and not table.has_documents


def rankings(data: Any, given: Input) -> Records[Ranking]:
    """Rankings in memory; ``TypeError`` for data of another shape, the error of ``given`` for what they hold."""
    if is_of_ranx(data):
        return mappings.rankings(given, mapping_of(data, wanted="Run", what=given.name))
    records: Records[Ranking] = _read(data, given, "rankings", _RANKINGS)
    return records


def judgements(data: Any, given: Input) -> Records[Judgement]:
    """Judgements in memory; errors as ``rankings``."""
    if is_of_ranx(data):
        return mappings.judgements(given, mapping_of(data, wanted="Qrels", what=given.name))
    records: Records[Judgement] = _read(data, given, "judgements", _JUDGEMENTS)
    return records


def topics(data: Any, given: Input) -> Records[TopicRow]:
    """Topics in memory; errors as ``rankings``."""
    records: Records[TopicRow] = _read(data, given, "topics", _TOPICS)
    return records


def scores(data: Any, given: Input, *, system: str | None = None) -> Records[Score]:
    """Per-topic scores of one system, for named measures; errors as ``rankings``."""
    if is_of_ranx(data):
        return mappings.scores(given, scores_of(data, what=given.name))
    if not isinstance(data, Mapping) and (table := _table(data, given)) is not None:
        return tables.scores(table, system)
    records: Records[Score] = _read(data, given, "scores", _SCORES)
    return records


def topic_values(series: Any, what: str) -> dict[Any, Any]:
    """The values of a series by their topics."""
    return mapping_of_series(series, what)


def _read(data: Any, given: Input, kind: str, expected: str) -> Any:
    if isinstance(data, Mapping):
        return getattr(mappings, kind)(given, data)
    if (table := _table(data, given)) is not None:
        return getattr(tables, kind)(table)
    raise TypeError(f"{given.name}: expected {expected}; found {shown(data)}")


def _table(data: Any, given: Input) -> tables.Table | None:
    if is_series(data):
        return None
    if is_frame(data):
        return table_of_frame(given, data)
    if isinstance(data, Iterable) and not isinstance(data, str | bytes | Mapping):
        return table_of_rows(given, data)
    return None
