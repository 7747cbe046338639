"""Risk measures during training: values of the risk kernels, for the right queries, and early stopping on them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.ltr import JudgedQueries, QueryBaselines, RiskMetrics
from pytest_riskguard.risk import georisk, trisk, urisk
from tests.ltr.ltr_data import Array, Data, made
from tests.ltr.test_query_weights import LIGHTGBM, XGBOOST

LAMBDARANK = {**LIGHTGBM, "objective": "lambdarank"}
ROUNDS = 4
#: LightGBM 4.7 takes evaluation sets by new names, which 4.6 does not know.
OF_LIGHTGBM_4_6 = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
#: The same numbers of queries and documents: only labels tell these two sets apart.
TRAIN, HELD = made(1), made(1)
HELD = Data(np.random.default_rng(2).permutation(HELD.features), HELD.labels[::-1].copy(), HELD.group)


@pytest.fixture(scope="module")
def lightgbm():
    return pytest.importorskip("lightgbm")


def pool(data: Data) -> QueryBaselines:
    return data.baselines_of(bm25=data.features[:, 0], other=data.features[:, 2])


def expected(data: Data, scores: Array, baselines: QueryBaselines, alpha: float) -> dict[str, float]:
    model = data.judged.ndcg(scores)
    differences = model - baselines.scores.mean(axis=0)
    return {
        "trisk": trisk(differences, alpha=alpha).statistic,
        "urisk": urisk(differences, alpha=alpha),
        "georisk": georisk(np.vstack([baselines.scores, model]), alpha=alpha)[-1],
        "ndcg": model.mean(),
    }


def dataset(lightgbm: Any, data: Data, **more: Any) -> Any:
    return lightgbm.Dataset(data.features, data.labels, group=data.group, **more)


def agree(recorded: dict[str, list[float]], data: Data, scores_after: Any, baselines: QueryBaselines, alpha: float):
    assert list(recorded) == ["trisk", "urisk", "georisk", "ndcg"]
    for iteration in range(ROUNDS):
        found = {name: values[iteration] for name, values in recorded.items()}
        assert found == pytest.approx(expected(data, scores_after(iteration + 1), baselines, alpha), abs=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 5.0])
@pytest.mark.parametrize("of", [lambda data: data.baselines, pool], ids=["one baseline", "a pool"])
def test_values_are_those_of_the_risk_kernels_after_each_round(lightgbm, alpha, of):
    train_set = dataset(lightgbm, TRAIN)
    recorded: dict[str, Any] = {}
    metrics = RiskMetrics([of(HELD), of(TRAIN)], alpha=alpha)
    booster = lightgbm.train(
        LAMBDARANK,
        train_set,
        ROUNDS,
        [train_set, dataset(lightgbm, HELD, reference=train_set)],
        ["train", "held"],
        feval=metrics,
        callbacks=[lightgbm.record_evaluation(recorded)],
    )
    for name, data in (("train", TRAIN), ("held", HELD)):
        agree(
            recorded[name],
            data,
            lambda n, data=data: booster.predict(data.features, num_iteration=n),
            of(data),
            alpha,
        )


def test_each_fold_has_the_baselines_of_its_queries(lightgbm):
    whole = dataset(lightgbm, TRAIN, free_raw_data=False)
    found = lightgbm.cv(
        LAMBDARANK,
        whole,
        ROUNDS,
        nfold=3,
        stratified=False,
        feval=RiskMetrics(pool(TRAIN), alpha=1),
        eval_train_metric=True,
        return_cvbooster=True,
    )
    folds: dict[str, list[float]] = {"train": [], "valid": []}
    for booster in found["cvbooster"].boosters:
        for name, part in zip(folds, booster.valid_sets, strict=True):
            places = np.unique(TRAIN.query[part.used_indices])
            rows = np.isin(TRAIN.query, places)
            judged = JudgedQueries(TRAIN.labels[rows], TRAIN.group[places])
            model = judged.ndcg(booster.predict(TRAIN.features[rows]))
            baselines = pool(TRAIN).scores[:, places]
            folds[name].append(urisk(model - baselines.mean(axis=0), alpha=1))
    for name, values in folds.items():
        assert len(values) == 3
        assert found[f"{name} urisk-mean"][-1] == pytest.approx(np.mean(values), abs=1e-12)


def stops_at(values: list[float], patience: int) -> int:
    """The round, counted from 1, after which ``patience`` rounds bring nothing better."""
    for last in range(len(values)):
        best = int(np.argmax(values[: last + 1]))
        if last - best >= patience:
            return best + 1
    raise AssertionError("the data never stop the training")


@OF_LIGHTGBM_4_6
@pytest.mark.parametrize("first", ["trisk", "georisk", "urisk", "ndcg"])
def test_training_stops_early_on_the_first_measure(lightgbm, first):
    others = [measure for measure in ("ndcg", "trisk", "urisk", "georisk") if measure != first]
    measures: Any = [first, *others]
    metrics, patience = RiskMetrics(pool(HELD), alpha=1, measures=measures), 3

    def trained(*callbacks: Any) -> Any:
        train_set = dataset(lightgbm, TRAIN)
        valid_sets = [dataset(lightgbm, HELD, reference=train_set)]
        return lightgbm.train(LAMBDARANK, train_set, 60, valid_sets, feval=metrics, callbacks=list(callbacks))

    recorded: dict[str, Any] = {}
    trained(lightgbm.record_evaluation(recorded))
    assert list(recorded["valid_0"]) == measures  # and nothing of LightGBM's own
    stopped = trained(lightgbm.early_stopping(patience, first_metric_only=True, verbose=False))
    assert stopped.best_iteration == stops_at(recorded["valid_0"][first], patience)

    ranker = lightgbm.LGBMRanker(n_estimators=60, **LIGHTGBM).fit(
        TRAIN.features,
        TRAIN.labels,
        group=TRAIN.group,
        eval_set=[(HELD.features, HELD.labels)],
        eval_group=[HELD.group],
        eval_metric=metrics,
        callbacks=[lightgbm.early_stopping(patience, first_metric_only=True, verbose=False)],
    )
    assert ranker.best_iteration_ == stopped.best_iteration


@pytest.mark.slow
def test_xgboost_reports_them_and_stops_on_them():
    xgboost = pytest.importorskip("xgboost")
    matrices = {
        name: xgboost.DMatrix(data.features, data.labels, group=data.group)
        for name, data in (("train", TRAIN), ("held", HELD))
    }
    metrics = RiskMetrics([pool(TRAIN), pool(HELD)], alpha=1)

    def trained(rounds: int, *callbacks: Any) -> tuple[Any, Any]:
        recorded: dict[str, Any] = {}
        booster = xgboost.train(
            {**XGBOOST, "disable_default_eval_metric": True},
            matrices["train"],
            rounds,
            evals=[(matrix, name) for name, matrix in matrices.items()],
            custom_metric=metrics,
            evals_result=recorded,
            verbose_eval=False,
            callbacks=list(callbacks),
        )
        return booster, recorded

    booster, recorded = trained(40)
    for name, data in (("train", TRAIN), ("held", HELD)):
        scores = booster.predict(matrices[name], output_margin=True)
        found = {measure: values[-1] for measure, values in recorded[name].items()}
        assert found == pytest.approx(expected(data, scores, pool(data), 1), abs=1e-6)  # written with few digits
    stop = xgboost.callback.EarlyStopping(rounds=3, metric_name="trisk", data_name="held", maximize=True)
    stopped, _ = trained(40, stop)
    assert stopped.best_iteration + 1 == stops_at(recorded["held"]["trisk"], 3)


def test_trisk_is_zero_where_nothing_changed_and_infinite_where_all_changed_alike():
    judged = JudgedQueries([0, 1, 0, 1], [2, 2])
    labels, better, worse = judged.labels, np.array([0.0, 1, 0, 1]), np.array([1.0, 0, 1, 0])
    for baseline, model, statistic in ((better, better, 0.0), (better, worse, -math.inf), (worse, better, math.inf)):
        baselines = QueryBaselines.from_document_scores(labels, [2, 2], {"b": baseline})
        assert RiskMetrics(baselines, measures=["trisk"]).values(labels, model, [2, 2]) == [("trisk", statistic)]


def test_an_evaluation_set_without_baselines_is_an_error(lightgbm):
    other = made(4, queries=7)
    message = r"of 7 queries and \d+ documents has no baselines: expected one .* with 40 queries;"
    unknown = QueryBaselines(("b",), tuple("abcdefg"), np.zeros((1, 7)), group=other.group[::-1].copy())
    with pytest.raises(DataError, match=message):
        RiskMetrics(pool(TRAIN)).values(other.labels, other.labels, other.group)
    with pytest.raises(
        DataError, match=r"7 queries and .* has no baselines: query a has 1?[0-9] documents in the data"
    ):
        RiskMetrics([pool(TRAIN), unknown]).values(other.labels, other.labels, other.group)
    with pytest.raises(
        DataError, match=r"of 1 query and 3 documents has no baselines: expected one .* with 40 queries;"
    ):
        RiskMetrics(pool(TRAIN)).values([1, 0, 0], [1, 2, 3], [3], fold=(np.arange(3), np.array([3, 3])))
    # Where only labels differ, the baselines of the same groups are those to name.
    moved = np.roll(TRAIN.group, 1)
    others = QueryBaselines.from_document_scores(TRAIN.labels, moved, {"b": TRAIN.labels})
    with pytest.raises(DataError, match=r"has no baselines: query \d+ has other labels in the data than those that"):
        RiskMetrics([others, pool(TRAIN)]).values(HELD.labels, HELD.labels, HELD.group)
    train_set = lightgbm.Dataset(TRAIN.features, TRAIN.labels)
    with pytest.raises(UsageError, match="an evaluation set has no groups"):
        lightgbm.train(
            {**LIGHTGBM, "objective": "regression"}, train_set, 1, [train_set], feval=RiskMetrics(pool(TRAIN))
        )


def test_folds_with_the_same_labels_keep_their_own_baselines():
    labels, group = np.array([1, 0, 1, 0]), np.array([2, 2])
    baselines = QueryBaselines.from_document_scores(labels, group, {"b": [1, 0, 0, 1]})
    metrics = RiskMetrics(baselines, measures=["urisk"])
    for rows, risk in (([0, 1], 0.0), ([2, 3], 1 - 1 / np.log2(3)), ([0, 1], 0.0)):
        fold = np.array(rows), group
        ((_, found),) = metrics.values([1, 0], [1, 0], [2], fold=fold)
        assert found == pytest.approx(risk)
