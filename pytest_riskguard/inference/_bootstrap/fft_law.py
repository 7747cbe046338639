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
from functools import cached_property

import numpy as np

from pytest_riskguard.inference._bootstrap.convolution import (
    MOVED_MASS,
    NO_MASS,
    TRANSFORM_ERROR,
    Convolution,
    Rounded,
    grid_atoms,
    lattice_atoms,
)
from pytest_riskguard.inference._bootstrap.inversion import PERIOD
from pytest_riskguard.inference._bootstrap.laws import EDGE, REACHED, ComputedLaw, StepLaw
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.risk.checks import FloatArray, IntArray
from pytest_riskguard.risk.distributions import binomial_reach

#: With more distinct scores, or with atoms further than this from their points, all points are computed at once.
MAX_VALUES, MAX_REACH = 40, 80
#: Further changed topics in a replicate than the rare ones with at most this mass move no atom by a step.
RARE = 1e-14
#: So many points at a time say where a quantile lies.
SEARCHED = 40
#: For more questions at a time all points are computed after all.
MAX_ASKED = 32


class FewValuesLaw(ComputedLaw):
    """The atoms around a value or a quantile, and the mass below; ``reach`` is how many points off atoms may lie.

    Points are counted from the first of the window. Masses are as the transform gives them, with a sum of ``_total``.
    """

    kind = "grid"

    def __init__(self, sample: Sample, grid: Rounded, reach: int) -> None:
        super().__init__(sample, edge=EDGE)
        convolution = Convolution(sample, grid.indices, grid.step)
        shares = sample.distinct[1] / sample.n
        margin = int(np.max(np.abs(grid.indices)))
        self._step, self._reach = grid.step, reach
        self._first, self._points = convolution.first, convolution.points
        self._known = grid.known(convolution)
        self.centre = float(sample.means(self._known.sums / sample.n)[1])
        self.resolution = grid.resolution
        #: masses of n - 1 draws from ``margin`` points before the window on, and their sums before each point
        self._others = convolution.others(margin)
        self._cumulated = np.zeros(self._others.size + 1)
        np.cumsum(self._others, out=self._cumulated[1:])
        self._shifts = margin - grid.indices
        self._shares, self._residuals = shares, shares * grid.residuals * sample.n
        self._too_little = TRANSFORM_ERROR * float(np.max(sample.distinct[1] * np.abs(grid.residuals)))
        self._before = self._added(self._cumulated, np.zeros(1, dtype=np.int64), shares)
        self._total = float(self._below(np.array([self._points]))[0])

    def cdf(self, value: float) -> float:
        """P(mean <= value), at all points: p-values are printed with more digits than two sums of masses share."""
        return self._everywhere.cdf(value)

    def mid_cdf(self, value: float) -> float:
        """P(mean < value) + P(mean = value)/2; that of the centre, which BCa's limits need, from the atoms around."""
        return self._mid_cdf(value) if value == self.centre else self._everywhere.mid_cdf(value)

    def _share(self, value: float, *, inclusive: bool) -> float:
        return self._everywhere._share(value, inclusive=inclusive)

    def _values(self, p: FloatArray) -> FloatArray:
        if p.size > MAX_ASKED:
            return self._everywhere._values(p)
        goals = np.clip(p - REACHED, REACHED, 1.0) * self._total
        nearest = self._where_reached(goals)
        width = 2 * self._reach + 2  # atoms of points further away lie on the other side of this point's own atoms
        first = np.clip(nearest - width, 0, self._points - 1)
        atoms, masses = self._atoms(first, 2 * width + 1)
        order = np.argsort(atoms, axis=1, kind="stable")
        mass = self._below(first)[:, None] + np.cumsum(np.take_along_axis(masses, order, axis=1), axis=1)
        # where rounding keeps the sum from its goal, the last atom
        places = np.minimum(np.sum(mass < goals[:, None], axis=1), np.sum(np.isfinite(atoms), axis=1) - 1)
        rows = np.arange(p.size)
        return np.asarray(np.clip(atoms[rows, order[rows, places]], self._sample.x[0], self._sample.x[-1]))

    @cached_property
    def _everywhere(self) -> StepLaw:
        """The law at all points."""
        return grid_law(self._sample)

    def _mid_cdf(self, value: float) -> float:
        mode = float(self._sample.distinct[0][self._sample.mode])
        point = (value - mode) * self._sample.n / self._step - self._first
        nearest = int(min(max(point, -1.0), self._points + 1.0))
        first = np.array([min(max(nearest - self._reach - 2, 0), self._points)])
        atoms, masses = self._atoms(first, 2 * self._reach + 5)
        below, same = float(self._below(first)[0]), self._sample.same
        sums = (float(np.sum(masses[atoms < value - same])), float(np.sum(masses[atoms <= value + same])))
        return min(max((below + sum(sums) / 2) / self._total, 0.0), 1.0)

    def _where_reached(self, goals: FloatArray) -> IntArray:
        """The first point up to which the mass reaches each goal."""
        low, high = np.full(goals.size, -1), np.full(goals.size, self._points - 1)
        while np.any(high - low > 1):
            steps = np.maximum(-(-(high - low) // SEARCHED), 1)
            points = np.minimum(low[:, None] + steps[:, None] * np.arange(1, SEARCHED + 1), high[:, None])
            short = np.sum(self._below(points + 1) < goals[:, None], axis=1)
            ends = np.concatenate([low[:, None], points, high[:, None]], axis=1)
            rows = np.arange(goals.size)
            low, high = ends[rows, short], ends[rows, short + 1]
        return high

    def _below(self, points: IntArray) -> FloatArray:
        """The mass of all points before each of these."""
        return self._added(self._cumulated, points, self._shares) - self._before

    def _added(self, values: FloatArray, points: IntArray, weights: FloatArray) -> FloatArray:
        """What the scores add up to if drawn: their weights times the values so many points away."""
        return np.asarray(np.einsum("...j,j->...", values[points[..., None] + self._shifts], weights))

    def _atoms(self, first: IntArray, count: int) -> tuple[FloatArray, FloatArray]:
        """Means and masses of the atoms of so many points from each of the first ones on.

        The two replicates that are known come last; atoms without mass, and known ones that belong to other points,
        are infinite.
        """
        points = first[:, None] + np.arange(count)
        inside = points < self._points
        points = np.minimum(points, self._points - 1)
        masses = self._added(self._others, points, self._shares)
        taken = self._added(self._others, points, self._residuals)
        sums = (points + float(self._first)) * self._step
        known = self._known
        here = (points[:, :, None] == known.points) & inside[:, :, None]
        masses = np.where(inside, np.maximum(masses - np.sum(here * known.masses, axis=2), 0.0), 0.0)
        taken -= np.sum(
            here * (known.masses * (known.sums - (known.points + float(self._first)) * self._step)), axis=2
        )
        clear = (masses > MOVED_MASS) & (np.abs(taken) > self._too_little)
        sums += np.divide(taken, masses, out=np.zeros(masses.shape), where=clear)
        held = np.any(here, axis=1)
        masses = np.concatenate([masses, np.where(held, known.masses, 0.0)], axis=1)
        sums = np.concatenate([sums, np.broadcast_to(known.sums, held.shape)], axis=1)
        masses[masses <= NO_MASS] = 0.0
        return np.where(masses > 0, self._sample.means(sums / self._sample.n), np.inf), masses


def few_values_law(sample: Sample) -> FewValuesLaw | None:
    """The law on a grid, or None where there are too many scores, or draws of changed topics, for it to save time."""
    if sample.offsets.size > MAX_VALUES:
        return None
    n, grid = sample.n, Rounded.of(sample)
    changed = 1 - float(sample.distinct[1][sample.mode]) / n
    # so many draws of changed topics, but for rare ones: each moves the replicate by its rounding
    most = 1 + binomial_reach(n - 1, changed, below=RARE / (n * changed))
    if most > 2 * MAX_REACH:
        return None
    reach = math.ceil((most + RARE / MOVED_MASS) * float(np.max(np.abs(grid.residuals))) / grid.step)
    few = reach <= MAX_REACH and np.max(np.abs(grid.indices)) <= 2**14
    return FewValuesLaw(sample, grid, reach) if few else None


#: A lattice with at most this many points over 24 standard errors has its own law: the steps of a finer one move
#: limits by less than 24/2^16 = 3.7e-4 standard errors, so its law is inverted. Where few topics changed, inversion
#: fails and single resamples have much mass: there finer lattices, up to the second number, keep their own law,
#: because on a grid the resamples with the sample's own mean would not all stay at that mean.
MAX_LATTICE_POINTS, MAX_SPARSE_LATTICE_POINTS = 2**15, 2**17


def lattice_law(sample: Sample, *, max_points: int = MAX_LATTICE_POINTS) -> StepLaw | None:
    """The exact law of data on a lattice, or None where they lie on none that is coarse enough."""
    if sample.step is None or PERIOD * sample.total / sample.step > max_points:
        return None
    atoms = lattice_atoms(sample, sample.step)
    means = sample.means(atoms.sums / sample.n)
    return StepLaw("lattice", means[:-1], atoms.masses[:-1], sample, centre=float(means[-1]))


def grid_law(sample: Sample) -> StepLaw:
    """The law of the data rounded to a grid, each point moved to the mean of its replicates; see ``Rounded``."""
    grid = Rounded.of(sample)
    atoms = grid_atoms(grid)
    means = sample.means(atoms.sums / sample.n)
    order = np.argsort(means, kind="stable")
    return StepLaw(
        "grid", means[order], atoms.masses[order], sample, centre=float(means[1]), resolution=grid.resolution
    )
