"""The data that a report's charts draw: it decides nothing, and costs more than the verdict itself."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pytest_riskguard.gates.findings import MAX_LISTED, AlphaCurve, Density, Exhibits, TopicColumns
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.responsible import standardised_parts
from pytest_riskguard.gates.ruling import Comparison
from pytest_riskguard.inference import critical_value, mean_law
from pytest_riskguard.risk import mean_test
from pytest_riskguard.risk.checks import FloatArray

#: Alphas at which curves have points, besides the gate's own: those of the literature are among them.
ALPHAS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0)
#: How many bins a density has, and the share of the distribution outside them on either side.
BINS = 120
TAIL = 5e-4
#: How far below its edge the first bin begins to count mass, as a share of the width of all bins together.
EDGE = 1e-9


def exhibits(comparison: Comparison) -> Exhibits:
    """What the charts of a gate on two systems show."""
    gate, evidence = comparison.gate, comparison.evidence
    topics = topic_columns(
        comparison,
        contributions=evidence.parts(gate.alpha) / comparison.n,
        standard=standardised_parts(evidence, gate.alpha),
    )
    if gate.by_topic or comparison.n < 2:
        return Exhibits(topics)
    return Exhibits(topics, _curve(comparison), density(comparison.ruling.scores))


def topic_columns(comparison: Comparison, *, contributions: FloatArray, standard: FloatArray) -> TopicColumns:
    """The topics that charts draw; ``standard`` are their ``contributions`` in standard deviations."""
    candidate, baseline = comparison.aligned.candidate, comparison.aligned.baseline
    places, tags = _drawn(contributions), comparison.aligned.tags
    topics = candidate.topics if places.size == comparison.n else tuple(candidate.topics[i] for i in places.tolist())
    names = sorted({name for topic in topics for name in tags.get(topic, ())})
    return TopicColumns(
        topics=topics,
        queries=tuple(candidate.queries.get(topic, baseline.queries.get(topic)) for topic in topics),
        candidate=tuple(candidate.values[places].tolist()),
        baseline=tuple(baseline.values[places].tolist()),
        contributions=tuple(contributions[places].tolist()),
        standardised=tuple(standard[places].tolist()),
        critical_value=critical_value(comparison.n, level=comparison.gate.level) if comparison.n > 1 else None,
        tags={name: tuple(tags.get(topic, {}).get(name, "") for topic in topics) for name in names},
    )


def _drawn(contributions: FloatArray) -> npt.NDArray[np.intp]:
    """The places of all topics; if these are too many, of those with the lowest and highest contributions."""
    if contributions.size <= 2 * MAX_LISTED:
        return np.arange(contributions.size)
    order = np.argsort(np.round(contributions * contributions.size, 12), kind="stable")
    return np.sort(np.concatenate([order[:MAX_LISTED], order[-MAX_LISTED:]]))


def alphas_for(gate: Gate) -> tuple[float, ...]:
    """Where curves have their points: from 0 to 20, or as far as the gate's own alpha."""
    beyond: list[float] = []
    while (last := max((*ALPHAS, *beyond))) < gate.alpha:
        beyond.append(min(last * 1.5, gate.alpha))
    return tuple(sorted({*ALPHAS, *beyond, gate.alpha}))


def _curve(comparison: Comparison) -> AlphaCurve | None:
    """URisk over alpha; the smooth trade-off has no alpha to vary."""
    gate, evidence = comparison.gate, comparison.evidence
    if gate.tradeoff != "linear":
        return None
    alphas = alphas_for(gate)
    rulings = [comparison.ruling.at(alpha) for alpha in alphas]
    intervals = [ruling.deciding if ruling.enough_topics else None for ruling in rulings]
    return AlphaCurve(
        alphas=alphas,
        urisk=tuple(evidence.estimate(alpha) for alpha in alphas),
        trisk=tuple(mean_test(ruling.scores).statistic for ruling in rulings),
        lower=tuple(i.lower if i and math.isfinite(i.lower) else None for i in intervals),
        upper=tuple(i.upper if i and math.isfinite(i.upper) else None for i in intervals),
    )


def density(scores: FloatArray) -> Density | None:
    """The bootstrap law of the mean in bins: the middle of each, and its mass over its width.

    None where every replicate has the same mean.
    """
    law = mean_law(scores)
    low, high = law.quantile(TAIL), law.quantile(1 - TAIL)
    if not high > low:
        return None
    edges = np.linspace(low, high, BINS + 1)
    just_below = low - (high - low) * EDGE  # a step at which the distribution begins belongs to the first bin
    cumulated = np.array([law.cdf(float(edge)) for edge in (just_below, *edges[1:])])
    return Density(
        values=tuple(((edges[1:] + edges[:-1]) / 2).tolist()),
        density=tuple(np.maximum(np.diff(cumulated) / np.diff(edges), 0.0).tolist()),
    )
