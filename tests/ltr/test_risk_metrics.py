"""Risk measures during training: values of the risk kernels, for the right queries, and early stopping on them."""

import math
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.ltr import JudgedQueries, QueryBaselines, RiskMetrics
from pytest_riskguard.risk import georisk, trisk, urisk
from tests.ltr.ltr_data import Array, Data, made
from tests.ltr.test_query_weights import LIGHTGBM

LAMBDARANK = {**LIGHTGBM, "objective": "lambdarank"}
#: LightGBM 4.7 takes evaluation sets by new names, which 4.6 does not know.
OF_LIGHTGBM_4_6 = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
#: The same numbers of queries and documents: only labels tell these two sets apart.
TRAIN = made(1)
HELD = Data(np.random.default_rng(2).permutation(TRAIN.features), TRAIN.labels[::-1].copy(), TRAIN.group)
#: What RiskMetrics knows: both sets, the second first.
POOLS = [data.baselines_of(bm25=0, other=2) for data in (HELD, TRAIN)]


def expected(data: Data, scores: Array, alpha: float) -> dict[str, float]:
    model, baselines = data.judged.ndcg(scores), POOLS[data is TRAIN].scores
    differences = model - baselines.mean(axis=0)
    return {
        "trisk": trisk(differences, alpha=alpha).statistic,
        "urisk": urisk(differences, alpha=alpha),
        "georisk": georisk(np.vstack([baselines, model]), alpha=alpha)[-1],
        "ndcg": model.mean(),
    }


def stops_at(values: list[float], patience: int) -> int:
    """The round, counted from 1, after which ``patience`` rounds bring nothing better."""
    for last in range(len(values)):
        best = int(np.argmax(values[: last + 1]))
        if last - best >= patience:
            return best + 1
    raise AssertionError("the data never stop the training")


@OF_LIGHTGBM_4_6
@pytest.mark.slow
@pytest.mark.parametrize("first", ["trisk", "ndcg"])
def test_lightgbm_reports_the_values_of_the_risk_kernels_and_stops_on_the_first(first):
    lightgbm = pytest.importorskip("lightgbm")
    measures: Any = [first, *({"ndcg", "trisk", "urisk", "georisk"} - {first})]
    metrics, patience = RiskMetrics(POOLS, alpha=1, measures=measures), 3

    def trained(*callbacks: Any) -> Any:
        train_set = lightgbm.Dataset(TRAIN.features, TRAIN.labels, group=TRAIN.group)
        held = train_set.create_valid(HELD.features, HELD.labels, group=HELD.group)
        sets = [held, train_set]
        return lightgbm.train(LAMBDARANK, train_set, 60, sets, feval=metrics, callbacks=list(callbacks))

    recorded: dict[str, Any] = {}
    booster = trained(lightgbm.record_evaluation(recorded))
    for name, data in (("valid_0", HELD), ("training", TRAIN)):
        assert list(recorded[name]) == measures  # and nothing of LightGBM's own
        for place in range(4):
            found = {measure: values[place] for measure, values in recorded[name].items()}
            scores = booster.predict(data.features, num_iteration=place + 1)
            assert found == pytest.approx(expected(data, scores, 1), abs=1e-12)
    stop = [lightgbm.early_stopping(patience, first_metric_only=True, verbose=False)]
    ranker = lightgbm.LGBMRanker(n_estimators=60, **LIGHTGBM).fit(
        TRAIN.features,
        TRAIN.labels,
        group=TRAIN.group,
        eval_set=[(HELD.features, HELD.labels)],
        eval_group=[HELD.group],
        eval_metric=metrics,
        callbacks=stop,
    )
    assert ranker.best_iteration_ == stops_at(recorded["valid_0"][first], patience)


@pytest.mark.slow
def test_xgboost_reports_them_and_stops_on_them():
    xgboost = pytest.importorskip("xgboost")
    settings = {"objective": "rank:ndcg", "max_depth": 3, "lambda": 0, "min_child_weight": 0, "nthread": 1}
    sets = {"train": TRAIN, "held": HELD}
    matrices = {name: xgboost.DMatrix(data.features, data.labels, group=data.group) for name, data in sets.items()}

    def trained(*callbacks: Any) -> tuple[Any, Any]:
        recorded: dict[str, Any] = {}
        booster = xgboost.train(
            {**settings, "disable_default_eval_metric": True},
            matrices["train"],
            40,
            evals=[(matrix, name) for name, matrix in matrices.items()],
            custom_metric=RiskMetrics(POOLS, alpha=1),
            evals_result=recorded,
            verbose_eval=False,
            callbacks=list(callbacks),
        )
        return booster, recorded

    booster, recorded = trained()
    for name, data in sets.items():
        found = {measure: values[-1] for measure, values in recorded[name].items()}
        scores = booster.predict(matrices[name], output_margin=True)
        assert found == pytest.approx(expected(data, scores, 1), abs=1e-6)  # written with few digits
    stop = xgboost.callback.EarlyStopping(rounds=3, metric_name="trisk", data_name="held", maximize=True)
    stopped, _ = trained(stop)
    assert stopped.best_iteration + 1 == stops_at(recorded["held"]["trisk"], 3)


def test_all_measures_are_those_of_the_kernels_and_lightgbm_is_told_that_higher_is_better():
    scores, metrics = HELD.features[:, 1], RiskMetrics(POOLS)
    found = metrics.values(HELD.labels, scores, HELD.group)
    assert [name for name, _ in found] == ["trisk", "urisk", "georisk", "ndcg"]
    assert dict(found) == pytest.approx(expected(HELD, scores, 1), abs=1e-12)
    assert metrics(HELD.labels, scores, None, HELD.group) == [(*each, True) for each in found]


def test_trisk_is_zero_where_nothing_changed_and_infinite_where_all_changed_alike():
    data, better, worse = JudgedQueries([0, 1, 0, 1], [2, 2]), [0.0, 1, 0, 1], [1.0, 0, 1, 0]
    for baseline, model, statistic in ((better, better, 0.0), (better, worse, -math.inf), (worse, better, math.inf)):
        metrics = RiskMetrics(QueryBaselines.from_document_scores(data, {"b": baseline}), measures=["trisk"])
        assert metrics.values(data.labels, model, data.group) == [("trisk", statistic)]


@pytest.mark.parametrize(
    ("labels", "group"), [(HELD.labels, HELD.group), (TRAIN.labels, np.roll(TRAIN.group, 1)), ([1, 0], [2])]
)
def test_an_evaluation_set_without_baselines_of_its_own_is_an_error(labels, group):
    with pytest.raises(DataError, match=rf"of {len(group)} quer(y|ies) and {len(labels)} documents has no baselines"):
        RiskMetrics(POOLS[1]).values(labels, labels, group)


def test_folds_single_queries_and_data_without_groups_are_refused():
    lightgbm = pytest.importorskip("lightgbm")
    metrics = RiskMetrics(POOLS)
    whole = lightgbm.Dataset(TRAIN.features, TRAIN.labels, group=TRAIN.group)
    with pytest.raises(UsageError, match=r"instead of lightgbm\.cv, train on each fold separately"):
        lightgbm.cv(LAMBDARANK, whole, 2, nfold=3, stratified=False, feval=metrics)
    with pytest.raises(UsageError, match="all queries of a set at once, which XGBRanker does not give"):
        metrics(TRAIN.labels, TRAIN.labels)
    with pytest.raises(UsageError, match="the data have no groups: give group="):
        metrics(TRAIN.labels, lightgbm.Dataset(TRAIN.features, TRAIN.labels).construct())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baselines": []}, "at least one evaluation set, got none"),
        ({"alpha": -1}, "alpha must be finite and at least 0, got -1"),
        ({"measures": []}, "one or more of trisk, urisk, georisk, ndcg, got none"),
        ({"measures": ["ndcg", "map"]}, "got ndcg, map"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        RiskMetrics(**{"baselines": POOLS, **options})
