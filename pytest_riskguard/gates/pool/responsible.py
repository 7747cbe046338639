"""Which topics make the candidate's GeoRisk differ from the reference's, and without which the gate would pass."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pytest_riskguard.distributions import ndtr
from pytest_riskguard.gates.findings import Explanation
from pytest_riskguard.gates.flips import LeftOut
from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.pool.against_references import CANDIDATE, PoolRulings, ReferenceRuling
from pytest_riskguard.gates.pool.ruling import PoolComparison
from pytest_riskguard.gates.responsible import Responsible, explanation, topic_rows
from pytest_riskguard.inference.georisk_replicates import MANY_TOPICS
from pytest_riskguard.risk import topic_contributions
from pytest_riskguard.risk.checks import FloatArray
from pytest_riskguard.risk.urisk import standardised

#: How many times further than the jackknife says the limit may move when a topic is left out.
NEAR = 3.0
#: Tries to reach a pass by contributions, before all topics that can be removed are.
MAX_GUESSES = 4
#: Between ZRisks per topic this close, the slope of Phi is taken at their middle.
CLOSE = 1e-4


def contributions(comparison: PoolComparison) -> FloatArray:
    """Each topic's part in GeoRisk(candidate) - GeoRisk(reference): shape (n_topics,), they add up to it.

    GeoRisk is sqrt(m) sqrt(P), m the mean score and P = Phi(ZRisk/c). The difference of two products is split
    exactly: (sqrt(m1) - sqrt(m2)) times the mean sqrt(P), plus (sqrt(P1) - sqrt(P2)) times the mean sqrt(m). A
    difference of roots is the difference of their radicands over the sum of the roots, a difference of Phi its
    slope times the difference of ZRisk/c: both are sums over topics. For the median of an even number of
    baselines it is the mean over the two in the middle.
    """
    gate, x = comparison.gate, comparison.scores
    parts = topic_contributions(x, alpha=gate.alpha, kind=gate.tradeoff)
    split = [_split(x[[CANDIDATE, row]], parts[[CANDIDATE, row]]) for row in comparison.reference_rows]
    return np.asarray(np.sum(split, axis=0) / len(split))


def _split(x: FloatArray, parts: FloatArray) -> FloatArray:
    """The contributions for one pair of systems: rows are candidate and reference."""
    n = x.shape[1]
    roots = np.sqrt([math.fsum(row) / n for row in x])
    z = np.array([math.fsum(row) / n for row in parts])
    shapes = np.sqrt(ndtr(z))
    by_score = (x[0] - x[1]) / n * _over(float(np.mean(shapes)), float(np.sum(roots)))
    by_z = (
        (parts[0] - parts[1])
        / n
        * _slope(float(z[0]), float(z[1]))
        * _over(float(np.mean(roots)), float(np.sum(shapes)))
    )
    return np.asarray(by_score + by_z)


def _over(value: float, divisor: float) -> float:
    return value / divisor if divisor > 0 else 0.0


def _slope(a: float, b: float) -> float:
    """(Phi(a) - Phi(b))/(a - b), and its limit where a and b are so close that rounding would show."""
    if abs(a - b) > CLOSE:
        return float((ndtr(a) - ndtr(b)) / (a - b))
    middle = (a + b) / 2
    return math.exp(-middle * middle / 2) / math.sqrt(2 * math.pi)


def responsible_topics(comparison: PoolComparison, parts: FloatArray) -> Responsible:
    """The topics that lost against the reference, most harmful first, and separately the flagged wins.

    ``parts`` are the contributions; topics are flagged by the size of these in standard deviations, as in
    ``gates.responsible``.
    """
    return topic_rows(comparison.decided, parts=parts * comparison.n, standard=standardised(parts))


def pool_explanation(comparison: PoolComparison, parts: FloatArray, alone: LeftOut) -> Explanation:
    """Groups by their part in the difference of GeoRisk; slices by URisk against the reference.

    The score that the pool leads to expect on a topic depends on all topics, so the GeoRisk of a few is no part of
    the GeoRisk of all.
    """
    pair = comparison.pair(comparison.reference, asked=True)
    return explanation(pair, alone, parts=parts * comparison.n, standard=standardised(parts))


def without_each(comparison: PoolComparison, *, failed: bool) -> LeftOut:
    """The gate without each topic that could matter by the jackknife; only for a gate that fails.

    Only these topics have limits, because each limit needs all draws again.
    """
    limits, flips = np.full(comparison.n, np.nan), np.zeros(comparison.n, dtype=np.bool_)
    if not failed or comparison.n - 1 < MIN_TOPICS:
        return LeftOut(limits, flips, failed)
    near = _near(comparison.rulings, comparison)
    if comparison.gate.on_churn == "warn":
        near |= _near(comparison.plain, comparison)
    for i in np.flatnonzero(near):
        rest = comparison.without(np.array([i]))
        limits[i], flips[i] = rest.ruling.deciding.upper, rest.passes
    return LeftOut(limits, flips, failed)


def _near(rulings: Sequence[ReferenceRuling], comparison: PoolComparison) -> npt.NDArray[np.bool_]:
    """Topics without which all of the rulings that fail might pass; those of a cluster go by all of it."""
    near = np.ones(comparison.n, dtype=np.bool_)
    for ruling in rulings:
        if not ruling.passes:
            shifts = np.abs(ruling.difference.left_out - ruling.difference.estimate)
            width = abs(ruling.margin - ruling.difference.estimate) / (comparison.units - 1)
            might = ruling.margin + NEAR * (shifts + width) >= 0
            near &= might if comparison.clusters is None else might[comparison.clusters]
    return near


def flip_set(comparison: PoolComparison, parts: FloatArray) -> tuple[str, ...] | None:
    """Topics removed by contribution, most harmful first, until the gate passes; None if it never does.

    Greedy, so an upper bound on the smallest such set; found by halving: the gate fails with the last of these topics
    put back.
    """
    order = np.argsort(np.round(parts, 12), kind="stable")
    most = comparison.n - MIN_TOPICS
    if comparison.n > MANY_TOPICS:
        passes_at = _fewest_of_many(comparison, order, np.append(0.0, np.cumsum(-parts[order])))
        return tuple(comparison.candidate.topics[int(i)] for i in order[:passes_at]) if passes_at else None
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


def _fewest_of_many(comparison: PoolComparison, order: npt.NDArray[np.intp], removed: FloatArray) -> int | None:
    """How many topics in this order to remove; each try resamples, so contributions say where to look.

    ``removed`` is what the first topics contribute together. The margin is nearly linear in it: the next number is
    that at which the line through the last failure and the last pass reaches 0, and the middle every third time.
    """
    most = comparison.n - MIN_TOPICS
    fails_at, passes_at = 0, most + 1
    low, high = _margin(comparison), math.nan
    wanted, tries = -low, 0
    while passes_at - fails_at > 1:
        tries += 1
        if passes_at > most:  # a little further than contributions say, up to all of them
            tried = most if tries > MAX_GUESSES else int(np.searchsorted(removed, removed[fails_at] + 1.02 * wanted))
        elif tries % 3 == 0 or not high > low:
            tried = (fails_at + passes_at) // 2
        else:
            share = low / (low - high)
            goal = removed[fails_at] + share * (removed[passes_at] - removed[fails_at])
            tried = fails_at + int(np.searchsorted(removed[fails_at : passes_at + 1], goal))
        tried = min(max(tried, fails_at + 1), passes_at - 1)
        rest = comparison.without(order[:tried])
        if rest.passes:
            passes_at, high = tried, _margin(rest)
        else:
            fails_at, low = tried, _margin(rest)
            wanted = 2 * max(-low, wanted / 4)
        if fails_at == most:
            return None
    return passes_at


def _margin(rulings: PoolRulings) -> float:
    """By how much the gate's rule is missed, below 0, or reached."""
    return min(ruling.margin for ruling in rulings.rulings)
