"""The law of a statistic as replicates show it: each draw an atom of the same weight."""

from __future__ import annotations

import math

import numpy as np

from pytest_riskguard.inference.bootstrap.laws import REACHED
from pytest_riskguard.risk.checks import FloatArray


class DrawnLaw:
    """What a ``MeanLaw`` answers, from draws.

    Parameters
    ----------
    replicates : array, shape (n_replicates,)
        The statistic in each, in any order, finite.
    centre : float
        The statistic of the sample itself.
    same : float
        Values this close are one.
    """

    kind = "replicates"

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

    @property
    def deviation(self) -> float:
        """Standard deviation of the replicates."""
        return float(np.std(self._atoms))

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
