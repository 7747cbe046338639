"""FARO's weights, re-estimated between the rounds of training: callbacks for LightGBM and XGBoost.

CatBoost's callbacks cannot change weights; training there continues in stages, with ``init_model``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.errors import UsageError
from pytest_riskguard.ltr.baselines import QueryBaselines, check_baselines
from pytest_riskguard.ltr.judged_queries import JudgedQueries, is_whole
from pytest_riskguard.ltr.lightgbm_data import NO_GROUPS
from pytest_riskguard.ltr.query_weights import faro_weights, row_weights
from pytest_riskguard.ltr.risk_levels import Standardization
from pytest_riskguard.risk.checks import FloatArray, per_topic

if TYPE_CHECKING:
    from lightgbm import Booster, Dataset
    from lightgbm.callback import CallbackEnv
    from xgboost import DMatrix
    from xgboost.callback import TrainingCallback


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
        check_baselines(self.baselines)
        count = len(self.baselines.queries)
        self.weights(np.zeros(count))
        if not is_whole(self.every):
            raise ValueError(f"every must be a whole number, got {self.every!r}")
        if self.every < 1:
            raise ValueError(f"every must be at least 1, got {self.every!r}")
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
