"""Confidence intervals of URisk: Student-t, and the bootstrap's basic, studentized, percentile and BCa intervals.

References
----------
R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019, Eq. 2-7; B. Efron,
"Better bootstrap confidence intervals", Journal of the American Statistical Association 82 (1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtrit

from pytest_riskguard.inference.bootstrap.characteristic import quantiles_of
from pytest_riskguard.inference.bootstrap.exact import mean_law
from pytest_riskguard.inference.bootstrap.laws import MeanLaw
from pytest_riskguard.inference.bootstrap.sample import Sample
from pytest_riskguard.inference.bootstrap.studentized import studentized_law
from pytest_riskguard.inference.bootstrap.t_laws import StudentizedLaw
from pytest_riskguard.risk.checks import FloatArray

METHODS = ("student_t", "basic", "studentized", "percentile", "bca")
#: Those that take about a millisecond: the studentized one takes tens of them.
FAST = ("student_t", "basic", "percentile", "bca")

#: What type checkers take for scores of one statistic, and of several: numpy knows how many axes an array has.
Vector = np.ndarray[tuple[int], np.dtype[np.generic]] | Sequence[float] | Sample
Matrix = np.ndarray[tuple[int, int], np.dtype[np.generic]]


@dataclass(frozen=True)
class Interval:
    """A two-sided interval of the mean, in units of x."""

    method: str
    level: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class IntervalBatch:
    """Two-sided intervals of the means of several statistics over the same topics.

    Attributes
    ----------
    method, level
        The same for all.
    lower, upper : array, shape (n_statistics,)
        In units of x.
    """

    method: str
    level: float
    lower: FloatArray
    upper: FloatArray


@overload
def interval(x: Vector, *, method: str = ..., level: float = ...) -> Interval: ...
@overload
def interval(x: Matrix, *, method: str = ..., level: float = ...) -> IntervalBatch: ...
@overload
def interval(x: npt.ArrayLike, *, method: str = ..., level: float = ...) -> Interval: ...
def interval(x: npt.ArrayLike | Sample, *, method: str = "bca", level: float = 0.95) -> Interval | IntervalBatch:
    """One interval of the mean of trade-off scores, or one of each column of a matrix; see ``intervals``."""
    return _intervals(x, (method,), (level,))[0]


@overload
def intervals(
    x: Vector, *, methods: Sequence[str] = ..., level: float | Sequence[float] = ...
) -> tuple[Interval, ...]: ...
@overload
def intervals(
    x: Matrix, *, methods: Sequence[str] = ..., level: float | Sequence[float] = ...
) -> tuple[IntervalBatch, ...]: ...
@overload
def intervals(
    x: npt.ArrayLike, *, methods: Sequence[str] = ..., level: float | Sequence[float] = ...
) -> tuple[Interval, ...]: ...
def intervals(
    x: npt.ArrayLike | Sample, *, methods: Sequence[str] = FAST, level: float | Sequence[float] = 0.95
) -> tuple[Interval, ...] | tuple[IntervalBatch, ...]:
    """Intervals of the mean of trade-off scores, sharing one bootstrap law.

    Parameters
    ----------
    x : array, shape (n_topics,) or (n_topics, n_statistics)
        Trade-off scores, in units of the measure; at least two topics. Constant data give ``[mean, mean]``. The
        columns of a matrix, which may have laws of different kinds, are searched together; their limits are those
        that each column has as a vector, to the bit.
    methods : sequence of {"student_t", "basic", "studentized", "percentile", "bca"}
        Default all but the studentized one, which takes longer. Basic, percentile and BCa are exact: they are the
        limits that infinitely many replicates would give; so is the studentized one where ``studentized_law`` is
        exact. BCa's bias correction counts half of the atom at the mean (R's ``boot`` counts none of it).
    level : float or sequence of float, shape (n_levels,)
        Confidence of the two-sided interval, in (0, 1).

    Returns
    -------
    tuple of Interval or, for a matrix, of IntervalBatch
        In the order of ``methods``; with several levels first all methods at the first, then all at the second, ...

    Raises
    ------
    ValueError
        Fewer than two topics, a third axis, a value that is not finite, an unknown method, a level outside (0, 1).
    """
    return _intervals(x, methods, tuple(level) if isinstance(level, Iterable) else (level,))


def _intervals(
    x: npt.ArrayLike | Sample, methods: Sequence[str], levels: Sequence[float]
) -> tuple[Interval, ...] | tuple[IntervalBatch, ...]:
    unknown = [method for method in methods if method not in _LIMITS]
    if unknown:
        raise ValueError(f"method must be one of {', '.join(_LIMITS)}, got {unknown[0]!r}")
    for level in levels:
        _check_level(level)
    asked = [(method, float(level)) for level in levels for method in methods]
    samples, matrix = _samples(x)
    data = [_Data(sample) for sample in samples]
    tails = list(dict.fromkeys((_TAILS[method], level) for method, level in asked if method in _TAILS))
    varying = [each for each in data if not each.sample.constant]
    if tails and varying:
        _search(varying, tails)
    if not matrix:
        return tuple(Interval(method, level, *_limits(data[0], method, level)) for method, level in asked)
    batches = []
    for method, level in asked:
        limits = np.array([_limits(each, method, level) for each in data]).reshape(len(data), 2)
        batches.append(IntervalBatch(method, level, limits[:, 0].copy(), limits[:, 1].copy()))
    return tuple(batches)


def _samples(x: npt.ArrayLike | Sample) -> tuple[list[Sample], bool]:
    """One for each statistic, and whether they came as a matrix."""
    if isinstance(x, Sample):
        return [x], False
    array = np.asarray(x, dtype=np.float64)
    if array.ndim < 2:
        return [Sample.of(array)], False
    if array.ndim > 2:
        raise ValueError(f"x must have one axis (topics) or two (topics, statistics), got shape {array.shape}")
    return [Sample.of(column) for column in array.T], True


def _limits(data: _Data, method: str, level: float) -> tuple[float, float]:
    if data.sample.constant:
        return data.sample.mean, data.sample.mean
    return _LIMITS[method](data, level)


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
    """A sample and, when an interval needs them, its law and what that law answered."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.found: dict[tuple[_Tails, float], tuple[float, float]] = {}

    @cached_property
    def law(self) -> MeanLaw:
        return mean_law(self.sample)

    @cached_property
    def studentized(self) -> StudentizedLaw:
        return studentized_law(self.sample)

    @cached_property
    def bias(self) -> float:
        return bias_correction(self.law.mid_cdf(self.law.centre))

    def quantiles(self, tails: _Tails, level: float) -> tuple[float, float]:
        if (tails, level) not in self.found:
            _search([self], [(tails, level)])
        return self.found[tails, level]


_Tails = Callable[[_Data, float], tuple[float, float]]


def _search(data: Sequence[_Data], tails: Sequence[tuple[_Tails, float]]) -> None:
    """Find all these quantiles of all data in one search."""
    p = np.array([[probability for of, level in tails for probability in of(each, level)] for each in data])
    for each, quantiles in zip(data, quantiles_of([each.law for each in data], p).tolist(), strict=True):
        each.found.update(zip(tails, zip(quantiles[::2], quantiles[1::2], strict=True), strict=True))


def _student_t(data: _Data, level: float) -> tuple[float, float]:
    sample = data.sample
    half = critical_value(sample.n, level=level) * sample.standard_error
    return sample.mean - half, sample.mean + half


def _basic(data: _Data, level: float) -> tuple[float, float]:
    """The percentile interval mirrored at the estimate (ADCS 2019, Eq. 3)."""
    lower, upper = _percentile(data, level)
    return 2 * data.law.centre - upper, 2 * data.law.centre - lower


def _studentized(data: _Data, level: float) -> tuple[float, float]:
    """Bootstrap-t: quantiles of T* in place of Student's (ADCS 2019, Eq. 4)."""
    sample = data.sample
    error = sample.standard_error
    above, below = data.studentized.quantile((1 + level) / 2), data.studentized.quantile((1 - level) / 2)
    return sample.mean - above * error, sample.mean - below * error


def _percentile(data: _Data, level: float) -> tuple[float, float]:
    return data.quantiles(_nominal, level)


def _bca(data: _Data, level: float) -> tuple[float, float]:
    return data.quantiles(_corrected, level)


def _nominal(data: _Data, level: float) -> tuple[float, float]:  # noqa: ARG001 - the same for all data
    return (1 - level) / 2, (1 + level) / 2


def _corrected(data: _Data, level: float) -> tuple[float, float]:
    a = data.sample.acceleration
    return adjusted((1 - level) / 2, data.bias, a), adjusted((1 + level) / 2, data.bias, a)


#: The probabilities at whose quantiles an interval's limits lie.
_TAILS: dict[str, _Tails] = {"basic": _nominal, "percentile": _nominal, "bca": _corrected}
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
