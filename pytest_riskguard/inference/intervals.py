"""Confidence intervals of URisk, and their p-values: Student-t, basic, studentized, percentile and BCa.

References
----------
R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019, Eq. 2-7; B. Efron,
"Better bootstrap confidence intervals", Journal of the American Statistical Association 82 (1987).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy.typing as npt

from pytest_riskguard.distributions import ndtr, ndtri, stdtr, stdtrit
from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference.sample import Sample
from pytest_riskguard.risk.checks import between_0_and_1

if TYPE_CHECKING:
    from pytest_riskguard.inference.studentized import StudentizedLaw

METHODS = ("student_t", "basic", "studentized", "percentile", "bca")
#: A bound this many standard errors below the mean is not above any upper limit.
CERTAIN = 6.0


@frozen
class Interval:
    """A two-sided interval of the mean, in units of x."""

    method: str
    level: float
    lower: float
    upper: float


def interval(x: npt.ArrayLike | Sample, *, method: str = "bca", level: float = 0.95) -> Interval:
    """A confidence interval of the mean of trade-off scores, by resampling topics without simulation.

    Student-t: mean -+ t(n - 1) s/sqrt(n) (ADCS 2019, Eq. 2). Percentile: quantiles of the law of the mean of n draws
    with replacement (Eq. 5). Basic: these mirrored at the mean (Eq. 3). BCa: quantiles at the levels
    Phi(w + (w + z)/(1 - a (w + z))), where w is the normal quantile of the share of replicates below the mean and
    half of those equal to it, and a = sum L^3/(6 (sum L^2)^1.5), L = x - mean (Eq. 6, 7). Studentized: as Student-t,
    with the quantiles of the replicates' own t (Eq. 4).

    Parameters
    ----------
    x : array, shape (n_topics,)
        Trade-off scores, in units of the measure; at least two topics. Constant ones give ``[mean, mean]``.
    method : {"student_t", "basic", "studentized", "percentile", "bca"}
    level : float
        Confidence of the two-sided interval, in (0, 1).

    Raises
    ------
    ValueError
        Fewer than two topics, a second axis, a value that is not finite, an unknown method, a level outside (0, 1).
    """
    _check_method(method)
    between_0_and_1(level, name="level")
    return Interval(method, level, *_limits(Sample.of(x), method, level))


def upper_p_value(x: npt.ArrayLike | Sample, *, method: str, bound: float = 0.0) -> float:
    """The smallest ``1 - level`` at which the interval's upper limit lies below a bound; 1 where no level suffices.

    Each formula is that of the interval, solved for the level: test and interval never disagree. For constant data,
    whose limits are all the mean, it is 0 or 1; with BCa it may be 0 for other data too (``adjusted_score``). ``x``,
    ``bound`` and errors are as for ``interval``, the bound in units of x.
    """
    _check_method(method)
    sample = Sample.of(x)
    if sample.constant:
        return float(not sample.mean < bound)
    return min(2 * _significance(sample, method, bound), 1.0)


def critical_value(n: float, *, level: float) -> float:
    """The two-sided critical value of Student's t with n - 1 degrees of freedom; at least two topics."""
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    between_0_and_1(level, name="level")
    return stdtrit(n - 1, (1 + level) / 2)


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")


def _limits(sample: Sample, method: str, level: float) -> tuple[float, float]:
    if sample.constant:
        return sample.mean, sample.mean
    if method == "student_t":
        half = critical_value(sample.n, level=level) * sample.standard_error
        return sample.mean - half, sample.mean + half
    if method == "studentized":
        below, above = _studentized(sample).quantiles(((1 - level) / 2, (1 + level) / 2)).tolist()
        return sample.mean - above * sample.standard_error, sample.mean - below * sample.standard_error
    z = float(ndtri((1 - level) / 2))
    scores = [z, -z]
    if method == "bca":
        scores = [adjusted_score(score, sample.bias, sample.acceleration) for score in scores]
    lower, upper = sample.at_scores(scores).tolist()
    if method == "basic":
        return _mirrored(sample, upper), _mirrored(sample, lower)
    return lower, upper


def _significance(sample: Sample, method: str, bound: float) -> float:
    """Half of ``1 - level`` where the upper limit is the bound."""
    away = (sample.mean - bound) / sample.standard_error
    if away > CERTAIN:
        return 0.5
    if method == "student_t":
        return stdtr(sample.n - 1, away)
    if method == "studentized":
        return _studentized(sample).cdf(away)
    if method == "basic":
        return float(ndtr(sample.score(_mirrored(sample, bound))))
    score = sample.score(bound, inclusive=False)
    return float(ndtr(-score)) if method == "percentile" else _bca_significance(score, sample)


def _studentized(sample: Sample) -> StudentizedLaw:
    from pytest_riskguard.inference.studentized import studentized_law  # rarely asked for

    return studentized_law(sample)


def _mirrored(sample: Sample, value: float) -> float:
    """A value mirrored at the estimate; 0, as a replicate's mean is, where only rounding keeps it from that."""
    mirrored = 2 * sample.mean - value
    return 0.0 if abs(mirrored) <= sample.same else mirrored


def _bca_significance(score: float, sample: Sample) -> float:
    """``adjusted_score`` solved for the level; see there for what happens at the pole."""
    bias = sample.bias
    if not math.isfinite(score):
        return float(score < 0)
    distance = score - bias
    stretch = 1 + sample.acceleration * distance
    if stretch <= 0:
        return float(distance < 0)
    return float(ndtr(bias - distance / stretch))


def adjusted_score(z: float, bias: float, acceleration: float) -> float:
    """The normal score at which BCa takes the quantile for that of the nominal level (ADCS 2019, Eq. 7).

    The formula has a pole where ``acceleration * (bias + z)`` is 1. Since |a| < 1/6, that takes |bias + z| above 6: a
    level above 0.999999 of very skewed data. Beyond the pole the formula would jump to the other tail; there the
    limit is what it tends to before the pole, the end of the law, which is the outermost score. On the other side
    the score never passes ``bias - 1/acceleration``, so means further out than that quantile lie outside the
    interval at every level: as a bound they have the p-value 0, or 1 where they lie below the mean.
    """
    shifted = bias + z
    denominator = 1 - acceleration * shifted if math.isfinite(shifted) else 0.0
    if not denominator > 0:
        return math.copysign(math.inf, shifted)
    return bias + shifted / denominator
