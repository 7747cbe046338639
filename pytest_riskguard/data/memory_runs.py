"""Runs that are objects in Python: mappings, frames, ranx' ``Run``, rows of scored documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from pytest_riskguard.data import memory
from pytest_riskguard.data.checks import keyed
from pytest_riskguard.data.given_file import TIES, Ties
from pytest_riskguard.data.headers import SYNONYMS
from pytest_riskguard.data.memory import InputData, RankingsData, is_of_ranx, is_series
from pytest_riskguard.data.metadata import checked_metadata
from pytest_riskguard.data.rankings import Rankings, rankings_as_run
from pytest_riskguard.data.records import TopicKeys, derived_id
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.tables import Run
from pytest_riskguard.errors import DataError, RunFormatError, ScoresFormatError


@dataclass(frozen=True)
class MemoryRun:
    """A run in memory, made by ``run``.

    Attributes
    ----------
    rankings : function
        Gives the rankings; it finds the topics of data that know queries by their texts.
    name : str
        What verdicts call the system; empty where nobody named it.
    metadata : mapping
        What is known of the system; it changes no verdict.
    texts : mapping topic -> query text
        Of data that have both.
    """

    rankings: Callable[[TopicKeys | None], Rankings] = field(repr=False)
    name: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict, compare=False)
    texts: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def named(self, name: str) -> MemoryRun:
        """The run under its own name, or under this one if it has none."""
        return self if self.name else replace(self, name=name)


def run(
    data: RankingsData,
    *,
    name: str | None = None,
    ties: Ties | None = None,
    metadata: Mapping[str, str] | None = None,
) -> MemoryRun:
    """A system's rankings in memory, to be scored and judged as a run file is.

    Parameters
    ----------
    data : mapping, frame, ranx Run, or iterable of rows
        A mapping topic -> document -> score, topic -> pairs of document and score, or topic -> documents in their
        order; a frame of pandas, polars or PyArrow with columns for topic (or query text), document, and score or
        rank, under the names that search tools give them; or rows with such fields, as ``ir_measures.ScoredDoc``.
    name : str, optional
        What verdicts call the system; default: the name of a ranx ``Run``, else its part (``candidate``).
    ties : 'as_returned' or 'docid', optional
        Which order counts where scores are equal or contradict it: that of the data, or, by default, that of the
        document ids, as in trec_eval. Documents without scores always keep their order.
    metadata : mapping, optional
        What is known of the system, such as ``{"index": "v7"}``; no verdict depends on it.

    Raises
    ------
    TypeError
        Data of another shape.
    ValueError
        Another value of ``ties``, or metadata that a report cannot show.
    DataError
        No column for something that is needed, an id or a score that a run file cannot hold, a document twice in a
        topic, or no rankings at all.
    """
    if ties is not None and ties not in TIES:
        raise ValueError(f"ties: expected one of {', '.join(TIES)}, found {ties!r}")
    try:
        about = checked_metadata(metadata or {})
    except ValueError as error:
        raise ValueError(f"metadata: {error}") from None
    label = name or (getattr(data, "name", None) if is_of_ranx(data) else None) or ""
    given = InputData(label or "run", reason=RunFormatError.reason)
    found = memory.rankings(data, given, ties)
    texts = {derived_id(text): text for text in found.topics} if found.source.by_text else dict(found.source.texts)

    def rankings(keys: TopicKeys | None) -> Rankings:
        return as_rankings(keyed(given, found, keys or TopicKeys()))

    return MemoryRun(rankings, label, about, MappingProxyType(texts))


def as_rankings(run: Run) -> Rankings:
    """A run as rows, for what does not take columns yet."""
    rankings = rankings_as_run({topic: documents.items() for topic, documents in run.by_topic().items()})
    return replace(rankings, contradicted=run.source.contradicted, ties=run.source.ties)


def as_memory_run(data: RankingsData | MemoryRun, name: str) -> MemoryRun:
    """Rankings in memory under their own name, or under this one if they have none."""
    return data.named(name) if isinstance(data, MemoryRun) else run(data).named(name)


# Systems that are objects in Python: per-topic scores, or rankings, whichever the object holds.


def system_in_memory(data: Any, what: str, measure: str | None = None) -> TopicScores | MemoryRun:
    """The scores or the rankings of a system, from whatever holds them; of several measures the one asked for.

    ``TypeError`` for data of no known shape, ``DataError`` for what they hold.
    """
    if isinstance(data, TopicScores):
        return data
    if isinstance(data, MemoryRun):
        return data.named(what)
    data = memory.settled(data)
    if not memory.are_topic_scores(data, what):
        return as_memory_run(data, what)
    if is_series(data):
        return TopicScores.from_mapping(memory.topic_values(data, what), name=what)
    if isinstance(data, Mapping):
        return TopicScores.from_mapping(data, name=what)
    scores = read_scores(data, name=what)
    columns = scores if len(scores) == 1 else [column for column in scores if column.measure == measure]
    if not columns:
        several = ", ".join(str(column.measure) for column in scores)
        problem = f"{what}: found scores of several measures ({several}): say which with `measure=`"
        raise DataError(problem, reason=ScoresFormatError.reason)
    (column,) = columns
    is_nameless = str(column.measure).strip().lower() in SYNONYMS["value"]
    return replace(column, measure=None, digest=None) if is_nameless else column
