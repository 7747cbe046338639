"""The bootstrap law of a mean by the fast Fourier transform of the law of one draw.

Scores on a lattice (P@10, scores rounded to two decimals, multiples of 1/3) have sums on that lattice: the law is a
step function and comes out exactly.

Where scores lie on no lattice and too few changed to invert their law, they are rounded to a fine grid. A second
transform gives the mean of what rounding took from the replicates on each point, and the point moves there: a point
with one atom lies exactly where that atom does. Two replicates are known without any rounding and are atoms of their
own: the one without any changed topic, which decides a gate where few topics changed, and the one with every topic
once, which is the sample itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlogy

from pytest_riskguard.inference._bootstrap.inversion import PERIOD, ComplexArray
from pytest_riskguard.inference._bootstrap.laws import StepLaw
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.risk.checks import FloatArray, IntArray, exact_sum

#: A lattice with at most this many points over 24 standard errors has its own law: the steps of a finer one move
#: limits by less than 24/2^16 = 3.7e-4 standard errors, so its law is inverted. Where few topics changed, inversion
#: fails and single resamples have much mass: there finer lattices, up to the second number, keep their own law,
#: because on a grid the resamples with the sample's own mean would not all stay at that mean.
MAX_LATTICE_POINTS, MAX_SPARSE_LATTICE_POINTS = 2**15, 2**17
#: Grid points over 24 standard errors.
GRID_POINTS = 2**16
#: With at most this many distinct values beside the most frequent one the grid's step is fitted to them; it is at
#: most the finest step divided by the second number.
MAX_FITTED_VALUES, MIN_FINENESS = 3, 0.75
#: Masses below this are rounding of the transform, not atoms.
NO_MASS = 1e-18
#: Grid points with less mass than this stay where they are: rounding of the transform would move them.
MOVED_MASS = 1e-13
#: Rounding of a transform, as a share of the largest weight.
TRANSFORM_ERROR = 1e-15
#: The share of replicates that may move further than the grid law's resolution says.
UNCOVERED = 1e-9


class Convolution:
    """Sums of n draws of whole numbers of steps, in a window of 24 standard errors about the sample's own sum.

    ``first`` is the sum at the window's first point, in steps from n times the most frequent score; ``middle`` is the
    point of the sample's own sum.
    """

    def __init__(self, sample: Sample, indices: IntArray, step: float) -> None:
        self._indices, self._n = indices, sample.n
        counts = sample.distinct[1]
        self.points = points_over(PERIOD * sample.total / step)
        self.middle = self.points // 2
        self.first = int(np.sum(indices * counts.astype(np.int64))) - self.middle
        self._draw = self._of_one_draw(counts / sample.n)
        self._others = _power(self._draw, sample.n - 1)

    def masses(self) -> FloatArray:
        """The probability of each sum in the window."""
        return np.maximum(self._in_order(self._others * self._draw), 0.0)

    def expected(self, weights: FloatArray) -> FloatArray:
        """The expected total of the weights drawn, split into the parts from replicates with each sum.

        ``weights`` holds, for each distinct score, its share of the topics times the weight of drawing it.
        """
        return self._n * self._in_order(self._others * self._of_one_draw(weights))

    def others(self, margin: int) -> FloatArray:
        """The probability of each sum of n - 1 draws in the window and so many points before and after it."""
        masses = np.fft.irfft(self._others, self.points)
        start = (self.first - margin) % self.points
        after = 2 * margin + start
        return np.concatenate([masses[start:], masses[:after], masses[: max(after - self.points, 0)]])

    def _of_one_draw(self, weights: FloatArray) -> ComplexArray:
        return np.fft.rfft(np.bincount(self._indices % self.points, weights, minlength=self.points))

    def _in_order(self, transform: ComplexArray) -> FloatArray:
        # point k belongs to every sum congruent to k; the window holds all those with any mass
        return np.roll(np.fft.irfft(transform, self.points), -(self.first % self.points))


def lattice_law(sample: Sample, *, max_points: int = MAX_LATTICE_POINTS) -> StepLaw | None:
    """The exact law of data on a lattice, or None where they lie on none that is coarse enough."""
    if sample.step is None or PERIOD * sample.total / sample.step > max_points:
        return None
    convolution = Convolution(sample, multiples(sample, sample.step), sample.step)
    masses = convolution.masses()
    atoms = np.flatnonzero(masses > NO_MASS)
    steps = np.append(atoms, convolution.middle) + float(convolution.first)
    means = sample.means(steps * (sample.step / sample.n))
    return StepLaw("lattice", means[:-1], masses[atoms], sample, centre=float(means[-1]))


def multiples(sample: Sample, step: float) -> IntArray:
    """The sample's offsets as whole numbers of steps."""
    return np.rint(sample.offsets / step).astype(np.int64)


def points_over(width: float) -> int:
    """The least power of two that is at least ``width``, up to rounding; never below 256."""
    return int(2 ** max(8, math.ceil(math.log2(max(width, 1.0)) - 1e-9)))


def _power(base: ComplexArray, exponent: int) -> ComplexArray:
    """The power by repeated squaring, which needs no branch of the logarithm."""
    result = base.copy()
    for bit in bin(exponent)[3:]:
        result *= result
        if bit == "1":
            result *= base
    return result


@dataclass(frozen=True)
class Known:
    """Replicates known without rounding: sums (less n times the most frequent score), masses, and their points."""

    sums: FloatArray
    masses: FloatArray
    points: IntArray


@dataclass(frozen=True)
class Rounded:
    """Distinct scores, less the most frequent one, rounded to a grid of 2^16 points over 24 standard errors.

    ``indices`` are whole numbers of steps, ``residuals`` what rounding took. A replicate draws topic j c_j times, so
    rounding by r_j moves its sum by sum c_j r_j. By Bernstein's inequality this shift lies within some t of its own
    mean for all but 1e-9 of the replicates, and so does the mean shift on one point: ``resolution`` is 2 t. Measured
    errors are at most a tenth of that.
    """

    sample: Sample
    step: float
    indices: IntArray
    residuals: FloatArray

    @classmethod
    def of(cls, sample: Sample) -> Rounded:
        """Round the scores of a sample."""
        step = _grid_step(sample)
        indices = multiples(sample, step)
        return cls(sample, step, indices, sample.offsets - indices * step)

    @property
    def resolution(self) -> float:
        """How far a quantile may be off, in standard errors."""
        counts = self.sample.distinct[1]
        spread = self.residuals - exact_sum(counts * self.residuals) / self.sample.n
        third = math.log(2 / UNCOVERED) * float(np.max(np.abs(spread))) / 3
        within = third + math.sqrt(third**2 + 2 * math.log(2 / UNCOVERED) * exact_sum(counts * spread**2))
        return 2 * within / self.sample.total

    def known(self, convolution: Convolution) -> Known:
        """The replicates that are known: the one without changed topics, and the sample itself."""
        return Known(*_known_replicates(self.sample), np.array([-convolution.first, convolution.middle]))


def grid_law(sample: Sample) -> StepLaw:
    """The law of the data rounded to a grid, each point moved to the mean of its replicates; see ``Rounded``."""
    grid = Rounded.of(sample)
    counts, step, residuals = sample.distinct[1], grid.step, grid.residuals
    convolution = Convolution(sample, grid.indices, step)
    masses = convolution.masses()
    taken = convolution.expected(counts / sample.n * residuals)
    known = grid.known(convolution)
    for total, mass, point in zip(known.sums, known.masses, known.points, strict=True):
        if 0 <= point < convolution.points:
            masses[point] = max(masses[point] - mass, 0.0)
            taken[point] -= mass * (total - (point + convolution.first) * step)
    seen = np.flatnonzero(masses > NO_MASS)
    masses, taken = masses[seen], taken[seen]
    clear = (masses > MOVED_MASS) & (np.abs(taken) > TRANSFORM_ERROR * float(np.max(counts * np.abs(residuals))))
    sums = (seen + float(convolution.first)) * step
    sums += np.divide(taken, masses, out=np.zeros(seen.size), where=clear)

    means = sample.means(np.concatenate([known.sums, sums]) / sample.n)
    order = np.argsort(means, kind="stable")
    return StepLaw(
        "grid",
        means[order],
        np.concatenate([known.masses, masses])[order],
        sample,
        centre=float(means[1]),
        resolution=grid.resolution,
    )


def _grid_step(sample: Sample) -> float:
    """The finest step; for few distinct values the one, up to a third wider, that fits them best.

    A value that many topics have counts for more: it is drawn many times, each time with its rounding.
    """
    finest = PERIOD * sample.total / GRID_POINTS
    if sample.offsets.size - 1 > MAX_FITTED_VALUES:
        return finest
    widest = float(np.max(np.abs(sample.offsets)))
    multiple = max(1, math.floor(widest / finest))
    steps = widest / np.arange(math.ceil(multiple * MIN_FINENESS), multiple + 1)
    in_steps = np.divide.outer(sample.offsets, steps)
    taken = np.abs(in_steps - np.rint(in_steps)) * np.sqrt(sample.distinct[1])[:, None]
    return float(steps[np.argmin(np.max(taken, axis=0))])


def _known_replicates(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """Sums (less n times the most frequent score) and masses of no changed topic, and of the sample itself."""
    n, (_, counts) = sample.n, sample.distinct
    unchanged = n * math.log1p(-(n - float(counts[sample.mode])) / n)
    itself = float(gammaln(n + 1)) - exact_sum(gammaln(counts + 1)) + exact_sum(xlogy(counts, counts / n))
    return np.array([0.0, exact_sum(counts * sample.offsets)]), np.exp([unchanged, itself])
