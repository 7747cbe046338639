"""What a gate's rule is applied to: differences over topics, and how they become the scores whose mean is judged.

Three things can stand between the two: the trade-off (what a loss costs), the baseline's own noise (what replicates
of it lose against it, taken off topic by topic), and the topics' weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.paired import CHANGED
from pytest_riskguard.risk.tradeoff import tradeoff

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Differences over topics with all that turns them into trade-off scores.

    Attributes
    ----------
    differences : array, shape (n_topics,)
        Candidate minus baseline, in units of the measure; 0 where they differ by no more than 1e-12.
    noise : array, shape (n_replicates, n_topics)
        Each replicate of the baseline minus the baseline; no row where there are none.
    weights : array, shape (n_topics,), or None
        Above 0; only their ratios matter.
    kind : str
        The trade-off, ``linear`` or ``smooth``.
    """

    differences: FloatArray
    noise: FloatArray
    weights: FloatArray | None = None
    kind: str = "linear"

    @classmethod
    def of(cls, differences: FloatArray) -> Evidence:
        """Differences alone: neither noise nor weights, the linear trade-off."""
        return cls(differences, np.zeros((0, differences.size)))

    @property
    def n(self) -> int:
        """How many topics."""
        return self.differences.size

    @cached_property
    def moved(self) -> BoolArray:
        """Which topics changed, or change from one run of the baseline to the next."""
        moved: BoolArray = np.any(np.abs(np.vstack([self.differences, self.noise])) > CHANGED, axis=0)
        return moved

    @cached_property
    def changed(self) -> int:
        """How many topics moved."""
        return int(np.count_nonzero(self.moved))

    def parts(self, alpha: float) -> FloatArray:
        """Each topic's part in the estimate, times the number of topics: their mean is the estimate.

        At alpha 0 these are plain differences, whatever the trade-off.
        """
        x = self._traded(self.differences, alpha)
        if self.noise.shape[0]:
            own = np.array([self._traded(row, alpha) for row in self.noise])
            x = x - np.sum(own, axis=0) / self.noise.shape[0]
        return self.weighed(x)

    def weighed(self, values: FloatArray) -> FloatArray:
        """Values per topic times the topic's weight, in weights whose mean is 1."""
        return values if self.weights is None else values * self._relative

    def mean(self, values: FloatArray) -> float:
        """The mean over topics, weighted where there are weights."""
        return math.fsum(self.weighed(values)) / self.n

    @cached_property
    def _relative(self) -> FloatArray:
        weights = np.ones(self.n) if self.weights is None else self.weights
        relative: FloatArray = weights / (math.fsum(weights) / self.n)
        return relative

    def estimate(self, alpha: float) -> float:
        """URisk at this alpha: weighted, and less the baseline's own, where there are weights or replicates."""
        return math.fsum(self.parts(alpha)) / self.n

    def noise_estimate(self, alpha: float) -> float | None:
        """The mean URisk of the baseline's replicates against it; None where there are none."""
        if not self.noise.shape[0]:
            return None
        values = [Evidence(row, self.noise[:0], self.weights, self.kind).estimate(alpha) for row in self.noise]
        return math.fsum(values) / len(values)

    def scores(self, alpha: float) -> FloatArray:
        """The vector that every interval is computed from; its mean is the estimate.

        Without weights these are the parts. A weighted mean is a ratio of two sums over topics; its variation comes
        from w_i (x_i - mean), not from the weights themselves, so the vector is the mean plus these (the first-order
        expansion of the ratio). Topics that all score the same then have no variation, as they should.
        """
        parts = self.parts(alpha)
        if self.weights is None:
            return parts
        mean = math.fsum(parts) / self.n
        return mean + (parts - mean * self._relative)

    def without(self, indices: npt.NDArray[np.intp] | int) -> Evidence:
        """The same with topics left out."""
        return Evidence(
            np.delete(self.differences, indices),
            np.delete(self.noise, indices, axis=1),
            None if self.weights is None else np.delete(self.weights, indices),
            self.kind,
        )

    def _traded(self, differences: FloatArray, alpha: float) -> FloatArray:
        return tradeoff(differences, kind="linear" if alpha == 0 else self.kind, alpha=alpha)
