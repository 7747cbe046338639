"""How large an effect is, whatever the unit of the measure: two effect sizes with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import index

from scipy.special import betaincinv

from pytest_riskguard.inference.power_analysis import noncentrality
from pytest_riskguard.risk.checks import between_0_and_1


@dataclass(frozen=True)
class EffectSize:
    """An effect size and its two-sided interval."""

    value: float
    lower: float
    upper: float


def standardised_mean(
    mean: float, deviation: float, n: int, *, level: float, freedom: float | None = None
) -> EffectSize:
    """The mean over its standard deviation: Cohen's d of paired scores, d_z.

    Parameters
    ----------
    mean, deviation : float
        Of the scores, in one unit; the standard deviation has divisor n - 1 and is above 0.
    n : int
        How many scores, at least 2.
    level : float
        Confidence of the interval. Its limits are those of the noncentral t distribution, exact for normal scores.
        They have the same sign exactly where Student-t's interval does not hold 0.
    freedom : float, optional
        How many degrees of freedom the deviation has, above 0; n - 1 by default.

    Returns
    -------
    EffectSize
        Without unit. No correction for few topics is applied (Hedges's g is smaller by about 3/(4 n) of it).

    Raises
    ------
    ValueError
        A mean, deviation or ``freedom`` that is not finite, ``deviation <= 0``, ``n < 2``, ``freedom <= 0``, a level
        not between 0 and 1.

    References
    ----------
    J. Cohen, "Statistical Power Analysis for the Behavioral Sciences", 2nd ed., 1988, section 2.3.
    G. Cumming, S. Finch, "A Primer on the Understanding, Use, and Calculation of Confidence Intervals That Are Based
    on Central and Noncentral Distributions", Educational and Psychological Measurement 61(4), 2001, 532-574.
    """
    between_0_and_1(level, name="level")
    if not (math.isfinite(mean) and math.isfinite(deviation) and deviation > 0):
        raise ValueError(f"mean must be finite and deviation above 0, got {mean!r} and {deviation!r}")
    if index(n) < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    df = n - 1 if freedom is None else freedom
    if not (math.isfinite(df) and df > 0):
        raise ValueError(f"freedom must be finite and above 0, got {freedom!r}")
    value, root = mean / deviation, math.sqrt(n)
    # the effects at which a t as high as the observed one has these chances
    lower, upper = (noncentrality(df, value * root, chance) / root for chance in ((1 - level) / 2, (1 + level) / 2))
    return EffectSize(value, lower, upper)


def share(count: int, n: int, *, level: float) -> EffectSize:
    """A probability from how often something happened, with the interval of Clopper and Pearson.

    Parameters
    ----------
    count, n : int
        How often it happened, of how many times; ``0 <= count <= n``, ``n >= 1``.
    level : float
        Confidence of the interval, which covers the probability at least that often.

    Raises
    ------
    ValueError
        Counts that cannot be, a level not between 0 and 1.

    References
    ----------
    C. J. Clopper, E. S. Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial",
    Biometrika 26(4), 1934, 404-413.
    """
    between_0_and_1(level, name="level")
    if not 0 <= index(count) <= index(n) or n < 1:
        raise ValueError(f"count must lie between 0 and n, and n be at least 1, got {count} of {n}")
    tail = (1 - level) / 2
    lower = 0.0 if count == 0 else float(betaincinv(count, n - count + 1, tail))
    upper = 1.0 if count == n else float(betaincinv(count + 1, n - count, 1 - tail))
    return EffectSize(count / n, lower, upper)
