"""alpha' of each query as the papers write it, and T-FARO as query weights: against its objective."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_riskguard.ltr import TFARO
from pytest_riskguard.ltr.objectives import adaptive_alpha, faro_weights
from tests.ltr import plain_lambdas as plain
from tests.ltr.ltr_data import Array, Data, made, scored

QUIET: dict[str, Any] = {"verbosity": -1, "num_threads": 1, "deterministic": True, "force_row_wise": True}
LIGHTGBM: dict[str, Any] = {"num_leaves": 7, "min_data_in_leaf": 5, "learning_rate": 0.3, "metric": "None", **QUIET}


@settings(deadline=None)
@given(st.integers(1, 30), st.floats(0, 50), st.integers(0, 2**32 - 1))
def test_adaptive_alpha_is_between_0_and_alpha_and_grows_with_the_loss(queries, alpha, seed):
    rng = np.random.default_rng(seed)
    scores, baseline = rng.integers(0, 4, queries) / 3, rng.integers(0, 4, queries) / 3
    found = adaptive_alpha(scores, baseline, alpha=alpha)
    assert ((found >= 0) & (found <= alpha)).all()
    order = np.argsort(scores - baseline, kind="stable")
    assert (np.diff(found[order]) <= 1e-12 * alpha).all()
    assert faro_weights(scores, scored(baseline), alpha=alpha).tolist() == (1 + found).tolist()


def test_adaptive_alpha_as_written_in_the_papers():
    scores, baseline = np.array([0.2, 0.5, 0.9, 0.4]), np.array([0.6, 0.5, 0.3, 0.5])
    x = np.array([-1.6, 0.0, 0.6, -0.4])  # differences, losses four times
    expected = [3 * (1 - plain.phi(value / x.std(ddof=1))) for value in x]
    np.testing.assert_allclose(adaptive_alpha(scores, baseline, alpha=3), expected)
    np.testing.assert_allclose(adaptive_alpha(baseline, baseline, alpha=3), 1.5)  # unchanged: alpha / 2
    for name, pair in (("scores", (scores * np.nan, baseline)), ("baseline", (scores, baseline * np.nan))):
        with pytest.raises(ValueError, match=f"^{name} must be finite"):
            adaptive_alpha(*pair, alpha=3)


def test_only_one_baseline_of_the_same_queries_is_taken():
    two = scored([0.1, 0.2], [0.5, 0.4])
    with pytest.raises(ValueError, match=r"expected one baseline, got 2; baselines.mean\(\) makes one of them"):
        faro_weights([0.1, 0.2], two, alpha=1)
    assert faro_weights([0.3, 0.3], two.mean(), alpha=1).tolist() == [1.5, 1.5]
    with pytest.raises(ValueError, match="must hold the same queries, got 3 and 2"):
        faro_weights([0.1, 0.2, 0.3], two.mean(), alpha=1)


@pytest.mark.slow
@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("truncation_level", [3, 30])
def test_lambdarank_with_weights_learns_what_tfaro_learns(norm, truncation_level):
    lightgbm = pytest.importorskip("lightgbm")
    pytest.importorskip("numba")
    data = made(1)
    baselines = data.baselines_of(bm25=0)
    weights = faro_weights(data.judged.ndcg(np.zeros(data.labels.size)), baselines, alpha=5)
    assert weights.max() > 1.5 * weights.min()
    options = {"lambdarank_norm": norm, "lambdarank_truncation_level": truncation_level}
    rows = np.repeat(weights, data.group)
    by_weights = one_round(lightgbm, data, {**LIGHTGBM, "objective": "lambdarank", **options}, weight=rows)
    objective = TFARO(baselines, 5, norm=norm, truncation_level=truncation_level)
    by_objective = one_round(lightgbm, data, {**LIGHTGBM, "objective": objective})
    np.testing.assert_allclose(by_weights, by_objective, rtol=0, atol=1e-6)
    plain_weights = one_round(lightgbm, data, {**LIGHTGBM, "objective": "lambdarank", **options})
    assert np.abs(by_weights - plain_weights).max() > 1e-3


def one_round(lightgbm: Any, data: Data, params: dict[str, Any], **more: Any) -> Array:
    dataset = lightgbm.Dataset(data.features, data.labels, group=data.group, **more)
    booster = lightgbm.train(params, dataset, num_boost_round=1)
    predicted: Array = booster.predict(data.features, raw_score=True)
    return predicted
