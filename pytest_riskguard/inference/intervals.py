"""Confidence intervals of URisk, and their p-values: Student-t, basic, studentized, percentile and BCa.

References
----------
R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019, Eq. 2-7; B. Efron,
"Better bootstrap confidence intervals", Journal of the American Statistical Association 82 (1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import overload

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference._bootstrap.choice import mean_law, studentized_law
from pytest_riskguard.inference._bootstrap.inversion_law import quantiles_of
from pytest_riskguard.inference._bootstrap.laws import DrawnLaw, MeanLaw, StudentizedLaw
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.risk.checks import FloatArray, between_0_and_1
from pytest_riskguard.risk.distributions import ndtr, ndtri, stdtr, stdtrit

METHODS = ("student_t", "basic", "studentized", "percentile", "bca")
#: Methods that take about a millisecond; the studentized one takes tens of milliseconds.
FAST = ("student_t", "basic", "percentile", "bca")

#: Gates on one comparison ask for the same limits again, those at alpha 0 if not those at their own alpha: limits are
#: kept of the last scores of up to so many topics.
MAX_KEPT, MAX_KEPT_TOPICS = 64, 10_000

#: What type checkers accept as scores of one statistic, and of several: numpy knows how many axes an array has.
Vector = np.ndarray[tuple[int], np.dtype[np.generic]] | Sequence[float] | Sample
Matrix = np.ndarray[tuple[int, int], np.dtype[np.generic]]


@frozen
class Interval:
    """A two-sided interval of the mean, in units of x."""

    method: str
    level: float
    lower: float
    upper: float


@frozen(eq=False)
class IntervalBatch:
    """Two-sided intervals of the means of several statistics over the same topics, in units of x.

    ``lower`` and ``upper`` have shape (n_statistics,).
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
    """Intervals of the mean of trade-off scores, sharing one bootstrap law; of a matrix, an ``IntervalBatch`` each.

    They are in the order of ``methods``; with several levels first all methods at the first, then all at the second.
    ValueError with fewer than two topics, a third axis, a value that is not finite, an unknown method, or a level
    outside (0, 1).

    Parameters
    ----------
    x : array, shape (n_topics,) or (n_topics, n_statistics)
        Trade-off scores, in units of the measure; at least two topics. Constant data give ``[mean, mean]``. The
        columns of a matrix, which may have laws of different kinds, are searched together; their limits are those
        that each column has as a vector, to the bit.
    methods : sequence of {"student_t", "basic", "studentized", "percentile", "bca"}
        Default all but the studentized one, which takes longer. Basic, percentile and BCa are the limits that
        infinitely many replicates would give, to the ``resolution`` of ``mean_law``; so is the studentized one where
        its law is not drawn. BCa's bias correction counts half of the atom at the mean (R's ``boot`` counts none of
        it).
    level : float or sequence of float, shape (n_levels,)
        Confidence of the two-sided interval, in (0, 1).
    """
    return _intervals(x, methods, tuple(level) if isinstance(level, Iterable) else (level,))


def _intervals(
    x: npt.ArrayLike | Sample, methods: Sequence[str], levels: Sequence[float]
) -> tuple[Interval, ...] | tuple[IntervalBatch, ...]:
    for method in methods:
        _check_method(method)
    for level in levels:
        between_0_and_1(level, name="level")
    wanted = [(method, float(level)) for level in levels for method in methods]
    samples, matrix = _samples(x)
    if not matrix:
        known = _known_limits(samples[0])
        found = _found(samples, [asked for asked in wanted if asked not in known])
        known |= {asked: (float(limits[0, 0]), float(limits[0, 1])) for asked, limits in found.items()}
        return tuple(Interval(*asked, *known[asked]) for asked in wanted)
    found = _found(samples, wanted)
    return tuple(IntervalBatch(*asked, found[asked][:, 0].copy(), found[asked][:, 1].copy()) for asked in wanted)


def _found(samples: Sequence[Sample], wanted: Sequence[tuple[str, float]]) -> dict[tuple[str, float], FloatArray]:
    """The limits of each sample's interval by method and level, shape (n_samples, 2)."""
    if not wanted:
        return {}
    columns = [_Statistic(sample) for sample in samples]
    tails = list(dict.fromkeys((tails, level) for method, level in wanted if (tails := _METHODS[method].tails)))
    varying = [column for column in columns if not column.sample.constant]
    if tails and varying:
        _search(varying, tails)
    return {
        asked: np.array([_limits(column, *asked) for column in columns]).reshape(len(columns), 2) for asked in wanted
    }


def _known_limits(sample: Sample) -> dict[tuple[str, float], tuple[float, float]]:
    """The limits that were found for the same scores before, by method and level, and where to keep others."""
    if sample.n > MAX_KEPT_TOPICS:
        return {}
    return _kept_limits(sha256(sample.x.tobytes()).digest(), sample.degrees_of_freedom)


@lru_cache(maxsize=MAX_KEPT)
def _kept_limits(digest: bytes, freedom: float) -> dict[tuple[str, float], tuple[float, float]]:  # noqa: ARG001 - keys
    return {}


def upper_p_value(x: npt.ArrayLike | Sample, *, method: str, bound: float = 0.0) -> float:
    """The smallest ``1 - level`` at which the interval's upper limit lies below a bound; 1 where no level suffices.

    Each formula is that of the interval, solved for the level: test and interval never disagree. For constant data,
    whose limits are all the mean, it is 0 or 1; with BCa it may be 0 for other data too (``adjusted_score``). ``x``,
    ``bound`` and errors are as for ``intervals``, the bound in units of x.
    """
    _check_method(method)
    sample = Sample.of(x)
    if sample.constant:
        return float(not sample.mean < bound)
    return min(2 * _METHODS[method].significance(_Statistic(sample), bound), 1.0)


def critical_value(n: float, *, level: float) -> float:
    """The two-sided critical value of Student's t with n - 1 degrees of freedom; at least two topics."""
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    between_0_and_1(level, name="level")
    return stdtrit(n - 1, (1 + level) / 2)


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")


def _samples(x: npt.ArrayLike | Sample) -> tuple[list[Sample], bool]:
    """A sample for each statistic, and whether they came as a matrix."""
    if isinstance(x, Sample):
        return [x], False
    array = np.asarray(x, dtype=np.float64)
    if array.ndim < 2:
        return [Sample.of(array)], False
    if array.ndim > 2:
        raise ValueError(f"x must have one axis (topics) or two (topics, statistics), got shape {array.shape}")
    return [Sample.of(column) for column in array.T], True


class _Statistic:
    """The scores of a statistic, their bootstrap laws once an interval needs them, and the quantiles found."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.quantiles: dict[tuple[_Tails, float], tuple[float, float]] = {}

    @cached_property
    def law(self) -> MeanLaw:
        return mean_law(self.sample)

    @cached_property
    def studentized(self) -> StudentizedLaw:
        return studentized_law(self.sample)

    @cached_property
    def bias(self) -> float:
        return bias_correction(self.law)


_Tails = Callable[[_Statistic, float], tuple[float, float]]


def _search(statistics: Sequence[_Statistic], tails: Sequence[tuple[_Tails, float]]) -> None:
    """Find all these quantiles of all statistics in one search."""
    laws = [statistic.law for statistic in statistics]
    z = np.array([[z for tails_of, level in tails for z in tails_of(statistic, level)] for statistic in statistics])
    for statistic, quantiles in zip(statistics, quantiles_of(laws, z).tolist(), strict=True):
        limits = zip(quantiles[::2], quantiles[1::2], strict=True)
        statistic.quantiles.update(zip(tails, limits, strict=True))


def _limits(statistic: _Statistic, method: str, level: float) -> tuple[float, float]:
    if statistic.sample.constant:
        return statistic.sample.mean, statistic.sample.mean
    return _METHODS[method].limits(statistic, level)


def _student_t_limits(statistic: _Statistic, level: float) -> tuple[float, float]:
    sample = statistic.sample
    half = critical_value(sample.degrees_of_freedom + 1, level=level) * sample.standard_error
    return sample.mean - half, sample.mean + half


def _student_t_significance(statistic: _Statistic, bound: float) -> float:
    sample = statistic.sample
    return stdtr(sample.degrees_of_freedom, (sample.mean - bound) / sample.standard_error)


def _studentized_limits(statistic: _Statistic, level: float) -> tuple[float, float]:
    """Bootstrap-t: quantiles of T* instead of Student's (ADCS 2019, Eq. 4)."""
    sample, law = statistic.sample, statistic.studentized
    error = sample.standard_error
    above, below = law.quantile((1 + level) / 2), law.quantile((1 - level) / 2)
    return sample.mean - above * error, sample.mean - below * error


def _studentized_significance(statistic: _Statistic, bound: float) -> float:
    sample = statistic.sample
    return statistic.studentized.cdf((sample.mean - bound) / sample.standard_error)


def _nominal_tails(statistic: _Statistic, level: float) -> tuple[float, float]:  # noqa: ARG001 - the same for all data
    z = float(ndtri((1 - level) / 2))
    return z, -z


def _percentile_limits(statistic: _Statistic, level: float) -> tuple[float, float]:
    return statistic.quantiles[_nominal_tails, level]


def _percentile_significance(statistic: _Statistic, bound: float) -> float:
    near = statistic.law.near_score(bound, inclusive=False)
    # a bound below the middle makes it 1 anyway
    return float(ndtr(-(near if near < 0 else statistic.law.score(bound, inclusive=False))))


def _basic_limits(statistic: _Statistic, level: float) -> tuple[float, float]:
    """The percentile interval mirrored at the estimate (ADCS 2019, Eq. 3)."""
    lower, upper = _percentile_limits(statistic, level)
    return _mirrored(statistic, upper), _mirrored(statistic, lower)


def _mirrored(statistic: _Statistic, value: float) -> float:
    """A value mirrored at the estimate; 0, as a replicate's mean is, where only rounding keeps it from that."""
    mirrored = 2 * statistic.law.centre - value
    return 0.0 if abs(mirrored) <= statistic.sample.same else mirrored


def _basic_significance(statistic: _Statistic, bound: float) -> float:
    mirrored = _mirrored(statistic, bound)
    near = statistic.law.near_score(mirrored)
    return float(ndtr(near if near > 0 else statistic.law.score(mirrored)))


def _bca_tails(statistic: _Statistic, level: float) -> tuple[float, float]:
    bias, a = statistic.bias, statistic.sample.acceleration
    z = float(ndtri((1 - level) / 2))
    return adjusted_score(z, bias, a), adjusted_score(-z, bias, a)


def _bca_limits(statistic: _Statistic, level: float) -> tuple[float, float]:
    return statistic.quantiles[_bca_tails, level]


def _bca_significance(statistic: _Statistic, bound: float) -> float:
    near = statistic.law.near_score(bound, inclusive=False)
    at_most = _bca_significance_at(near, statistic)
    if near < 0 and at_most >= 0.5:  # further down it is no smaller, and 1 anyway
        return at_most
    return _bca_significance_at(statistic.law.score(bound, inclusive=False), statistic)


def _bca_significance_at(score: float, statistic: _Statistic) -> float:
    """``adjusted_score`` solved for the level; see there for what happens at the pole."""
    bias = statistic.bias
    if not math.isfinite(score):
        return float(score < 0)
    if not math.isfinite(bias):  # every adjusted level is then an end of the law
        return float(bias > 0)
    distance = score - bias
    stretch = 1 + statistic.sample.acceleration * distance
    if stretch <= 0:
        return float(distance < 0)
    return float(ndtr(bias - distance / stretch))


@frozen
class _Method:
    """One kind of interval and the test that goes with it.

    ``limits`` gives the two-sided interval at a level, ``significance`` half of ``1 - level`` where the upper limit
    is the bound, ``tails`` the probabilities for which the limits are quantiles of the bootstrap law, if they are.
    """

    limits: Callable[[_Statistic, float], tuple[float, float]]
    significance: Callable[[_Statistic, float], float]
    tails: _Tails | None = None


_METHODS = {
    "student_t": _Method(_student_t_limits, _student_t_significance),
    "basic": _Method(_basic_limits, _basic_significance, _nominal_tails),
    "studentized": _Method(_studentized_limits, _studentized_significance),
    "percentile": _Method(_percentile_limits, _percentile_significance, _nominal_tails),
    "bca": _Method(_bca_limits, _bca_significance, _bca_tails),
}


def bias_correction(law: MeanLaw | DrawnLaw) -> float:
    """BCa's w: the normal quantile of the share of replicates below the estimate, plus half of those equal to it."""
    return float(ndtri(law.mid_cdf(law.centre)))


def adjusted(p: float, bias: float, acceleration: float) -> float:
    """The level at which BCa takes the quantile for nominal level p (ADCS 2019, Eq. 7); see ``adjusted_score``."""
    return float(ndtr(adjusted_score(float(ndtri(p)), bias, acceleration)))


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
