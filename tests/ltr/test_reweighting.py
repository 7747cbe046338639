"""Weights re-estimated between rounds: each round gives what training with its weights gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.ltr import TFARO, LambdaMART, faro_for_lightgbm, faro_for_xgboost
from pytest_riskguard.ltr.weights import faro_weights, row_weights
from tests.ltr.ltr_data import Array, Data, made
from tests.ltr.test_query_weights import CATBOOST, LIGHTGBM, XGBOOST

pytestmark = pytest.mark.slow

ROUNDS = 6
LAMBDARANK = {**LIGHTGBM, "objective": "lambdarank"}


@pytest.fixture(scope="module")
def lightgbm():
    return pytest.importorskip("lightgbm")


@pytest.fixture(scope="module")
def xgboost():
    return pytest.importorskip("xgboost")


def dataset(lightgbm: Any, data: Data, **more: Any) -> Any:
    return lightgbm.Dataset(data.features, data.labels, group=data.group, free_raw_data=False, **more)


# ---- LightGBM


@pytest.mark.parametrize(
    "params",
    [
        LAMBDARANK,
        {**LAMBDARANK, "lambdarank_truncation_level": 3, "lambdarank_norm": False, "sigmoid": 2.0},
        {**LAMBDARANK, "metric": "ndcg"},
    ],
    ids=["defaults", "options", "with a measure"],
)
@pytest.mark.parametrize("every", [1, 3])
def test_each_round_is_that_of_training_with_its_weights(lightgbm, params, every):
    data = made(5)
    callbacks = faro_for_lightgbm(data.baselines, alpha=5, every=every)
    booster = lightgbm.train(params, dataset(lightgbm, data), ROUNDS, callbacks=callbacks)
    scores, weights = np.zeros(data.labels.size), np.zeros(0)
    for iteration in range(ROUNDS):
        if iteration % every == 0:
            weights = faro_weights(data.judged.ndcg(scores), data.baselines, alpha=5)
        weighted = dataset(lightgbm, data, init_score=scores, weight=row_weights(weights, data.group))
        scores = scores + lightgbm.train(params, weighted, 1).predict(data.features)
    np.testing.assert_allclose(booster.predict(data.features), scores, rtol=0, atol=1e-12)
    plain = lightgbm.train(params, dataset(lightgbm, data), ROUNDS)
    assert np.abs(plain.predict(data.features) - scores).max() > 0.1


@pytest.mark.parametrize("norm", [True, False])
def test_weights_are_the_objective_in_every_round(lightgbm, norm):
    pytest.importorskip("numba")
    data = made(6)
    plain = LambdaMART(norm=norm, truncation_level=30)
    callbacks = faro_for_lightgbm(data.baselines, alpha=5)
    by_weights = lightgbm.train(
        {**LIGHTGBM, "objective": plain}, dataset(lightgbm, data), ROUNDS, callbacks=callbacks
    )
    faro = TFARO(data.baselines, 5, norm=norm, truncation_level=30)
    by_objective = lightgbm.train({**LIGHTGBM, "objective": faro}, dataset(lightgbm, data), ROUNDS)
    np.testing.assert_allclose(
        by_weights.predict(data.features), by_objective.predict(data.features), rtol=0, atol=1e-6
    )
    # LightGBM's own objective looks its sigmoid up in a table, so from the second round on it differs by more.
    options = {"lambdarank_norm": norm, "lambdarank_truncation_level": 30}
    callbacks = faro_for_lightgbm(data.baselines, alpha=5)
    native = lightgbm.train({**LAMBDARANK, **options}, dataset(lightgbm, data), ROUNDS, callbacks=callbacks)
    np.testing.assert_allclose(native.predict(data.features), by_objective.predict(data.features), rtol=0, atol=1e-3)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"boosting": "dart", "drop_rate": 0.5},
        {"data_sample_strategy": "goss"},
        {"bagging_fraction": 0.5, "bagging_freq": 1},
        {"objective": "rank_xendcg"},
        {"objective": None},
    ],
    ids=["plain", "dart", "goss", "bagging", "xendcg", "regression"],
)
def test_weights_that_stay_are_weights_of_the_dataset(lightgbm, more):
    """At alpha 0 only the user's own weights are left."""
    data, held = made(7), made(8)
    own = np.random.default_rng(7).uniform(0.5, 3, data.group.size)
    scores = np.random.default_rng(8).normal(size=data.labels.size)
    params = {**LAMBDARANK, "metric": "ndcg", "eval_at": [5], **more}

    def trained(callbacks: list[Any], **weight: Any) -> tuple[Any, Any]:
        train_set = dataset(lightgbm, data, init_score=scores, **weight)
        valid_set = dataset(lightgbm, held, reference=train_set)
        stop = [] if more.get("boosting") == "dart" else [lightgbm.early_stopping(2, verbose=False)]
        values: dict[str, Any] = {}
        booster = lightgbm.train(
            params, train_set, 30, [valid_set], callbacks=[*callbacks, *stop, lightgbm.record_evaluation(values)]
        )
        assert weight or train_set.get_field("weight") is None  # after a training that was stopped, too
        return booster, values

    callbacks = faro_for_lightgbm(data.baselines, alpha=0, query_weights=own)
    (one, found), (other, expected) = trained(callbacks), trained([], weight=row_weights(own, data.group))
    np.testing.assert_array_equal(one.predict(data.features), other.predict(data.features))
    assert one.best_iteration == other.best_iteration
    assert found == expected
    if not more:
        assert 0 < one.best_iteration < 30


def test_the_dataset_is_afterwards_as_it_was(lightgbm):
    data = made(9)
    train_set = dataset(lightgbm, data)
    before = lightgbm.train(LAMBDARANK, train_set, 3).predict(data.features)
    for callbacks in (faro_for_lightgbm(data.baselines, alpha=5), faro_for_lightgbm(data.baselines, alpha=0)):
        first = lightgbm.train(LAMBDARANK, train_set, 3, callbacks=callbacks).predict(data.features)
        again = lightgbm.train(LAMBDARANK, train_set, 3, callbacks=callbacks).predict(data.features)
        np.testing.assert_array_equal(first, again)
        assert train_set.get_field("weight") is None
        assert train_set.get_weight() is None
    np.testing.assert_array_equal(again, before)  # alpha 0
    assert np.abs(lightgbm.train(LAMBDARANK, train_set, 3).predict(data.features) - before).max() == 0


def interrupt(environment: Any) -> None:
    """A callback: somebody ends the training in its third round."""
    if environment.iteration == 2:
        raise KeyboardInterrupt


@pytest.mark.parametrize("callable_objective", [False, True], ids=["lambdarank", "LambdaMART"])
def test_a_training_that_is_interrupted_leaves_no_weights_on_the_dataset(lightgbm, callable_objective):
    data = made(20)
    params = {**LIGHTGBM, "objective": LambdaMART()} if callable_objective else LAMBDARANK
    train_set, callbacks = dataset(lightgbm, data), faro_for_lightgbm(data.baselines, alpha=5)
    fresh = [lightgbm.train(params, dataset(lightgbm, data), 3, callbacks=calls) for calls in ([], callbacks)]
    with pytest.raises(KeyboardInterrupt):
        lightgbm.train(params, train_set, 5, callbacks=[*callbacks, interrupt])
    assert train_set.get_field("weight") is None
    assert train_set.get_weight() is None
    again = [lightgbm.train(params, train_set, 3, callbacks=calls) for calls in ([], callbacks)]
    for found, expected in zip(again, fresh, strict=True):
        np.testing.assert_array_equal(found.predict(data.features), expected.predict(data.features))


def test_measures_on_the_training_set_do_not_see_the_weights(lightgbm):
    data = made(10)
    train_set = dataset(lightgbm, data)
    values: dict[str, Any] = {}
    booster = lightgbm.train(
        {**LAMBDARANK, "metric": "ndcg", "eval_at": [10]},
        train_set,
        ROUNDS,
        [train_set],
        callbacks=[*faro_for_lightgbm(data.baselines, alpha=5), lightgbm.record_evaluation(values)],
        keep_training_booster=True,
    )
    (measured,) = booster.eval_train()
    ndcg = np.where(data.judged.ideal(1) > 0, data.judged.ndcg(booster.predict(data.features)), 1)
    assert values["training"]["ndcg@10"][-1] == measured[2] == pytest.approx(ndcg.mean(), abs=2e-3)  # ties


@pytest.mark.parametrize("objective", ["lambdarank", LambdaMART()])
def test_a_ranker_and_a_continued_training_are_reweighted_too(lightgbm, objective):
    data, params = made(11), {**LIGHTGBM, "objective": objective}
    ranker = lightgbm.LGBMRanker(n_estimators=ROUNDS, **{k: v for k, v in params.items() if k != "metric"})
    callbacks = faro_for_lightgbm(data.baselines, alpha=5)
    ranker.fit(data.features, data.labels, group=data.group, callbacks=callbacks)
    whole = lightgbm.train(params, dataset(lightgbm, data), ROUNDS, callbacks=callbacks)
    np.testing.assert_array_equal(ranker.booster_.predict(data.features), whole.predict(data.features))
    first = lightgbm.train(params, dataset(lightgbm, data), 2, callbacks=callbacks)
    rest = lightgbm.train(params, dataset(lightgbm, data), ROUNDS - 2, init_model=first, callbacks=callbacks)
    np.testing.assert_allclose(rest.predict(data.features), whole.predict(data.features), rtol=0, atol=1e-9)


def test_what_lightgbm_cannot_reweight_is_refused(lightgbm):
    data, other = made(12), made(13)
    callbacks = faro_for_lightgbm(data.baselines, alpha=1)
    weighted = dataset(lightgbm, data, weight=np.full(data.labels.size, 2.0))
    with pytest.raises(UsageError, match=r"the Dataset has weights, .* faro_for_lightgbm as query_weights="):
        lightgbm.train(LAMBDARANK, weighted, 1, callbacks=callbacks)
    with pytest.raises(DataError, match="make baselines for these data"):
        lightgbm.train(LAMBDARANK, dataset(lightgbm, other), 1, callbacks=callbacks)
    with pytest.raises(UsageError, match=r"cannot reweight the folds of lightgbm\.cv"):
        lightgbm.cv(LAMBDARANK, dataset(lightgbm, data), 1, callbacks=callbacks, stratified=False)
    with pytest.raises(UsageError, match="have no groups"):
        lightgbm.train(
            {**LIGHTGBM, "objective": "regression"},
            lightgbm.Dataset(data.features, data.labels),
            1,
            callbacks=callbacks,
        )


# ---- XGBoost


@pytest.mark.parametrize("kind", ["DMatrix", "QuantileDMatrix"])
@pytest.mark.parametrize("every", [1, 2])
def test_each_round_of_xgboost_sees_its_weights(xgboost, kind, every):
    data = made(14, decimals=1)

    def matrix(of: str = "DMatrix", **more: Any) -> Any:
        return getattr(xgboost, of)(data.features, data.labels, group=data.group, **more)

    train_set, params = matrix(kind), {**XGBOOST, "lambda": 1}
    callbacks = faro_for_xgboost(train_set, data.baselines, alpha=5, every=every)
    booster = xgboost.train(params, train_set, ROUNDS, callbacks=callbacks)
    scores, weights = np.zeros(data.labels.size), np.zeros(0)
    for iteration in range(ROUNDS):
        if iteration % every == 0:
            weights = faro_weights(data.judged.ndcg(scores), data.baselines, alpha=5)
        given = matrix(weight=weights, base_margin=scores if iteration else None)
        scores = xgboost.train(params, given, 1).predict(given, output_margin=True)
    np.testing.assert_allclose(booster.predict(matrix(), output_margin=True), scores, rtol=0, atol=1e-5)
    plain = xgboost.train(params, matrix(), ROUNDS)
    assert np.abs(plain.predict(matrix(), output_margin=True) - scores).max() > 0.1
    assert train_set.get_weight().size == 0
    again = xgboost.train(params, train_set, ROUNDS, callbacks=callbacks)
    np.testing.assert_array_equal(again.predict(matrix()), booster.predict(matrix()))


def test_weights_of_the_user_are_multiplied_in_xgboost(xgboost):
    data = made(15, decimals=1)
    own = np.random.default_rng(15).uniform(0.5, 3, data.group.size)
    train_set = xgboost.DMatrix(data.features, data.labels, group=data.group)
    callbacks = faro_for_xgboost(train_set, data.baselines, alpha=0, query_weights=own)
    found = xgboost.train({**XGBOOST, "lambda": 1}, train_set, ROUNDS, callbacks=callbacks).predict(train_set)
    weighted = xgboost.DMatrix(data.features, data.labels, group=data.group, weight=own)
    expected = xgboost.train({**XGBOOST, "lambda": 1}, weighted, ROUNDS).predict(train_set)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    with pytest.raises(UsageError, match="the DMatrix has weights"):
        xgboost.train(XGBOOST, weighted, 1, callbacks=faro_for_xgboost(weighted, data.baselines, alpha=1))
    alone = xgboost.DMatrix(data.features, data.labels)
    with pytest.raises(UsageError, match="have no groups"):
        xgboost.train(
            {"objective": "reg:squarederror"},
            alone,
            1,
            callbacks=faro_for_xgboost(alone, data.baselines, alpha=1),
        )


def test_a_continued_training_of_xgboost_is_reweighted_too(xgboost):
    data = made(19, decimals=1)
    train_set = xgboost.DMatrix(data.features, data.labels, group=data.group)
    callbacks = faro_for_xgboost(train_set, data.baselines, alpha=5)
    whole = xgboost.train(XGBOOST, train_set, ROUNDS, callbacks=callbacks)
    first = xgboost.train(XGBOOST, train_set, 2, callbacks=callbacks)
    rest = xgboost.train(XGBOOST, train_set, ROUNDS - 2, xgb_model=first, callbacks=callbacks)
    np.testing.assert_allclose(rest.predict(train_set), whole.predict(train_set), rtol=0, atol=1e-5)
    with pytest.raises(UsageError, match=r"cannot reweight the folds of xgboost\.cv"):
        xgboost.cv(XGBOOST, train_set, 1, callbacks=callbacks)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": -1}, "alpha must be"),
        ({"alpha": 1, "every": 0}, "every must be a whole number of at least 1, got 0"),
        ({"alpha": 1, "every": 1.5}, "every must be a whole number of at least 1, got 1.5"),
    ],
)
def test_bad_options_are_refused_before_training(options, message):
    with pytest.raises(ValueError, match=message):
        faro_for_lightgbm(made(16).baselines, **options)


# ---- risk


def losses(data: Data, scores: Array) -> float:
    return float(np.maximum(0, data.baselines.scores[0] - data.judged.ndcg(scores)).mean())


def test_weights_lower_the_risk_of_training():
    """Mean loss against the baseline on the training queries, over several sets of data: less with weights."""
    catboost, risks = pytest.importorskip("catboost"), []
    for seed in range(8):
        data = made(seed, queries=60)
        pool = catboost.Pool(data.features, data.labels, group_id=data.query)
        models = [in_stages(catboost, pool, data, alpha=alpha, stages=5) for alpha in (0, 20)]
        risks.append([losses(data, model.predict(pool)) for model in models])
    plain, weighted = np.mean(risks, axis=0)
    assert weighted < plain


def in_stages(catboost: Any, pool: Any, data: Data, *, alpha: float, stages: int) -> Any:
    """As docs/reference/python.md says."""
    model = None
    params = {**CATBOOST, "loss_function": "PairLogit", "iterations": 3}
    for _ in range(stages):
        scores = np.zeros(data.labels.size) if model is None else model.predict(pool)
        weights = faro_weights(data.judged.ndcg(scores), data.baselines, alpha=alpha)
        pool.set_group_weight(row_weights(weights, data.group))
        model = catboost.CatBoost(params).fit(pool, init_model=model)
    return model
