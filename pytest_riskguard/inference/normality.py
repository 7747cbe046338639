"""How far trade-off scores, and the bootstrap law of their mean, are from normal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from pytest_riskguard.inference._bootstrap.mean_law import mean_law
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.risk.checks import FloatArray, per_topic

#: So many topics the approximation of W's law was made for.
MIN_TOPICS, MAX_TOPICS = 3, 5000
#: Up to so many topics the weights have one polynomial, and 1 - W its own transformation.
FEW_WEIGHTS, FEW_TOPICS = 5, 11
#: Polynomials of Royston (1995), lowest order first: the two outer weights in 1/sqrt(n); mean and log standard
#: deviation of the transformed 1 - W, in n for few topics and in log n for more; where the first of these ends.
OUTER_WEIGHT = (0.0, 0.221157, -0.147981, -2.071190, 4.434685, -2.706056)
SECOND_WEIGHT = (0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633)
FEW_MEAN = (0.5440, -0.39978, 0.025054, -0.0006714)
FEW_LOG_DEVIATION = (1.3822, -0.77857, 0.062767, -0.0020322)
FEW_END = (-2.273, 0.459)
MANY_MEAN = (-1.5861, -0.31082, -0.083751, 0.0038915)
MANY_LOG_DEVIATION = (-0.4803, -0.082676, 0.0030302)


@dataclass(frozen=True)
class ShapiroWilk:
    """W, from 0 to 1 where 1 is a straight line in a Q-Q plot, and its p-value: small where scores are not normal."""

    w: float
    p_value: float


def shapiro_wilk(x: npt.ArrayLike) -> ShapiroWilk | None:
    """The Shapiro-Wilk test of normality, by Royston's approximation.

    Parameters
    ----------
    x : array, shape (n_topics,)
        Trade-off scores, in any unit.

    Returns
    -------
    ShapiroWilk or None
        None with fewer than 3 or more than 5000 topics, where the approximation was not made for it, and where
        scores do not vary. The p-value is exact for 3 topics.

    Raises
    ------
    ValueError
        No topic, a second axis, a value that is not finite.

    References
    ----------
    P. Royston, "Remark AS R94: a remark on algorithm AS 181: the W-test for normality", Applied Statistics 44 (1995).
    """
    if not MIN_TOPICS <= per_topic(x, name="x").size <= MAX_TOPICS:
        return None
    sample = Sample.of(x)
    if sample.constant:
        return None
    y, weights = sample.centred / sample.deviation, _weights(sample.n)
    # what a straight line in the Q-Q plot leaves over: 1 - W, to full precision where W is all but 1
    lack = math.fsum((y - weights * math.fsum(weights * y)) ** 2) / sample.n
    return ShapiroWilk(1 - lack, _p_value(lack, sample.n))


def _weights(n: int) -> FloatArray:
    """Of the order statistics, smallest first: antisymmetric, squares add up to 1."""
    largest = np.array([math.sqrt(0.5)]) if n == 3 else _largest_weights(n)
    return np.concatenate([-largest, np.zeros(n % 2), largest[::-1]])


def _largest_weights(n: int) -> FloatArray:
    scores = -ndtri((np.arange(1, n // 2 + 1) - 0.375) / (n + 0.25))
    squares = 2 * math.fsum(scores**2)
    outer = [_polynomial(OUTER_WEIGHT, 1 / math.sqrt(n)) + scores[0] / math.sqrt(squares)]
    if n > FEW_WEIGHTS:
        outer.append(_polynomial(SECOND_WEIGHT, 1 / math.sqrt(n)) + scores[1] / math.sqrt(squares))
    weights = np.array(scores)
    weights[: len(outer)] = outer
    # the others are proportional to the normal scores, such that all squares add up to 1
    rest = squares - 2 * math.fsum(scores[: len(outer)] ** 2)
    weights[len(outer) :] *= math.sqrt((1 - 2 * math.fsum(weights[: len(outer)] ** 2)) / rest)
    return weights


def _p_value(lack: float, n: int) -> float:
    """The chance of a larger 1 - W in normal data."""
    if n == 3:
        return max(0.0, 1 - 6 / math.pi * math.asin(math.sqrt(min(lack, 1.0))))
    if lack <= 0:
        return 1.0
    lack = math.log(lack)
    if n <= FEW_TOPICS:
        end = _polynomial(FEW_END, n)
        if lack >= end:
            return 0.0
        lack = -math.log(end - lack)
        mean, log_deviation = _polynomial(FEW_MEAN, n), _polynomial(FEW_LOG_DEVIATION, n)
    else:
        mean, log_deviation = _polynomial(MANY_MEAN, math.log(n)), _polynomial(MANY_LOG_DEVIATION, math.log(n))
    return float(ndtr((mean - lack) / math.exp(log_deviation)))


def _polynomial(coefficients: Sequence[float], at: float) -> float:
    return math.fsum(coefficient * at**order for order, coefficient in enumerate(coefficients))


def skewness(x: npt.ArrayLike) -> float | None:
    """The third central moment over the second's power 3/2, both with divisor n; None where scores do not vary.

    This is the moment skewness, without correction for the number of topics: below 0 where losses reach further than
    wins. BCa's acceleration is this over ``6 sqrt(n)``.

    Parameters
    ----------
    x : array, shape (n_topics,)
        Trade-off scores, at least two.

    Raises
    ------
    ValueError
        Fewer than two topics, a second axis, a value that is not finite.
    """
    sample = Sample.of(x)
    if sample.constant:
        return None
    return math.fsum((sample.centred / sample.deviation) ** 3) / sample.n


@dataclass(frozen=True, eq=False)
class QQPoints:
    """Points of a Q-Q plot: on the diagonal where the law is normal.

    Attributes
    ----------
    normal : array, shape (n_points,)
        Quantiles of the standard normal law.
    bootstrap : array, shape (n_points,)
        Quantiles of the bootstrap law of the mean at the same probabilities, in bootstrap standard errors from the
        mean.
    """

    normal: FloatArray
    bootstrap: FloatArray


def qq_points(x: npt.ArrayLike | Sample, *, z: npt.ArrayLike | None = None) -> QQPoints | None:
    """The exact bootstrap law of the mean against the normal law: the normal Q-Q plot of infinitely many replicates.

    This is what the figures of ADCS 2019 (Fig. 1) and AIRS 2019 (Fig. 3) draw from 10,000 replicates and more.

    Parameters
    ----------
    x : array, shape (n_topics,)
        Trade-off scores, at least two.
    z : array, shape (n_points,), optional
        Normal quantiles at which to compare, from -8 to 8; 25 of them from -3 to 3 by default.

    Returns
    -------
    QQPoints or None
        None where scores do not vary, for then there is no law. The standard error has divisor n, which is that of
        the bootstrap.

    Raises
    ------
    ValueError
        Fewer than two topics, a second axis, a value that is not finite, z outside [-8, 8].
    """
    sample = x if isinstance(x, Sample) else Sample.of(x)
    normal = np.linspace(-3.0, 3.0, 25) if z is None else per_topic(z, name="z", at_least=0)
    if np.any(np.abs(normal) > 8):
        raise ValueError(f"z must lie between -8 and 8, got {normal[np.abs(normal) > 8][0]:g}")
    if sample.constant:
        return None
    law = mean_law(sample)
    return QQPoints(normal, (law.quantiles(ndtr(normal)) - law.centre) / sample.scale)
