"""Is a system of a pool significantly riskier than another? GeoRisk of a candidate less that of a reference.

Topics are resampled and the whole pool is recomputed in each replicate. None of the papers that define GeoRisk tests
it. Intervals are those of ``intervals``, for a difference instead of a mean: percentile and BCa from the draws, the
latter with its acceleration from the jackknife, and Student-t with the jackknife's standard error.

References
----------
B. Efron, "Better bootstrap confidence intervals", Journal of the American Statistical Association 82 (1987);
R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019, Eq. 5-7.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pytest_riskguard.distributions import ndtr, ndtri, stdtrit
from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference.georisk_replicates import Pool, PoolKernel, georisk_left_out, georisk_replicates
from pytest_riskguard.inference.intervals import Interval, adjusted_score
from pytest_riskguard.risk import georisk
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, IntArray, exact_sum, mean

#: Levels are searched in steps of 1 over this: 1 minus such a step is a floating-point number.
STEPS = 2**53
#: A probability this close below a level has reached it.
REACHED = 1e-13
#: This many replicates should lie beyond a limit, with the number of replicates between these.
IN_TAIL = 1000
MIN_REPLICATES, MAX_REPLICATES = 20_000, 200_000
#: Where that is more work than this (systems times topics times replicates) fewer are drawn, with at least the second
#: number of them beyond a limit.
MAX_CELLS = 2**32
MIN_IN_TAIL = 4
#: More replicates than this are refused: they take half a gigabyte.
MAX_DRAWN = 2**25


def replicates_for(*, level: float, n_systems: int, n_topics: int, n_tests: int = 1) -> int:
    """How many replicates intervals at a level need, unless that is too much work.

    Parameters
    ----------
    level : float
        Confidence of the two-sided interval, in (0, 1); ValueError if draws would not fit in memory.
    n_systems, n_topics : int
        Size of the pool.
    n_tests : int
        Tests that share the error, as by Holm's method: the strictest has ``(1 - level)/n_tests``.
    """
    tail = (1 - level) / 2 / n_tests
    wanted = min(max(math.ceil(IN_TAIL / tail), MIN_REPLICATES), MAX_REPLICATES)
    replicates = max(min(wanted, MAX_CELLS // (n_systems * n_topics)), math.ceil(MIN_IN_TAIL / tail))
    if replicates > MAX_DRAWN:
        raise ValueError(
            f"level {level:g} with {n_tests} tests needs {replicates} replicates, more than memory holds: lower the "
            "level, or judge fewer gates together"
        )
    return replicates


@frozen(eq=False)
class GeoRiskDifference:
    """GeoRisk of the candidate less that of a reference.

    ``estimate`` is below 0 where the candidate is riskier; ``left_out``, shape (n_topics,), is the same with each
    topic left out, and ``replicates`` are those of it, ascending; ones within ``same`` are the same.
    """

    estimate: float
    left_out: FloatArray
    replicates: FloatArray
    same: float

    @property
    def constant(self) -> bool:
        """Whether the difference is the same in every replicate: all limits are then the estimate."""
        return bool(max(self.replicates[-1] - self.estimate, self.estimate - self.replicates[0]) <= self.same)

    @cached_property
    def _influence(self) -> FloatArray:
        return mean(self.left_out) - self.left_out

    @cached_property
    def standard_error(self) -> float:
        """Standard error of the difference, by the jackknife."""
        n = self.left_out.size
        return math.sqrt((n - 1) / n * exact_sum(self._influence**2))

    @cached_property
    def acceleration(self) -> float:
        """BCa's a, by the jackknife: sum L^3 / (6 (sum L^2)^1.5) (ADCS 2019, Eq. 6); 0 without variation."""
        squares = exact_sum(self._influence**2)
        return exact_sum(self._influence**3) / (6 * squares**1.5) if squares else 0.0

    @cached_property
    def bias(self) -> float:
        """BCa's w: the normal quantile of the share of replicates below the estimate, plus half of ties."""
        below = np.searchsorted(self.replicates, self.estimate - self.same, side="left")
        up_to = np.searchsorted(self.replicates, self.estimate + self.same, side="right")
        return float(ndtri((below + up_to) / 2 / self.replicates.size))

    def interval(self, *, method: str = "bca", level: float = 0.95) -> Interval:
        """The two-sided interval by ``student_t``, ``percentile`` or ``bca``; all levels share the draws.

        At least two replicates lie outside the quantiles at this level.
        """
        return Interval(method, level, self._limit(method, (1 - level) / 2), self._limit(method, (1 + level) / 2))

    def p_value(self, *, method: str = "bca", bound: float = 0.0) -> float:
        """The smallest ``1 - level`` at which the interval's upper limit lies below a bound, else 1.

        Found by a search over intervals, so the two never disagree. It is at least 2 over the number of draws; 0 or 1
        without variation.
        """
        if self.constant:
            return float(not self.estimate < bound)
        least = 1 if method == "student_t" else math.ceil(STEPS * 2 / self.replicates.size)

        def fails(steps: int) -> bool:  # lower levels must then fail as well
            return self._limit(method, (2 - steps / STEPS) / 2) < bound

        if not fails(STEPS - 1):
            return 1.0
        return bisect_left(range(STEPS - 1), True, lo=least, key=fails) / STEPS

    def _limit(self, method: str, p: float) -> float:
        """The limit above which lies the true difference with this probability less."""
        if self.constant:
            return self.estimate
        if method == "student_t":
            return self.estimate + stdtrit(self.left_out.size - 1, p) * self.standard_error
        if method == "bca":
            p = float(ndtr(adjusted_score(float(ndtri(p)), self.bias, self.acceleration)))
        place = math.ceil((p - REACHED) * self.replicates.size) - 1
        return float(self.replicates[min(max(place, 0), self.replicates.size - 1)])


def georisk_difference(
    scores: npt.ArrayLike,
    *,
    candidate: int,
    reference: int,
    alpha: float,
    tradeoff: str = "linear",
    replicates: int,
    clusters: IntArray | None = None,
) -> GeoRiskDifference:
    """GeoRisk of a candidate less that of a reference in its pool, with draws of it.

    Nothing is random: draws are the same for every user, number of threads and order of systems. Only the two
    systems are resampled. ValueError for scores and alphas other than described below.

    Parameters
    ----------
    scores : array, shape (n_systems, n_topics)
        In units of the measure, at least 0; ``candidate`` and ``reference`` are two of its rows. At least two topics.
    alpha : float
        Extra weight of a loss; only 1 with the smooth trade-off.
    clusters : array of int, shape (n_topics,), optional
        Clusters of topics that hang together, numbered from 0 without gaps, at least two: the jackknife, so
        Student-t, leaves out one at a time. Draws are those of single topics, so percentile and BCa are too narrow.
    """
    pool, both = Pool.of(scores, alpha=alpha, tradeoff=tradeoff), [candidate, reference]
    # no system's GeoRisk is above the root of its mean
    same = ROUNDING_ERROR * math.sqrt(float(np.max(np.mean(pool.scores, axis=1))))

    def less(georisks: FloatArray) -> FloatArray:
        differences = georisks[0] - georisks[1]
        return np.where(np.abs(differences) <= same, 0.0, differences)

    once = np.ones((pool.n_topics, 1), dtype=np.uint8)
    estimate = float(less(PoolKernel(pool).replicates(once)[both])[0])
    rests = None if clusters is None else _without_clusters(pool.scores, clusters, alpha, tradeoff)[both]
    pool = pool.only(both)
    drawn = np.concatenate([less(some) for some in georisk_replicates(pool, replicates=replicates)])
    left_out = georisk_left_out(pool) if rests is None else rests
    return GeoRiskDifference(estimate, less(left_out), np.sort(drawn), same)


def _without_clusters(scores: FloatArray, clusters: IntArray, alpha: float, tradeoff: str) -> FloatArray:
    """GeoRisk of every system without each cluster of topics, shape (n_systems, n_clusters)."""
    order = np.argsort(clusters, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(clusters))[:-1])
    rests = [np.delete(scores, topics, axis=1) for topics in members]
    return np.column_stack([georisk(rest, alpha=alpha, kind=tradeoff) for rest in rests])
