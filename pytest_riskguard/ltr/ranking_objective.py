"""What LambdaMART and its risk-sensitive relatives share as objectives for LightGBM.

An objective is one callable for ``lightgbm.train`` (``params["objective"]``) and for ``LGBMRanker(objective=...)``.
Nothing is shared between objectives.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_riskguard.errors import DataError
from pytest_riskguard.formats.content import imported
from pytest_riskguard.ltr.judged_queries import Gain, JudgedQueries, is_count
from pytest_riskguard.ltr.lightgbm_data import NO_GROUPS, training_data
from pytest_riskguard.ltr.swap_effects import Pairs, SwapEffects
from pytest_riskguard.risk.checks import FloatArray, IntArray

if TYPE_CHECKING:
    from lightgbm import Dataset

#: Fewer rows than these are not worth a thread of their own.
_ROWS_OF_A_THREAD = 10_000


@dataclass(frozen=True, eq=False)
class RankedQueries:
    """Training queries as the model ranks them now: scores of shape (n_documents,), and the order they give."""

    queries: JudgedQueries
    scores: FloatArray
    order: IntArray

    @cached_property
    def effectiveness(self) -> FloatArray:
        """nDCG@k of each query: (n_queries,)."""
        return self.queries.ndcg(self.scores, order=self.order)


@dataclass(kw_only=True, eq=False)
class RankingObjective(ABC):
    """What all objectives share: LambdaMART's pairs, and LightGBM's options for them.

    LightGBM does not tell objectives its own parameters ``sigmoid``, ``lambdarank_norm``,
    ``lambdarank_truncation_level`` and ``label_gain``: give them here. ``bagging_by_query`` is refused in
    ``lightgbm.train``; leave it out of ``LGBMRanker`` too, where objectives cannot see it. ``lightgbm.cv`` must keep
    queries together, by ``folds=``, and trains on parts of the data, which the baselines of the whole do not fit.

    Attributes
    ----------
    truncation_level : int or None
        None: swaps count by what they do to nDCG@k, so one document of each pair is among the first k. A number:
        pairs, discounts and the ideal ranking are those of LightGBM's ``lambdarank_truncation_level``, 30 by default
        there, which also learns from documents that nDCG@k does not see.
    sigmoid : float
        LightGBM's ``sigmoid``: how steep RankNet's probability is; above 0.
    norm : bool
        LightGBM's ``lambdarank_norm``: divide a pair by its difference of scores, and a query by the size of its
        gradient. Both are those of plain LambdaMART, so that a query keeps the weight that its risk gives it.
    threads : int or None
        How many threads compute gradients; None: one for each processor. The result does not depend on it.
    """

    truncation_level: int | None = None
    sigmoid: float = 1.0
    norm: bool = True
    threads: int | None = None
    _data: _Data | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        for name, value in (("truncation_level", self.truncation_level), ("threads", self.threads)):
            if value is not None and not is_count(value):
                raise ValueError(f"{name} must be None or a whole number of at least 1, got {value!r}")
        if not (math.isfinite(self.sigmoid) and self.sigmoid > 0):
            raise ValueError(f"sigmoid must be finite and above 0, got {self.sigmoid!r}")
        if self.norm not in (True, False):
            raise ValueError(f"norm must be True or False, got {self.norm!r}")

    def __call__(
        self,
        first: FloatArray,
        second: FloatArray | Dataset,
        weight: npt.ArrayLike | None = None,
        group: npt.ArrayLike | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient and hessian as LightGBM asks for them, each of shape (n_documents,).

        ``lightgbm.train`` gives scores and its Dataset; ``LGBMRanker``, which counts these parameters, gives labels,
        scores, row weights and groups. Errors are those of ``gradients`` and of ``training_data``.
        """
        if isinstance(second, imported("lightgbm", extra="ltr", what="an objective for LightGBM").Dataset):
            scores = first
            labels, weight, group = training_data(second)
        else:
            labels, scores = first, np.asarray(second)
        if group is None:
            raise DataError(NO_GROUPS)
        gradient, hessian = self.gradients(labels, scores, group)
        if weight is not None:
            rows = np.asarray(weight, dtype=np.float64)
            gradient, hessian = gradient * rows, hessian * rows
        return gradient, hessian

    def gradients(
        self, labels: npt.ArrayLike, scores: npt.ArrayLike, group: npt.ArrayLike
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient and hessian of the loss by each document's score, each of shape (n_documents,).

        Parameters
        ----------
        labels, scores : array, shape (n_documents,)
            Relevance, and the model's present scores, finite; the rows of a query stand together.
        group : array of int, shape (n_queries,)
            How many documents each query has.

        Raises
        ------
        ValueError
            For anything else.
        DataError
            If the queries are not those of the baselines.
        """
        data = self._of(labels, group)
        now = self._ranked(data.queries, _finite(scores, rows=data.queries.labels.size))
        return self._summed(data, now, self._swaps(now))

    @abstractmethod
    def _measure(self) -> tuple[int, Gain]:
        """The cutoff k and the gains of nDCG@k."""

    @abstractmethod
    def _swaps(self, now: RankedQueries) -> SwapEffects:
        """What swaps do to the risk measure where the model ranks like this."""

    @abstractmethod
    def _check(self, queries: JudgedQueries) -> None:
        """``DataError`` unless the baselines are those of these queries."""

    def _of(self, labels: npt.ArrayLike, group: npt.ArrayLike) -> _Data:
        """What depends on the data alone, kept from call to call."""
        given = np.asarray(labels, dtype=np.float64)
        data = self._data
        if data is None or not (
            np.array_equal(data.queries.labels, given) and np.array_equal(data.queries.group, group)
        ):
            k, gain = self._measure()
            queries = JudgedQueries(given, group, k=k, gain=gain)
            self._check(queries)
            depth = k if self.truncation_level is None else self.truncation_level
            ideal = queries.ideal(depth)
            data = _Data(
                queries,
                queries.discounts(k if self.truncation_level is None else None),
                np.divide(1, ideal, out=np.zeros(ideal.size), where=ideal > 0),
                depth,
            )
            self._data = data
        return data

    def _ranked(self, queries: JudgedQueries, scores: FloatArray) -> RankedQueries:
        imported("numba", extra="ltr", what="an objective for LightGBM")
        from pytest_riskguard.ltr.swap_gradients import sort_queries

        order = np.empty(scores.size, dtype=np.int64)
        self._in_threads(queries, lambda first, last: sort_queries(queries.starts, scores, first, last, order))
        return RankedQueries(queries, scores, order)

    def _summed(self, data: _Data, now: RankedQueries, swaps: SwapEffects) -> tuple[FloatArray, FloatArray]:
        from pytest_riskguard.ltr.swap_gradients import add_gradients

        queries, options = now.queries, (data.discounts, data.inverse_ideal, data.depth, self.sigmoid, self.norm)
        pairs = Pairs(queries.starts, now.order, now.scores, queries.gains, *options)
        gradient, hessian = np.empty(now.scores.size), np.empty(now.scores.size)
        self._in_threads(queries, lambda first, last: add_gradients(pairs, swaps, first, last, gradient, hessian))
        return gradient, hessian

    def _in_threads(self, queries: JudgedQueries, work: Callable[[int, int], None]) -> None:
        """Call ``work(first, end)`` on parts of the queries with about as many rows each, which together are all."""
        rows = queries.labels.size
        threads = max(1, min(self.threads or _processors(), rows // _ROWS_OF_A_THREAD))
        if threads == 1:
            work(0, queries.group.size)
            return
        limits = np.searchsorted(queries.starts, np.linspace(0, rows, threads + 1)[1:-1])
        bounds = [0, *limits.tolist(), queries.group.size]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, bounds[:-1], bounds[1:]))


@dataclass(frozen=True, eq=False)
class _Data:
    queries: JudgedQueries
    discounts: FloatArray
    inverse_ideal: FloatArray
    depth: int


def _processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _finite(scores: npt.ArrayLike, *, rows: int) -> FloatArray:
    values: FloatArray = np.asarray(scores, dtype=np.float64)
    if values.shape != (rows,):
        raise ValueError(f"scores must have one value for each of the {rows} documents, got shape {values.shape}")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"scores must be finite, got {values[row]} in row {row} (counted from 0)")
    return values
