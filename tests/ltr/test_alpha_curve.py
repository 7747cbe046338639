"""Mean against risk over alpha: the points against the risk kernels, and with models that are trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.ltr import UCRO, alpha_curve
from pytest_riskguard.risk import counts, urisk
from tests.ltr.ltr_data import Array, Data, made
from tests.ltr.test_query_weights import LIGHTGBM

HELD = made(1)
ALPHAS = (0.0, 5.0, 1.0)


def mixed(alpha: float) -> Array:
    """The larger alpha, the closer to the baseline's ranking."""
    return HELD.features[:, 2] + alpha * HELD.features[:, 0]


@pytest.mark.parametrize("gate_alpha", [0.0, 3.0])
def test_points_are_those_of_the_risk_kernels(gate_alpha):
    pool = HELD.baselines_of(bm25=HELD.features[:, 0], other=HELD.features[:, 1])
    for baselines in (HELD.baselines, pool):
        points = alpha_curve(mixed, iter(ALPHAS), held_out=HELD.judged, baselines=baselines, gate_alpha=gate_alpha)
        assert [point.alpha for point in points] == list(ALPHAS)
        for point in points:
            model = HELD.judged.ndcg(mixed(point.alpha))
            each = [model - baseline for baseline in baselines.scores]
            assert point.mean == pytest.approx(model.mean())
            assert point.risk == pytest.approx(np.mean([np.maximum(0, -difference) for difference in each]))
            assert point.reward == pytest.approx(np.mean([np.maximum(0, difference) for difference in each]))
            assert point.urisk == pytest.approx(np.mean([urisk(difference, alpha=gate_alpha) for difference in each]))
            numbers = [counts(model, baseline) for baseline in baselines.scores]
            assert point.losses == np.mean([number.losses for number in numbers])
            assert point.losses_over_20_percent == np.mean([number.losses_over_20_percent for number in numbers])
            assert point.on_front is not any(
                other.mean >= point.mean
                and other.risk <= point.risk
                and (other.mean, other.risk) != (point.mean, point.risk)
                for other in points
            )


def test_scores_of_queries_do_as_well_as_scores_of_documents():
    by_documents = alpha_curve(mixed, ALPHAS, held_out=HELD.judged, baselines=HELD.baselines)
    by_queries = alpha_curve(
        lambda alpha: HELD.judged.ndcg(mixed(alpha)), ALPHAS, held_out=HELD.judged, baselines=HELD.baselines
    )
    assert by_queries == by_documents
    assert by_documents == alpha_curve(mixed, ALPHAS, held_out=HELD.judged, baselines=HELD.baselines, gate_alpha=1.0)


def test_trained_models_lose_less_as_alpha_grows():
    lightgbm = pytest.importorskip("lightgbm")
    pytest.importorskip("numba")

    def trained(data: Data, held: Data) -> Callable[[float], Any]:
        def fit(alpha: float) -> Any:
            params = {**LIGHTGBM, "objective": UCRO(data.baselines, alpha), "learning_rate": 0.1}
            dataset = lightgbm.Dataset(data.features, data.labels, group=data.group)
            return lightgbm.train(params, dataset, 20).predict(held.features)

        return fit

    risks = []
    for seed in range(3):
        data, held = made(seed, queries=80), made(seed + 100, queries=80)
        points = alpha_curve(trained(data, held), [0, 20], held_out=held.judged, baselines=held.baselines)
        risks.append([point.risk for point in points])
    plain, averse = np.mean(risks, axis=0)
    assert averse < plain
