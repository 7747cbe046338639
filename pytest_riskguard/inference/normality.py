"""How far trade-off scores, and the bootstrap distribution of their mean, are from normal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference._bootstrap.choice import mean_law
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.risk.checks import FloatArray, exact_sum, per_topic

#: The numbers of topics that the approximation of W's distribution was made for.
MIN_TOPICS, MAX_TOPICS = 3, 5000


@dataclass(frozen=True)
class ShapiroWilk:
    """W, from 0 to 1 where 1 is a straight line in a Q-Q plot, and its p-value: small where scores are not normal."""

    w: float
    p_value: float


def shapiro_wilk(x: npt.ArrayLike) -> ShapiroWilk | None:
    """The Shapiro-Wilk test of normality, by Royston's approximation, as scipy has it.

    None with fewer than 3 or more than 5000 topics, for which the approximation was not made, and where scores do not
    vary. The p-value is exact for 3 topics; W is off by up to 1e-9, because scipy's normal quantiles have nine
    digits.

    References
    ----------
    P. Royston, "Remark AS R94: a remark on algorithm AS 181: the W-test for normality", Applied Statistics 44 (1995).
    """
    if not MIN_TOPICS <= per_topic(x, name="x").size <= MAX_TOPICS:
        return None
    sample = Sample.of(x)
    if sample.constant:
        return None
    from scipy.stats import shapiro  # takes half a second to import

    test = shapiro(sample.standard)
    return ShapiroWilk(float(test.statistic), float(test.pvalue))


def skewness(x: npt.ArrayLike | Sample) -> float | None:
    """The third central moment over the second's power 3/2, both with divisor n; None where scores do not vary.

    This is the moment skewness, without correction for the number of topics: below 0 where losses reach further than
    wins. BCa's acceleration is this over ``6 sqrt(n)``. At least two topics.
    """
    sample = Sample.of(x)
    if sample.constant:
        return None
    return exact_sum((sample.centred / sample.deviation) ** 3) / sample.n


@dataclass(frozen=True, eq=False)
class QQPoints:
    """Points of a Q-Q plot: on the diagonal where the distribution is normal.

    ``normal`` and ``bootstrap``, shape (n_points,), are quantiles of the standard normal distribution, and of the
    bootstrap distribution of the mean at the same probabilities, in bootstrap standard errors from the mean.
    """

    normal: FloatArray
    bootstrap: FloatArray


def qq_points(x: npt.ArrayLike | Sample, *, z: npt.ArrayLike | None = None) -> QQPoints | None:
    """The exact bootstrap distribution of the mean against the normal one: a Q-Q plot of infinitely many replicates.

    This is what the figures of ADCS 2019 (Fig. 1) and AIRS 2019 (Fig. 3) draw from 10,000 replicates and more. None
    where scores do not vary. The standard error has divisor n, which is that of the bootstrap.

    ``x``, shape (n_topics,), holds at least two trade-off scores; ``z``, shape (n_points,), the normal quantiles at
    which to compare, from -8 to 8 (else ValueError), by default 25 of them from -3 to 3.
    """
    sample = Sample.of(x)
    normal = np.linspace(-3.0, 3.0, 25) if z is None else per_topic(z, name="z", at_least=0)
    if np.any(np.abs(normal) > 8):
        raise ValueError(f"z must lie between -8 and 8, got {normal[np.abs(normal) > 8][0]:g}")
    if sample.constant:
        return None
    law = mean_law(sample)
    return QQPoints(normal, (law.at_scores(normal) - law.centre) / sample.scale)
