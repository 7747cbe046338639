"""What every law of a studentized mean can answer."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference._bootstrap.laws import REACHED
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray

#: Statistics this close, as a share of their size where that exceeds 1, are one.
SAME_STATISTIC = 1e-9


class StudentizedLaw(Protocol):
    """The law of T* = (mean* - mean)/SE*, given that the replicate varies.

    SE* is the standard error that the replicate itself has (divisors n - 1 and n).

    Attributes
    ----------
    kind : {"enumerated", "inverted", "replicates"}
        Every resample; the joint characteristic function of sums and sums of squares inverted; draws.
    resolution : float
        How far a limit at level 0.999 may be off, in standard errors of the sample (units of T*). A bound where
        enumerated; where inverted an estimate from the frequencies left out; four standard errors where drawn.
    no_variation : float
        The share of replicates that draw one score only and have no T*.
    """

    kind: str
    resolution: float
    no_variation: float

    def cdf(self, t: float) -> float:
        """P(T* <= t)."""

    def quantile(self, p: float) -> float:
        """The smallest t whose cdf reaches p."""


class WeightedLaw:
    """A law of atoms: every resample there is, or every one that was drawn, with its weight.

    Parameters
    ----------
    statistics : array, shape (n_atoms,)
        T* of each, in any order.
    weights : array, shape (n_atoms,)
        Not negative, in any unit.
    """

    def __init__(
        self, kind: str, statistics: FloatArray, weights: FloatArray, *, resolution: float, no_variation: float
    ) -> None:
        self.kind, self.resolution, self.no_variation = kind, resolution, no_variation
        order = np.argsort(statistics, kind="stable")
        self._atoms = statistics[order]
        self._cumulated = np.cumsum(weights[order])
        self._cumulated /= self._cumulated[-1]

    def cdf(self, t: float) -> float:
        """P(T* <= t); statistics within 1e-9 are one."""
        count = int(np.searchsorted(self._atoms, t + SAME_STATISTIC * max(1.0, abs(t)), side="right"))
        return float(self._cumulated[count - 1]) if count else 0.0

    def quantile(self, p: float) -> float:
        """The smallest atom whose cdf reaches p."""
        index = int(np.searchsorted(self._cumulated, max(p - REACHED, REACHED), side="left"))
        return float(self._atoms[min(index, self._atoms.size - 1)])


class MirroredLaw:
    """The law of -T*."""

    def __init__(self, law: StudentizedLaw) -> None:
        self._law = law
        self.kind, self.resolution, self.no_variation = law.kind, law.resolution, law.no_variation

    def cdf(self, t: float) -> float:
        """P(-T* <= t): what lies at t belongs to it, rounding or not."""
        return 1.0 - self._law.cdf(-t - 2 * SAME_STATISTIC * max(1.0, abs(t)))

    def quantile(self, p: float) -> float:
        """The value whose cdf is p."""
        return -self._law.quantile(1.0 - p)


def vary(sample: Sample, means: FloatArray, variances: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether replicates vary by more than the rounding of their scores, as a sample must.

    Parameters
    ----------
    means : array
        Of replicates, in units of x.
    variances : array
        Of replicates (divisor n), in units of the sample's.
    """
    # scores that span s have a variance of s^2/(2 n) at least
    spans = np.sqrt(2 * sample.n * variances) * sample.deviation
    return np.asarray(spans > ROUNDING_ERROR * np.maximum(1.0, np.abs(means)))


def leans_left(sample: Sample) -> bool:
    """Whether the sample rather than its mirror image is to be turned round; of both exactly one is."""
    sides = sample.centred + sample.centred[::-1]
    uneven = sides[np.flatnonzero(sides)]
    return bool(uneven.size and uneven[0] < 0)
