"""Labels of training data by query: nDCG@k of document scores, and what swaps of documents need to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeGuard, get_args

import numpy as np
import numpy.typing as npt

from pytest_riskguard.errors import DataError
from pytest_riskguard.reports import clean, counted, listed
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
        self.labels = document_scores(labels, rows=np.size(labels), finite=True, name="labels")
        self.group = group_sizes(group)
        check_measure(k, gain)
        if self.group.sum() != self.labels.size:
            raise ValueError(f"group must add up to the {self.labels.size} documents, got {self.group.sum()}")
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
        return np.lexsort((-document_scores(scores, rows=self.labels.size), self.query_of))

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


def is_count(value: object) -> TypeGuard[int]:
    """Whether the value is a whole number of at least 1, as Python or numpy has them."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 1)


def check_measure(k: object, gain: object) -> None:
    """ValueError unless nDCG has such a cutoff and such gains."""
    if not is_count(k):
        raise ValueError(f"k must be a whole number of at least 1, got {k!r}")
    if gain not in get_args(Gain):
        raise ValueError(f"gain must be one of {', '.join(get_args(Gain))}, got {gain!r}")


def document_scores(values: npt.ArrayLike, *, rows: int, finite: bool = False, name: str = "scores") -> FloatArray:
    """A number for each document, perhaps infinite; ``ValueError`` for anything else."""
    array: FloatArray = np.asarray(values, dtype=np.float64)
    if array.shape != (rows,) or rows == 0:
        raise ValueError(f"{name} must have one value for each of the {rows} documents, got shape {array.shape}")
    wrong = ~np.isfinite(array) if finite else np.isnan(array)
    if wrong.any():
        row = int(np.argmax(wrong))
        kind = "finite" if finite else "numbers"
        raise ValueError(f"{name} must be {kind}, got {array[row]} in row {row} (counted from 0)")
    return array


def group_sizes(group: npt.ArrayLike) -> IntArray:
    """How many rows each query has: (n_queries,); ``ValueError`` for anything but whole numbers of at least 1."""
    given = np.asarray(group)
    if given.ndim != 1 or given.size == 0:
        raise ValueError(f"group must have one axis (queries) and hold at least 1, got shape {given.shape}")
    sizes = given.astype(np.float64)
    wrong = np.flatnonzero(~((sizes >= 1) & (sizes < 2**31) & (sizes == np.floor(sizes))))
    if wrong.size:
        raise ValueError(
            "group must hold how many documents each query has, whole numbers of at least 1, got "
            f"{given[wrong[0]]} at place {wrong[0]} (counted from 0)"
        )
    return sizes.astype(np.int64)


_MAX_NAMED = 5


@dataclass(frozen=True, eq=False)
class QueryBaselines:
    """Effectiveness of one or several baselines on each query, in the order of the data's groups.

    Make one with ``from_document_scores``, ``from_query_scores`` or ``from_store``.

    Attributes
    ----------
    names : tuple of str
        The baselines.
    queries : tuple of str
        The queries, in the order in which their documents stand in the data.
    scores : array, shape (n_baselines, n_queries)
        nDCG@k, from 0 to 1.
    k : int
        The cutoff.
    gain : {"exponential", "linear"}
        What a label is worth; see ``JudgedQueries``.
    group : array of int, shape (n_queries,), or None
        How many documents each query has, where that is known: data with other groups are then refused.
    labels : array, shape (n_documents,), or None
        Relevance of the documents, where it is known: data with other labels are then refused.
    """

    names: tuple[str, ...]
    queries: tuple[str, ...]
    scores: FloatArray
    k: int = 10
    gain: Gain = "exponential"
    group: IntArray | None = field(default=None, repr=False)
    labels: FloatArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_measure(self.k, self.gain)
        scores = np.asarray(self.scores, dtype=np.float64)
        if scores.shape != (len(self.names), len(self.queries)) or scores.size == 0:
            expected = f"({len(self.names)}, {len(self.queries)})"
            raise ValueError(f"scores must have shape (n_baselines, n_queries), {expected}, got {scores.shape}")
        for what, names in (("baselines", self.names), ("queries", self.queries)):
            if twice := [name for name, times in Counter(names).items() if times > 1]:
                raise ValueError(f"{what} must have different names, got {twice[0]!r} twice")
        wrong = ~((scores >= 0) & (scores <= 1))
        if wrong.any():
            baseline, query = np.argwhere(wrong)[0]
            where = f"baseline {clean(self.names[baseline])}, query {clean(self.queries[query])}"
            raise DataError(f"{where}: nDCG@{self.k} must be from 0 to 1, got {scores[baseline, query]:g}")
        object.__setattr__(self, "scores", scores)

    @classmethod
    def from_document_scores(
        cls,
        labels: npt.ArrayLike,
        group: npt.ArrayLike,
        scores: Mapping[str, npt.ArrayLike],
        *,
        queries: Sequence[str] | None = None,
        k: int = 10,
        gain: Gain = "exponential",
    ) -> QueryBaselines:
        """Baselines that score the documents of the data: a feature column such as BM25, or other models.

        ``scores`` holds an array of shape (n_documents,) for each baseline, by its name; a higher score ranks higher.
        The other parameters, and the errors, are those of ``JudgedQueries``; ``queries`` are numbered from 1 where
        they have no names.
        """
        judged = JudgedQueries(labels, group, k=k, gain=gain)
        if queries is None:
            queries = [str(number) for number in range(1, judged.group.size + 1)]
        table = np.stack([_scored(judged, baseline, values) for baseline, values in scores.items()])
        return cls(tuple(scores), tuple(queries), table, judged.k, gain, judged.group, judged.labels)

    @classmethod
    def from_query_scores(
        cls,
        scores: Mapping[str, Mapping[str, float]],
        *,
        queries: Sequence[str],
        data: JudgedQueries | None = None,
        k: int = 10,
        gain: Gain = "exponential",
    ) -> QueryBaselines:
        """Baselines whose nDCG@k is known query by query.

        ``scores`` holds a mapping from query to nDCG@k for each baseline, by its name. They must be computed with the
        same cutoff and gains as training uses, which ``k`` and ``gain`` say. A ``DataError`` names queries that a
        baseline has no score for; scores of other queries are not used. With ``data``, the queries of training,
        those without a relevant document need no score: it is 0.
        """
        barren: set[str] = set()
        of_data: tuple[IntArray | None, FloatArray | None] = (None, None)
        if data is not None:
            barren = {name for name, best in zip(queries, data.ideal(1), strict=True) if best == 0}
            of_data = (data.group, data.labels)
        table = np.array([_in_order(baseline, by_query, queries, barren) for baseline, by_query in scores.items()])
        return cls(tuple(scores), tuple(queries), table, k, gain, *of_data)

    @classmethod
    def from_store(
        cls,
        store: Path | str,
        *names: str,
        queries: Sequence[str],
        data: JudgedQueries | None = None,
        k: int = 10,
        gain: Gain = "exponential",
    ) -> QueryBaselines:
        """Stored baselines, by the scores they were stored with; without names, all of them.

        They need the measure that ``measure_name(k, gain)`` gives: ``riskguard baseline add`` takes it with
        ``--measure``. A stored nDCG divides by the best order of all judged documents, that of training by the best
        order of the query's rows: give both the same documents. ``BaselineError`` for a baseline that is missing,
        damaged or lacks this measure; ``DataError``, and ``data``, as for ``from_query_scores``.
        """
        from pytest_riskguard.baselines import stored_scores

        stored = stored_scores(store, measure_name(k, gain), *names)
        if not stored:
            raise DataError(f"{store}: expected stored baselines, found none: riskguard baseline add stores one")
        scores = {name: dict(zip(found.topics, found.values.tolist(), strict=True)) for name, found in stored.items()}
        return cls.from_query_scores(scores, queries=queries, data=data, k=k, gain=gain)

    def mean(self) -> QueryBaselines:
        """One baseline with the mean score of these on each query, as T*-FARO takes it (SIGIR 2016)."""
        if len(self.names) == 1:
            return self
        name = f"mean of {', '.join(self.names)}"
        return replace(self, names=(name,), scores=self.scores.mean(axis=0, keepdims=True))

    def only(self) -> FloatArray:
        """Scores of the single baseline, shape (n_queries,); ``ValueError`` if there are more."""
        if len(self.names) != 1:
            raise ValueError(f"expected one baseline, got {len(self.names)}; baselines.mean() makes one of them")
        scores: FloatArray = self.scores[0]
        return scores

    def check(self, data: JudgedQueries) -> None:
        """``DataError`` unless the data can be those that the baselines were scored on, by groups and labels."""
        remedy = "make baselines for these data, in the order of their groups"
        if data.group.size != len(self.queries):
            of_data = counted(data.group.size, "query", "queries")
            raise DataError(f"the data have {of_data}, the baselines {len(self.queries)}: {remedy}")
        if self.group is not None and not np.array_equal(data.group, self.group):
            query = int(np.flatnonzero(data.group != self.group)[0])
            raise DataError(
                f"query {clean(self.queries[query])} has {data.group[query]} documents in the data, but the "
                f"baselines were scored on {self.group[query]}: {remedy}"
            )
        # Trainers keep labels in 32 bits.
        if self.labels is not None and not np.array_equal(np.float32(self.labels), np.float32(data.labels)):
            row = int(np.flatnonzero(np.float32(self.labels) != np.float32(data.labels))[0])
            raise DataError(
                f"query {clean(self.queries[data.query_of[row]])} has other labels in the data than those that the "
                f"baselines were scored on: {data.labels[row]:g} and not {self.labels[row]:g} in row {row} (counted "
                f"from 0); {remedy}"
            )


def measure_name(k: int = 10, gain: Gain = "exponential") -> str:
    """The name in ir-measures of nDCG@k with these gains, which stored baselines must have been scored with."""
    check_measure(k, gain)
    return f"nDCG(dcg='exp-log2')@{k}" if gain == "exponential" else f"nDCG@{k}"


def _scored(judged: JudgedQueries, baseline: str, scores: npt.ArrayLike) -> FloatArray:
    try:
        return judged.ndcg(scores)
    except ValueError as error:
        raise ValueError(f"baseline {clean(baseline)}: {error}") from None


def _in_order(
    baseline: str, given: Mapping[str, float], queries: Sequence[str], barren: Collection[str]
) -> list[float]:
    by_query = {str(query): score for query, score in given.items()}
    missing = tuple(query for query in queries if query not in by_query and query not in barren)
    if missing:
        of_all, names = counted(len(queries), "query", "queries"), listed(missing, most=_MAX_NAMED)
        raise DataError(f"baseline {clean(baseline)} has no score for {len(missing)} of {of_all}: {names}")
    return [float(by_query.get(query, 0.0)) for query in queries]


NO_GROUPS = "the data have no groups: give group=, how many documents each query has"
#: LightGBM's folds may cut queries, and baselines of the whole data do not fit them.
NO_PARTS = "a part of a Dataset may have cut queries: instead of lightgbm.cv, train on each fold separately"
