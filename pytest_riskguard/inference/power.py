"""What a comparison of this size could have detected, by the interval that decides it.

Student's two-sided test has a critical value: the mean is significantly below 0 where it lies more than this many
standard errors below it. Every interval used here moves along when the data are shifted, so the one that decides has
such a value too: how far its upper limit lies above the mean, in standard errors. Power is that of the noncentral t
at this value. The value varies from sample to sample, together with the mean; this is ignored.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from pytest_riskguard.distributions import ndtr, ndtri
from pytest_riskguard.inference.intervals import critical_value
from pytest_riskguard.risk.checks import between_0_and_1

MAX_STEPS = 50
ROOT_2_PI = math.sqrt(2 * math.pi)
#: The mean over the law of a standard deviation is a sum over points of its logarithm, out to where the density is
#: below exp(-DEEP); with such spacings, as shares of two widths, it is exact to rounding, as the function is smooth.
DEEP, FINE, SHARP = 40.0, 1 / 60, 0.7
#: So many standard errors apart, the chance is 0 or 1 to the last bit.
CERTAIN = 40.0
#: Powers of 2 up to a trillion: numbers of topics that are tried.
MAX_DOUBLINGS = 40


def minimum_detectable_effect(
    standard_deviation: float, n: int, *, level: float, power: float = 0.8, critical: float | None = None
) -> float:
    """The smallest loss of the mean, at least 0, that would be found significant with this power.

    ValueError with a parameter that is not finite or out of its range.

    Parameters
    ----------
    standard_deviation : float
        Of the trade-off scores over topics (divisor n - 1), in units of the measure.
    n : int
        Topics, at least 2.
    level : float
        Confidence of the two-sided interval that decides.
    power : float
        Probability of finding such a loss.
    critical : float, optional
        Standard errors from the mean to the limit that decides; Student's by default.
    """
    critical = _checked(standard_deviation, n, level, critical)
    between_0_and_1(power, name="power")
    return max(noncentrality(n - 1, critical, power), 0.0) * standard_deviation / math.sqrt(n)


def power_of(
    effect: float, standard_deviation: float, n: int, *, level: float, critical: float | None = None
) -> float:
    """The chance that a loss of this size is found significant.

    ``effect`` is how far the true mean lies below the bound, in units of the measure; 0 gives the rate of false
    alarms, and below 0 is a gain. Other parameters and errors are those of ``minimum_detectable_effect``.
    """
    critical = _checked(standard_deviation, n, level, critical)
    if standard_deviation == 0:
        return float(effect > 0)  # without variation the mean alone decides
    return _power(effect * math.sqrt(n) / standard_deviation, n - 1, critical)[0]


def _checked(standard_deviation: float, n: int, level: float, critical: float | None) -> float:
    """The critical value, once the other parameters are checked."""
    if not (math.isfinite(standard_deviation) and standard_deviation >= 0):
        raise ValueError(f"standard_deviation must be finite and at least 0, got {standard_deviation!r}")
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    if critical is None:
        return critical_value(n, level=level)
    if not math.isfinite(critical):
        raise ValueError(f"critical must be finite, got {critical!r}")
    return critical


def noncentrality(df: float, critical: float, power: float) -> float:
    """How many standard errors away the mean must lie so that t passes its critical value with this power.

    For normal scores and ``df`` degrees of freedom; what it gives has the power to a few ten-thousandths of it at
    worst.
    """
    goal = float(ndtri(power))
    # nearly: the root of a chi-square over its degrees of freedom, taken as normal
    away = critical * (1 - 1 / (4 * df)) + goal * math.sqrt(1 + critical**2 / (2 * df))
    for _ in range(MAX_STEPS):
        reached, slope = _power(away, df, critical)
        if not 0 < reached < 1:
            break
        # Newton's method on the normal scale, where power is all but a straight line
        step = (goal - float(ndtri(reached))) * math.exp(-(float(ndtri(reached)) ** 2) / 2) / (ROOT_2_PI * slope)
        away += step
        if abs(step) < 1e-10 * abs(critical):
            break
    return away


def _power(away: float, df: float, critical: float) -> tuple[float, float]:
    """P(noncentral t > critical) and its slope in the noncentrality.

    scipy's own inverse (``nctdtrinc``) does not return for few topics and levels near 1.
    """
    width = math.sqrt(DEEP / df)
    least, most = -DEEP / df - width, min(width, 3.0)
    ends = away - critical * math.exp(least), away - critical * math.exp(most)
    if min(ends) > CERTAIN or max(ends) < -CERTAIN:  # which would take steps without number
        return float(ends[0] > 0), 0.0
    logs = np.arange(least, most, min(FINE * width, SHARP / (1 + abs(away))))
    weights = np.exp(df * (logs - np.expm1(2 * logs) / 2))
    weights /= np.sum(weights)
    beyond = away - critical * np.exp(logs)
    return float(np.sum(weights * ndtr(beyond))), float(np.sum(weights * np.exp(-(beyond**2) / 2))) / ROOT_2_PI


def topics_needed(
    standard_deviation: float,
    effect: float,
    *,
    level: float,
    power: float = 0.8,
    critical: float | None = None,
    n: int = 0,
) -> int | None:
    """The fewest topics with which a loss of this size would be found; None where a trillion are not enough.

    With the lower limit's critical value, those with which a mean so far above a bound would be shown to be.

    Parameters
    ----------
    standard_deviation, level, power
        As for ``minimum_detectable_effect``, and so are errors.
    effect : float
        The loss, beyond what the gate tolerates, in units of the measure; None is returned where it is not above 0.
    critical, n : float and int, optional
        What was observed with n topics, which counts only together. The critical value's excess over Student's comes
        from the skewness of a mean, and is assumed to shrink like it, as ``1/sqrt(topics)``.
    """
    if not effect > 0:
        return None
    excess = 0.0 if critical is None else _excess(critical, n, level)

    def enough(topics: int) -> bool:
        at_size = critical_value(topics, level=level) + excess / math.sqrt(topics)
        detected = minimum_detectable_effect(standard_deviation, topics, level=level, power=power, critical=at_size)
        return detected <= effect

    return _fewest(enough)


def _excess(critical: float, n: int, level: float) -> float:
    """How far a critical value lies above Student's, times the root of the number of topics."""
    return (critical - critical_value(n, level=level)) * math.sqrt(n)


def _fewest(enough: Callable[[int], bool]) -> int | None:
    """The fewest topics that are enough, at least 2; None where a trillion are not."""
    # from above: a negative excess, carried over to very few topics, would promise too much there
    doublings = MAX_DOUBLINGS
    while doublings > 0 and enough(1 << doublings):
        doublings -= 1
    if doublings == MAX_DOUBLINGS:
        return None
    return bisect_left(range(2 << doublings), True, lo=(1 << doublings) + 1, key=enough)


def topics_for_equivalence(
    standard_deviation: float,
    mean: float,
    *,
    tolerance: float,
    level: float,
    power: float = 0.8,
    criticals: tuple[float | None, float | None],
    n: int,
) -> int | None:
    """The fewest topics with which a mean like the observed one would be shown to lie within both tolerances.

    What either limit misses is added, so the power is at least the one asked for. None where the mean itself lies
    beyond a bound, or so near to it that a trillion topics are not enough.

    Parameters
    ----------
    tolerance : float
        How far the mean may lie from 0 on either side, above 0, in units of the measure.
    criticals, n
        Standard errors from the mean to the limit nearer to its bound, and to the other, as observed with n topics;
        None where scores do not vary.
    standard_deviation, mean, level, power
        As for ``topics_needed``, and so are errors.
    """
    distances = tolerance - abs(mean), tolerance + abs(mean)
    if not distances[0] > 0:
        return None
    excesses = [0.0 if critical is None else _excess(critical, n, level) for critical in criticals]

    def enough(topics: int) -> bool:
        missed = 0.0
        for distance, excess in zip(distances, excesses, strict=True):
            critical = critical_value(topics, level=level) + excess / math.sqrt(topics)
            missed += 1 - power_of(distance, standard_deviation, topics, level=level, critical=critical)
        return missed <= 1 - power

    return _fewest(enough)
