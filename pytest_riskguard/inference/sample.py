"""A vector of trade-off scores put in order, with the sums that every law and interval needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference.spacing import lattice_step
from pytest_riskguard.risk.checks import FloatArray, mean, per_topic
from pytest_riskguard.risk.paired import varies

#: Sums this close, in bootstrap standard errors, are one atom.
SAME_ATOM = 1e-12


@dataclass(frozen=True)
class Sample:
    """Trade-off scores in ascending order, so that nothing computed from them depends on the order of topics."""

    x: FloatArray

    @classmethod
    def of(cls, x: npt.ArrayLike) -> Sample:
        """Check and sort; at least two topics."""
        return cls(np.sort(per_topic(x, name="x", at_least=2)) + 0.0)

    @property
    def n(self) -> int:
        """How many topics."""
        return self.x.size

    @cached_property
    def mean(self) -> float:
        """In units of x."""
        return mean(self.x)

    @cached_property
    def constant(self) -> bool:
        """Whether there is no variation, hence no law."""
        return not varies(self.x)

    @cached_property
    def centred(self) -> FloatArray:
        """Deviations from the mean."""
        centred: FloatArray = self.x - self.mean
        return centred

    @cached_property
    def deviation(self) -> float:
        """Standard deviation, divisor n: that of one draw of the bootstrap."""
        return math.sqrt(math.fsum(self.centred**2) / self.n)

    @cached_property
    def total(self) -> float:
        """Standard deviation of a replicate's sum, ``deviation * sqrt(n)``: what sums are measured in."""
        return self.deviation * math.sqrt(self.n)

    @cached_property
    def scale(self) -> float:
        """Bootstrap standard error of the mean, ``deviation / sqrt(n)``, in units of x."""
        return self.deviation / math.sqrt(self.n)

    @cached_property
    def acceleration(self) -> float:
        """BCa's a: sum L^3 / (6 (sum L^2)^1.5) with L = x - mean (ADCS 2019, Eq. 6); below 1/6 in size."""
        standard = self.centred / self.deviation
        return math.fsum(standard * standard * standard) / (6 * self.n * math.sqrt(self.n))

    @cached_property
    def distinct(self) -> tuple[FloatArray, FloatArray]:
        """The distinct values of x and how often each occurs."""
        starts = np.append(0, np.flatnonzero(self.x[1:] != self.x[:-1]) + 1)
        return self.x[starts], np.diff(starts, append=self.n).astype(np.float64)

    @cached_property
    def usual(self) -> int:
        """Which distinct value is the most frequent: that of an unchanged topic, where many are unchanged."""
        return int(np.argmax(self.distinct[1]))

    @cached_property
    def offsets(self) -> FloatArray:
        """The distinct values less the usual one: what drawing a topic adds to a replicate of usual topics."""
        values, _ = self.distinct
        offsets: FloatArray = values - values[self.usual]
        return offsets

    @cached_property
    def step(self) -> float | None:
        """The step of the lattice that scores lie on, in units of x; None where they lie on none."""
        return lattice_step(self.offsets)

    @cached_property
    def same(self) -> float:
        """Means this close, in units of x, are one: 1e-12 standard errors, or the rounding of x where it is more."""
        return max(SAME_ATOM * self.scale, 4 * math.ulp(float(np.max(np.abs(self.x)))))

    def means(self, offsets: FloatArray) -> FloatArray:
        """Means of replicates from their mean offsets; 0 where only rounding keeps them from it."""
        means: FloatArray = float(self.distinct[0][self.usual]) + offsets
        return np.where(np.abs(means) <= self.same, 0.0, means)
