"""Values that ir-measures' providers give some topics at a time.

They are those of ``ir_measures.iter_calc`` for each measure alone on the whole run.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.grades import Grades, labels_for, providers_for, scaled
from pytest_riskguard.data.ids import topics_with
from pytest_riskguard.data.measures import bounds, provider_of, within_bounds
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.ranking import Order, Ranks, order_of
from pytest_riskguard.data.runs import Run
from pytest_riskguard.errors import ScoringError
from pytest_riskguard.text import listed

if TYPE_CHECKING:
    from ir_measures import Measure, Metric

FloatArray = npt.NDArray[np.float64]


def values_of(
    part: Run, ranks: Mapping[Order, Ranks], measures: Sequence[Measure], qrels: Qrels, source: str
) -> tuple[FloatArray, FloatArray]:
    """The values of each measure (rows) for each topic of a part of a run (columns), all of them scored topics.

    Returns those in the order of each measure's provider, and those in the order as written.
    """
    answers = part.by_topic()
    judged = {topic: qrels.grades[topic] for topic in answers}
    written = ranks[Order.WRITTEN]
    values, others = np.empty((2, len(measures), len(answers)))
    for row, measure in enumerate(measures):
        labels = labels_for(measure, judged, qrels.rules)
        scores = evaluate(scaled(measure, qrels.rules), labels, answers, source)
        values[row] = others[row] = [scores[topic] for topic in answers]
        differs = topics_with(ranks[order_of(str(provider_of(measure).NAME))] != written, part.offsets)
        if np.any(differs):
            by_rank = replace(part, scores=-written.astype(np.float64)).at(np.flatnonzero(differs)).by_topic()
            again = evaluate(scaled(measure, qrels.rules), labels, by_rank, source)
            others[row] = [again.get(topic, scores[topic]) for topic in answers]
    return values, others


def evaluate(
    measure: Measure, labels: Grades, rankings: Mapping[str, dict[str, float]], source: str
) -> dict[str, float]:
    """One value for each topic of ``rankings``, on labels that the measure takes."""
    values: dict[str, float] = {}
    metrics: list[Metric] = []
    try:
        with _quiet():
            for provider, judged in providers_for(measure, {topic: labels[topic] for topic in rankings}):
                plain = {topic: dict(grades) for topic, grades in judged.items()}
                answers = {topic: rankings[topic] for topic in judged}
                metrics += provider.evaluator([measure], plain).iter_calc(answers)
    except Exception as problem:
        raise ScoringError(
            f"{source}: ir-measures could not compute {measure} ({type(problem).__name__}: {problem})"
        ) from problem
    for metric in metrics:
        topic, value = metric.query_id, float(metric.value)
        if topic not in rankings or topic in values:
            what = "a second value" if topic in values else "a value"
            raise ScoringError(f"{source}: ir-measures unexpectedly gave {what} of {measure} for topic {topic!r}")
        if not within_bounds(measure, value):
            low, high = bounds(measure) or ("-inf", "inf")
            raise ScoringError(f"{source}: expected {measure} of topic {topic!r} in [{low}, {high}], found {value!r}")
        values[topic] = value
    if missing := sorted(rankings.keys() - values.keys()):
        raise ScoringError(
            f"{source}: ir-measures gave no value of {measure} for {topics_named(missing)}, where it may be "
            "undefined; use another measure"
        )
    return values


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence cwl_eval, which logs the grades of every 20 topics; ``check_labels`` has checked them all."""
    logger = logging.getLogger("ir_measures.cwl_eval")
    disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = disabled


def topics_named(topics: Sequence[str]) -> str:
    """Topics in a message: ``topics 1, 2``."""
    return f"{'topics' if len(topics) > 1 else 'topic'} {listed(tuple(topics), most=5)}"
