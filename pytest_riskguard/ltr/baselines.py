"""What the baselines score on the queries that a ranker is trained on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_riskguard.errors import DataError
from pytest_riskguard.ltr.judged_queries import Gain, JudgedQueries, check_measure, query_names
from pytest_riskguard.risk.checks import FloatArray, IntArray
from pytest_riskguard.text import clean, counted, listed

if TYPE_CHECKING:
    from pytest_riskguard.baselines.store import Store

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
        if len(set(self.queries)) != len(self.queries):
            query_names(self.queries, count=len(self.queries))  # which says what is given twice
        scores = np.asarray(self.scores, dtype=np.float64)
        if scores.shape != (len(self.names), len(self.queries)) or scores.size == 0:
            expected = f"({len(self.names)}, {len(self.queries)})"
            raise ValueError(f"scores must have shape (n_baselines, n_queries), {expected}, got {scores.shape}")
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"baselines must have different names, got {', '.join(self.names)}")
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
        names = query_names(queries, count=judged.group.size)
        _check_by_name(scores, of_each="its scores of the documents")
        table = np.stack([_scored(judged, baseline, values) for baseline, values in scores.items()])
        return cls(tuple(scores), names, table, judged.k, gain, judged.group, judged.labels)

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
        names = query_names(queries, count=len(queries) if data is None else data.group.size)
        _check_by_name(scores, of_each="a mapping from query to nDCG@k")
        barren = set() if data is None else {names[place] for place in np.flatnonzero(data.ideal(1) == 0)}
        table = np.array([_in_order(baseline, by_query, names, barren) for baseline, by_query in scores.items()])
        of_data = (None, None) if data is None else (data.group, data.labels)
        return cls(tuple(scores), names, table, k, gain, *of_data)

    @classmethod
    def from_store(
        cls,
        store: Path | str | Store,
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
        from pytest_riskguard.baselines.store import Store

        opened = store if isinstance(store, Store) else Store(Path(store))
        measure = measure_name(k, gain)
        stored = {name: opened.scores(name, measure, qrels=None).scores for name in names or opened.names()}
        if not stored:
            raise DataError(
                f"{opened.root}: expected stored baselines, found none: riskguard baseline add stores one"
            )
        scores = {name: dict(zip(found.topics, found.values.tolist(), strict=True)) for name, found in stored.items()}
        return cls.from_query_scores(scores, queries=queries, data=data, k=k, gain=gain)

    def mean(self) -> QueryBaselines:
        """One baseline with the mean score of these on each query, as T*-FARO takes it (SIGIR 2016)."""
        if len(self.names) == 1:
            return self
        name = f"mean of {', '.join(self.names)}"
        return replace(self, names=(name,), scores=self.scores.mean(axis=0, keepdims=True))

    def check(self, data: JudgedQueries) -> None:
        """``DataError`` unless the data can be those that the baselines were scored on, by groups and labels."""
        sizes = data.group
        if sizes.size != len(self.queries):
            raise DataError(
                f"the data have {counted(sizes.size, 'query', 'queries')}, the baselines {len(self.queries)}: make "
                "baselines for the queries of these data, in the order of their groups (instead of lightgbm.cv, "
                "train on each fold separately)"
            )
        if self.group is not None and not np.array_equal(sizes, self.group):
            query = int(np.flatnonzero(sizes != self.group)[0])
            raise DataError(
                f"query {clean(self.queries[query])} has {sizes[query]} documents in the data, but the baselines "
                f"were scored on {self.group[query]}: make baselines for these data, in the order of their groups"
            )
        # Trainers keep labels in 32 bits.
        if self.labels is not None and not np.array_equal(np.float32(self.labels), np.float32(data.labels)):
            row = int(np.flatnonzero(np.float32(self.labels) != np.float32(data.labels))[0])
            raise DataError(
                f"query {clean(self.queries[data.query_of[row]])} has other labels in the data than those that the "
                f"baselines were scored on: {data.labels[row]:g} and not {self.labels[row]:g} in row {row} (counted "
                "from 0); make baselines for these data, in the order of their groups"
            )


def measure_name(k: int = 10, gain: Gain = "exponential") -> str:
    """The name in ir-measures of nDCG@k with these gains, which stored baselines must have been scored with."""
    check_measure(k, gain)
    return f"nDCG(dcg='exp-log2')@{k}" if gain == "exponential" else f"nDCG@{k}"


def check_baselines(baselines: object) -> None:
    """ValueError for anything but QueryBaselines."""
    if not isinstance(baselines, QueryBaselines):
        raise ValueError(
            f"baselines must be QueryBaselines, got {type(baselines).__name__}: "
            "QueryBaselines.from_document_scores makes them"
        )


def _check_by_name(scores: object, *, of_each: str) -> None:
    if not isinstance(scores, Mapping):
        raise ValueError(f"scores must map the name of each baseline to {of_each}, got {type(scores).__name__}")
    if not scores:
        raise ValueError("scores must hold at least one baseline, got none")


def _scored(judged: JudgedQueries, baseline: str, scores: npt.ArrayLike) -> FloatArray:
    try:
        return judged.ndcg(scores)
    except ValueError as error:
        raise ValueError(f"baseline {clean(baseline)}: {error}") from None


def _in_order(
    baseline: str, given: Mapping[str, float], queries: Sequence[str], barren: Collection[str]
) -> list[float]:
    if not hasattr(given, "items"):
        raise ValueError(f"baseline {clean(baseline)}: expected a mapping from query to nDCG@k, got {given!r:.60}")
    by_query = {str(query): score for query, score in given.items()}
    missing = tuple(query for query in queries if query not in by_query and query not in barren)
    if missing:
        of_all, names = counted(len(queries), "query", "queries"), listed(missing, most=_MAX_NAMED)
        raise DataError(f"baseline {clean(baseline)} has no score for {len(missing)} of {of_all}: {names}")
    return [_number(by_query.get(query, 0.0), baseline, query) for query in queries]


def _number(score: object, baseline: str, query: str) -> float:
    try:
        return float(score)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        where = f"baseline {clean(baseline)}, query {clean(query)}"
        raise DataError(f"{where}: expected nDCG as a number from 0 to 1, got {score!r:.60}") from None
