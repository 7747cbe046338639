"""Which topics make the candidate's GeoRisk differ from the reference's, and without which the gate would pass."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pytest_riskguard.gates.explain import topic_rows
from pytest_riskguard.gates.pools.comparison import CANDIDATE, PoolComparison, Reference
from pytest_riskguard.gates.spec import FEWEST_TOPICS
from pytest_riskguard.gates.verdict import ResponsibleTopic
from pytest_riskguard.risk import georisk, standardised, topic_contributions, z_scores
from pytest_riskguard.risk.checks import FloatArray

#: How many times further than the jackknife says the limit may move when a topic is left out.
NEAR = 3.0


def contributions(comparison: PoolComparison, reference: Reference) -> FloatArray:
    """Each topic's part in GeoRisk(candidate) - GeoRisk(reference): shape (n_topics,), they add up to it.

    GeoRisk is sqrt(m) sqrt(P), m the mean score and P = Phi(ZRisk/c). A difference of two products is split between
    the factors exactly: (sqrt(m1) - sqrt(m2)) times the mean of the sqrt(P), plus (sqrt(P1) - sqrt(P2)) times the
    mean of the sqrt(m). Topics share the first in proportion to their difference of scores, the second to that of
    their parts in ZRisk. For the median of an even number of baselines it is the mean over the two in the middle.
    """
    gate, x = comparison.gate, comparison.scores
    parts = topic_contributions(x, alpha=gate.alpha, kind=gate.tradeoff)
    means = np.array([math.fsum(row) / comparison.n for row in x])
    values = georisk(x, alpha=gate.alpha, kind=gate.tradeoff)
    rows = comparison.rows_of(reference)
    split = [_split(x, parts, means, values, row) for row in rows]
    return np.asarray(np.sum(split, axis=0) / len(rows))


def _split(x: FloatArray, parts: FloatArray, means: FloatArray, values: FloatArray, row: int) -> FloatArray:
    pair = [CANDIDATE, row]
    roots = np.sqrt(means[pair])
    # sqrt(P) as GeoRisk has it; a system without any score has GeoRisk 0 whatever its P
    safe = np.divide(values[pair], roots, out=np.zeros(2), where=roots > 0)
    by_score = _shared(x[CANDIDATE] - x[row], float(roots[0] - roots[1]) * float(np.mean(safe)))
    by_z = _shared(parts[CANDIDATE] - parts[row], float(safe[0] - safe[1]) * float(np.mean(roots)))
    return by_score + by_z


def _shared(differences: FloatArray, total: float) -> FloatArray:
    """A total divided between topics in proportion to their differences, which add up to the like of it."""
    whole = math.fsum(differences)
    if total == 0 or whole == 0:
        return np.zeros(differences.size)
    return differences * (total / whole)


def responsible_topics(
    comparison: PoolComparison, reference: Reference, *, flips: npt.NDArray[np.bool_]
) -> tuple[tuple[ResponsibleTopic, ...], tuple[ResponsibleTopic, ...]]:
    """Every topic that lost against the reference, most harmful first, and apart from them the wins that are flagged.

    A topic is flagged when its part, in standard deviations of all parts, lies outside the Student-t critical values.
    """
    parts = contributions(comparison, reference)
    losers, winners = topic_rows(
        comparison.pair(reference),
        parts=parts * comparison.n,
        standard=standardised(parts),
        flips=lambda places: flips[places],
    )
    z = z_scores(comparison.scores)
    against = np.mean(z[comparison.rows_of(reference)], axis=0)

    def whole(place: int, row: ResponsibleTopic) -> ResponsibleTopic:
        return replace(row, candidate_z=float(z[CANDIDATE, place]), baseline_z=float(against[place]))

    return tuple(whole(*row) for row in losers), tuple(whole(*row) for row in winners)


def flips(comparison: PoolComparison) -> npt.NDArray[np.bool_]:
    """For each topic, whether the gate would pass without it; asked only of a gate that fails.

    The rule is applied to n - 1 topics where the jackknife says that the topic could matter.
    """
    result = np.zeros(comparison.n, dtype=np.bool_)
    if comparison.n - 1 < FEWEST_TOPICS:
        return result
    near = np.ones(comparison.n, dtype=np.bool_)
    for answer in comparison.answers:
        if not answer.passes:
            shifts = np.abs(answer.difference.left_out - answer.difference.estimate)
            width = abs(answer.decision.margin - answer.difference.estimate) / (comparison.n - 1)
            near &= answer.decision.margin + NEAR * (shifts + width) >= 0
    for i in np.flatnonzero(near):
        result[i] = comparison.without(np.array([i])).passes
    return result


def flip_set(comparison: PoolComparison, reference: Reference) -> tuple[str, ...] | None:
    """Topics removed by contribution, most harmful first, until the gate passes.

    Greedy, so an upper bound on the smallest such set; None when it does not pass before fewer than 10 topics are
    left. The number is found by halving: the gate passes without so many, and fails with the last of them put back.
    """
    order = np.argsort(np.round(contributions(comparison, reference), 12), kind="stable")
    most = comparison.n - FEWEST_TOPICS
    fails_at, passes_at, step = 0, most + 1, 1
    while passes_at > most and fails_at < most:
        tried = min(fails_at + step, most)
        if comparison.without(order[:tried]).passes:
            passes_at = tried
        else:
            fails_at, step = tried, 2 * step
    while passes_at - fails_at > 1 and passes_at <= most:
        middle = (fails_at + passes_at) // 2
        if comparison.without(order[:middle]).passes:
            passes_at = middle
        else:
            fails_at = middle
    return tuple(comparison.candidate.topics[int(i)] for i in order[:passes_at]) if passes_at <= most else None
