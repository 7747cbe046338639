"""Who is responsible: each topic's part in the verdict, and the topics without which the gate would pass."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.findings import Explanation, ResponsibleTopic
from pytest_riskguard.gates.sensitivity import LeftOut
from pytest_riskguard.gates.tagged_topics import groups, slices, tagged
from pytest_riskguard.inference import critical_value
from pytest_riskguard.risk import standard_error
from pytest_riskguard.risk.checks import FloatArray
from pytest_riskguard.risk.urisk import varies
from pytest_riskguard.rounding import ROUNDING_ERROR


def responsible_topics(
    comparison: Comparison, alone: LeftOut
) -> tuple[tuple[ResponsibleTopic, ...], tuple[ResponsibleTopic, ...]]:
    """Every topic that lost, most harmful first, and apart from them the wins that are flagged.

    A topic is flagged when its TR_i lies outside the Student-t critical values of the gate's level (SIGIR'14
    Eq. 21). ``alone`` is the gate with each topic left out.
    """
    alpha, weights, exceeded = comparison.gate.alpha, comparison.aligned.weights, comparison.collapsed
    losers, winners = topic_rows(
        comparison,
        parts=comparison.evidence.parts(alpha),
        standard=standardised_parts(comparison.evidence, alpha),
        alone=alone,
    )

    def whole(place: int, row: ResponsibleTopic) -> ResponsibleTopic:
        weight = None if weights is None else float(weights[place])
        return replace(row, weight=weight, exceeds=exceeded.get(place, ()))

    return tuple(whole(*row) for row in losers), tuple(whole(*row) for row in winners)


#: Topics with their places among all topics.
Rows = tuple[tuple[int, ResponsibleTopic], ...]


def topic_rows(
    comparison: Comparison,
    *,
    parts: FloatArray,
    standard: FloatArray,
    alone: LeftOut,
) -> tuple[Rows, Rows]:
    """Losses, most harmful first, and flagged wins, from each topic's part in the estimate.

    ``parts`` have the estimate as their mean, ``standard`` are the same in standard deviations.
    """
    candidate, baseline = comparison.aligned.candidate, comparison.aligned.baseline
    differences, n = comparison.differences, comparison.n
    critical = critical_value(n, level=comparison.gate.level) if n > 1 else math.inf
    lost = differences < -ROUNDING_ERROR
    total_loss = math.fsum(np.minimum(parts[lost], 0.0))
    losses = np.flatnonzero(lost)
    losses = losses[np.argsort(np.round(parts[losses], 12), kind="stable")]
    flagged_wins = np.flatnonzero((differences > ROUNDING_ERROR) & (standard > critical))
    flagged_wins = flagged_wins[np.argsort(-parts[flagged_wins], kind="stable")]

    def row(i: int) -> ResponsibleTopic:
        topic = candidate.topics[i]
        return ResponsibleTopic(
            topic=topic,
            query=candidate.queries.get(topic, baseline.queries.get(topic)),
            candidate=float(candidate.values[i]),
            baseline=float(baseline.values[i]),
            difference=float(differences[i]),
            contribution=float(parts[i] / n),
            share=float(min(parts[i], 0.0) / total_loss) + 0.0 if lost[i] and total_loss < 0 else None,
            standardised=float(standard[i]),
            flagged=bool(abs(standard[i]) > critical),
            flips_verdict=alone.failed and bool(alone.flips[i]),
            limit_without=float(alone.limits[i]) if math.isfinite(alone.limits[i]) else None,
        )

    return tuple((i, row(i)) for i in losses.tolist()), tuple((i, row(i)) for i in flagged_wins.tolist())


def explanation(comparison: Comparison, alone: LeftOut, *, parts: FloatArray, standard: FloatArray) -> Explanation:
    """Pivotal topics, groups and slices, from topics' parts in the estimate and these in standard deviations."""
    topics, n = comparison.aligned.candidate.topics, comparison.n
    tags = tagged(comparison.aligned)
    critical = critical_value(n, level=comparison.gate.level) if n > 1 else math.inf
    return Explanation(
        pivotal_topics=tuple(topics[i] for i in alone.pivots),
        groups=groups(comparison.differences, parts, topics, tags),
        slices=slices(comparison, tags, flagged=np.abs(standard) > critical),
    )


def standardised_parts(evidence: Evidence, alpha: float) -> FloatArray:
    """TR_i: each topic's part in standard deviations of the trade-off scores (SIGIR'14 Eq. 21)."""
    scores = evidence.scores(alpha)
    if evidence.n < 2 or not varies(scores):
        return np.zeros(evidence.n)
    return evidence.parts(alpha) / (standard_error(scores) * math.sqrt(evidence.n))
