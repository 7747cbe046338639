"""Measures of graded relevance: nDCG, DCG, graded RBP and ERR, as trec_eval and riskguard's providers compute them.

Logarithms and powers come from Python's ``math``, whose C library providers call too: numpy's may differ in a bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pytest_riskguard.evaluation.scoring.kernels.counted_rows import (
    BoolArray,
    CountedRows,
    FloatArray,
    IntArray,
    places_within,
)
from pytest_riskguard.evaluation.scoring.kernels.relevance_labels import share

Gain = Callable[[float], float]


def by_grade(function: Gain, grades: FloatArray) -> FloatArray:
    """A function of each grade, called once for each that occurs."""
    lowest = float(grades.min(initial=0.0))
    places = (grades - lowest).astype(np.int64)
    if np.array_equal(places + lowest, grades):  # whole grades need no sorting
        occurring = np.flatnonzero(np.bincount(places))
        of_place = np.zeros(occurring.max(initial=0) + 1)
        of_place[occurring] = [function(grade) for grade in (occurring + lowest).tolist()]
        return of_place[places]
    different, places = np.unique(grades, return_inverse=True)
    of_grade: FloatArray = np.array([function(grade) for grade in different.tolist()], dtype=np.float64)
    return of_grade[places]


def by_rank(function: Callable[[int], float], ranks: IntArray) -> FloatArray:
    """A function of each rank, called once for each up to the last."""
    of_rank: FloatArray = np.array([0.0, *map(function, range(1, int(ranks.max(initial=0)) + 1))])
    return of_rank[ranks]


@dataclass(frozen=True)
class _Gains:
    """What measures of gain share.

    Attributes
    ----------
    gain : function
        From a grade to the gain of its document.
    cutoff : int, optional
        How many ranks count; None for all.
    """

    gain: Gain
    cutoff: int | None = None

    def values(self, grades: FloatArray) -> FloatArray:
        """The gain of each document."""
        return by_grade(self.gain, grades)

    def sees(self, values: FloatArray, ranks: IntArray) -> BoolArray:
        """Documents with a gain within the cutoff."""
        seen = values > 0
        return seen if self.cutoff is None else seen & (ranks <= self.cutoff)

    @property
    def ideal_ranks(self) -> int | None:
        """None is needed."""
        return 0

    def totals(self, topic: IntArray, values: FloatArray, count: int) -> FloatArray:  # noqa: ARG002 - not needed here
        """Nothing."""
        return np.zeros(count)


@dataclass(frozen=True)
class DiscountedGain(_Gains):
    """``DCG`` and ``nDCG``: gains by ``log2(rank + 1)``; for nDCG, as a share of the ideal ranking's.

    Attributes
    ----------
    is_share : bool
        Whether it is nDCG.
    is_rising : bool
        Whether a higher grade never has a lower gain; if not, judgements are sorted again by gain.
    """

    is_share: bool = True
    is_rising: bool = True

    @property
    def ideal_ranks(self) -> int | None:
        """Those of the ideal ranking, if it is one by grade."""
        if not self.is_share:
            return super().ideal_ranks
        return self.cutoff if self.is_rising else None

    def totals(self, topic: IntArray, values: FloatArray, count: int) -> FloatArray:
        """The gain of the ideal ranking."""
        if not self.is_share:
            return super().totals(topic, values, count)
        if not self.is_rising:
            order = np.lexsort((-values, topic))
            topic, values = topic[order], values[order]
        ranks = places_within(topic) + 1
        ideal = CountedRows(topic, ranks, values, np.zeros(count, dtype=np.int64))
        ideal = ideal.where((values > 0) if self.cutoff is None else (values > 0) & (ranks <= self.cutoff))
        return ideal.sums(ideal.value / _discounts(ideal.rank))

    def scores(self, rows: CountedRows, totals: FloatArray) -> FloatArray:
        """The measure of each topic."""
        gained = rows.sums(rows.value / _discounts(rows.rank))
        return share(gained, totals) if self.is_share else gained


@dataclass(frozen=True)
class JudgedOnlyGain(DiscountedGain):
    """``nDCG(judged_only=True)``: ranks are those among documents with a grade that is not negative.

    ``gain`` is negative for those that are.
    """

    def sees(self, values: FloatArray, ranks: IntArray) -> BoolArray:  # noqa: ARG002 - not needed here
        """Judged documents, at whatever rank."""  # those without a gain take ranks
        return values >= 0

    def scores(self, rows: CountedRows, totals: FloatArray) -> FloatArray:
        """The measure of each topic."""
        rows = CountedRows(rows.topic, rows.places() + 1, rows.value, rows.retrieved)
        return super().scores(rows.where(rows.rank <= (self.cutoff or np.iinfo(np.int64).max)), totals)


@dataclass(frozen=True)
class BiasedGain(_Gains):
    """``RBP(max_rel=...)``: gains by a power of ``p``."""

    p: float = 0.8

    def scores(self, rows: CountedRows, totals: FloatArray) -> FloatArray:  # noqa: ARG002 - not needed here
        """The measure of each topic."""
        return (1 - self.p) * rows.sums(rows.value * by_rank(lambda rank: self.p ** (rank - 1), rows.rank))


@dataclass(frozen=True)
class Cascade(_Gains):
    """``ERR``: a document's gain is the probability that it satisfies a user who has come so far."""

    def scores(self, rows: CountedRows, totals: FloatArray) -> FloatArray:  # noqa: ARG002 - not needed here
        """The measure of each topic."""
        counts = rows.counts()
        longest = np.argsort(-counts, kind="stable")
        begins = (np.cumsum(counts) - counts)[longest]
        reaching = np.searchsorted(-counts[longest], -np.arange(counts.max(initial=0)), side="left")
        scores, reaches = np.zeros(len(counts)), np.ones(len(counts))
        for place, last in enumerate(reaching.tolist()):  # topics with more documents than this place
            at = begins[:last] + place
            satisfied = rows.value[at]
            scores[:last] += reaches[:last] * satisfied / rows.rank[at]
            reaches[:last] *= 1 - satisfied
        by_topic = np.empty_like(scores)
        by_topic[longest] = scores
        return by_topic


def _discounts(ranks: IntArray) -> FloatArray:
    return by_rank(lambda rank: math.log2(rank + 1), ranks)
