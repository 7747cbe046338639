"""Measures that only ask which documents are relevant, as their providers compute them.

Those are trec_eval (``m_map.c``, ``m_bpref.c`` and so on), MS MARCO's script, ``judged`` and cwl_eval.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pytest_riskguard.evaluation.scoring.kernels.counted_rows import BoolArray, CountedRows, FloatArray, IntArray

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
