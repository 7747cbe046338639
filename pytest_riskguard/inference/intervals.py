"""Confidence intervals of URisk: Student-t, and the bootstrap's basic, studentized, percentile and BCa intervals.

References
----------
R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019, Eq. 2-7; B. Efron,
"Better bootstrap confidence intervals", Journal of the American Statistical Association 82 (1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtrit

from pytest_riskguard.inference.exact import mean_law
from pytest_riskguard.inference.laws import MeanLaw
from pytest_riskguard.inference.sample import Sample
from pytest_riskguard.inference.studentized import studentized_law
from pytest_riskguard.inference.t_laws import StudentizedLaw

METHODS = ("student_t", "basic", "studentized", "percentile", "bca")
#: Those that take about a millisecond: the studentized one takes tens of them.
FAST = ("student_t", "basic", "percentile", "bca")


@dataclass(frozen=True)
class Interval:
    """A two-sided interval of the mean, in units of x."""

    method: str
    level: float
    lower: float
    upper: float


def interval(x: npt.ArrayLike, *, method: str = "bca", level: float = 0.95) -> Interval:
    """One interval of the mean of trade-off scores; see ``intervals``."""
    return intervals(x, methods=(method,), level=level)[0]


def intervals(x: npt.ArrayLike, *, methods: Sequence[str] = FAST, level: float = 0.95) -> tuple[Interval, ...]:
    """Intervals of the mean of trade-off scores, in the order asked for, sharing one bootstrap law.

    Parameters
    ----------
    x : array, shape (n_topics,)
        Trade-off scores, in units of the measure; at least two. Constant data give ``[mean, mean]``.
    methods : sequence of {"student_t", "basic", "studentized", "percentile", "bca"}
        Default all but the studentized one, which takes longer. Basic, percentile and BCa are exact: they are the
        limits that infinitely many replicates would give; so is the studentized one where ``studentized_law`` is
        exact. BCa's bias correction counts half of the atom at the mean (R's ``boot`` counts none of it).
    level : float
        Confidence of the two-sided interval, in (0, 1).

    Raises
    ------
    ValueError
        Fewer than two topics, a second axis, a value that is not finite, an unknown method, a level outside (0, 1).
    """
    unknown = [method for method in methods if method not in _LIMITS]
    if unknown:
        raise ValueError(f"method must be one of {', '.join(_LIMITS)}, got {unknown[0]!r}")
    _check_level(level)
    data = _Data(Sample.of(x))
    if data.sample.constant:
        return tuple(Interval(method, level, data.sample.mean, data.sample.mean) for method in methods)
    return tuple(Interval(method, level, *_LIMITS[method](data, level)) for method in methods)


def critical_value(n: int, *, level: float) -> float:
    """The two-sided critical value of Student's t with n - 1 degrees of freedom.

    Raises
    ------
    ValueError
        Fewer than two topics, a level outside (0, 1).
    """
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    _check_level(level)
    return float(stdtrit(n - 1, (1 + level) / 2))


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")


class _Data:
    """A sample and, when an interval needs it, its law."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample

    @cached_property
    def law(self) -> MeanLaw:
        return mean_law(self.sample)

    @cached_property
    def studentized(self) -> StudentizedLaw:
        return studentized_law(self.sample)


def _student_t(data: _Data, level: float) -> tuple[float, float]:
    sample = data.sample
    error = sample.deviation / math.sqrt(sample.n - 1)
    half = critical_value(sample.n, level=level) * error
    return sample.mean - half, sample.mean + half


def _basic(data: _Data, level: float) -> tuple[float, float]:
    """The percentile interval mirrored at the estimate (ADCS 2019, Eq. 3)."""
    lower, upper = _percentile(data, level)
    return 2 * data.law.centre - upper, 2 * data.law.centre - lower


def _studentized(data: _Data, level: float) -> tuple[float, float]:
    """Bootstrap-t: quantiles of T* in place of Student's (ADCS 2019, Eq. 4)."""
    sample = data.sample
    error = sample.deviation / math.sqrt(sample.n - 1)
    above, below = data.studentized.quantile((1 + level) / 2), data.studentized.quantile((1 - level) / 2)
    return sample.mean - above * error, sample.mean - below * error


def _percentile(data: _Data, level: float) -> tuple[float, float]:
    return data.law.quantile((1 - level) / 2), data.law.quantile((1 + level) / 2)


def _bca(data: _Data, level: float) -> tuple[float, float]:
    bias = bias_correction(data.law.mid_cdf(data.law.centre))
    a = data.sample.acceleration
    return (
        data.law.quantile(adjusted((1 - level) / 2, bias, a)),
        data.law.quantile(adjusted((1 + level) / 2, bias, a)),
    )


_LIMITS: dict[str, Callable[[_Data, float], tuple[float, float]]] = {
    "student_t": _student_t,
    "basic": _basic,
    "studentized": _studentized,
    "percentile": _percentile,
    "bca": _bca,
}


def bias_correction(below: float) -> float:
    """BCa's w: the normal quantile of the share of replicates below the estimate (ADCS 2019)."""
    return float(ndtri(below))


def adjusted(p: float, bias: float, acceleration: float) -> float:
    """The level at which BCa takes the quantile for nominal level p (ADCS 2019, Eq. 7).

    The denominator stays positive for a mean unless the bias correction is extreme (|a| < 1/6); where it does not,
    the formula has passed its pole and the limit is the end of the law on that side.
    """
    shifted = bias + ndtri(p)
    denominator = 1 - acceleration * shifted if math.isfinite(shifted) else 0.0
    if not denominator > 0:
        return float(shifted > 0)
    return float(ndtr(bias + shifted / denominator))
