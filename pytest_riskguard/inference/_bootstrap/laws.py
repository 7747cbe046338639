"""What bootstrap laws can answer: the distributions of a mean, and of a studentized mean, over all resamples."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Protocol

import numpy as np

from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.risk.checks import ROUNDING_ERROR, BoolArray, FloatArray, stable_order

#: A probability this close below a level has reached it, and one this small is 0: sums of masses carry rounding.
REACHED = 1e-13
#: Statistics this close, as a share of their size where that exceeds 1, are the same.
SAME_STATISTIC = 1e-9
#: With at least this many atoms, every so many of them say where a quantile lies, within so many of these.
MANY_ATOMS, EVERY, AROUND = 2**15, 61, 150
#: The masses of a million atoms, added in any order, are this precise.
SUM_ERROR = 1e-11


class MeanLaw(Protocol):
    """The distribution of the mean of n draws with replacement.

    ``kind``: ``constant``, ``enumerated`` (every resample), ``lattice`` (exact steps), ``smooth``
    (the characteristic function inverted), ``grid`` (exact for data rounded to a fine grid). ``resolution`` bounds
    the error of a quantile in bootstrap standard errors. ``centre`` is the sample's mean as this law has it.
    """

    kind: str
    resolution: float
    centre: float

    def cdf(self, value: float) -> float:
        """P(mean <= value)."""

    def mid_cdf(self, value: float) -> float:
        """P(mean < value) + P(mean = value)/2."""

    def quantile(self, p: float) -> float:
        """The smallest value whose cdf reaches p."""
        return float(self.quantiles(np.array([p]))[0])

    def quantiles(self, p: FloatArray) -> FloatArray:
        """The quantile of each of these probabilities, shape (n_probabilities,)."""


class StepLaw(MeanLaw):
    """A law with visible atoms: means in ascending order, and the mass of each.

    ``centre`` is the atom that is the sample's own mean.
    """

    def __init__(
        self,
        kind: str,
        atoms: FloatArray,
        masses: FloatArray,
        sample: Sample,
        *,
        centre: float,
        resolution: float = ROUNDING_ERROR,
    ) -> None:
        self.kind, self.centre, self.resolution = kind, centre, resolution
        self._atoms, self._tolerance = atoms, sample.same
        self._min, self._max = float(sample.x[0]), float(sample.x[-1])
        self._cumulated = np.cumsum(masses)
        self._cumulated /= self._cumulated[-1]

    def _up_to(self, value: float, *, inclusive: bool) -> float:
        edge = value + self._tolerance if inclusive else value - self._tolerance
        count = int(np.searchsorted(self._atoms, edge, side="right" if inclusive else "left"))
        return float(self._cumulated[count - 1]) if count else 0.0

    def cdf(self, value: float) -> float:
        """P(mean <= value); atoms within 1e-12 standard errors are the same."""
        return self._up_to(value, inclusive=True)

    def mid_cdf(self, value: float) -> float:
        """P(mean < value) + P(mean = value)/2."""
        return (self._up_to(value, inclusive=False) + self._up_to(value, inclusive=True)) / 2

    def quantiles(self, p: FloatArray) -> FloatArray:
        """The quantile of each of these probabilities, shape (n_probabilities,)."""
        indices = np.searchsorted(self._cumulated, np.maximum(p - REACHED, REACHED), side="left")
        atoms = self._atoms[np.minimum(indices, self._atoms.size - 1)]
        return np.clip(atoms, self._min, self._max)  # data rounded to a grid may reach a little further


class DrawnLaw:
    """What a ``MeanLaw`` answers, from draws of a statistic; values within ``same`` of each other are the same."""

    def __init__(self, replicates: FloatArray, *, centre: float, same: float) -> None:
        self.centre, self.same = centre, same
        self._atoms = np.sort(replicates)

    @property
    def size(self) -> int:
        """How many replicates there are."""
        return self._atoms.size

    @property
    def constant(self) -> bool:
        """Whether no replicate differs from the sample."""
        return bool(max(self._atoms[-1] - self.centre, self.centre - self._atoms[0]) <= self.same)

    def cdf(self, value: float) -> float:
        """P(statistic <= value)."""
        return int(np.searchsorted(self._atoms, value + self.same, side="right")) / self.size

    def mid_cdf(self, value: float) -> float:
        """P(statistic < value) + P(statistic = value)/2."""
        below = int(np.searchsorted(self._atoms, value - self.same, side="left"))
        return (below / self.size + self.cdf(value)) / 2

    def quantile(self, p: float) -> float:
        """The smallest draw whose cdf reaches p."""
        place = math.ceil((p - REACHED) * self.size) - 1
        return float(self._atoms[min(max(place, 0), self.size - 1)])


class StudentizedLaw(Protocol):
    """The distribution of T* = (mean* - mean)/SE*, given that the replicate varies.

    SE* is the standard error that the replicate itself has (divisors n - 1 and n). ``kind`` is ``enumerated``,
    ``inverted`` or ``replicates``.
    """

    kind: str

    def cdf(self, t: float) -> float:
        """P(T* <= t)."""

    def quantile(self, p: float) -> float:
        """The smallest t whose cdf reaches p."""


class WeightedLaw:
    """A law of atoms in any order, from resamples enumerated or drawn, with weights in any unit.

    Putting hundreds of thousands of atoms in order takes longer than drawing them, and a quantile needs only those
    around it: a few atoms say where these lie, and how much lies below them is a sum in any order.
    """

    def __init__(self, kind: str, statistics: FloatArray, weights: FloatArray) -> None:
        self.kind = kind
        self._statistics, self._weights = statistics, weights

    @cached_property
    def _in_order(self) -> tuple[FloatArray, FloatArray]:
        """The atoms in ascending order, and the share of the mass up to each."""
        order = stable_order(self._statistics)
        cumulated = np.cumsum(self._weights[order])
        cumulated /= cumulated[-1]
        return self._statistics[order], cumulated

    def cdf(self, t: float) -> float:
        """P(T* <= t); statistics within 1e-9 are the same."""
        atoms, cumulated = self._in_order
        count = int(np.searchsorted(atoms, t + SAME_STATISTIC * max(1.0, abs(t)), side="right"))
        return float(cumulated[count - 1]) if count else 0.0

    def quantile(self, p: float) -> float:
        """The smallest atom whose cdf reaches p."""
        goal = max(p - REACHED, REACHED)
        found = None if "_in_order" in self.__dict__ else self._among_nearest(goal)
        if found is not None:
            return found
        atoms, cumulated = self._in_order
        index = int(np.searchsorted(cumulated, goal, side="left"))
        return float(atoms[min(index, atoms.size - 1)])

    @cached_property
    def _some(self) -> tuple[FloatArray, FloatArray]:
        """Some atoms in ascending order, and the share of their mass up to each."""
        statistics, weights = self._statistics[::EVERY], self._weights[::EVERY]
        order = np.argsort(statistics)
        cumulated = np.cumsum(weights[order])
        cumulated /= cumulated[-1]
        return statistics[order], cumulated

    @cached_property
    def _total(self) -> float:
        return float(np.sum(self._weights))

    def _among_nearest(self, goal: float) -> float | None:
        """The quantile from the atoms around it alone; None where they turn out not to hold it for sure."""
        if self._statistics.size < MANY_ATOMS:
            return None
        some, cumulated = self._some
        place = int(np.searchsorted(cumulated, goal, side="left"))
        if place < AROUND or place + AROUND >= some.size:
            return None
        first, last = some[place - AROUND], some[place + AROUND]
        below = float(np.sum(self._weights[self._statistics < first]))
        near = np.flatnonzero((self._statistics >= first) & (self._statistics <= last))
        near = near[stable_order(self._statistics[near])]
        mass = (below + np.cumsum(self._weights[near])) / self._total
        index = int(np.searchsorted(mass, goal, side="left"))
        # sums in another order differ by rounding, which must not choose another atom
        if not (0 < index < near.size and mass[index - 1] + SUM_ERROR < goal < mass[index] - SUM_ERROR):
            return None
        return float(self._statistics[near[index]])


class MirroredLaw:
    """The law of -T*."""

    def __init__(self, law: StudentizedLaw) -> None:
        self._law, self.kind = law, law.kind

    def cdf(self, t: float) -> float:
        """P(-T* <= t); statistics that differ from t by rounding alone are included."""
        return 1.0 - self._law.cdf(-t - 2 * SAME_STATISTIC * max(1.0, abs(t)))

    def quantile(self, p: float) -> float:
        """The value whose cdf is p."""
        return -self._law.quantile(1.0 - p)


def vary(sample: Sample, means: FloatArray, variances: FloatArray) -> BoolArray:
    """Whether replicates vary by more than the rounding of their scores, as a sample must.

    Means are in units of x, variances (divisor n) in units of the sample's.
    """
    # scores that span s have a variance of s^2/(2 n) at least
    spans = np.sqrt(2 * sample.n * variances) * sample.deviation
    return np.asarray(spans > ROUNDING_ERROR * np.maximum(1.0, np.abs(means)))


def leans_left(sample: Sample) -> bool:
    """Whether to work on the mirror image instead of the sample; true of exactly one of the two."""
    sides = sample.centred + sample.centred[::-1]
    uneven = sides[np.flatnonzero(sides)]
    return bool(uneven.size and uneven[0] < 0)
