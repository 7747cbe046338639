"""Whatever learns from baselines, or measures against them, computes nDCG as they do: their cutoff, their gains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_riskguard.errors import DataError
from pytest_riskguard.ltr import UCRO, JudgedQueries, QueryBaselines, RiskMetrics, faro_for_lightgbm, faro_for_xgboost
from pytest_riskguard.ltr.weights import faro_weights, row_weights
from tests.ltr.ltr_data import Data, made
from tests.ltr.test_query_weights import LIGHTGBM, XGBOOST

DATA = made(21, decimals=1)
MEASURE: dict[str, Any] = {"k": 2, "gain": "linear"}
JUDGED = JudgedQueries(DATA.labels, DATA.group, **MEASURE)


def baselines(data: Data = DATA) -> QueryBaselines:
    return QueryBaselines.from_document_scores(data.labels, data.group, {"bm25": data.features[:, 0]}, **MEASURE)


def first_weights() -> Any:
    """Those of FARO before the first round, which are not those of the default measure."""
    weights = faro_weights(JUDGED.ndcg(np.zeros(DATA.labels.size)), baselines(), alpha=5)
    others = faro_weights(DATA.judged.ndcg(np.zeros(DATA.labels.size)), baselines(), alpha=5)
    assert np.abs(weights - others).max() > 0.1
    return weights


@pytest.mark.slow
def test_objectives_do():
    pytest.importorskip("numba")
    scores = DATA.features[:, 2]
    known = UCRO(baselines(), 3).gradients(DATA.labels, scores, DATA.group)
    linear = QueryBaselines(("b",), baselines().queries, baselines().scores, **MEASURE)
    others = [
        UCRO(QueryBaselines(("b",), linear.queries, linear.scores, **other), 3)
        for other in (MEASURE, {**MEASURE, "k": 3}, {**MEASURE, "gain": "exponential"})
    ]
    same = [np.array_equal(known[0], other.gradients(DATA.labels, scores, DATA.group)[0]) for other in others]
    assert same == [True, False, False]


def test_metrics_do():
    scores = DATA.features[:, 2]
    ((_, found),) = RiskMetrics(baselines(), measures=["ndcg"]).values(DATA.labels, scores, DATA.group)
    assert found == pytest.approx(JUDGED.ndcg(scores).mean())
    large = QueryBaselines.from_document_scores([40, 0, 50], [3], {"b": [1, 2, 3]}, gain="linear")
    with pytest.raises(DataError, match="has no baselines: query 1 has other labels in the data"):
        RiskMetrics(large).values([40, 50, 0], [1, 2, 3], [3])


def test_callbacks_of_lightgbm_do():
    lightgbm = pytest.importorskip("lightgbm")
    params = {**LIGHTGBM, "objective": "lambdarank"}

    def trained(weight: Any = None, **more: Any) -> Any:
        data = lightgbm.Dataset(DATA.features, DATA.labels, group=DATA.group, weight=weight)
        return lightgbm.train(params, data, 1, **more).predict(DATA.features)

    found = trained(callbacks=faro_for_lightgbm(baselines(), alpha=5))
    np.testing.assert_array_equal(found, trained(row_weights(first_weights(), DATA.group)))


@pytest.mark.slow
def test_callbacks_of_xgboost_do():
    xgboost = pytest.importorskip("xgboost")
    train_set = xgboost.DMatrix(DATA.features, DATA.labels, group=DATA.group)

    def trained(matrix: Any, rounds: int, **more: Any) -> Any:
        return xgboost.train(XGBOOST, matrix, rounds, **more).predict(train_set, output_margin=True)

    weighted = xgboost.DMatrix(DATA.features, DATA.labels, group=DATA.group, weight=first_weights())
    found = trained(train_set, 1, callbacks=faro_for_xgboost(train_set, baselines(), alpha=5))
    np.testing.assert_allclose(found, trained(weighted, 1), rtol=0, atol=1e-5)
    # and weights are estimated for every round where nothing else is asked for
    by_default = faro_for_xgboost(train_set, baselines(), alpha=5)
    each, second = (faro_for_xgboost(train_set, baselines(), alpha=5, every=every) for every in (1, 2))
    found, expected, other = (trained(train_set, 4, callbacks=calls) for calls in (by_default, each, second))
    np.testing.assert_array_equal(found, expected)
    assert np.abs(found - other).max() > 1e-3
