"""A candidate against one baseline: URisk, TRisk, their parts and the part of each topic.

Equation numbers are those of B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive
evaluation of retrieval systems", SIGIR 2014, unless another paper is named. A difference is candidate minus
baseline, in units of the measure; sums are exactly rounded, so the order of topics never moves a number.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pytest_riskguard.distributions import stdtr
from pytest_riskguard.frozen import frozen
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, exact_sum, mean, per_topic
from pytest_riskguard.risk.tradeoff import tradeoff as trade_off

#: A win or a loss is more than this. Measures such as ERR give differences of 1e-8 to documents deep in a ranking,
#: too small to print or to call a loss.
COUNTED = 1e-6


def urisk(differences: npt.ArrayLike, *, alpha: float, tradeoff: str = "linear") -> float:
    """Mean difference with each loss weighted by ``1 + alpha`` (Eq. 4, 13); negative when losses outweigh wins.

    ValueError with no topic, a second axis, a value that is not finite, ``alpha < 0`` or an unknown trade-off;
    ``smooth`` also refuses an alpha other than 1 and a difference beyond -1 or 1.

    Parameters
    ----------
    differences : array, shape (n_topics,)
        Candidate minus baseline, in units of the measure.
    alpha : float
        Extra weight of a loss, at least 0; 0 gives the plain mean difference.
    tradeoff : {"linear", "smooth"}
        ``smooth`` takes the mean of AIRS 2019's cubic instead; it goes with alpha 1 only.
    """
    return mean(trade_off(differences, kind=tradeoff, alpha=alpha))


@frozen
class RiskTest:
    """A mean trade-off score and its Student-t test against 0.

    ``estimate`` is in units of the measure. ``standard_error`` has divisor n - 1; None for a single topic.
    ``statistic`` is TGain or TRisk and ``p_value`` two-sided, from t with n - 1 degrees of freedom; None where the
    trade-off scores do not vary.
    """

    estimate: float
    standard_error: float | None
    statistic: float | None
    p_value: float | None


def trisk(differences: npt.ArrayLike, *, alpha: float, tradeoff: str = "linear") -> RiskTest:
    """URisk over its standard error (Eq. 10); below about -2 the risk is significant.

    Parameters and errors are those of ``urisk``.
    """
    return mean_test(trade_off(differences, kind=tradeoff, alpha=alpha))


def mean_test(x: npt.ArrayLike) -> RiskTest:
    """The mean of trade-off scores over its standard error, and what Student's t says of it (Eq. 10, 12).

    ValueError with no topic, a second axis, or a value that is not finite.
    """
    x = per_topic(x, name="x")
    estimate = mean(x)
    if x.size < 2:
        return RiskTest(estimate, None, None, None)
    if not varies(x):
        return RiskTest(estimate, 0.0, None, None)
    error = _deviation(x) / math.sqrt(x.size)
    statistic = estimate / error
    return RiskTest(estimate, error, statistic, 2 * stdtr(x.size - 1, -abs(statistic)))


def standardised(x: npt.ArrayLike) -> FloatArray:
    """TR_i: each topic's trade-off score in standard deviations (Eq. 21); zeros where x does not vary."""
    x = per_topic(x, name="x")
    if not varies(x):
        return np.zeros(x.size)
    return x / _deviation(x)


@frozen
class Counts:
    """Topics by what happened to them: a win or a loss is above 1e-6, a tie the rest."""

    wins: int
    losses: int
    ties: int


def counts(candidate: npt.ArrayLike, baseline: npt.ArrayLike) -> Counts:
    """Wins, losses and ties (SIGIR 2014, Table 3).

    Scores, shape (n_topics,), are in units of the measure. ValueError with no topic, a second axis, a value that is
    not finite, or shapes that differ.
    """
    candidate = per_topic(candidate, name="candidate")
    baseline = per_topic(baseline, name="baseline")
    if candidate.shape != baseline.shape:
        raise ValueError(f"candidate and baseline differ in shape: {candidate.shape} and {baseline.shape}")
    differences = candidate - baseline
    wins = int(np.count_nonzero(differences > COUNTED))
    losses = int(np.count_nonzero(differences < -COUNTED))
    return Counts(wins, losses, differences.size - wins - losses)


def varies(x: FloatArray) -> bool:
    """Whether trade-off scores differ by more than the rounding of their size."""
    least, largest = float(np.min(x)), float(np.max(x))
    return largest - least > ROUNDING_ERROR * max(1.0, largest, -least)


def _deviation(x: FloatArray) -> float:
    return math.sqrt(exact_sum((x - mean(x)) ** 2) / (x.size - 1))
