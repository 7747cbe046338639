"""Sums of draws from a sample by the fast Fourier transform, and scores rounded to a grid for it.

Points are whole numbers of steps; chances may be tilted, as the far tail needs it.
"""

from __future__ import annotations

import math

import numpy as np

from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference._bootstrap.inversion import PERIOD, ComplexArray
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.inference._bootstrap.tilting import Draw
from pytest_riskguard.risk.checks import FloatArray, IntArray, exact_sum
from pytest_riskguard.risk.distributions import gammaln

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
    """Sums of n draws of whole numbers of steps, in a window of 24 standard deviations about their mean.

    ``first`` is the sum at the window's first point, in steps from n times the most frequent score; ``middle`` is the
    point of the mean: of the sample's own sum, unless chances are tilted.
    """

    def __init__(self, sample: Sample, indices: IntArray, step: float, draw: Draw | None = None) -> None:
        self._indices, self._n = indices, sample.n
        draw = draw or Draw.plain(sample)
        self.points = points_over(PERIOD * draw.spread * sample.total / step)
        self.middle = self.points // 2
        self.first = round(sample.n * float(np.sum(indices * draw.shares))) - self.middle
        self._draw = self._of_one_draw(draw.shares)
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


@frozen
class Known:
    """Replicates known without rounding: sums (less n times the most frequent score), masses, and their points."""

    sums: FloatArray
    masses: FloatArray
    points: IntArray


@frozen
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
    def of(cls, sample: Sample, *, step: float | None = None) -> Rounded:
        """Round the scores of a sample, to steps of this size in units of x if it is given."""
        step = step or _grid_step(sample)
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

    def known(self, convolution: Convolution, draw: Draw | None = None) -> Known:
        """The replicates that are known: the one without changed topics, and the sample itself."""
        sums, log_masses = _known_replicates(self.sample)
        own = int(np.sum(self.indices * self.sample.distinct[1].astype(np.int64)))
        if draw is not None:
            log_masses = log_masses + draw.theta * (sums - sums[1]) / self.sample.total - draw.log_norm
        return Known(sums, np.exp(log_masses), np.array([0, own]) - convolution.first)


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
    """Sums and log-masses of no changed topic, and of the sample itself; sums as in ``Known``."""
    n, (_, counts) = sample.n, sample.distinct
    unchanged = n * math.log1p(-(n - float(counts[sample.mode])) / n)
    itself = float(gammaln(n + 1)) - exact_sum(gammaln(counts + 1)) + exact_sum(counts * np.log(counts / n))
    return np.array([0.0, exact_sum(counts * sample.offsets)]), np.array([unchanged, itself])


@frozen
class Atoms:
    """Sums (less n times the most frequent score), in units of x, and the probability of each; in any order."""

    sums: FloatArray
    masses: FloatArray


def lattice_atoms(sample: Sample, step: float, draw: Draw | None = None) -> Atoms:
    """All sums of scores on a lattice with this step that have any mass, and last, with none, the expected one."""
    convolution = Convolution(sample, multiples(sample, step), step, draw)
    masses = convolution.masses()
    seen = np.flatnonzero(masses > NO_MASS)
    steps = np.append(seen, convolution.middle) + float(convolution.first)
    return Atoms(steps * step, np.append(masses[seen], 0.0))


def grid_atoms(grid: Rounded, draw: Draw | None = None) -> Atoms:
    """The points of a grid, each moved to the mean of its replicates; the two that are known come first."""
    sample, step = grid.sample, grid.step
    convolution = Convolution(sample, grid.indices, step, draw)
    masses = convolution.masses()
    weights = (draw or Draw.plain(sample)).shares * grid.residuals
    taken = convolution.expected(weights)
    known = grid.known(convolution, draw)
    for total, mass, point in zip(known.sums, known.masses, known.points, strict=True):
        if 0 <= point < convolution.points:
            masses[point] = max(masses[point] - mass, 0.0)
            taken[point] -= mass * (total - (point + convolution.first) * step)
    seen = np.flatnonzero(masses > NO_MASS)
    masses, taken = masses[seen], taken[seen]
    clear = (masses > MOVED_MASS) & (np.abs(taken) > TRANSFORM_ERROR * sample.n * float(np.max(np.abs(weights))))
    sums = (seen + float(convolution.first)) * step
    sums += np.divide(taken, masses, out=np.zeros(seen.size), where=clear)
    return Atoms(np.concatenate([known.sums, sums]), np.concatenate([known.masses, masses]))
