"""Changed topics as bets, in an order of their own, so that nothing computed from them depends on that of topics."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pytest_riskguard.risk.checks import ROUNDING_ERROR, BoolArray, FloatArray, IntArray, exact_sum

#: Topics that all together move the sum by at most this share of rounding are losses for sure.
NEGLIGIBLE = 0.01
#: A sum this far above a point of a lattice, in steps, is that point.
ALMOST = 1e-3


@dataclass(frozen=True)
class Bets:
    """Each topic loses ``size`` with its chance, else nothing, independently of the others.

    Topics with the same size and chance are one entry, with the numbers ``won`` and ``lost`` of those observed to be
    wins and losses; entries ascend by size. The question is how likely a sum is that reaches the observed one less
    ``offset``; sums closer than ``rounding`` are the same.
    """

    sizes: FloatArray
    chances: FloatArray
    won: IntArray
    lost: IntArray
    rounding: float
    offset: float = 0.0

    @classmethod
    def of(cls, sizes: FloatArray, chances: FloatArray, lost: BoolArray, *, offset: float = 0.0) -> Bets:
        """Sort and merge; sizes and chances above 0, chances at most 1.

        A size closer than rounding to the next lower one is that one; chances are the same where all are that close.
        """
        rounding = ROUNDING_ERROR * exact_sum(sizes)
        # together such topics are much less than rounding
        sure = (chances >= 1) | (sizes * sizes.size <= NEGLIGIBLE * rounding)
        if np.any(sure):
            offset += exact_sum(sizes[sure & ~lost])
            sizes, chances, lost = sizes[~sure], chances[~sure], lost[~sure]
        if sizes.size == 0:
            return cls(sizes, chances, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), rounding, offset)
        order = np.argsort(sizes)
        sizes, chances, lost = sizes[order], chances[order], lost[order]
        other = np.append(True, np.diff(sizes) > ROUNDING_ERROR * sizes[-1])
        sizes = sizes[np.maximum.accumulate(np.where(other, np.arange(sizes.size), 0))]
        if float(np.ptp(chances)) <= ROUNDING_ERROR * float(np.min(chances)):
            chances = np.full(sizes.size, float(np.min(chances)))
        elif not np.all(other):
            order = np.lexsort((chances, sizes))
            chances, lost = chances[order], lost[order]
            other[1:] |= np.diff(chances) != 0
        starts = np.flatnonzero(other)
        losses = np.add.reduceat(lost.astype(np.int64), starts)
        topics = np.diff(starts, append=sizes.size)
        return cls(sizes[starts], chances[starts], topics - losses, losses, rounding, offset)

    @cached_property
    def topics(self) -> IntArray:
        """How many topics each entry has."""
        return self.won + self.lost

    @cached_property
    def total(self) -> float:
        """The sum if every topic is a loss."""
        return exact_sum(self.topics * self.sizes)

    @cached_property
    def short(self) -> float:
        """How far the sum that is asked for falls short of the total."""
        return exact_sum(np.append(self.won * self.sizes, self.offset))

    @property
    def slack(self) -> float:
        """How far below the observed sum those lie that count."""
        return self.offset + self.rounding

    @cached_property
    def limit(self) -> float:
        """Sums from here on count."""
        return exact_sum(np.append(self.lost * self.sizes, [-self.offset, -self.rounding]))

    def on_lattice(self, step: float) -> Bets:
        """The same in whole numbers of steps; a sum between two points needs the upper one."""
        offset = float(math.floor(self.offset / step + ALMOST))
        return replace(self, sizes=np.rint(self.sizes / step), offset=offset, rounding=0.0)

    def entries_of(self, sizes: FloatArray, chances: FloatArray) -> IntArray:
        """The entries of topics that the bets were made of; -1 for one that counts as lost for sure."""
        # a size is that of its entry or a little more, and of entries with one size the chance decides
        upper = np.searchsorted(self.sizes, sizes, side="right")
        entries = np.full(sizes.size, -1)
        for k in np.flatnonzero(upper).tolist():
            same = np.flatnonzero(self.sizes[: upper[k]] == self.sizes[upper[k] - 1])
            entries[k] = same[np.argmin(np.abs(self.chances[same] - chances[k]))]
        return entries

    def without(self, entry: int, *, loses: bool) -> Bets:
        """One topic of an entry less, which is known to be a loss or a win."""
        one = np.zeros(self.sizes.size, dtype=np.int64)
        one[entry] = 1
        was_lost = bool(self.lost[entry] > 0)
        changed = float(self.sizes[entry]) * (int(loses) - int(was_lost))
        some = self.topics > one
        won, lost = (self.won, self.lost - one) if was_lost else (self.won - one, self.lost)
        return Bets(self.sizes[some], self.chances[some], won[some], lost[some], self.rounding, self.offset + changed)
