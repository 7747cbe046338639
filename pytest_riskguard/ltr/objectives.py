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
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.ltr.queries import (
    NO_GROUPS,
    Gain,
    JudgedQueries,
    QueryBaselines,
    check_measure,
    checked_scores,
    is_count,
    training_data,
)
from pytest_riskguard.ltr.weights import Standardization, adaptive_alpha, check_standardization, risk_spread
from pytest_riskguard.risk import expected_scores, topic_contributions
from pytest_riskguard.risk.checks import FloatArray, IntArray, loss_weight

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
        if isinstance(second, _needed("lightgbm").Dataset):
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
        now = self._ranked(data.queries, checked_scores(scores, rows=data.queries.labels.size, finite=True))
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
        _needed("numba")
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


def _needed(module: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError:
        raise UsageError(f"an objective for LightGBM needs {module}: pip install 'pytest-riskguard[ltr]'") from None


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


#: ``change``: what a swap does to the trade-off score itself. ``crossing``: Eq. 9 of SIGIR 2016, which gives a swap
#: that crosses the baseline the weight of the side where it ends.
Form = Literal["change", "crossing"]

#: The largest alpha of gates. Far beyond, gradients are too large for LightGBM, which then learns nothing.
_MAX_ALPHA = 1e9
#: With a smaller Phi(ZRisk / c), gradients are too small for LightGBM, which keeps them in 32 bits.
_VANISHED = 1e-12


@dataclass(kw_only=True, eq=False)
class LambdaMART(RankingObjective):
    """Plain LambdaMART for nDCG@k: what the others are at alpha 0, except GeoRisk.

    With ``truncation_level=30`` it gives the gradients of LightGBM's ``lambdarank``.

    Attributes
    ----------
    k : int
        The cutoff of nDCG.
    gain : {"exponential", "linear"}
        What a label is worth; see ``JudgedQueries``.
    """

    k: int = 10
    gain: Gain = "exponential"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_measure(self.k, self.gain)

    def _measure(self) -> tuple[int, Gain]:
        return self.k, self.gain

    def _swaps(self, now: RankedQueries) -> SwapEffects:
        return SwapEffects(WEIGHTED, np.zeros(now.queries.group.size))

    def _check(self, queries: JudgedQueries) -> None:
        """Without baselines any data will do."""


@dataclass(eq=False)
class _RiskObjective(RankingObjective):
    baselines: QueryBaselines
    alpha: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.alpha = loss_weight(self.alpha)
        if self.alpha > _MAX_ALPHA:
            raise ValueError(f"alpha must be at most {_MAX_ALPHA:g}, got {self.alpha:g}: nothing would be learned")

    def _measure(self) -> tuple[int, Gain]:
        return self.baselines.k, self.baselines.gain

    def _check(self, queries: JudgedQueries) -> None:
        self.baselines.check(queries)


@dataclass(eq=False)
class _OneBaseline(_RiskObjective):
    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.baselines.names) != 1:
            raise ValueError(
                f"{type(self).__name__} takes one baseline, got {len(self.baselines.names)}; baselines.mean() makes "
                "one of them"
            )

    @property
    def _baseline(self) -> FloatArray:
        baseline: FloatArray = self.baselines.scores[0]
        return baseline


@dataclass(eq=False)
class UCRO(_OneBaseline):
    """U-CRO: a swap counts by what it does to URisk, with the same alpha for every query.

    Attributes
    ----------
    baselines : QueryBaselines
        One baseline.
    alpha : float
        Extra weight of a loss, at least 0.
    form : {"change", "crossing"}
        ``change``: v(d + dM) - v(d), where v(d) is d, or (1 + alpha) d below the baseline. ``crossing``: Eq. 9, dM
        if the query ends at or above the baseline and (1 + alpha) dM otherwise.
    """

    form: Form = field(default="change", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form not in get_args(Form):
            raise ValueError(f"form must be one of {', '.join(get_args(Form))}, got {self.form!r}")

    def _alphas(self, now: RankedQueries) -> FloatArray:
        return np.full(now.queries.group.size, self.alpha)

    def _swaps(self, now: RankedQueries) -> SwapEffects:
        found = now.effectiveness
        kind = TRADEOFF if self.form == "change" else CROSSING
        return SwapEffects(kind, self._alphas(now), found - self._baseline)


@dataclass(eq=False)
class _Adaptive(_OneBaseline):
    """alpha' of each query, estimated from the model's scores now, or with a spread that was estimated before."""

    standardization: Standardization = field(default="deviation", kw_only=True)
    spread_after: int | None = field(default=None, kw_only=True)
    _began_with: FloatArray | None = field(default=None, init=False, repr=False)
    _iteration: int = field(default=0, init=False, repr=False)
    _spread: float | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_standardization(self.standardization)
        if self.spread_after is not None and not is_count(self.spread_after):
            raise ValueError(
                f"spread_after must be None or a whole number of at least 1, got {self.spread_after!r}: before the "
                "first tree all documents have the same score, and the spread would be that of the baseline"
            )

    def _alphas(self, now: RankedQueries) -> FloatArray:
        spread = risk_spread(
            now.effectiveness, self._baseline, alpha=self.alpha, standardization=self.standardization
        )
        if self.spread_after is not None:
            spread = self._kept(now.scores, spread, after=self.spread_after)
        return adaptive_alpha(
            now.effectiveness,
            self._baseline,
            alpha=self.alpha,
            standardization=self.standardization,
            spread=spread,
        )

    def _kept(self, scores: FloatArray, spread: float, *, after: int) -> float:
        """The spread as it was after ``after`` iterations; until then, or until scores change, the present one.

        Training that starts again, from the same scores or on other data, forgets it.
        """
        before = self._began_with
        if before is None or before.shape != scores.shape or np.array_equal(before, scores):
            self._began_with, self._iteration, self._spread = scores.copy(), 0, None
        if self._spread is None and self._iteration >= after:
            self._spread = spread
        self._iteration += 1
        return spread if self._spread is None else self._spread


@dataclass(eq=False)
class TSARO(UCRO, _Adaptive):
    """T-SARO: U-CRO with alpha'_j = (1 - Phi(TR_j)) alpha, so that risky queries weigh more (Eq. 10).

    Attributes
    ----------
    baselines, alpha, form
        As for ``UCRO``.
    standardization : {"deviation", "error"}
        How TR_j is computed; see ``adaptive_alpha``.
    spread_after : int or None
        None: the standard deviation (or error) is re-estimated at every iteration. A number n: it is kept as it is
        after n iterations; the papers kept it after the first.
    """

    def _alphas(self, now: RankedQueries) -> FloatArray:
        return _Adaptive._alphas(self, now)


@dataclass(eq=False)
class TFARO(_Adaptive):
    """T-FARO: all swaps of a query weigh 1 + alpha'_j, won queries as well as lost ones (SIGIR 2014, Eq. 26).

    With ``baselines.mean()`` it is T*-FARO (SIGIR 2016). ``faro_weights`` does the same with query weights, for
    rankers other than LightGBM too.

    Attributes
    ----------
    baselines, alpha, standardization, spread_after
        As for ``TSARO``.
    """

    def _swaps(self, now: RankedQueries) -> SwapEffects:
        return SwapEffects(WEIGHTED, self._alphas(now))


@dataclass(eq=False)
class GeoRisk(_RiskObjective):
    """GeoRisk over a pool of baselines: a swap counts by what it does to the model's GeoRisk.

    Expected scores stay as they are while a query's z is recomputed (SIGIR 2016, section 6). The change is multiplied
    by the number of queries, which matters only to parameters of LightGBM that expect gradients of this size, such as
    ``min_sum_hessian_in_leaf`` and ``lambda_l2``. A query on which neither the model nor any baseline scores has no
    z. At alpha 0 this is not LambdaMART: queries still weigh by what is expected of them.

    Attributes
    ----------
    baselines : QueryBaselines
        At least one; good ones, since they say what to expect of a query. They must not have been trained on these
        queries.
    alpha : float
        Extra weight of doing worse than expected, at least 0. When alpha is in the hundreds GeoRisk vanishes, and
        training ends with a ``UsageError``.
    """

    def _swaps(self, now: RankedQueries) -> SwapEffects:
        found = now.effectiveness
        pool = np.vstack([self.baselines.scores, found])
        expected = expected_scores(pool)[-1]
        root = np.sqrt(expected)
        inverse = np.divide(1, root, out=np.zeros(root.size), where=root > 0)
        zrisk = float(topic_contributions(pool, alpha=self.alpha)[-1].sum())
        pool_now = GeoRiskNow.of(alpha=self.alpha, scores=found, zrisk=zrisk)
        if pool_now.phi < _VANISHED:
            raise UsageError(
                f"GeoRisk vanishes at alpha {self.alpha:g} (Phi(ZRisk/c) is {pool_now.phi:.0e}), so there is nothing "
                "to learn from: take a smaller alpha"
            )
        return SwapEffects(GEORISK, differences=found - expected, inverse_roots=inverse, pool=pool_now)


#: ``WEIGHTED``: (1 + alpha_j) dM. ``TRADEOFF``: the change of the trade-off score. ``CROSSING``: Eq. 9 of SIGIR 2016.
#: ``GEORISK``: the change of GeoRisk.
WEIGHTED, TRADEOFF, CROSSING, GEORISK = range(4)

_NONE = np.zeros(0)


class Pairs(NamedTuple):
    """What RankNet's derivative and the change of nDCG are computed from, for each pair of documents.

    Attributes
    ----------
    starts : array of int, shape (n_queries + 1,)
        The rows where queries begin, and the end of the last.
    order : array of int, shape (n_documents,)
        For each query its rows, from the highest score down.
    scores, gains : array, shape (n_documents,)
        In the order of rows.
    discounts : array, shape (n_ranks,)
        By rank.
    inverse_ideal : array, shape (n_queries,)
        One over the discounted gains of the best order; 0 where nothing is relevant.
    truncation : int
        The number of ranks at which a pair may begin.
    sigmoid : float
        How steep RankNet's probability is.
    norm : bool
        Whether pairs are divided by their difference of scores, and queries by the size of their gradient.
    """

    starts: IntArray
    order: IntArray
    scores: FloatArray
    gains: FloatArray
    discounts: FloatArray
    inverse_ideal: FloatArray
    truncation: int
    sigmoid: float
    norm: bool


class GeoRiskNow(NamedTuple):
    """A model's GeoRisk before a swap, and what it is made of.

    Attributes
    ----------
    loss : float
        1 + alpha.
    queries : float
        Their number, c.
    mean : float
        The model's mean score.
    place : float
        ZRisk / c.
    phi, density : float
        The standard normal distribution and density there.
    series : tuple of float
        The density's derivatives there, first to fifth, over it and over the factorials from 2 to 6: Taylor's series
        of the distribution.
    georisk : float
        sqrt(mean Phi(ZRisk / c)).
    """

    loss: float = 1.0
    queries: float = 1.0
    mean: float = 0.0
    place: float = 0.0
    phi: float = 0.0
    density: float = 0.0
    series: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)
    georisk: float = 0.0

    @classmethod
    def of(cls, *, alpha: float, scores: FloatArray, zrisk: float) -> GeoRiskNow:
        """That of a model with these scores, shape (n_queries,), and this ZRisk."""
        mean, place = float(scores.mean()), zrisk / scores.size
        phi, density = float(ndtr(place)), math.exp(-place * place / 2) / math.sqrt(2 * math.pi)
        u = place
        series = (
            *(-u / 2, (u**2 - 1) / 6, -(u**3 - 3 * u) / 24),
            *((u**4 - 6 * u**2 + 3) / 120, -(u**5 - 10 * u**3 + 15 * u) / 720),
        )
        return cls(1.0 + alpha, float(scores.size), mean, place, phi, density, series, math.sqrt(mean * phi))


class SwapEffects(NamedTuple):
    """How the effect of a swap follows from its change of nDCG, query by query.

    Attributes
    ----------
    kind : int
        ``WEIGHTED``, ``TRADEOFF``, ``CROSSING`` or ``GEORISK``.
    alpha : array, shape (n_queries,)
        Extra weight of a loss, for the first three kinds.
    differences : array, shape (n_queries,)
        Effectiveness of the model less that of the baseline, or for ``GEORISK`` less the expected score.
    inverse_roots : array, shape (n_queries,)
        For ``GEORISK``: one over the root of the expected score, 0 where that is 0.
    pool : GeoRiskNow
        For ``GEORISK``.
    """

    kind: int
    alpha: FloatArray = _NONE
    differences: FloatArray = _NONE
    inverse_roots: FloatArray = _NONE
    pool: GeoRiskNow = GeoRiskNow()
