"""Training data query by query, nDCG@k of document scores, and what baselines score on the same queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

import pytest_riskguard
from pytest_riskguard.data import write_run
from pytest_riskguard.errors import DataError
from pytest_riskguard.reports import clean, counted, listed
from pytest_riskguard.risk.checks import FloatArray, IntArray

#: What a label is worth: ``2^label - 1``, as in LightGBM, or the label itself, as in trec_eval's nDCG.
Gain = Literal["exponential", "linear"]
#: With larger labels, sums of exponential gains lose the gains of small labels.
MAX_EXPONENTIAL_LABEL = 30
_MAX_NAMED = 5


class JudgedQueries:
    """The labels of learning-to-rank data, query by query.

    nDCG@k (Järvelin & Kekäläinen 2002) divides the discounted gains of the first k documents, ``gain / log2(1 +
    rank)``, by those of the best order of the query's documents. It is 0 for a query without a relevant document.
    Where documents have equal scores it does not depend on the order of rows either: with ``documents`` these are
    ranked by name, the last in the alphabet first, as trec_eval does and as runs are judged; without, it is the
    expectation over all their orders (McSherry & Najork 2008).

    Parameters
    ----------
    labels : array, shape (n_documents,)
        Relevance, at least 0 and finite; at most 30 with exponential gains. The rows of a query stand together.
    group : array of int, shape (n_queries,)
        How many rows each query has, in the order of the rows, as LightGBM takes it; each at least 1.
    queries : sequence of str or None
        The names of the queries, in the same order; None numbers them from 1.
    documents : sequence of str or None
        A name for each row, each once in a query.
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
        self,
        labels: npt.ArrayLike,
        group: npt.ArrayLike,
        *,
        queries: Sequence[str] | None = None,
        documents: Sequence[str] | None = None,
        k: int = 10,
        gain: Gain = "exponential",
    ) -> None:
        self.labels = document_scores(labels, rows=np.size(labels), name="labels")
        self.group = _group_sizes(group)
        if not is_count(k):
            raise ValueError(f"k must be a whole number of at least 1, got {k!r}")
        if gain not in get_args(Gain):
            raise ValueError(f"gain must be one of {', '.join(get_args(Gain))}, got {gain!r}")
        if self.group.sum() != self.labels.size:
            raise ValueError(f"group must add up to the {self.labels.size} documents, got {self.group.sum()}")
        most = MAX_EXPONENTIAL_LABEL if gain == "exponential" else np.inf
        wrong = np.flatnonzero(~((self.labels >= 0) & (self.labels <= most)))
        if wrong.size:
            raise ValueError(
                f"labels must be from 0 to {most:g} with {gain} gains, got {self.labels[wrong[0]]:g} in row "
                f"{wrong[0]} (counted from 0)"
            )
        self.queries = tuple(map(str, range(1, self.group.size + 1) if queries is None else queries))
        _refuse_twice("queries", self.queries)
        if len(self.queries) != self.group.size:
            raise ValueError(f"queries must name the {self.group.size} of group, got {len(self.queries)} names")
        #: Names of the rows, shape (n_documents,), or none.
        self.documents = np.array([*map(str, () if documents is None else documents)], dtype=object)
        if self.documents.size not in (0, self.labels.size):
            raise ValueError(f"documents must name the {self.labels.size} of labels, got {self.documents.size} names")
        self._names = [*zip(np.repeat(self.queries, self.group).tolist(), self.documents, strict=False)]
        _refuse_twice("documents of a query", self._names)
        self._ties = [-np.unique(self.documents, return_inverse=True)[1]] if self._names else []
        self.k, self.gain = int(k), gain
        #: Where each query's rows begin, and the end of the last: shape (n_queries + 1,).
        self.starts: IntArray = np.concatenate(([0], np.cumsum(self.group)))
        self.gains: FloatArray = np.exp2(self.labels) - 1 if gain == "exponential" else self.labels
        # the rank, counted from 0, of each place of an order
        self._rank_of_place = np.arange(self.labels.size) - np.repeat(self.starts[:-1], self.group)
        self._ideal = np.maximum(self.ideal(self.k), 1e-300)  # where nothing is relevant, 0 is divided

    @property
    def measure(self) -> str:
        """The nDCG@k as ir-measures and ``riskguard baseline add --measure`` name it."""
        return f"nDCG(dcg='exp-log2')@{self.k}" if self.gain == "exponential" else f"nDCG@{self.k}"

    def has(self, labels: npt.ArrayLike, group: npt.ArrayLike) -> bool:
        """Whether these are the labels and groups; trainers keep labels in 32 bits."""
        same = np.array_equal(np.asarray(labels, np.float32), self.labels.astype(np.float32))
        return same and np.array_equal(np.asarray(group), self.group)

    def order(self, scores: npt.ArrayLike) -> IntArray:
        """Each query's rows from the highest score down: (n_documents,).

        Equal scores stand by the names of documents, the last first, or without names in the order of rows.
        """
        queries = np.repeat(np.arange(self.group.size), self.group)
        return np.lexsort((*self._ties, -document_scores(scores, rows=self.labels.size), queries))

    def ideal(self, depth: int) -> FloatArray:
        """Discounted gains of the best order of each query's documents down to a depth: (n_queries,)."""
        return self._summed(self.gains[self.order(self.gains)], self.discounts(depth))

    def discounts(self, depth: int | None = None) -> FloatArray:
        """``1 / log2(1 + rank)`` of every rank, 0 below a depth: (n_ranks,), as many as the largest query has."""
        ranks = np.arange(1, int(self.group.max()) + 1)
        return np.where(ranks <= (ranks.size if depth is None else depth), 1 / np.log2(1 + ranks), 0)

    def ndcg(self, scores: npt.ArrayLike, *, order: IntArray | None = None) -> FloatArray:
        """nDCG@k of each query where documents are ranked by score, highest first: (n_queries,).

        ``scores`` are finite, of shape (n_documents,); ``order`` is what ``order`` gives for them.
        """
        order = self.order(scores) if order is None else order
        gains = self.gains[order]
        if not self._ties:  # tied documents share their gains
            ranked = np.asarray(scores, dtype=np.float64)[order]
            new = np.append(True, ranked[1:] != ranked[:-1])
            new[self.starts[:-1]] = True
            first = np.flatnonzero(new)
            sizes = np.diff(first, append=ranked.size)
            gains = np.repeat(np.add.reduceat(gains, first) / sizes, sizes)
        found: FloatArray = self._summed(gains, self.discounts(self.k)) / self._ideal
        return np.minimum(found, 1)

    def write_runs(self, folder: Path | str, scores: Mapping[str, npt.ArrayLike]) -> None:
        """Write a run of each model, ``NAME.run``, and the labels as ``qrels.txt``, for ``riskguard compare``.

        With ``--qrels folder/qrels.txt --measure "<data.measure>"`` each run has the nDCG that ``ndcg`` gives: scores
        in it are whole numbers that fall from rank to rank, so that nothing is tied.

        Parameters
        ----------
        folder : path
            Made if it is missing; files in it are overwritten.
        scores : mapping of str to array, shape (n_documents,)
            The models' scores of the documents, finite, by their names.

        Raises
        ------
        ValueError
            Without ``documents``, or for other scores.
        RunFormatError
            For an empty name.
        """
        if not self._names:
            raise ValueError("a run needs names of documents: give JudgedQueries(..., documents=)")
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, values in scores.items():
            ranked = np.split(self.documents[self.order(values)], self.starts[1:-1])
            write_run(folder / f"{name}.run", pytest_riskguard.run(dict(zip(self.queries, ranked, strict=True))))
        lines = []
        for names, label in zip(self._names, self.labels, strict=True):
            plain = " ".join(names).split() == [*names]
            query, document = names if plain else map(quote, names)  # as runs have names with white space
            lines.append(f"{query} {'0' if plain else '%'} {document} {label:.17g}\n")
        (folder / "qrels.txt").write_bytes("".join(lines).encode())

    def _summed(self, gains: FloatArray, discounts: FloatArray) -> FloatArray:
        return np.add.reduceat(gains * discounts[self._rank_of_place], self.starts[:-1])


@dataclass(frozen=True, eq=False)
class QueryBaselines:
    """Effectiveness of one or several baselines on each query of the data.

    Make one with ``from_document_scores``, ``from_query_scores`` or ``from_store``. A ``ValueError`` for a name given
    twice, a ``DataError`` for scores that are not from 0 to 1.

    Attributes
    ----------
    data : JudgedQueries
        The queries, their labels, and the nDCG@k.
    names : tuple of str
        The baselines.
    scores : array, shape (n_baselines, n_queries)
        nDCG@k, from 0 to 1.
    """

    data: JudgedQueries
    names: tuple[str, ...]
    scores: FloatArray

    def __post_init__(self) -> None:
        queries = self.data.queries
        if self.scores.shape != (len(self.names), len(queries)) or not self.names:
            expected = f"({len(self.names)}, {len(queries)})"
            raise ValueError(f"scores must have shape (n_baselines, n_queries), {expected}, got {self.scores.shape}")
        _refuse_twice("baselines", self.names)
        wrong = np.argwhere(~((self.scores >= 0) & (self.scores <= 1)))
        if wrong.size:
            baseline, query = wrong[0]
            raise DataError(
                f"baseline {clean(self.names[baseline])}, query {clean(queries[query])}: nDCG@{self.data.k} must be "
                f"from 0 to 1, got {self.scores[baseline, query]:g}"
            )

    @classmethod
    def from_document_scores(cls, data: JudgedQueries, scores: Mapping[str, npt.ArrayLike]) -> QueryBaselines:
        """Baselines that score the documents of the data: a feature column such as BM25, or other models.

        ``scores`` holds an array of shape (n_documents,) for each baseline, by its name; a higher score ranks higher.
        """
        rows = data.labels.size
        given = [
            document_scores(values, rows=rows, name=f"baseline {clean(name)}") for name, values in scores.items()
        ]
        return cls(data, tuple(scores), np.array([data.ndcg(values) for values in given]))

    @classmethod
    def from_query_scores(cls, data: JudgedQueries, scores: Mapping[str, Mapping[str, float]]) -> QueryBaselines:
        """Baselines whose nDCG@k, with the cutoff and gains of the data, is known query by query.

        ``scores`` holds a mapping from query to nDCG@k for each baseline, by its name. A ``DataError`` names queries
        that a baseline has no score for; those without a relevant document need none, and others are not used.
        """
        barren = {name for name, best in zip(data.queries, data.ideal(1), strict=True) if best == 0}
        table = []
        for name, given in scores.items():
            by_query = {str(query): score for query, score in given.items()}
            missing = tuple(query for query in data.queries if query not in by_query and query not in barren)
            if missing:
                raise DataError(
                    f"baseline {clean(name)} has no score for {len(missing)} of "
                    f"{counted(len(data.queries), 'query', 'queries')}: {listed(missing, most=_MAX_NAMED)}"
                )
            table.append([float(by_query.get(query, 0.0)) for query in data.queries])
        return cls(data, tuple(scores), np.array(table))

    @classmethod
    def from_store(cls, data: JudgedQueries, store: Path | str, *names: str) -> QueryBaselines:
        """Stored baselines, by the scores they were stored with; without names, all of them.

        They need the measure ``data.measure``: ``riskguard baseline add`` takes it with ``--measure``. A stored nDCG
        divides by the best order of all judged documents, that of training by the best order of the query's rows:
        give both the same documents. ``BaselineError`` for a baseline that is missing, damaged or lacks this measure.
        """
        from pytest_riskguard.baselines import stored_scores

        stored = stored_scores(store, data.measure, *names)
        if not stored:
            raise DataError(f"{store}: expected stored baselines, found none: riskguard baseline add stores one")
        scores = {name: dict(zip(found.topics, found.values.tolist(), strict=True)) for name, found in stored.items()}
        return cls.from_query_scores(data, scores)

    def mean(self) -> QueryBaselines:
        """One baseline with the mean score of these on each query, as T*-FARO takes it (SIGIR 2016)."""
        name = f"mean of {', '.join(self.names)}"
        return replace(self, names=(name,), scores=self.scores.mean(axis=0, keepdims=True))

    def only(self) -> FloatArray:
        """Scores of the single baseline, shape (n_queries,); ``ValueError`` if there are more."""
        if len(self.names) != 1:
            raise ValueError(f"expected one baseline, got {len(self.names)}; baselines.mean() makes one of them")
        scores: FloatArray = self.scores[0]
        return scores


def is_count(value: object) -> bool:
    """Whether the value is a whole number of at least 1, as Python or numpy has them."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 1)


def document_scores(values: npt.ArrayLike, *, rows: int, name: str = "scores") -> FloatArray:
    """A finite number for each document; ``ValueError`` for anything else."""
    array: FloatArray = np.asarray(values, dtype=np.float64)
    if array.shape != (rows,) or rows == 0:
        raise ValueError(f"{name} must have one value for each of the {rows} documents, got shape {array.shape}")
    wrong = np.flatnonzero(~np.isfinite(array))
    if wrong.size:
        raise ValueError(f"{name} must be finite, got {array[wrong[0]]} in row {wrong[0]} (counted from 0)")
    return array


def _group_sizes(group: npt.ArrayLike) -> IntArray:
    sizes = np.asarray(group, dtype=np.float64)
    if sizes.ndim != 1 or sizes.size == 0 or not np.all((sizes >= 1) & (sizes < 2**31) & (sizes == np.floor(sizes))):
        raise ValueError(
            "group must hold how many documents each query has, whole numbers of at least 1 along one axis, got "
            f"{group!r:.200}"
        )
    return sizes.astype(np.int64)


def _refuse_twice(what: str, names: Sequence[object]) -> None:
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise ValueError(f"{what} must have different names, got {twice[0]!r} twice")


NO_GROUPS = "the data have no groups: give group=, how many documents each query has"
#: LightGBM's folds may cut queries, and baselines of the whole data do not fit them.
NO_PARTS = "a part of a Dataset may have cut queries: instead of lightgbm.cv, train on each fold separately"
