"""LambdaMART and its risk-sensitive relatives as objectives for LightGBM, and T-FARO as weights of queries.

An objective is one callable for ``lightgbm.train`` (``params["objective"]``) and for ``LGBMRanker(objective=...)``.
Nothing is shared between objectives.

References
----------
B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive evaluation of retrieval systems",
SIGIR 2014, whose equation numbers these are unless the other is named; the same, "Risk-sensitive evaluation and
learning to rank using multiple baselines", SIGIR 2016.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.ltr.queries import (
    NO_GROUPS,
    NO_PARTS,
    Gain,
    JudgedQueries,
    QueryBaselines,
    document_scores,
    is_count,
)
from pytest_riskguard.risk import SmoothTradeoff, expected_scores, standardised, topic_contributions
from pytest_riskguard.risk.checks import FloatArray, IntArray, loss_weight, per_topic

if TYPE_CHECKING:
    from lightgbm import Dataset

#: Fewer rows than these are not worth a thread of their own.
_ROWS_OF_A_THREAD = 10_000
#: With a smaller Phi(ZRisk / c), gradients are too small for LightGBM, which keeps them in 32 bits.
_VANISHED = 1e-12


@dataclass(kw_only=True, eq=False)
class RankingObjective(ABC):
    """What all objectives share: LambdaMART's pairs, and LightGBM's options for them.

    LightGBM does not tell objectives its own parameters ``sigmoid``, ``lambdarank_norm``,
    ``lambdarank_truncation_level`` and ``label_gain``: give them here. Leave out ``bagging_by_query``, with which
    LightGBM learns nothing from any objective but its own. ``lightgbm.cv`` is refused: train on each fold.

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
    """

    truncation_level: int | None = None
    sigmoid: float = 1.0
    norm: bool = True
    _data: _Data | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        level = self.truncation_level
        if level is not None and not is_count(level):
            raise ValueError(f"truncation_level must be None or a whole number of at least 1, got {level!r}")
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
        scores, row weights and groups. Errors are those of ``gradients``, and a ``UsageError`` for data without
        groups and for parts of a Dataset.
        """
        if isinstance(second, _needed("lightgbm").Dataset):
            if second.used_indices is not None:
                raise UsageError(NO_PARTS)
            weight, group = second.get_weight(), second.get_group()
            labels, scores = np.asarray(second.get_label()), first
        else:
            labels, scores = first, np.asarray(second)
        if group is None:
            raise UsageError(NO_GROUPS)
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
        _needed("numba")
        from pytest_riskguard.ltr.swap_gradients import add_gradients

        data = self._of(np.asarray(labels, dtype=np.float64), group)
        queries = data.queries
        now = document_scores(scores, rows=queries.labels.size)
        order = queries.order(now)
        swaps = self._swaps(queries.ndcg(now, order=order))
        options = (data.discounts, data.inverse_ideal, data.depth, self.sigmoid, self.norm)
        pairs = Pairs(queries.starts, order, now, queries.gains, *options)
        gradient, hessian = np.zeros(now.size), np.zeros(now.size)
        # parts of the queries with about as many rows each; how many there are changes no result
        parts = max(1, min(os.cpu_count() or 1, now.size // _ROWS_OF_A_THREAD))
        bounds = np.searchsorted(queries.starts, np.linspace(0, now.size, parts + 1))
        with ThreadPoolExecutor(parts) as pool:
            done = [
                pool.submit(add_gradients, pairs, swaps, first, last, gradient, hessian)
                for first, last in pairwise(bounds.tolist())
            ]
        for one in done:
            one.result()
        return gradient, hessian

    @abstractmethod
    def _queries(self, labels: FloatArray, group: npt.ArrayLike) -> JudgedQueries:
        """The training queries; ``DataError`` if they are not those of the baselines."""

    @abstractmethod
    def _swaps(self, ndcg: FloatArray) -> SwapEffects:
        """What swaps do to the risk measure where the queries have these nDCG@k."""

    def _of(self, labels: FloatArray, group: npt.ArrayLike) -> _Data:
        """What depends on the data alone, kept from call to call."""
        data = self._data
        if data is None or not data.queries.has(labels, group):
            queries = self._queries(labels, group)
            depth, discounts = queries.k, queries.discounts(queries.k)
            if self.truncation_level is not None:
                depth, discounts = self.truncation_level, queries.discounts()
            ideal = queries.ideal(depth)
            inverse = np.divide(1, ideal, out=np.zeros(ideal.size), where=ideal > 0)
            data = self._data = _Data(queries, discounts, inverse, depth)
        return data


def _needed(module: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError:
        raise UsageError(f"an objective for LightGBM needs {module}: pip install 'pytest-riskguard[ltr]'") from None


class _Data(NamedTuple):
    queries: JudgedQueries
    discounts: FloatArray
    inverse_ideal: FloatArray
    depth: int


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

    def _queries(self, labels: FloatArray, group: npt.ArrayLike) -> JudgedQueries:
        return JudgedQueries(labels, group, k=self.k, gain=self.gain)

    def _swaps(self, ndcg: FloatArray) -> SwapEffects:
        return SwapEffects(WEIGHTED, np.zeros(ndcg.size))


@dataclass(eq=False)
class _RiskObjective(RankingObjective):
    baselines: QueryBaselines
    alpha: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.alpha = loss_weight(self.alpha)

    def _queries(self, labels: FloatArray, group: npt.ArrayLike) -> JudgedQueries:
        queries = self.baselines.data
        if not queries.has(labels, group):
            raise DataError(
                "the data have other groups or labels than those that the baselines were scored on: make baselines "
                "for these data, in the order of their groups"
            )
        return queries


@dataclass(eq=False)
class _AgainstOne(_RiskObjective):
    def __post_init__(self) -> None:
        super().__post_init__()
        self.baselines.only()


@dataclass(eq=False)
class UCRO(_AgainstOne):
    """U-CRO: a swap counts by what it does to URisk, with the same alpha for every query.

    ``ValueError`` for a ``tradeoff`` together with an alpha, or one that is not increasing.

    Attributes
    ----------
    baselines : QueryBaselines
        One baseline.
    alpha : float
        Extra weight of a loss, at least 0.
    tradeoff : SmoothTradeoff or None
        What takes the place of alpha: ``risk.SMOOTH``, which AIRS 2019 calls fit to be a cost of LambdaMART but did
        not train with, one fitted to your own fences, or any other that is increasing from -1 to 1.
    """

    tradeoff: SmoothTradeoff | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tradeoff:
            if self.alpha != 1:
                raise ValueError(f"a tradeoff says what a loss weighs: leave out alpha, got {self.alpha!r}")
            if not self.tradeoff.is_increasing:
                raise ValueError(
                    "tradeoff must be increasing from -1 to 1, else a swap that improves nDCG could count as a loss; "
                    f"fit one to a smaller alpha or to fences nearer to 0, got {self.tradeoff}"
                )

    def _swaps(self, ndcg: FloatArray) -> SwapEffects:
        polynomial = np.array(self.tradeoff.coefficients) if self.tradeoff else _NONE
        alphas, baseline = np.full(ndcg.size, self.alpha), self.baselines.only()
        return SwapEffects(TRADEOFF, alphas, ndcg - baseline, coefficients=polynomial)


@dataclass(eq=False)
class TSARO(_AgainstOne):
    """T-SARO: U-CRO with alpha'_j = (1 - Phi(TR_j)) alpha, so that risky queries weigh more (SIGIR 2016, Eq. 10).

    The standard deviation is re-estimated at every iteration.
    """

    def _swaps(self, ndcg: FloatArray) -> SwapEffects:
        baseline = self.baselines.only()
        return SwapEffects(TRADEOFF, adaptive_alpha(ndcg, baseline, alpha=self.alpha), ndcg - baseline)


@dataclass(eq=False)
class TFARO(_AgainstOne):
    """T-FARO: all swaps of a query weigh 1 + alpha'_j, won queries as well as lost ones (SIGIR 2014, Eq. 26).

    With ``baselines.mean()`` it is T*-FARO (SIGIR 2016). ``faro_weights`` does the same with query weights, for
    rankers other than LightGBM too.
    """

    def _swaps(self, ndcg: FloatArray) -> SwapEffects:
        return SwapEffects(WEIGHTED, adaptive_alpha(ndcg, self.baselines.only(), alpha=self.alpha))


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
        training ends with a ``UsageError``; where documents have names, perhaps at 50, since training begins with
        equal scores.
    """

    def _swaps(self, ndcg: FloatArray) -> SwapEffects:
        pool = np.vstack([self.baselines.scores, ndcg])
        expected = expected_scores(pool)[-1]
        root = np.sqrt(expected)
        inverse = np.divide(1, root, out=np.zeros(root.size), where=root > 0)
        mean, place = float(ndcg.mean()), float(topic_contributions(pool, alpha=self.alpha)[-1].mean())
        phi = float(ndtr(place))
        if phi < _VANISHED:
            raise UsageError(
                f"GeoRisk vanishes at alpha {self.alpha:g} (Phi(ZRisk/c) is {phi:.0e}), so there is nothing "
                "to learn from: take a smaller alpha"
            )
        now = GeoRiskNow(1.0 + self.alpha, float(ndcg.size), mean, place, math.sqrt(mean * phi))
        return SwapEffects(GEORISK, differences=ndcg - expected, inverse_roots=inverse, pool=now)


def adaptive_alpha(scores: npt.ArrayLike, baseline: npt.ArrayLike, *, alpha: float) -> FloatArray:
    """alpha'_j = (1 - Phi(TR_j)) alpha for each query (Eq. 25; SIGIR 2016, Eq. 10): shape (n_queries,), 0 to alpha.

    TR_j is the query's trade-off score over the standard deviation of all (Eq. 21). A query that lost much has an
    alpha' near alpha, one that won much near 0, and one that did not change alpha/2. Where no query differs from the
    others in its trade-off score, none is riskier, and all have alpha/2.

    Parameters
    ----------
    scores, baseline : array, shape (n_queries,)
        Effectiveness of the model and of the baseline on the same queries, finite.
    alpha : float
        Extra weight of a loss, at least 0 and finite.

    Raises
    ------
    ValueError
        For arrays of different lengths or with values that are not finite, and a bad alpha.
    """
    weight = loss_weight(alpha)
    model, reference = per_topic(scores, name="scores"), per_topic(baseline, name="baseline")
    if model.size != reference.size:
        raise ValueError(f"scores and baseline must hold the same queries, got {model.size} and {reference.size}")
    differences = model - reference
    # Eq. 11; refused where a weighted loss is too large for sums
    x = per_topic(np.where(differences < 0, (1 + weight) * differences, differences), name="weighted differences")
    alphas: FloatArray = weight * ndtr(-standardised(x))
    return alphas


def faro_weights(scores: npt.ArrayLike, baselines: QueryBaselines, *, alpha: float) -> FloatArray:
    """``1 + alpha'_j`` for each query, from 1 to ``1 + alpha``: shape (n_queries,).

    What rankers make of weights:

    - LightGBM takes them for rows, ``numpy.repeat(weights, group)``, and multiplies gradient and hessian by them.
      ``lambdarank`` then learns what ``TFARO`` with the same truncation level does.
    - XGBoost takes them for queries, ``DMatrix(..., weight=...)``, and divides them by their mean.
    - CatBoost takes them for rows, ``Pool(..., group_weight=...)``. YetiRank, YetiRankPairwise, PairLogit,
      PairLogitPairwise, QueryRMSE and QuerySoftMax multiply by them. LambdaMart and StochasticRank do not: there they
      only enter the divisor of leaves, and heavy queries count for less (found with CatBoost 1.2.10).

    ``scores``, the model's nDCG@k on each query, and ``alpha`` are as for ``adaptive_alpha``, and so are the errors.
    Of several ``baselines``, ``baselines.mean()`` is that of T*-FARO.
    """
    return 1 + adaptive_alpha(scores, baselines.only(), alpha=alpha)


#: ``WEIGHTED``: (1 + alpha_j) dM. ``TRADEOFF``: the change of the trade-off score. ``GEORISK``: that of GeoRisk.
WEIGHTED, TRADEOFF, GEORISK = range(3)

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
    georisk : float
        sqrt(mean Phi(ZRisk / c)).
    """

    loss: float = 1.0
    queries: float = 1.0
    mean: float = 0.0
    place: float = 0.0
    georisk: float = 0.0


class SwapEffects(NamedTuple):
    """How the effect of a swap follows from its change of nDCG, query by query.

    Attributes
    ----------
    kind : int
        ``WEIGHTED``, ``TRADEOFF`` or ``GEORISK``.
    alpha : array, shape (n_queries,)
        Extra weight of a loss, for the first two kinds.
    differences : array, shape (n_queries,)
        Effectiveness of the model less that of the baseline, or for ``GEORISK`` less the expected score.
    inverse_roots : array, shape (n_queries,)
        For ``GEORISK``: one over the root of the expected score, 0 where that is 0.
    pool : GeoRiskNow
        For ``GEORISK``.
    coefficients : array
        For ``TRADEOFF``: those of a smooth one, in place of alpha; empty for the linear one.
    """

    kind: int
    alpha: FloatArray = _NONE
    differences: FloatArray = _NONE
    inverse_roots: FloatArray = _NONE
    pool: GeoRiskNow = GeoRiskNow()
    coefficients: FloatArray = _NONE
