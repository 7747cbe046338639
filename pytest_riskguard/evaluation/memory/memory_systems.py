"""Systems that are objects in Python: per-topic scores, or rankings, whichever the object holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_riskguard.errors import DataError, ScoresFormatError
from pytest_riskguard.evaluation.memory import shapes
from pytest_riskguard.evaluation.memory.frames import is_series
from pytest_riskguard.evaluation.memory.memory_runs import MemoryRun, as_memory_run
from pytest_riskguard.evaluation.score_files import read_scores
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.formats.columns import SYNONYMS


def system_in_memory(data: Any, what: str, measure: str | None = None) -> TopicScores | MemoryRun:
    """The scores or the rankings of a system, from whatever holds them; of several measures the one asked for.

    ``TypeError`` for data of no known shape, ``DataError`` for what they hold.
    """
    if isinstance(data, TopicScores):
        return data
    if isinstance(data, MemoryRun):
        return data.named(what)
    data = shapes.settled(data)
    if not shapes.are_topic_scores(data, what):
        return as_memory_run(data, what)
    if is_series(data):
        return TopicScores.from_mapping(shapes.topic_values(data, what), name=what)
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
