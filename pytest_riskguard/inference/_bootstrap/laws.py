"""What bootstrap laws can answer: the distributions of a mean, and of a studentized mean, over all resamples."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property
from typing import Protocol

import numpy as np

from pytest_riskguard.inference._bootstrap.far_tail import FarTail
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.risk.checks import ROUNDING_ERROR, BoolArray, FloatArray, stable_order
from pytest_riskguard.risk.distributions import log_ndtr, ndtr, ndtri, ndtri_exp

#: A probability this close below a level has reached it, and one this small is 0: sums of masses carry rounding.
REACHED = 1e-13
#: The far tails of a step function begin at this probability: rounding hides about 1e-7 of it.
EDGE = 1e-7
#: Statistics this close, as a share of their size where that exceeds 1, are the same.
SAME_STATISTIC = 1e-9
#: With at least this many atoms, every so many of them say where a quantile lies, within so many of these.
MANY_ATOMS, EVERY, AROUND = 2**15, 61, 150
#: The masses of a million atoms, added in any order, are this precise.
SUM_ERROR = 1e-11


class MeanLaw(Protocol):
    """The distribution of the mean of n draws with replacement.

    Probabilities are also given as scores, their normal quantiles, which keep the digits of both tails.
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

    def score(self, value: float, *, inclusive: bool = True) -> float:
        """The normal quantile of P(mean <= value), or of P(mean < value): both tails keep their digits."""

    def near_score(self, value: float, *, inclusive: bool = True) -> float:
        """The same where it is quick to compute: elsewhere the nearest score that is."""

    def at_scores(self, z: FloatArray) -> FloatArray:
        """The smallest values whose score reaches these, shape (n_scores,)."""

    def quantiles(self, p: FloatArray) -> FloatArray:
        """The smallest value whose cdf reaches each of these probabilities, shape (n_probabilities,)."""
        return self.at_scores(ndtri(p))

    def quantile(self, p: float) -> float:
        """The smallest value whose cdf reaches p."""
        return float(self.quantiles(np.array([p]))[0])


class ComputedLaw(MeanLaw):
    """A law computed as a whole, and its far tails, which that hides, from tilted replicates: see ``far_tail``.

    The far tails are those beyond a probability of ``edge``; ``smooth`` says how they are computed first.
    """

    def __init__(self, sample: Sample, *, edge: float, smooth: bool = False) -> None:
        self._sample, self.edge, self._smooth = sample, edge, smooth
        self._bound = -float(ndtri(edge)) if edge > 0 else math.inf
        self._tails: dict[int, FarTail] = {}

    @abstractmethod
    def _share(self, value: float, *, inclusive: bool) -> float:
        """P(mean <= value), or P(mean < value), precise but for a share of ``edge``."""

    @abstractmethod
    def _values(self, p: FloatArray) -> FloatArray:
        """The quantile of each of these probabilities, none of them in the far tails."""

    def near_score(self, value: float, *, inclusive: bool = True) -> float:
        """The score; in the far tails that at which they begin."""
        z = float(ndtri(self._share(value, inclusive=inclusive)))
        return min(max(z, -self._bound), self._bound)

    def score(self, value: float, *, inclusive: bool = True) -> float:
        """The normal quantile of P(mean <= value), or of P(mean < value)."""
        z = self.near_score(value, inclusive=inclusive)
        if abs(z) < self._bound or not math.isfinite(z):
            return z
        side = 1 if z > 0 else -1
        beyond = self._tail(side).log_share(value, inclusive=inclusive == (side < 0))
        return side * max(-ndtri_exp(beyond), self._bound)

    def at_scores(self, z: FloatArray) -> FloatArray:
        """The quantiles at these scores."""
        return self.extended(z, self._values(self.near(z)))

    def near(self, z: FloatArray) -> FloatArray:
        """Probabilities at these scores, moved inwards to where the far tails begin."""
        return np.asarray(ndtr(np.clip(z, -self._bound, self._bound)))

    def extended(self, z: FloatArray, values: FloatArray) -> FloatArray:
        """Quantiles at these scores from those at the nearest scores outside the far tails."""
        values = values.copy()
        for place in np.flatnonzero(np.abs(z) > self._bound):
            side = 1 if z[place] > 0 else -1
            far = float(self._sample.x[-1] if side > 0 else self._sample.x[0])
            if math.isfinite(z[place]):
                far = self._tail(side).value(log_ndtr(-abs(float(z[place]))))
            values[place] = side * max(side * values[place], side * far)
        return values

    def _tail(self, side: int) -> FarTail:
        if side not in self._tails:
            self._tails[side] = FarTail(self._sample, side, smooth=self._smooth)
        return self._tails[side]


class StepLaw(ComputedLaw):
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
        super().__init__(sample, edge=0.0 if sample.constant else EDGE)
        self.kind, self.centre, self.resolution = kind, centre, resolution
        self._atoms, self._tolerance = atoms, sample.same
        self._min, self._max = float(sample.x[0]), float(sample.x[-1])
        self._cumulated = np.cumsum(masses)
        self._cumulated /= self._cumulated[-1]

    def _share(self, value: float, *, inclusive: bool) -> float:
        edge = value + self._tolerance if inclusive else value - self._tolerance
        count = int(np.searchsorted(self._atoms, edge, side="right" if inclusive else "left"))
        return float(self._cumulated[count - 1]) if count else 0.0

    def cdf(self, value: float) -> float:
        """P(mean <= value); atoms within 1e-12 standard errors are the same."""
        return self._share(value, inclusive=True)

    def mid_cdf(self, value: float) -> float:
        """P(mean < value) + P(mean = value)/2."""
        return (self._share(value, inclusive=False) + self._share(value, inclusive=True)) / 2

    def _values(self, p: FloatArray) -> FloatArray:
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
