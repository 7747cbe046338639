"""T-FARO as query weights: against its objective, and what each ranker makes of weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.ltr import TFARO, QueryBaselines
from pytest_riskguard.ltr.weights import adaptive_alpha, faro_weights, row_weights
from tests.ltr.ltr_data import Array, Data, made

UNIT = st.floats(0, 1)
QUIET: dict[str, Any] = {"verbosity": -1, "num_threads": 1, "deterministic": True, "force_row_wise": True}
LIGHTGBM: dict[str, Any] = {"num_leaves": 7, "min_data_in_leaf": 5, "learning_rate": 0.3, "metric": "None", **QUIET}
#: Without regularisation only ratios of weights count; features have few values, so bins do not depend on weights.
XGBOOST: dict[str, Any] = {"objective": "rank:ndcg", "max_depth": 3, "lambda": 0, "min_child_weight": 0, "nthread": 1}


@given(st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=20), st.sampled_from([0.0, 1.0, 5.0]))
def test_weights_are_one_more_than_alpha_of_each_query(pairs, alpha):
    scores, baseline = (np.array(column) for column in zip(*pairs, strict=True))
    baselines = QueryBaselines(("b",), tuple(str(place) for place in range(len(pairs))), baseline[None, :])
    for standardization in ("deviation", "error"):
        weights = faro_weights(scores, baselines, alpha=alpha, standardization=standardization)
        assert (
            weights.tolist()
            == (1 + adaptive_alpha(scores, baseline, alpha=alpha, standardization=standardization)).tolist()
        )
        assert np.all((weights >= 1) & (weights <= 1 + alpha))


def test_only_one_baseline_of_the_same_queries_is_taken():
    two = QueryBaselines(("a", "b"), ("q1", "q2"), np.array([[0.1, 0.2], [0.5, 0.4]]))
    with pytest.raises(ValueError, match=r"expected one baseline, got 2; baselines.mean\(\) makes one of them"):
        faro_weights([0.1, 0.2], two, alpha=1)
    assert faro_weights([0.3, 0.3], two.mean(), alpha=1).tolist() == [1.5, 1.5]
    with pytest.raises(ValueError, match="must hold the same queries, got 3 and 2"):
        faro_weights([0.1, 0.2, 0.3], two.mean(), alpha=1)


def test_rows_have_the_weight_of_their_query():
    assert row_weights([1.5, 2.0, 1.0], [2, 1, 3]).tolist() == [1.5, 1.5, 2.0, 1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="expected a weight for each of the 3 queries of group, got 2"):
        row_weights([1.0, 2.0], [1, 1, 1])
    with pytest.raises(ValueError, match=r"group must hold .* got -1 at place 1"):
        row_weights([1.0, 2.0], [1, -1])


@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("truncation_level", [3, 30])
@pytest.mark.parametrize("standardization", ["deviation", "error"])
def test_lambdarank_with_weights_learns_what_tfaro_learns(norm, truncation_level, standardization):
    lightgbm = pytest.importorskip("lightgbm")
    pytest.importorskip("numba")
    data = made(1)
    weights = faro_weights(
        data.judged.ndcg(np.zeros(data.labels.size)), data.baselines, alpha=5, standardization=standardization
    )
    assert weights.max() > 1.5 * weights.min()
    options = {"lambdarank_norm": norm, "lambdarank_truncation_level": truncation_level}
    rows = row_weights(weights, data.group)
    by_weights = one_round(lightgbm, data, {**LIGHTGBM, "objective": "lambdarank", **options}, weight=rows)
    objective = TFARO(
        data.baselines, 5, standardization=standardization, norm=norm, truncation_level=truncation_level
    )
    by_objective = one_round(lightgbm, data, {**LIGHTGBM, "objective": objective})
    np.testing.assert_allclose(by_weights, by_objective, rtol=0, atol=1e-6)
    plain = one_round(lightgbm, data, {**LIGHTGBM, "objective": "lambdarank", **options})
    assert np.abs(by_weights - plain).max() > 1e-3


def one_round(lightgbm: Any, data: Data, params: dict[str, Any], **more: Any) -> Array:
    dataset = lightgbm.Dataset(data.features, data.labels, group=data.group, **more)
    booster = lightgbm.train(params, dataset, num_boost_round=1)
    predicted: Array = booster.predict(data.features, raw_score=True)
    return predicted
