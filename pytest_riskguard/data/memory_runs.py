"""Runs that are objects in Python: mappings, frames, ranx' ``Run``, rows of scored documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from pytest_riskguard.data import memory
from pytest_riskguard.data.given_file import TIES, Ties
from pytest_riskguard.data.headers import SYNONYMS
from pytest_riskguard.data.memory import InputData, RankingsData, is_of_ranx, is_series
from pytest_riskguard.data.metadata import checked_metadata
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.errors import DataError, RunFormatError, ScoresFormatError


def run(
    data: RankingsData,
    *,
    name: str | None = None,
    ties: Ties | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Run:
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
    return found.with_source(name=label, metadata=MappingProxyType(about))


def as_run(data: RankingsData | Run, name: str = "") -> Run:
    """Rankings in memory under their own name, or under this one if they have none."""
    found = data if isinstance(data, Run) else run(data)
    return found if found.source.name else found.with_source(name=name)


# Systems that are objects in Python: per-topic scores, or rankings, whichever the object holds.


def system_in_memory(data: Any, what: str, measure: str | None = None) -> TopicScores | Run:
    """The scores or the rankings of a system, from whatever holds them; of several measures the one asked for.

    ``TypeError`` for data of no known shape, ``DataError`` for what they hold.
    """
    if isinstance(data, TopicScores):
        return data
    if isinstance(data, Run):
        return as_run(data, what)
    data = memory.settled(data)
    if not memory.are_topic_scores(data, what):
        return as_run(data, what)
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
