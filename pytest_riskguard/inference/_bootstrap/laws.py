"""What bootstrap laws can answer: the distributions of a mean, and of a studentized mean, over all resamples."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.risk.checks import ROUNDING_ERROR, BoolArray, FloatArray, stable_order

#: A probability this close below a level has reached it, and one this small is 0: sums of masses carry rounding.
REACHED = 1e-13
#: Statistics this close, as a share of their size where that exceeds 1, are the same.
SAME_STATISTIC = 1e-9


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
    """A law of atoms in any order, from resamples enumerated or drawn, with weights in any unit."""

    def __init__(self, kind: str, statistics: FloatArray, weights: FloatArray) -> None:
        self.kind = kind
        order = stable_order(statistics)
        self._atoms = statistics[order]
        self._cumulated = np.cumsum(weights[order])
        self._cumulated /= self._cumulated[-1]

    def cdf(self, t: float) -> float:
        """P(T* <= t); statistics within 1e-9 are the same."""
        count = int(np.searchsorted(self._atoms, t + SAME_STATISTIC * max(1.0, abs(t)), side="right"))
        return float(self._cumulated[count - 1]) if count else 0.0

    def quantile(self, p: float) -> float:
        """The smallest atom whose cdf reaches p."""
        index = int(np.searchsorted(self._cumulated, max(p - REACHED, REACHED), side="left"))
        return float(self._atoms[min(index, self._atoms.size - 1)])


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
