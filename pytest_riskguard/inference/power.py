"""What a comparison of this size could have seen: planning by the two-sided Student-t test."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammainc, ndtri

from pytest_riskguard.inference.intervals import critical_value

#: Above this many degrees of freedom the approximation that starts the search is the answer.
NORMAL = 1000
MOST_STEPS = 50
ROOT_2_PI = math.sqrt(2 * math.pi)
#: The normal part of t and its density times the spacing: a sum over a smooth function, hence exact to rounding.
NORMAL_PART = np.linspace(-7.5, 7.5, 1001)
DENSITY = np.exp(-(NORMAL_PART**2) / 2) / ROOT_2_PI * (NORMAL_PART[1] - NORMAL_PART[0])
MOST_TOPICS = 10**12


def minimum_detectable_effect(standard_deviation: float, n: int, *, level: float, power: float = 0.8) -> float:
    """The smallest loss of the mean that would be found significant with this power.

    Parameters
    ----------
    standard_deviation : float
        Of the trade-off scores over topics (divisor n - 1), in units of the measure.
    n : int
        Topics, at least 2.
    level : float
        Confidence of the two-sided interval that decides.
    power : float
        Probability of seeing it.

    Returns
    -------
    float
        In units of the measure, at least 0.

    Raises
    ------
    ValueError
        A negative or infinite deviation, fewer than two topics, a level or power outside (0, 1).
    """
    if not (math.isfinite(standard_deviation) and standard_deviation >= 0):
        raise ValueError(f"standard_deviation must be finite and at least 0, got {standard_deviation!r}")
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    for name, value in (("level", level), ("power", power)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    return _noncentrality(n, level, power) * standard_deviation / math.sqrt(n)


def _noncentrality(n: int, level: float, power: float) -> float:
    """How many standard errors away the mean must lie so that t passes its critical value with this power."""
    df, critical = n - 1, critical_value(n, level=level)
    goal = float(ndtri(power))
    # the root of a chi-square over its degrees of freedom, taken as normal
    away = critical * (1 - 1 / (4 * df)) + goal * math.sqrt(1 + critical**2 / (2 * df))
    if df <= NORMAL:
        for _ in range(MOST_STEPS):
            reached, slope = _power(away, df, critical)
            if not 0 < reached < 1:
                break
            # Newton's method on the normal scale, where power is all but a straight line
            step = (goal - float(ndtri(reached))) * math.exp(-(float(ndtri(reached)) ** 2) / 2) / (ROOT_2_PI * slope)
            away += step
            if abs(step) < 1e-10 * critical:
                break
    return max(away, 0.0)


def _power(away: float, df: int, critical: float) -> tuple[float, float]:
    """P(noncentral t > critical) and its slope in the noncentrality, over the normal part of t.

    scipy's own inverse (``nctdtrinc``) does not return for few topics and levels near 1.
    """
    ratio = np.maximum(NORMAL_PART + away, 0.0) / critical
    below = gammainc(df / 2, df * ratio**2 / 2) * DENSITY
    return float(np.sum(below)), float(np.sum(NORMAL_PART * below))


def topics_needed(standard_deviation: float, effect: float, *, level: float, power: float = 0.8) -> int | None:
    """The fewest topics with which a loss of this size would be found; None where a trillion do not suffice.

    Raises
    ------
    ValueError
        ``effect`` not above 0, or what ``minimum_detectable_effect`` refuses.
    """
    if not (math.isfinite(effect) and effect > 0):
        raise ValueError(f"effect must be finite and above 0, got {effect!r}")

    def enough(n: int) -> bool:
        return minimum_detectable_effect(standard_deviation, n, level=level, power=power) <= effect

    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_TOPICS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def cannot_fail(changed: int, n: int, *, level: float) -> bool:
    """Whether no values at all of this many changed topics would be significant by Student-t.

    With m changed topics of n, |t| is at most sqrt(m (n - 1)/(n - m)).

    Raises
    ------
    ValueError
        Fewer than two topics, a level outside (0, 1).
    """
    if changed >= n:
        return False
    return math.sqrt(changed * (n - 1) / (n - changed)) <= critical_value(n, level=level)
