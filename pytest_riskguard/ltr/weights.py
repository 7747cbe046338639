"""How much more each query's losses weigh while a ranker is trained: alpha', by how risky the query is now.

Equation numbers are those of B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive
evaluation of retrieval systems", SIGIR 2014, unless SIGIR 2016 is named: B. T. Dinçer, C. Macdonald, I. Ounis,
"Risk-sensitive evaluation and learning to rank using multiple baselines".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from pytest_riskguard.errors import UsageError
from pytest_riskguard.ltr.queries import (
    NO_GROUPS,
    JudgedQueries,
    QueryBaselines,
    is_count,
    sizes_of_groups,
)
from pytest_riskguard.risk import standard_error
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, loss_weight, per_topic

if TYPE_CHECKING:
    from lightgbm import Booster, Dataset
    from lightgbm.callback import CallbackEnv
    from xgboost import DMatrix
    from xgboost.callback import TrainingCallback


#: What a query's result is divided by: the standard deviation of trade-off scores (Eq. 21), or the standard error of
#: their mean, URisk, as SIGIR 2016 writes below Eq. 10.
Standardization = Literal["deviation", "error"]


def adaptive_alpha(
    scores: npt.ArrayLike,
    baseline: npt.ArrayLike,
    *,
    alpha: float,
    standardization: Standardization = "deviation",
    spread: float | None = None,
) -> FloatArray:
    """alpha'_j = (1 - Phi(TR_j)) alpha for each query (Eq. 25; SIGIR 2016, Eq. 10): shape (n_queries,), 0 to alpha.

    A query that lost much has an alpha' near alpha, one that won much near 0, and one that did not change alpha/2.
    Where no query differs from the others in its trade-off score, none is riskier, and all have alpha/2.

    Parameters
    ----------
    scores, baseline : array, shape (n_queries,)
        Effectiveness of the model and of the baseline on the same queries, finite.
    alpha : float
        Extra weight of a loss, at least 0 and finite.
    standardization : {"deviation", "error"}
        ``deviation``: TR_j is the trade-off score over the standard deviation of all, x_j / sd (SIGIR 2014, Eq. 21).
        ``error``: TR_j is the difference over the standard error of URisk (SIGIR 2016), which is sqrt(n) times
        further from 0 on gains, so that nearly every query has an alpha' of 0 or of alpha.
    spread : float, optional
        The standard deviation or error, where it was estimated before; by default that of these scores.

    Raises
    ------
    ValueError
        For arrays of different lengths or with values that are not finite, a bad alpha, or another standardization.
    """
    check_standardization(standardization)
    weight = loss_weight(alpha)
    differences = _differences(scores, baseline)
    if spread is None:
        spread = risk_spread(scores, baseline, alpha=weight, standardization=standardization)
    numerator = _tradeoff(differences, weight) if standardization == "deviation" else differences
    levels = numerator / spread if spread > 0 else np.zeros(differences.size)
    alphas: FloatArray = weight * ndtr(-levels)
    return alphas


def risk_spread(
    scores: npt.ArrayLike,
    baseline: npt.ArrayLike,
    *,
    alpha: float,
    standardization: Standardization,
) -> float:
    """The standard deviation of trade-off scores, or the standard error of URisk; 0 where they do not vary.

    Parameters and errors are those of ``adaptive_alpha``.
    """
    x = _tradeoff(_differences(scores, baseline), loss_weight(alpha))
    if np.ptp(x) <= ROUNDING_ERROR * max(1.0, float(np.max(np.abs(x)))):
        return 0.0
    error = standard_error(x)
    return error * float(np.sqrt(x.size)) if standardization == "deviation" else error


def _differences(scores: npt.ArrayLike, baseline: npt.ArrayLike) -> FloatArray:
    model, reference = per_topic(scores, name="scores"), per_topic(baseline, name="baseline")
    if model.size != reference.size:
        raise ValueError(f"scores and baseline must hold the same queries, got {model.size} and {reference.size}")
    return model - reference


def _tradeoff(differences: FloatArray, alpha: float) -> FloatArray:
    """Eq. 11; refused where a weighted loss is too large for sums."""
    return per_topic(np.where(differences < 0, (1 + alpha) * differences, differences), name="weighted differences")


def check_standardization(given: object) -> None:
    """``ValueError`` for anything else."""
    if given not in get_args(Standardization):
        raise ValueError(f"standardization must be one of {', '.join(get_args(Standardization))}, got {given!r}")


def faro_weights(
    scores: npt.ArrayLike,
    baselines: QueryBaselines,
    *,
    alpha: float,
    standardization: Standardization = "deviation",
    spread: float | None = None,
) -> FloatArray:
    """``1 + alpha'_j`` for each query, from 1 to ``1 + alpha``: shape (n_queries,).

    What rankers make of weights:

    - LightGBM takes them for rows (``row_weights``) and multiplies gradient and hessian by them. ``lambdarank`` then
      learns what ``TFARO`` with the same truncation level does.
    - XGBoost takes them for queries, ``DMatrix(..., weight=...)``, and divides them by their mean.
    - CatBoost takes them for rows, ``Pool(..., group_weight=...)``. YetiRank, YetiRankPairwise, PairLogit,
      PairLogitPairwise, QueryRMSE and QuerySoftMax multiply by them. LambdaMart and StochasticRank do not: there they
      only enter the divisor of leaves, and heavy queries count for less (found with CatBoost 1.2.10).

    Parameters
    ----------
    scores : array, shape (n_queries,)
        The model's nDCG@k on each query, as ``JudgedQueries.ndcg`` gives it.
    baselines : QueryBaselines
        One baseline, on the same queries; ``baselines.mean()`` is that of T*-FARO.
    alpha, standardization, spread
        As for ``adaptive_alpha``.

    Raises
    ------
    ValueError
        For more than one baseline, another number of queries, and what ``adaptive_alpha`` refuses.
    """
    if len(baselines.names) != 1:
        number = len(baselines.names)
        raise ValueError(f"faro_weights takes one baseline, got {number}; baselines.mean() makes one of them")
    more = adaptive_alpha(scores, baselines.scores[0], alpha=alpha, standardization=standardization, spread=spread)
    return 1 + more


def row_weights(weights: npt.ArrayLike, group: npt.ArrayLike) -> FloatArray:
    """The weight of each row's query, as LightGBM's ``weight`` and CatBoost's ``group_weight`` take it.

    ``weights`` and ``group``, the number of rows of each query, have shape (n_queries,), the result (n_documents,).
    ``ValueError`` for different lengths, a weight that is not finite, or a query with less than one row.
    """
    values, sizes = per_topic(weights, name="weights"), sizes_of_groups(group)
    if sizes.shape != values.shape:
        raise ValueError(f"expected a weight for each of the {sizes.size} queries of group, got {values.size}")
    rows: FloatArray = np.repeat(values, sizes)
    return rows


def faro_for_lightgbm(
    baselines: QueryBaselines,
    *,
    alpha: float,
    standardization: Standardization = "deviation",
    every: int = 1,
    query_weights: npt.ArrayLike | None = None,
) -> list[Callable[[CallbackEnv], None]]:
    """T-FARO for any objective of LightGBM: callbacks for ``lightgbm.train`` and for ``LGBMRanker.fit``.

    ``callbacks=[*faro_for_lightgbm(baselines, alpha=5), lightgbm.early_stopping(50)]``. For the update of each round,
    the training queries get ``faro_weights`` of the model so far, its ``init_score`` included. The Dataset has them
    during updates only: neither measures nor later training see them, even if this training is interrupted.

    Parameters
    ----------
    baselines : QueryBaselines
        One baseline on the training queries, in the order of their groups.
    alpha, standardization
        As for ``adaptive_alpha``.
    every : int
        After how many rounds weights are re-estimated, at least 1.
    query_weights : array, shape (n_queries,), optional
        Weights of your own, above 0, which are multiplied by these. A Dataset with weights is refused, since
        LightGBM's measures on the training set would read memory that new weights have freed.

    Raises
    ------
    ValueError
        At once, for more than one baseline, or a bad alpha, ``every`` or weight.
    UsageError
        During training, if the Dataset has weights or no groups, or these callbacks are given twice, and in
        ``lightgbm.cv``.
    DataError
        During training, if its queries are not those of the baselines.
    """
    faro = _Faro(baselines, alpha, standardization, every, query_weights)
    return [_BeforeRound(faro)]


def faro_for_xgboost(
    train_set: DMatrix,
    baselines: QueryBaselines,
    *,
    alpha: float,
    standardization: Standardization = "deviation",
    every: int = 1,
    query_weights: npt.ArrayLike | None = None,
) -> list[TrainingCallback]:
    """T-FARO for ranking objectives of XGBoost: callbacks for ``xgboost.train``.

    ``xgboost.train(params, train_set, callbacks=faro_for_xgboost(train_set, baselines, alpha=5))``, where the
    training set is a DMatrix or a QuantileDMatrix with groups. ``XGBRanker`` makes its own matrix and cannot be
    reweighted.

    The matrix has weights during updates only. They are divided by their mean: XGBoost does so itself, but always by
    the mean of the weights that it saw first. Other parameters and errors are those of ``faro_for_lightgbm``;
    ``UsageError`` if XGBoost is not installed, if it trains on another matrix, and in ``xgboost.cv``.
    """
    try:
        from xgboost.callback import TrainingCallback
    except ImportError:
        raise UsageError("faro_for_xgboost needs xgboost: pip install xgboost") from None
    faro = _Faro(baselines, alpha, standardization, every, query_weights)

    class FaroWeights(TrainingCallback):
        def before_training(self, model: Any) -> Any:
            if not hasattr(model, "predict"):
                raise UsageError("faro_for_xgboost cannot reweight the folds of xgboost.cv: train on each fold")
            if train_set.get_weight().size:
                raise UsageError(f"the DMatrix {_HAS_WEIGHTS}; give them to faro_for_xgboost as query_weights=")
            bounds = train_set.get_uint_info("group_ptr").astype(np.int64)
            self._training = faro.begun(train_set.get_label(), np.diff(bounds))
            return model

        def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:  # noqa: ARG002
            if epoch % every == 0:
                weights = self._training.weights(model.predict(train_set, output_margin=True))
                self._weights = weights / weights.mean()
            _weigh_next_update(
                model,
                give=self._give,
                take=lambda: train_set.set_info(weight=np.zeros(0)),
            )
            return False

        def _give(self, matrix: Any) -> None:
            if matrix is not train_set:
                raise UsageError("faro_for_xgboost was given another DMatrix than xgboost.train: give both the same")
            train_set.set_info(weight=self._weights)

    return [FaroWeights()]


#: What is wrong with data that have weights of their own.
_HAS_WEIGHTS = "has weights, which those of FARO would replace"


@dataclass(frozen=True, eq=False)
class _Faro:
    """The options, checked before training begins."""

    baselines: QueryBaselines
    alpha: float
    standardization: Standardization
    every: int
    query_weights: npt.ArrayLike | None

    def __post_init__(self) -> None:
        count = len(self.baselines.queries)
        self.weights(np.zeros(count))
        if not is_count(self.every):
            raise ValueError(f"every must be a whole number of at least 1, got {self.every!r}")
        if self.query_weights is not None:
            own = per_topic(self.query_weights, name="query_weights")
            if own.size != count or not np.all(own > 0):
                raise ValueError(f"query_weights must hold a weight above 0 for each of the {count} queries")

    def weights(self, ndcg: FloatArray) -> FloatArray:
        return faro_weights(ndcg, self.baselines, alpha=self.alpha, standardization=self.standardization)

    def begun(self, labels: npt.ArrayLike, group: npt.ArrayLike | None) -> _Training:
        """A training on these data, refused if they are not those of the baselines."""
        if group is None or np.size(group) == 0:
            raise UsageError(NO_GROUPS)
        queries = JudgedQueries(labels, group, k=self.baselines.k, gain=self.baselines.gain)
        self.baselines.check(queries)
        return _Training(self, queries)


@dataclass(frozen=True, eq=False)
class _Training:
    faro: _Faro
    queries: JudgedQueries

    def weights(self, scores: npt.ArrayLike) -> FloatArray:
        """From scores of documents, a weight for each query."""
        weights = self.faro.weights(self.queries.ndcg(scores))
        return weights if self.faro.query_weights is None else weights * np.asarray(self.faro.query_weights)


class _BeforeRound:
    """Gives the training queries their weights for the coming round."""

    before_iteration = True

    def __init__(self, faro: _Faro) -> None:
        self.order = 0
        self._faro = faro
        self._training: _Training | None = None
        self._rows: FloatArray = np.zeros(0)

    def __call__(self, env: CallbackEnv) -> None:
        booster: Any = env.model
        if hasattr(booster, "boosters"):
            raise UsageError("faro_for_lightgbm cannot reweight the folds of lightgbm.cv: train on each fold")
        dataset = booster.train_set
        rounds = env.iteration - env.begin_iteration
        if self._training is None or rounds == 0:
            if dataset.get_field("weight") is not None:
                raise UsageError(f"the Dataset {_HAS_WEIGHTS}; give them to faro_for_lightgbm as query_weights=")
            self._training = self._faro.begun(dataset.get_label(), dataset.get_group())
        if rounds % self._faro.every == 0:
            weights = self._training.weights(_training_scores(booster))
            self._rows = row_weights(weights, self._training.queries.group)
        objective = env.params.get("objective") or "regression"  # LightGBM's default
        _weigh_next_update(
            booster,
            give=lambda *_: self._give(booster, objective, begins=rounds == 0),
            take=lambda: _take(dataset),
        )

    def _give(self, booster: Any, objective: str, *, begins: bool) -> None:
        if objective == "none":
            # A callable asks the Dataset for weights. LightGBM itself must not learn of them: it would then give the
            # callable scores from a new array, which it does not fill, since it has been asked for them before.
            booster.train_set.weight = self._rows
            return
        _set_weight(booster.train_set, self._rows)
        if begins:
            # LightGBM's own objectives ask where the weights are only when they are initialised, so initialise this
            # one again. The weights stay in the same place from then on.
            booster.reset_parameter({"objective": objective})


def _weigh_next_update(booster: Any, *, give: Callable[..., None], take: Callable[[], None]) -> None:
    """Give the training data their weights for the next update of the booster alone.

    ``give`` gets what ``update`` gets by position: from XGBoost, the training set.
    No callback is called when a training ends in an exception, so taking weights away cannot be left to callbacks.
    """
    if "update" in vars(booster):
        raise UsageError("the callbacks of FARO are given twice: give callbacks= one set of them")
    update = booster.update

    def weighted(*given: Any, **named: Any) -> Any:
        del booster.update  # and the booster has its own again
        try:
            give(*given)
            return update(*given, **named)
        finally:
            take()

    booster.update = weighted


def _set_weight(dataset: Dataset, rows: FloatArray) -> None:
    dataset.set_weight(rows)
    if np.all(rows == 1):  # which set_weight takes for no weights, and does not pass on
        dataset.set_field("weight", rows)


def _take(dataset: Dataset) -> None:
    dataset.set_field("weight", None)
    dataset.set_weight(None)


def _training_scores(booster: Booster) -> FloatArray:
    """The model's present scores of the training documents, which LightGBM gives to feval only."""
    found: list[FloatArray] = []

    def keep(scores: FloatArray, _: Dataset) -> tuple[str, float, bool]:
        found.append(scores.copy())
        return "scores", 0.0, True

    booster.eval_train(feval=keep)
    return found[0]
