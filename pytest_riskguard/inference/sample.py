"""Trade-off scores in ascending order, with the sums and the bootstrap law that intervals need."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from pytest_riskguard.distributions import ndtri
from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference.sum_law import SumLaw, condensed
from pytest_riskguard.risk.checks import FloatArray, exact_sum, per_topic
from pytest_riskguard.risk.urisk import varies

#: Means of replicates this close, in standard errors, are the same.
SAME = 1e-10
#: Interval, p-value and charts need the law of the same scores, and so do gates that differ in alpha: the last laws
#: of so many samples are kept, for samples with at most this many topics.
MAX_KEPT, MAX_KEPT_TOPICS = 32, 10_000


@frozen
class Sample:
    """Trade-off scores in ascending order, so that nothing computed from them depends on the order of topics."""

    x: FloatArray

    @classmethod
    def of(cls, x: npt.ArrayLike | Sample) -> Sample:
        """Check and sort; at least two topics. A sample is returned as it is."""
        if isinstance(x, Sample):
            return x
        return cls(np.sort(per_topic(x, name="x", at_least=2)) + 0.0)

    @property
    def n(self) -> int:
        """How many topics."""
        return self.x.size

    @cached_property
    def mean(self) -> float:
        """The mean, in units of x."""
        return exact_sum(self.x) / self.n

    @cached_property
    def constant(self) -> bool:
        """Whether the scores do not vary, so that there is no law."""
        return not varies(self.x)

    @cached_property
    def deviation(self) -> float:
        """Standard deviation, divisor n: that of one draw of the bootstrap."""
        return math.sqrt(exact_sum((self.x - self.mean) ** 2) / self.n)

    @cached_property
    def standard_error(self) -> float:
        """Standard error of the mean, ``sd / sqrt(n)`` with divisor n - 1, in units of x."""
        return self.deviation / math.sqrt(self.n - 1)

    @cached_property
    def acceleration(self) -> float:
        """BCa's a: sum L^3 / (6 (sum L^2)^1.5) with L = x - mean (ADCS 2019, Eq. 6); below 1/6 in size."""
        return exact_sum(((self.x - self.mean) / self.deviation) ** 3) / (6 * self.n * math.sqrt(self.n))

    @cached_property
    def bias(self) -> float:
        """BCa's w: the normal quantile of the share of replicates below the mean, plus half of those equal to it."""
        return float(ndtri(self.sums.mid))

    @cached_property
    def distinct(self) -> tuple[FloatArray, FloatArray]:
        """The distinct values of x, ascending, and how often each occurs."""
        values, counts = np.unique(self.x, return_counts=True)
        return values, counts.astype(np.float64)

    @cached_property
    def mode(self) -> float:
        """The most frequent value, of several the nearest to the mean: the score of unchanged topics, if many."""
        values, counts = self.distinct
        often = values[counts == np.max(counts)]
        return float(often[np.argmin(np.abs(often - self.mean))])

    @cached_property
    def same(self) -> float:
        """Means this close, in units of x, are the same: 1e-10 standard errors, or the rounding of x if more.

        Scores with twelve digits move the means of replicates by several 1e-11 standard errors, and what was a tie
        must stay one.
        """
        return max(SAME * self.deviation / math.sqrt(self.n), 4 * math.ulp(float(np.max(np.abs(self.x)))))

    # the bootstrap law of the mean, without simulation: no seed, no replicates, the same for everyone

    @cached_property
    def sums(self) -> SumLaw:
        """The law of the sum of n draws from scores that vary, each less the most frequent one."""
        if self.n > MAX_KEPT_TOPICS:
            return _law(self)
        return _kept_law(self.x.tobytes())

    def score(self, value: float, *, inclusive: bool = True) -> float:
        """The normal quantile of P(mean <= value), or of P(mean < value)."""
        reached = value + (self.same if inclusive else -self.same)
        if not self.x[0] <= reached < self.x[-1]:  # which a grid shows to its step only
            return math.copysign(math.inf, reached - self.x[0])
        return self.sums.score((value - self.mode) * self.n, inclusive=inclusive)

    def at_scores(self, z: npt.ArrayLike) -> FloatArray:
        """The smallest values whose score reaches these; an end or 0 where only rounding keeps them from it."""
        means = self.mode + self.sums.at_scores(np.asarray(z, dtype=np.float64)) / self.n
        least, most = float(self.x[0]), float(self.x[-1])
        means = np.clip(means, least, most)  # data rounded to a grid may reach a little further
        for exact in (least, most, 0.0):
            means = np.where(np.abs(means - exact) <= self.same, exact, means)
        return means


@lru_cache(maxsize=MAX_KEPT)
def _kept_law(x: bytes) -> SumLaw:
    return _law(Sample(np.frombuffer(x)))


def _law(sample: Sample) -> SumLaw:
    values, counts = sample.distinct
    offsets = values - sample.mode
    others = offsets != 0
    places, shares = offsets[others], counts[others] / sample.n
    places, shares = condensed(places, shares)
    common = float(counts[~others][0]) / sample.n
    chances = np.append(common, shares)[None]
    return SumLaw(np.append(0.0, places)[None], chances, np.array([sample.n]), same=sample.same * sample.n)
