"""Measures of all topics at once: formulas on numbers, which know neither ids nor files.

Values are those of trec_eval (``m_map.c``, ``m_bpref.c`` and so on), MS MARCO's script, ``judged``, cwl_eval and
gdeval, but for rounding. Logarithms come from Python's ``math``, whose C library those programs call too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Formula = Callable[..., FloatArray]

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

    def at(self, rows: IntArray | BoolArray) -> JudgedRows:
        """Some of the rows, of the same topics."""
        return replace(self, topic=self.topic[rows], rank=self.rank[rows], value=self.value[rows])

    def by_rank(self) -> JudgedRows:
        """The same by topic and by rank."""
        return self.at(np.argsort(self.topic << 32 | self.rank, kind="stable"))

    def ideal(self) -> JudgedRows:
        """The same as the best of all rankings has them: by falling value, ranked from 1."""
        rows = self.at(np.lexsort((-self.value, self.topic)))
        return replace(rows, rank=rows.places() + 1)

    def sums(self, of_row: FloatArray | None = None) -> FloatArray:
        """The sum of each topic's rows, added one after the other; without numbers how many there are."""
        return np.bincount(self.topic, of_row, len(self.retrieved)).astype(np.float64, copy=False)

    def places(self) -> IntArray:
        """The place of each row in its topic, from 0, if rows go by topic."""
        sizes = np.bincount(self.topic)
        return np.arange(len(self.topic)) - np.repeat(np.cumsum(sizes) - sizes, sizes)


@frozen
class Kernel:
    """A measure with its parameters.

    Attributes
    ----------
    formula : function
        From the documents that are found within the cutoff, by rank, all that are judged, and this kernel to the
        measure of each topic.
    value : function
        From grades to what their documents count: a gain, or a label (1 relevant, 0 not, -1 as if not judged).
    cutoff : int, optional
        How many ranks count; None for all.
    p : float
        The persistence of RBP.
    with_others : bool
        Documents that count 0 change the measure, too.
    """

    formula: Formula
    value: Callable[[FloatArray], FloatArray]
    cutoff: int | None = None
    p: float = 0.8
    with_others: bool = False

    def scores(self, rows: JudgedRows) -> FloatArray:
        """The measure of each topic, shape (n_topics,)."""
        judged = replace(rows, value=self.value(rows.value))
        judged = judged.at(self.is_counted(judged.value))
        found = judged.at((judged.rank > 0) & (judged.rank <= (self.cutoff or math.inf)))
        return self.formula(found.by_rank(), judged, self)

    def is_counted(self, values: FloatArray) -> BoolArray:
        """Which documents can change the measure, given what they count."""
        return values >= 0 if self.with_others else values > 0


def share(part: FloatArray | IntArray, whole: FloatArray | IntArray) -> FloatArray:
    """Part by whole; 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def discounted_gain(found: JudgedRows, *_: object) -> FloatArray:
    """``DCG``: gains by ``log2(rank + 1)``."""
    logarithms = np.array([math.log2(rank + 1) for rank in range(int(found.rank.max(initial=0)) + 1)])
    return found.sums(found.value / logarithms[found.rank])


def normalised_gain(found: JudgedRows, judged: JudgedRows, kernel: Kernel) -> FloatArray:
    """``nDCG``: DCG as a share of the ideal ranking's."""
    ideal = judged.ideal()
    return share(discounted_gain(found), discounted_gain(ideal.at(ideal.rank <= (kernel.cutoff or math.inf))))


def average_precision(found: JudgedRows, judged: JudgedRows, _: Kernel) -> FloatArray:
    """``AP``: the sum of precisions at the ranks of relevant documents, by their number."""
    return share(found.sums((found.places() + 1) / found.rank), judged.sums())


def reciprocal_rank(found: JudgedRows, *_: object) -> FloatArray:
    """``RR``: one by the rank of the first relevant document."""
    return found.sums((found.places() == 0) / found.rank)


def precision(found: JudgedRows, _: JudgedRows, kernel: Kernel) -> FloatArray:
    """``P``: how many documents are relevant, by the cutoff."""
    assert kernel.cutoff is not None
    return found.sums() / kernel.cutoff


def recall(found: JudgedRows, judged: JudgedRows, _: Kernel) -> FloatArray:
    """``R``, ``SetR``: how many documents are relevant, by how many there are."""
    return share(found.sums(), judged.sums())


def r_precision(found: JudgedRows, judged: JudgedRows, kernel: Kernel) -> FloatArray:
    """``Rprec``: recall in as many ranks as there are relevant documents."""
    return recall(found.at(found.rank <= judged.sums()[found.topic]), judged, kernel)


def success(found: JudgedRows, *_: object) -> FloatArray:
    """``Success``: whether there is a relevant document."""
    return np.minimum(found.sums(), 1.0)


def judged_share(found: JudgedRows, _: JudgedRows, kernel: Kernel) -> FloatArray:
    """``Judged``: how many of the documents within the cutoff are judged, with whatever grade."""
    return share(found.sums(), np.minimum(found.retrieved, kernel.cutoff or math.inf))


def binary_preference(found: JudgedRows, judged: JudgedRows, _: Kernel) -> FloatArray:
    """``Bpref``: for each relevant document, the share of the first R not relevant ones that stand below it."""
    relevant, other = judged.at(judged.value > 0).sums(), judged.at(judged.value == 0).sums()
    is_hit = found.value > 0
    hits, before = found.at(is_hit), found.places()[is_hit]
    above = np.minimum(before - hits.places(), relevant[hits.topic])
    return share(hits.sums(1.0 - share(above, np.minimum(relevant, other)[hits.topic])), relevant)


def binary_bias(found: JudgedRows, _: JudgedRows, kernel: Kernel) -> FloatArray:
    """``RBP(rel=...)``, as cwl_eval computes it: weights of its ranks that add up to 1."""
    weights = kernel.p ** np.arange(CWL_RANKS)
    return found.sums(weights[found.rank - 1] / np.sum(weights))


def graded_bias(found: JudgedRows, _: JudgedRows, kernel: Kernel) -> FloatArray:
    """``RBP(max_rel=...)``: gains by a power of ``p``; the first rank weighs ``1 - p``.

    A. Moffat and J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 2008, Eq. 4.
    """
    return (1 - kernel.p) * found.sums(found.value * kernel.p ** (found.rank - 1.0))


def expected_reciprocal_rank(found: JudgedRows, *_: object) -> FloatArray:
    """``ERR``: a document's gain is the probability that it satisfies a user who has come so far.

    O. Chapelle et al., "Expected Reciprocal Rank for Graded Relevance", CIKM 2009, Eq. 4 and Algorithm 2.
    """
    places = found.places()
    scores, reaches = np.zeros(len(found.retrieved)), np.ones(len(found.retrieved))
    for place in range(int(places.max(initial=-1)) + 1):
        at = found.at(places == place)
        scores[at.topic] += reaches[at.topic] * at.value / at.rank
        reaches[at.topic] *= 1 - at.value
    return scores


#: By ir-measures' names; RBP by whether it is binary.
FORMULAS: Mapping[str, Formula] = {
    **{"nDCG": normalised_gain, "DCG": discounted_gain, "AP": average_precision, "RR": reciprocal_rank},
    **{"P": precision, "R": recall, "SetR": recall, "Rprec": r_precision, "Success": success, "Judged": judged_share},
    **{"Bpref": binary_preference, "ERR": expected_reciprocal_rank, "RBP": graded_bias},
}
