"""Trade-off scores in ascending order, with the sums that every law and interval needs."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen
from pytest_riskguard.risk.checks import FloatArray, exact_sum, per_topic
from pytest_riskguard.risk.urisk import varies

#: A value this close to a multiple of the step, in steps, lies on the lattice.
ON_LATTICE = 1e-6

#: Means of replicates this close, in standard errors, are the same.
SAME = 1e-10
#: More distinct values than this are put into cells by ``condensed``: so many cells by value, and as many by rank.
MAX_VALUES, CELLS = 2048, 512


@frozen
class Sample:
    """Trade-off scores in ascending order, so that nothing computed from them depends on the order of topics.

    ``freedom`` is how many degrees of freedom their variance has; None for n - 1.
    """

    x: FloatArray
    freedom: float | None = None

    @classmethod
    def of(cls, x: npt.ArrayLike | Sample, *, freedom: float | None = None) -> Sample:
        """Check and sort; at least two topics. A sample is returned as it is."""
        if isinstance(x, Sample):
            return x
        return cls(np.sort(per_topic(x, name="x", at_least=2)) + 0.0, freedom)

    @property
    def n(self) -> int:
        """How many topics."""
        return self.x.size

    @property
    def degrees_of_freedom(self) -> float:
        """Those of Student's t."""
        return self.n - 1 if self.freedom is None else self.freedom

    @cached_property
    def mean(self) -> float:
        """The mean, in units of x."""
        return exact_sum(self.x) / self.n

    @cached_property
    def constant(self) -> bool:
        """Whether the scores do not vary, so that there is no law."""
        return not varies(self.x)

    @property
    def centred(self) -> FloatArray:
        """Deviations from the mean; not kept, since the samples of laws are."""
        return self.x - self.mean

    @cached_property
    def squares(self) -> float:
        """Squared deviations from the mean, added up."""
        centred = self.centred
        return exact_sum(centred * centred)

    @cached_property
    def deviation(self) -> float:
        """Standard deviation, divisor n: that of one draw of the bootstrap."""
        return math.sqrt(self.squares / self.n)

    @cached_property
    def total(self) -> float:
        """Standard deviation of a replicate's sum, ``deviation * sqrt(n)``: what sums are measured in."""
        return self.deviation * math.sqrt(self.n)

    @cached_property
    def scale(self) -> float:
        """Bootstrap standard error of the mean, ``deviation / sqrt(n)``, in units of x."""
        return self.deviation / math.sqrt(self.n)

    @cached_property
    def standard_error(self) -> float:
        """Standard error of the mean, ``sd / sqrt(n)`` with divisor n - 1, in units of x."""
        return self.deviation / math.sqrt(self.n - 1)

    @property
    def standard(self) -> FloatArray:
        """Deviations from the mean in standard deviations; not kept either."""
        return self.centred / self.deviation

    @cached_property
    def acceleration(self) -> float:
        """BCa's a: sum L^3 / (6 (sum L^2)^1.5) with L = x - mean (ADCS 2019, Eq. 6); below 1/6 in size."""
        standard = self.standard
        return exact_sum(standard * standard * standard) / (6 * self.n * math.sqrt(self.n))

    def normal_corrected(self, z: FloatArray) -> FloatArray:
        """Roughly how many standard errors a replicate's mean is off where a normal one would be off by z.

        E. A. Cornish, R. A. Fisher, "Moments and cumulants in the specification of distributions", Revue de
        l'Institut International de Statistique 5 (1938): the terms in 1/sqrt(n) and 1/n.
        """
        standard = self.standard
        squares = standard * standard
        skewness = 6 * self.acceleration
        excess = (float(np.sum(squares * squares)) / self.n - 3) / self.n
        corrected: FloatArray = (
            z + skewness / 6 * (z**2 - 1) + excess / 24 * (z**3 - 3 * z) - skewness**2 / 36 * (2 * z**3 - 5 * z)
        )
        return corrected

    @cached_property
    def distinct(self) -> tuple[FloatArray, FloatArray]:
        """The distinct values of x and how often each occurs."""
        starts = np.append(0, np.flatnonzero(self.x[1:] != self.x[:-1]) + 1)
        counts = np.append(starts[1:], self.n) - starts
        return self.x[starts], counts.astype(np.float64)

    @cached_property
    def mode(self) -> int:
        """Which distinct value is the most frequent: the score of unchanged topics, where there are many."""
        return int(np.argmax(self.distinct[1]))

    @cached_property
    def offsets(self) -> FloatArray:
        """The distinct values less the most frequent one: what drawing such a topic adds to a sum."""
        values, _ = self.distinct
        return np.asarray(values - values[self.mode])

    @cached_property
    def step(self) -> float | None:
        """The step of the lattice that scores lie on, in units of x; None where they lie on none."""
        return lattice_step(self.offsets)

    @cached_property
    def same(self) -> float:
        """Means this close, in units of x, are the same: 1e-10 standard errors, or the rounding of x if more.

        Scores with twelve digits move the means of replicates by several 1e-11 standard errors, and what was a tie
        must stay one.
        """
        return max(SAME * self.scale, 4 * math.ulp(float(np.max(np.abs(self.x)))))

    def means(self, offsets: FloatArray) -> FloatArray:
        """Means of replicates from their mean offsets; 0 where only rounding keeps them from it."""
        means: FloatArray = float(self.distinct[0][self.mode]) + offsets
        return np.where(np.abs(means) <= self.same, 0.0, means)


def lattice_step(values: FloatArray) -> float | None:
    """The largest step that all values are multiples of, by Euclid's algorithm; None where there is none."""
    sizes = np.sort(np.abs(values[values != 0]))
    if sizes.size == 0:
        return None
    sizes = sizes[np.append(True, sizes[1:] != sizes[:-1])]
    largest = step = float(sizes[-1])
    tolerance = 1e-9 * largest
    first = 0
    while first < sizes.size:
        # sizes that are multiples already do not change the step
        off = np.flatnonzero(np.abs(sizes[first:] - np.rint(sizes[first:] / step) * step) > tolerance)
        if off.size == 0:
            break
        first += int(off[0]) + 1
        step = _common_divisor(float(sizes[first - 1]), step, tolerance)
        if step < 4 * tolerance:
            return None
        # the step carries rounding, which every further value would multiply: fit it to the largest value
        step = largest / round(largest / step)
    off = np.abs(sizes / step - np.rint(sizes / step))
    return step if float(np.max(off)) < ON_LATTICE else None


def _common_divisor(a: float, b: float, tolerance: float) -> float:
    while b > tolerance:
        a, b = b, abs(math.remainder(a, b))
    return a


def condensed(y: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fewer values with the same share, mean, variance and third moment, cell by cell; short vectors as they are.

    ``y`` is ascending and distinct, ``shares`` are positive; each cell gives two values, in no particular order. The
    error is of the fourth order in the width of cells, which are narrow both in value and in rank, so that one topic
    far out does not widen the others' cells. Quantiles of T* move by about 1e-7.
    """
    if y.size <= MAX_VALUES:
        return y, shares
    width = (y[-1] - y[0]) / CELLS
    cells = np.floor((y - y[0]) / width) * CELLS + np.arange(y.size) * CELLS // y.size
    starts = np.flatnonzero(np.diff(cells, prepend=-1.0))
    cell_shares = np.add.reduceat(shares, starts)
    where = np.cumsum(np.diff(cells, prepend=cells[0]) != 0)
    mean = np.add.reduceat(shares * y, starts) / cell_shares
    off = y - mean[where]
    deviation = np.sqrt(np.add.reduceat(shares * off**2, starts) / cell_shares)
    cubes = np.add.reduceat(shares * off**3, starts) / cell_shares
    half = np.divide(cubes, 2 * deviation**3, out=np.zeros_like(cubes), where=deviation > 0)
    root = np.sqrt(1 + half**2)
    low, high = mean + deviation * (half - root), mean + deviation * (half + root)
    return np.concatenate([low, high]), np.concatenate(
        [cell_shares * (root + half) / (2 * root), cell_shares * (root - half) / (2 * root)]
    )
