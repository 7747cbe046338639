"""Several systems at once: ZRisk, and GeoRisk, which weighs it with the mean.

Scores are a matrix of systems x topics with the candidate among the systems. This pool is part of the definition:
one system more or less changes the value of every other. Equation numbers are those of B. T. Dinçer, C. Macdonald,
I. Ounis, "Risk-sensitive evaluation and learning to rank using multiple baselines", SIGIR 2016, unless another paper
is named. Sums are exactly rounded, so neither the order of topics nor that of systems moves a number.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pytest_riskguard.distributions import ndtr
from pytest_riskguard.risk.checks import (
    FloatArray,
    exact_sum,
    per_topic,
    refuse,
    systems_by_topics,
)
from pytest_riskguard.risk.tradeoff import loss_weight_of, smooth


def expected_scores(scores: npt.ArrayLike) -> FloatArray:
    """What each system would score on each topic if all systems divided their totals alike (Eq. 5).

    ``S_i T_j / N``, total of the system times total of the topic over the total of all; 0 where any of them is 0.
    ``scores``, shape (n_systems, n_topics), are from 0 to 1e100 (else ValueError), in units of the measure; at least
    two systems.
    """
    return _expectation(pool_scores(scores))[0]


def z_scores(scores: npt.ArrayLike) -> FloatArray:
    """Distance of each score from what is expected, ``(x - e)/sqrt(e)`` (below Eq. 5).

    Shape (n_systems, n_topics): positive where a system does better than expected, 0 where nothing is expected.
    Multiplying scores by k multiplies z by sqrt(k). Parameters and errors are those of ``expected_scores``.
    """
    scores = pool_scores(scores)
    expected, root = _expectation(scores)
    return _over(scores - expected, root)


def topic_contributions(scores: npt.ArrayLike, *, alpha: float, kind: str = "linear") -> FloatArray:
    """The part of each topic in each system's ZRisk, shape (n_systems, n_topics); along a row they add up to it.

    In units of ZRisk; negative where a topic makes the system look risky. ValueError like ``expected_scores``, with
    an unknown kind, an ``alpha`` that is not finite or below 0, or a contribution beyond 1e100; ``smooth`` also
    refuses an alpha other than 1, and a score further than 1 from the expected one.

    Parameters
    ----------
    scores : array, shape (n_systems, n_topics)
        At least 0, in units of the measure; at least two systems, the candidate among them.
    alpha : float
        Extra weight of doing worse than expected, at least 0.
    kind : {"linear", "smooth"}
        ``linear``: z, times ``1 + alpha`` where it is negative (Eq. 6). ``smooth``: ``s(x - e)/sqrt(e)``, the cubic
        before standardising (AIRS 2019, Eq. 14), with alpha 1 only.
    """
    scores = pool_scores(scores)
    weight = loss_weight_of(kind, alpha)
    if kind == "smooth":
        return _smooth_contributions(scores)
    z = z_scores(scores)
    with np.errstate(over="ignore"):  # a product beyond the largest float is refused by name below
        weighted = np.where(z < 0, (1 + weight) * z, z)
    return systems_by_topics(weighted, name="z weighted by 1 + alpha")


def zrisk(scores: npt.ArrayLike, *, alpha: float, kind: str = "linear") -> FloatArray:
    """How well each system keeps to the shape of the pool's scores over topics (Eq. 6); high is safe.

    The sum of z where it is positive, and ``1 + alpha`` times its sum where it is negative. It sees the shape and not
    the mean: a system whose scores are all lower in proportion has a ZRisk closer to 0, not a lower one. It depends
    on the scale: multiplying scores by k multiplies ZRisk by sqrt(k), so percentages and fractions differ tenfold.

    Shape (n_systems,). Parameters and errors are those of ``topic_contributions``.
    """
    scores = pool_scores(scores)
    weight = loss_weight_of(kind, alpha)
    if kind == "smooth":
        return _sums(_smooth_contributions(scores))
    z = z_scores(scores)
    with np.errstate(over="ignore"):  # as in topic_contributions
        weighted = _sums(np.maximum(z, 0)) + (1 + weight) * _sums(np.minimum(z, 0))
    return per_topic(weighted, name="ZRisk")


def georisk(scores: npt.ArrayLike, *, alpha: float, kind: str = "linear") -> FloatArray:
    """Geometric mean of a system's mean score and its ZRisk mapped to 0..1 (Eq. 7); high is good and safe.

    ``sqrt(mean * Phi(ZRisk/c))`` with c topics, including topics on which no system scores. At alpha 0 Phi is about
    one half for every system, and GeoRisk says little more than the mean.

    Shape (n_systems,): at least 0, and 0 for a system that scores nothing. Parameters and errors are those of
    ``topic_contributions``.
    """
    scores = pool_scores(scores)
    topics = scores.shape[1]
    return georisk_from(_sums(scores) / topics, zrisk(scores, alpha=alpha, kind=kind), n_topics=topics)


def georisk_from(means: FloatArray, zrisk: FloatArray, *, n_topics: int) -> FloatArray:
    """``sqrt(mean Phi(ZRisk/c))``: 0 for a system without any score."""
    return np.asarray(np.sqrt(means * ndtr(zrisk / n_topics)))


def pool_scores(scores: npt.ArrayLike) -> FloatArray:
    """Scores of at least two systems and one topic, from 0 to 1e100: (n_systems, n_topics); else ValueError."""
    pool = systems_by_topics(scores)
    refuse(pool, pool < 0, "scores must be at least 0 for ZRisk and GeoRisk")
    return pool


def _expectation(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The expected scores (Eq. 5), and their square roots.

    These come from the roots of the totals: the product of two small totals may be 0 where that of their roots is
    not.
    """
    of_systems, of_topics = _sums(scores), _sums(scores.T)  # S_i and T_j of the paper's Table 2
    total = exact_sum(scores.ravel()) or 1.0  # 0 over anything is 0
    expected = np.outer(of_systems, of_topics / total)
    return expected, np.outer(np.sqrt(of_systems), np.sqrt(of_topics) / math.sqrt(total))


def _over(differences: FloatArray, root: FloatArray) -> FloatArray:
    """Differences standardised, 0 where nothing is expected."""
    return np.divide(differences, root, out=np.zeros_like(root), where=root > 0)


def _sums(rows: FloatArray) -> FloatArray:
    return np.array([exact_sum(row) for row in rows])


def _smooth_contributions(scores: FloatArray) -> FloatArray:
    expected, root = _expectation(scores)
    differences = scores - expected
    outside = np.abs(differences) > 1
    refuse(differences, outside, "scores less expected scores must be from -1 to 1 for the smooth trade-off")
    return _over(smooth(differences.ravel()).reshape(scores.shape), root)
