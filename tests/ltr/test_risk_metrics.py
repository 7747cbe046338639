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
#: LightGBM 4.7 takes evaluation sets by new names, which 4.6 does not know.
OF_LIGHTGBM_4_6 = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
#: The same numbers of queries and documents: only labels tell these two sets apart.
TRAIN, HELD = made(1), made(1)
HELD = Data(np.random.default_rng(2).permutation(HELD.features), HELD.labels[::-1].copy(), HELD.group)


def pool(data: Data) -> QueryBaselines:
    return data.baselines_of(bm25=data.features[:, 0], other=data.features[:, 2])


def expected(data: Data, scores: Array, alpha: float) -> dict[str, float]:
    model, baselines = data.judged.ndcg(scores), pool(data).scores
    differences = model - baselines.mean(axis=0)
    return {
        "trisk": trisk(differences, alpha=alpha).statistic,
        "urisk": urisk(differences, alpha=alpha),
        "georisk": georisk(np.vstack([baselines, model]), alpha=alpha)[-1],
        "ndcg": model.mean(),
    }


@pytest.mark.parametrize("alpha", [0.0, 5.0])
def test_lightgbm_reports_the_values_of_the_risk_kernels_after_each_round(alpha):
    lightgbm = pytest.importorskip("lightgbm")
    train_set = lightgbm.Dataset(TRAIN.features, TRAIN.labels, group=TRAIN.group)
    held = train_set.create_valid(HELD.features, HELD.labels, group=HELD.group)
    recorded: dict[str, Any] = {}
    booster = lightgbm.train(
        LAMBDARANK,
        train_set,
        4,
        [train_set, held],
        ["train", "held"],
        feval=RiskMetrics([pool(HELD), pool(TRAIN)], alpha=alpha),
        callbacks=[lightgbm.record_evaluation(recorded)],
    )
    for name, data in (("train", TRAIN), ("held", HELD)):
        for place in range(4):
            found = {measure: values[place] for measure, values in recorded[name].items()}
            scores = booster.predict(data.features, num_iteration=place + 1)
            assert found == pytest.approx(expected(data, scores, alpha), abs=1e-12)


def stops_at(values: list[float], patience: int) -> int:
    """The round, counted from 1, after which ``patience`` rounds bring nothing better."""
    for last in range(len(values)):
        best = int(np.argmax(values[: last + 1]))
        if last - best >= patience:
            return best + 1
    raise AssertionError("the data never stop the training")


@OF_LIGHTGBM_4_6
@pytest.mark.parametrize("first", ["trisk", "ndcg"])
def test_training_stops_early_on_the_first_measure(first):
    lightgbm = pytest.importorskip("lightgbm")
    measures: Any = [first, *({"ndcg", "trisk"} - {first})]
    metrics, patience = RiskMetrics(pool(HELD), alpha=1, measures=measures), 3

    def trained(*callbacks: Any) -> Any:
        train_set = lightgbm.Dataset(TRAIN.features, TRAIN.labels, group=TRAIN.group)
        valid_sets = [train_set.create_valid(HELD.features, HELD.labels, group=HELD.group)]
        return lightgbm.train(LAMBDARANK, train_set, 60, valid_sets, feval=metrics, callbacks=list(callbacks))

    recorded: dict[str, Any] = {}
    trained(lightgbm.record_evaluation(recorded))
    assert list(recorded["valid_0"]) == measures  # and nothing of LightGBM's own
    stop = [lightgbm.early_stopping(patience, first_metric_only=True, verbose=False)]
    stopped = trained(*stop)
    assert stopped.best_iteration == stops_at(recorded["valid_0"][first], patience)
    ranker = lightgbm.LGBMRanker(n_estimators=60, **LIGHTGBM).fit(
        TRAIN.features,
        TRAIN.labels,
        group=TRAIN.group,
        eval_set=[(HELD.features, HELD.labels)],
        eval_group=[HELD.group],
        eval_metric=metrics,
        callbacks=stop,
    )
    assert ranker.best_iteration_ == stopped.best_iteration


@pytest.mark.slow
def test_xgboost_reports_them_and_stops_on_them():
    xgboost = pytest.importorskip("xgboost")
    sets = {"train": TRAIN, "held": HELD}
    matrices = {name: xgboost.DMatrix(data.features, data.labels, group=data.group) for name, data in sets.items()}

    def trained(*callbacks: Any) -> tuple[Any, Any]:
        recorded: dict[str, Any] = {}
        booster = xgboost.train(
            {**XGBOOST, "disable_default_eval_metric": True},
            matrices["train"],
            40,
            evals=[(matrix, name) for name, matrix in matrices.items()],
            custom_metric=RiskMetrics([pool(TRAIN), pool(HELD)], alpha=1),
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


def test_trisk_is_zero_where_nothing_changed_and_infinite_where_all_changed_alike():
    labels, better, worse = np.array([0, 1, 0, 1]), np.array([0.0, 1, 0, 1]), np.array([1.0, 0, 1, 0])
    for baseline, model, statistic in ((better, better, 0.0), (better, worse, -math.inf), (worse, better, math.inf)):
        baselines = QueryBaselines.from_document_scores(labels, [2, 2], {"b": baseline})
        assert RiskMetrics(baselines, measures=["trisk"]).values(labels, model, [2, 2]) == [("trisk", statistic)]


def test_ndcg_is_that_of_the_baselines():
    measure: Any = {"k": 2, "gain": "linear"}
    baselines = QueryBaselines.from_document_scores(TRAIN.labels, TRAIN.group, {"b": TRAIN.labels}, **measure)
    scores = TRAIN.features[:, 2]
    ((_, found),) = RiskMetrics(baselines, measures=["ndcg"]).values(TRAIN.labels, scores, TRAIN.group)
    assert found == pytest.approx(JudgedQueries(TRAIN.labels, TRAIN.group, **measure).ndcg(scores).mean())


def test_an_evaluation_set_without_baselines_of_its_own_is_an_error():
    other, moved = made(4, queries=7), np.roll(TRAIN.group, 1)
    known = pool(TRAIN)
    anyones = QueryBaselines(("b",), known.queries, known.scores[:1])
    for baselines, data, error, message in (
        ([known], other, DataError, r"of 7 queries and \d+ documents has no baselines: the data have 7 queries, the"),
        ([known], HELD, DataError, r"has no baselines: query \d+ has other labels in the data than those that"),
        (
            [known],
            Data(TRAIN.features, TRAIN.labels, moved),
            DataError,
            r"query \d+ has \d+ documents in the data, but",
        ),
        ([anyones, anyones], HELD, DataError, "could be that of 2 baselines: make them with labels"),
        ([known, known], TRAIN, DataError, "could be that of 2 baselines"),
        ([known], Data(TRAIN.features, TRAIN.labels, np.zeros(0, int)), UsageError, "the data have no groups"),
    ):
        with pytest.raises(error, match=message):
            RiskMetrics(baselines).values(data.labels, data.labels, data.group)
    rows = TRAIN.labels, TRAIN.features[:, 1], TRAIN.group
    assert RiskMetrics([anyones, known]).values(*rows) == RiskMetrics(known).values(
        *rows
    )  # labels tell whose they are


def test_folds_and_single_queries_are_refused():
    lightgbm = pytest.importorskip("lightgbm")
    whole = lightgbm.Dataset(TRAIN.features, TRAIN.labels, group=TRAIN.group)
    with pytest.raises(UsageError, match=r"instead of lightgbm\.cv, train on each fold separately"):
        lightgbm.cv(LAMBDARANK, whole, 2, nfold=3, stratified=False, feval=RiskMetrics(pool(TRAIN)))
    with pytest.raises(UsageError, match="all queries of a set at once, which XGBRanker does not give"):
        RiskMetrics(pool(TRAIN))(TRAIN.labels, TRAIN.labels)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baselines": []}, "at least one evaluation set, got none"),
        ({"alpha": -1}, "alpha must be finite and at least 0, got -1"),
        ({"measures": []}, "one or more of trisk, urisk, georisk, ndcg, each only once, got none"),
        ({"measures": ["ndcg", "map"]}, "got ndcg, map"),
        ({"measures": ["ndcg", "ndcg"]}, "got ndcg, ndcg"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        RiskMetrics(**{"baselines": pool(TRAIN), **options})
