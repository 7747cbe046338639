"""Measures of all topics at once: formulas on numbers, which know neither ids nor files.

Values are those of trec_eval (``m_map.c``, ``m_bpref.c`` and so on), MS MARCO's script, ``judged``, cwl_eval and
gdeval, but for rounding. Logarithms come from Python's ``math``, whose C library those programs call too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

#: cwl_eval looks at so many ranks.
CWL_RANKS = 1000


@frozen(eq=False)
class JudgedRows:
    """The judged documents of topics, with the ranks at which a run has them.

    Attributes
    ----------
    topic : array of int64, shape (n_rows,)
        The place of the row's topic, from 0, in any order.
    rank : array of int64, shape (n_rows,)
        From 1, among all documents that the run has for the topic; 0 if it is not retrieved.
    value : array of float64, shape (n_rows,)
        The document's grade; inside a kernel, what the document counts.
    retrieved : array of int64, shape (n_topics,)
        How many documents the run has for each topic, judged or not.
    """

    topic: IntArray
    rank: IntArray
    value: FloatArray
    retrieved: IntArray

    @classmethod
    def of(cls, topics: Sequence[tuple[Sequence[float], Sequence[int], int]]) -> JudgedRows:
        """Topics one by one: the grades and the ranks of the judged documents, and how many are retrieved."""
        return cls(
            np.repeat(np.arange(len(topics)), [len(grades) for grades, _, _ in topics]),
            np.array([rank for _, ranks, _ in topics for rank in ranks], dtype=np.int64),
            np.array([grade for grades, _, _ in topics for grade in grades], dtype=np.float64),
            np.array([retrieved for _, _, retrieved in topics], dtype=np.int64),
        )

    def at(self, rows: IntArray | BoolArray) -> JudgedRows:
        """Some of the rows, of the same topics."""
        return replace(self, topic=self.topic[rows], rank=self.rank[rows], value=self.value[rows])

    def by_rank(self) -> JudgedRows:
        """The same by topic and by rank."""
        keys = self.topic << 32 | self.rank
        return self if np.all(keys[1:] >= keys[:-1]) else self.at(np.argsort(keys, kind="stable"))

    def ideal(self) -> JudgedRows:
        """The same as the best of all rankings has them: by falling value, ranked from 1."""
        rows = self.at(np.lexsort((-self.value, self.topic)))
        return replace(rows, rank=rows.places() + 1)

    def sums(self, of_row: FloatArray) -> FloatArray:
        """The sum of each topic's rows, added one after the other."""
        sums = np.bincount(self.topic, weights=of_row, minlength=len(self.retrieved))
        return sums.astype(np.float64, copy=False)  # without rows it counts

    def counts(self) -> IntArray:
        """How many rows each topic has."""
        return np.bincount(self.topic, minlength=len(self.retrieved)).astype(np.int64, copy=False)

    def places(self) -> IntArray:
        """The place of each row in its topic, from 0, if the rows of a topic stand together."""
        return places_within(self.topic)


def places_within(groups: IntArray) -> IntArray:
    """The place of each row in its group, from 0; rows of a group stand together."""
    rows = np.arange(len(groups), dtype=np.int64)
    begins = np.ones(len(groups), dtype=np.bool_)
    np.not_equal(groups[1:], groups[:-1], out=begins[1:])
    return rows - np.maximum.accumulate(np.where(begins, rows, 0))


#: From the documents that are found within the cutoff, by rank, and all that are judged to the measure of each topic.
Formula = Callable[[JudgedRows, JudgedRows], FloatArray]


@frozen
class Kernel:
    """A measure with its parameters.

    Attributes
    ----------
    value : function
        From grades to what their documents count: a gain, or a label (1 relevant, 0 not, -1 as if not judged).
    formula : function
    cutoff : int, optional
        How many ranks count; None for all.
    ideal : int, optional
        How many of a topic's judged documents the formula needs beside those found: the best ones; None for all.
    with_others : bool
        Documents that count 0 change the measure, too.
    judged_only : bool
        Ranks are those among documents that do not count less than 0.
    """

    value: Callable[[FloatArray], FloatArray]
    formula: Formula
    cutoff: int | None = None
    ideal: int | None = 0
    with_others: bool = False
    judged_only: bool = False

    def scores(self, rows: JudgedRows) -> FloatArray:
        """The measure of each topic, shape (n_topics,)."""
        judged = replace(rows, value=self.value(rows.value))
        judged = judged.at(self.is_counted(judged.value))
        found = judged.at(self._is_found(judged)).by_rank()
        if self.judged_only:
            judged = judged.at(judged.value > 0)
            found = replace(found, rank=found.places() + 1)
            found = found.at((found.value > 0) & (found.rank <= (self.cutoff or math.inf)))
        return self.formula(found, judged)

    def needed(self, rows: JudgedRows) -> BoolArray:
        """The rows that the measure cannot do without, whichever rows are added."""
        judged = replace(rows, value=self.value(rows.value))
        is_counted = self.is_counted(judged.value)
        if self.ideal is None:
            return is_counted
        is_needed = is_counted & self._is_found(judged)
        if self.ideal:
            counted = np.flatnonzero(is_counted)
            best = counted[np.lexsort((-judged.value[counted], judged.topic[counted]))]
            is_needed[best[places_within(judged.topic[best]) < self.ideal]] = True
        return is_needed

    def is_counted(self, values: FloatArray) -> BoolArray:
        """Which documents can change the measure, given what they count."""
        return values >= 0 if self.with_others or self.judged_only else values > 0

    def _is_found(self, judged: JudgedRows) -> BoolArray:
        found = judged.rank > 0
        if self.cutoff is not None and not self.judged_only:
            found &= judged.rank <= self.cutoff
        return found


def share(part: FloatArray | IntArray, whole: FloatArray | IntArray) -> FloatArray:
    """Part by whole; 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def discounted_gain(found: JudgedRows, _judged: JudgedRows | None = None) -> FloatArray:
    """``DCG``: gains by ``log2(rank + 1)``."""
    logarithms = np.array([math.log2(rank + 1) for rank in range(int(found.rank.max(initial=0)) + 1)])
    return found.sums(found.value / logarithms[found.rank])


def normalised_gain(found: JudgedRows, judged: JudgedRows, *, cutoff: int | None) -> FloatArray:
    """``nDCG``: DCG as a share of the ideal ranking's."""
    ideal = judged.ideal()
    return share(discounted_gain(found), discounted_gain(ideal.at(ideal.rank <= (cutoff or math.inf))))


def average_precision(found: JudgedRows, judged: JudgedRows) -> FloatArray:
    """``AP``: the sum of precisions at the ranks of relevant documents, by their number."""
    return share(found.sums((found.places() + 1) / found.rank), judged.counts())


def reciprocal_rank(found: JudgedRows, _judged: JudgedRows) -> FloatArray:
    """``RR``: one by the rank of the first relevant document."""
    scores = np.zeros(len(found.retrieved))
    first = found.places() == 0
    scores[found.topic[first]] = 1.0 / found.rank[first]
    return scores


def precision(found: JudgedRows, _judged: JudgedRows, *, cutoff: int) -> FloatArray:
    """``P``: how many documents are relevant, by the cutoff."""
    return found.counts() / cutoff


def recall(found: JudgedRows, judged: JudgedRows) -> FloatArray:
    """``R``, ``SetR``: how many documents are relevant, by how many there are."""
    return share(found.counts(), judged.counts())


def r_precision(found: JudgedRows, judged: JudgedRows) -> FloatArray:
    """``Rprec``: recall in as many ranks as there are relevant documents."""
    relevant = judged.counts()
    return share(found.at(found.rank <= relevant[found.topic]).counts(), relevant)


def success(found: JudgedRows, _judged: JudgedRows) -> FloatArray:
    """``Success``: whether there is a relevant document."""
    return (found.counts() > 0).astype(np.float64)


def judged_share(found: JudgedRows, _judged: JudgedRows, *, cutoff: int | None) -> FloatArray:
    """``Judged``: how many of the documents within the cutoff are judged, with whatever grade."""
    return share(found.counts(), np.minimum(found.retrieved, cutoff or found.retrieved))


def binary_preference(found: JudgedRows, judged: JudgedRows) -> FloatArray:
    """``Bpref``: for each relevant document, the share of the first R not relevant ones that stand below it."""
    relevant, other = judged.at(judged.value > 0).counts(), judged.at(judged.value == 0).counts()
    is_other = found.value == 0
    above = np.cumsum(is_other) - is_other
    above -= above[np.arange(len(above)) - found.places()]  # those of earlier topics
    hits = found.at(~is_other)
    most = np.minimum(relevant, other)[hits.topic]
    return share(hits.sums(1.0 - share(np.minimum(above[~is_other], relevant[hits.topic]), most)), relevant)


def binary_bias(found: JudgedRows, _judged: JudgedRows, *, p: float) -> FloatArray:
    """``RBP(rel=...)``, as cwl_eval computes it: weights of its ranks that add up to 1."""
    return graded_bias(found, p=p, first=1 / float(np.sum(p ** np.arange(CWL_RANKS))))


def graded_bias(
    found: JudgedRows, _judged: JudgedRows | None = None, *, p: float, first: float | None = None
) -> FloatArray:
    """``RBP(max_rel=...)``: gains by a power of ``p``; the ``first`` rank weighs ``1 - p``.

    A. Moffat and J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 2008, Eq. 4.
    """
    return (1 - p if first is None else first) * found.sums(found.value * p ** (found.rank - 1.0))


def expected_reciprocal_rank(found: JudgedRows, _judged: JudgedRows) -> FloatArray:
    """``ERR``: a document's gain is the probability that it satisfies a user who has come so far.

    O. Chapelle et al., "Expected Reciprocal Rank for Graded Relevance", CIKM 2009, Eq. 4 and Algorithm 2.
    """
    places = found.places()
    scores, reaches = np.zeros((2, len(found.retrieved)))
    reaches += 1
    for place in range(int(places.max(initial=-1)) + 1):
        at = np.flatnonzero(places == place)
        topic, satisfied = found.topic[at], found.value[at]
        scores[topic] += reaches[topic] * satisfied / found.rank[at]
        reaches[topic] *= 1 - satisfied
    return scores
