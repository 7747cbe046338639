"""Labels of training data by query: nDCG@k of document scores, and what swaps of documents need to know."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, TypeGuard, get_args

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.checks import FloatArray, IntArray

#: What a label is worth: ``2^label - 1``, as in LightGBM, or the label itself, as in trec_eval's nDCG.
Gain = Literal["exponential", "linear"]
#: With larger labels, sums of exponential gains lose the gains of small labels.
MAX_EXPONENTIAL_LABEL = 30


class JudgedQueries:
    """The labels of learning-to-rank data, query by query.

    nDCG@k (Järvelin & Kekäläinen 2002) divides the discounted gains of the first k documents, ``gain / log2(1 +
    rank)``, by those of the best order of the query's documents. It is 0 for a query without a relevant document.
    Where documents have equal scores it is the expectation over all their orders (McSherry & Najork 2008), so it does
    not depend on the order of rows.

    Parameters
    ----------
    labels : array, shape (n_documents,)
        Relevance, at least 0 and finite; at most 30 with exponential gains. The rows of a query stand together.
    group : array of int, shape (n_queries,)
        How many rows each query has, in the order of the rows, as LightGBM takes it; each at least 1.
    k : int
        The cutoff, at least 1.
    gain : {"exponential", "linear"}
        What a label is worth.

    Raises
    ------
    ValueError
        For anything else; the message says what was expected and found.
    """

    def __init__(
        self, labels: npt.ArrayLike, group: npt.ArrayLike, *, k: int = 10, gain: Gain = "exponential"
    ) -> None:
        self.labels: FloatArray = _per_document(labels, name="labels")
        self.group = sizes_of_groups(group, rows=self.labels.size)
        check_measure(k, gain)
        if self.labels.min() < 0:
            row = int(np.argmin(self.labels))
            raise ValueError(f"labels must be at least 0, got {self.labels[row]:g} in row {row} (counted from 0)")
        if gain == "exponential" and self.labels.max() > MAX_EXPONENTIAL_LABEL:
            row = int(np.argmax(self.labels))
            raise ValueError(
                f"labels must be at most {MAX_EXPONENTIAL_LABEL} with exponential gains, got {self.labels[row]:g} in "
                f"row {row} (counted from 0); gain='linear' takes larger ones"
            )
        self.k, self.gain = int(k), gain
        #: Where each query's rows begin, and the end of the last: shape (n_queries + 1,).
        self.starts: IntArray = np.concatenate(([0], np.cumsum(self.group)))
        self.gains: FloatArray = np.exp2(self.labels) - 1 if gain == "exponential" else self.labels

    @cached_property
    def query_of(self) -> IntArray:
        """The place of each row's query, shape (n_documents,)."""
        return np.repeat(np.arange(self.group.size), self.group)

    def order(self, scores: npt.ArrayLike) -> IntArray:
        """Each query's rows from the highest score down, equal scores in the order of rows: (n_documents,)."""
        return np.lexsort((-_checked_scores(scores, rows=self.labels.size), self.query_of))

    def ideal(self, depth: int) -> FloatArray:
        """Discounted gains of the best order of each query's documents down to a depth: (n_queries,)."""
        best = np.lexsort((-self.gains, self.query_of))
        return self._summed(self.gains[best], self.discounts(depth))

    def discounts(self, depth: int | None = None) -> FloatArray:
        """``1 / log2(1 + rank)`` of every rank, 0 below a depth: (n_ranks,), as many as the largest query has."""
        ranks = np.arange(1, int(self.group.max()) + 1)
        return np.where(ranks <= (ranks.size if depth is None else depth), 1 / np.log2(1 + ranks), 0)

    def ndcg(self, scores: npt.ArrayLike, *, order: IntArray | None = None) -> FloatArray:
        """nDCG@k of each query where documents are ranked by score, highest first: (n_queries,).

        ``scores``, shape (n_documents,), may be infinite but not NaN (ValueError); ``order`` is what ``order`` gives
        for them.
        """
        order = self.order(scores) if order is None else order
        ranked = np.asarray(scores, dtype=np.float64)[order]
        new = np.empty(ranked.size, dtype=bool)
        new[1:] = ranked[1:] != ranked[:-1]
        new[self.starts[:-1]] = True
        gains = self.gains[order]
        if not new.all():  # tied documents share their gains
            first = np.flatnonzero(new)
            sizes = np.diff(first, append=ranked.size)
            gains = np.repeat(np.add.reduceat(gains, first) / sizes, sizes)
        with np.errstate(invalid="ignore"):  # 0/0 where nothing is relevant
            found: FloatArray = self._summed(gains, self._discounts) / self._ideal
        return np.minimum(np.where(self._ideal > 0, found, 0), 1)

    @cached_property
    def _discounts(self) -> FloatArray:
        return self.discounts(self.k)

    @cached_property
    def _ideal(self) -> FloatArray:
        return self.ideal(self.k)

    @cached_property
    def _rank_of_place(self) -> IntArray:
        """The rank, counted from 0, of each place of an order."""
        return np.arange(self.labels.size) - np.repeat(self.starts[:-1], self.group)

    def _summed(self, gains: FloatArray, discounts: FloatArray) -> FloatArray:
        return np.add.reduceat(gains * discounts[self._rank_of_place], self.starts[:-1])


def is_whole(value: object) -> TypeGuard[int]:
    """Whether the value is a whole number, as Python or numpy has them."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_count(value: object) -> TypeGuard[int]:
    """Whether the value is a whole number of at least 1."""
    return is_whole(value) and value >= 1


def check_measure(k: object, gain: object) -> None:
    """ValueError unless nDCG has such a cutoff and such gains."""
    if not is_count(k):
        raise ValueError(f"k must be a whole number of at least 1, got {k!r}")
    if gain not in get_args(Gain):
        raise ValueError(f"gain must be one of {', '.join(get_args(Gain))}, got {gain!r}")


def query_names(queries: Sequence[str] | None, *, count: int) -> tuple[str, ...]:
    """Names of ``count`` queries, all different; numbers from 1 where none are given.

    ValueError for another number of names, or a name given twice.
    """
    if queries is None:
        return tuple(str(number) for number in range(1, count + 1))
    names = tuple(str(query) for query in queries)
    if len(names) != count:
        raise ValueError(f"queries must name each of the {count} queries, got {len(names)} names")
    if len(set(names)) != count:
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"queries must have different names, got {twice!r} twice")
    return names


def _per_document(values: npt.ArrayLike, *, name: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must have one axis (documents) and hold at least 1, got shape {array.shape}")
    if not np.all(np.isfinite(array)):
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[row]} in row {row} (counted from 0)")
    return array


def _checked_scores(scores: npt.ArrayLike, *, rows: int) -> FloatArray:
    array = np.asarray(scores, dtype=np.float64)
    if array.shape != (rows,):
        raise ValueError(f"scores must have one value for each of the {rows} documents, got shape {array.shape}")
    if np.isnan(array).any():
        row = int(np.flatnonzero(np.isnan(array))[0])
        raise ValueError(f"scores must be numbers, got NaN in row {row} (counted from 0)")
    return array


def sizes_of_groups(group: npt.ArrayLike, *, rows: int | None = None) -> IntArray:
    """How many rows each query has: (n_queries,).

    ValueError for anything but whole numbers of at least 1, which add up to the ``rows``, where these are known.
    """
    given = np.asarray(group)
    if given.ndim != 1 or given.size == 0:
        raise ValueError(f"group must have one axis (queries) and hold at least 1, got shape {given.shape}")
    expected = "group must hold how many documents each query has, whole numbers of at least 1"
    if given.dtype.kind in "SU":
        raise ValueError(f"{expected}, got text: {str(given[0])!r}")
    sizes = given.astype(np.float64)
    wrong = np.flatnonzero(~((sizes >= 1) & (sizes < 2**31) & (sizes == np.floor(sizes))))
    if wrong.size:
        raise ValueError(f"{expected}, got {given[wrong[0]]} at place {wrong[0]} (counted from 0)")
    total = int(sizes.sum())
    if rows is not None and total != rows:
        raise ValueError(f"group must add up to the {rows} documents, got {total}")
    return sizes.astype(np.int64)
