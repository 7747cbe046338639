"""Measures of all topics at once, equal as floats to what their providers compute topic by topic.

What a kernel sees of a run and of its judgements are numbers by row, no ids. Sums go through ``numpy.bincount``,
which adds the rows of a topic one after the other as providers do; ``numpy.sum`` adds in pairs, and its last bits
differ. Logarithms and powers come from Python's ``math``, whose C library providers call too. Measures that only ask
which documents are relevant are those of trec_eval (``m_map.c``, ``m_bpref.c`` and so on), MS MARCO's script,
``judged`` and cwl_eval.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CountedRows:
    """The retrieved documents that a measure counts, grouped by topic and by rank within a topic.

    Attributes
    ----------
    topic : array of int64, shape (n_rows,)
        The place of the row's topic, from 0.
    rank : array of int64, shape (n_rows,)
        From 1, among all documents that the run has for the topic.
    value : array of float64, shape (n_rows,)
        What the document counts: ``Kernel.values`` of its grade.
    retrieved : array of int64, shape (n_topics,)
        How many documents the run has for each topic, judged or not.
    """

    topic: IntArray
    rank: IntArray
    value: FloatArray
    retrieved: IntArray

    def sums(self, of_row: FloatArray) -> FloatArray:
        """The sum of each topic's rows, from the first rank on."""
        sums = np.bincount(self.topic, weights=of_row, minlength=len(self.retrieved))
        return sums.astype(np.float64, copy=False)  # without rows it counts

    def counts(self) -> IntArray:
        """How many rows each topic has."""
        return np.bincount(self.topic, minlength=len(self.retrieved)).astype(np.int64, copy=False)

    def places(self) -> IntArray:
        """The place of each row in its topic, from 0."""
        return places_within(self.topic)

    def where(self, chosen: BoolArray) -> CountedRows:
        """Some of the rows, of the same topics."""
        return CountedRows(self.topic[chosen], self.rank[chosen], self.value[chosen], self.retrieved)


def places_within(groups: IntArray) -> IntArray:
    """The place of each row in its group, from 0; rows of a group stand together."""
    rows = np.arange(len(groups), dtype=np.int64)
    begins = np.ones(len(groups), dtype=np.bool_)
    np.not_equal(groups[1:], groups[:-1], out=begins[1:])
    return rows - np.maximum.accumulate(np.where(begins, rows, 0))


class Kernel(Protocol):
    """One measure with its parameters, on judgements under their rules."""

    def values(self, grades: FloatArray) -> FloatArray:
        """What a document of each grade counts: a gain, or a label (1 relevant, 0 not, -1 as if not judged)."""

    def sees(self, values: FloatArray, ranks: IntArray) -> BoolArray:
        """Which of the judged documents at these ranks can change the measure; the others are left out."""

    @property
    def ideal_ranks(self) -> int | None:
        """How many of a topic's judgements ``totals`` needs, those with the highest grades first; None for all."""

    def totals(self, topic: IntArray, values: FloatArray, count: int) -> FloatArray:
        """What each topic's judgements say whatever was retrieved, shape (count, ...), such as the ideal gain.

        Judgements are given by topic, those with the highest grades first.
        """

    def scores(self, rows: CountedRows, totals: FloatArray) -> FloatArray:
        """The measure of each topic, shape (n_topics,)."""


#: cwl_eval looks at so many ranks.
CWL_RANKS = 1000


@dataclass(frozen=True)
class Labels:
    """A measure of relevant and other judged documents.

    Attributes
    ----------
    least : float
        The lowest grade of a relevant document.
    lowest : float
        Documents with lower grades count as if they were not judged.
    formula : function
        From rows, totals and the cutoff to the measure of each topic. Totals are, for each topic, how many documents
        are judged relevant and how many not relevant.
    cutoff : int, optional
        How many ranks count; None for all.
    judged_only : bool
        Ranks are those among judged documents.
    relevant_only : bool
        No other documents change the measure, except by the ranks that they take.
    """

    least: float
    lowest: float
    formula: Callable[[CountedRows, FloatArray, int | None], FloatArray]
    cutoff: int | None = None
    judged_only: bool = False
    relevant_only: bool = True

    def values(self, grades: FloatArray) -> FloatArray:
        """1 for relevant documents, 0 for others, -1 for those that count as not judged."""
        return np.where(grades >= self.least, 1.0, np.where(grades >= self.lowest, 0.0, -1.0))

    def sees(self, values: FloatArray, ranks: IntArray) -> BoolArray:
        """Relevant documents within the cutoff; or every judged one that can change ranks or preferences."""
        if self.judged_only:
            return values >= 0
        seen = values > 0 if self.relevant_only else values >= 0
        return seen if self.cutoff is None else seen & (ranks <= self.cutoff)

    @property
    def ideal_ranks(self) -> int | None:
        """All judgements are counted."""
        return None

    def totals(self, topic: IntArray, values: FloatArray, count: int) -> FloatArray:
        """How many documents of each topic are relevant, and how many not."""
        of_label = [np.bincount(topic[values == label], minlength=count) for label in (1.0, 0.0)]
        return np.stack(of_label, axis=-1).astype(np.float64)

    def scores(self, rows: CountedRows, totals: FloatArray) -> FloatArray:
        """The measure of each topic."""
        if self.judged_only:
            rows = CountedRows(rows.topic, rows.places() + 1, rows.value, rows.retrieved)
            rows = rows.where(rows.rank <= (self.cutoff or np.iinfo(np.int64).max))
        if self.relevant_only:
            rows = rows.where(rows.value > 0)
        return self.formula(rows, totals, self.cutoff)


def share(part: FloatArray | IntArray, whole: FloatArray | IntArray) -> FloatArray:
    """Part by whole; 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def average_precision(rows: CountedRows, totals: FloatArray, _cutoff: int | None) -> FloatArray:
    """``AP``: the sum of precisions at the ranks of relevant documents, by their number."""
    return share(rows.sums((rows.places() + 1) / rows.rank), totals[:, 0])


def reciprocal_rank(rows: CountedRows, _totals: FloatArray, _cutoff: int | None) -> FloatArray:
    """``RR``: one by the rank of the first relevant document."""
    scores = np.zeros(len(rows.retrieved))
    first = rows.places() == 0
    scores[rows.topic[first]] = 1.0 / rows.rank[first]
    return scores


def precision(rows: CountedRows, _totals: FloatArray, cutoff: int | None) -> FloatArray:
    """``P``: how many documents are relevant, by the cutoff."""
    return rows.counts() / float(cutoff or 1)


def recall(rows: CountedRows, totals: FloatArray, _cutoff: int | None) -> FloatArray:
    """``R``: how many documents are relevant, by how many there are."""
    return share(rows.counts(), totals[:, 0])


def r_precision(rows: CountedRows, totals: FloatArray, _cutoff: int | None) -> FloatArray:
    """``Rprec``: recall in as many ranks as there are relevant documents."""
    return share(rows.where(rows.rank <= totals[rows.topic, 0]).counts(), totals[:, 0])


def success(rows: CountedRows, _totals: FloatArray, _cutoff: int | None) -> FloatArray:
    """``Success``: whether there is a relevant document."""
    return (rows.counts() > 0).astype(np.float64)


def judged_share(rows: CountedRows, _totals: FloatArray, cutoff: int | None) -> FloatArray:
    """``Judged``: how many of the documents within the cutoff are judged, with whatever grade."""
    return rows.counts() / (rows.retrieved if cutoff is None else np.minimum(rows.retrieved, cutoff))


def binary_preference(rows: CountedRows, totals: FloatArray, _cutoff: int | None) -> FloatArray:
    """``Bpref``: for each relevant document, the share of the first R not relevant ones that stand below it."""
    relevant, other = totals[:, 0], totals[:, 1]
    is_other = rows.value == 0
    above = np.cumsum(is_other) - is_other
    above -= above[np.arange(len(above)) - rows.places()]  # those of earlier topics
    found = rows.where(~is_other)
    most = np.minimum(relevant, other)[found.topic]
    preferred = 1.0 - share(np.minimum(above[~is_other], relevant[found.topic]), most)
    return share(found.sums(preferred), relevant)


def rank_biased_precision(p: float) -> Callable[[CountedRows, FloatArray, int | None], FloatArray]:
    """``RBP`` of binary labels, as cwl_eval computes it: a product of weights and gains of 1,000 ranks.

    The order in which BLAS adds is its own, so each topic is one call of ``numpy.dot``, as there.
    """

    def formula(rows: CountedRows, _totals: FloatArray, _cutoff: int | None) -> FloatArray:
        weights, gains = _weights(p), np.zeros(CWL_RANKS)
        scores = np.zeros(len(rows.retrieved))
        begins = np.searchsorted(rows.topic, np.arange(len(scores) + 1))
        for topic in np.unique(rows.topic).tolist():
            places = rows.rank[begins[topic] : begins[topic + 1]] - 1
            gains[places] = 1.0
            scores[topic] = np.dot(weights, gains)
            gains[places] = 0.0
        return scores

    return formula


@functools.lru_cache(maxsize=16)
def _weights(p: float) -> FloatArray:
    """The share of attention that each rank gets, which cwl_eval derives from the probability of going on."""
    reached: FloatArray = np.concatenate([[1.0], np.cumprod(np.full(CWL_RANKS - 1, p))])
    first: np.float64 = np.divide(1.0, np.sum(reached))
    return reached * first


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
