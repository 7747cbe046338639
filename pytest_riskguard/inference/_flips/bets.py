"""Changed topics as bets, in an order of their own, so that nothing computed from them depends on that of topics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pytest_riskguard.risk.checks import ROUNDING_ERROR, BoolArray, FloatArray, IntArray, exact_sum

#: A sum this far above a point of a lattice, in steps, is that point.
ALMOST = 1e-3


@dataclass(frozen=True)
class Bets:
    """Each topic loses ``size`` with its chance, else nothing, independently of the others; ascending by size.

    Sizes closer to the next lower one than rounding are that one, and so are chances where all are that close. The
    observed sum is that over topics that are ``lost``, less ``offset``.
    """

    sizes: FloatArray
    chances: FloatArray
    lost: BoolArray
    offset: float = 0.0

    @classmethod
    def of(cls, sizes: FloatArray, chances: FloatArray, lost: BoolArray, offset: float = 0.0) -> Bets:
        """Sort and merge; at least one topic, sizes above 0, chances strictly between 0 and 1."""
        same_chance = float(np.ptp(chances)) <= ROUNDING_ERROR * float(np.min(chances))
        if same_chance:
            order = np.argsort(sizes)
            chances = np.full(sizes.size, float(np.min(chances)))
        else:
            order = np.lexsort((chances, sizes))
            chances = chances[order]
        sizes, lost = sizes[order], lost[order]
        first = np.append(True, np.diff(sizes) > ROUNDING_ERROR * sizes[-1])
        sizes = sizes[np.maximum.accumulate(np.where(first, np.arange(sizes.size), 0))]
        if not same_chance and not np.all(first):
            order = np.lexsort((chances, sizes))
            chances, lost = chances[order], lost[order]
        return cls(sizes, chances, lost, offset)

    def on_lattice(self, step: float) -> Bets:
        """The same in whole numbers of steps; where the observed sum is between two, the upper one."""
        steps = np.rint(self.sizes / step)
        lost = exact_sum(steps[self.lost])
        # a little less than the observed sum counts as the same
        offset = lost - math.ceil(lost - self.offset / step - ALMOST) if self.offset else 0.0
        return Bets(steps, self.chances, self.lost, offset)

    @cached_property
    def total(self) -> float:
        """The sum if every topic is a loss."""
        return exact_sum(self.sizes)

    @cached_property
    def observed(self) -> float:
        """The sum that others are compared with."""
        return exact_sum(self.sizes[self.lost]) - self.offset

    @property
    def limit(self) -> float:
        """Sums from here on count: what is below the observed one by rounding counts as well."""
        return self.observed - ROUNDING_ERROR * self.total

    @cached_property
    def starts(self) -> IntArray:
        """Where runs of topics with the same size and chance begin."""
        other = (self.sizes[1:] != self.sizes[:-1]) | (self.chances[1:] != self.chances[:-1])
        return np.append(0, np.flatnonzero(other) + 1)

    @cached_property
    def repeats(self) -> IntArray:
        """How many topics each run has."""
        return np.diff(self.starts, append=self.sizes.size)
