"""What docs/explanation/risk-sensitive-training.md shows is what the study finds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t, ttest_rel

pytest.importorskip("lightgbm")
pytest.importorskip("numba")

from tests.benchmarks import training_study as study
from tests.shared_data import SHARED

needs_data = pytest.mark.skipif(
    not (SHARED / "data/ltr_lightgbm").is_dir(), reason="no folder 'shared' with the real data"
)


def test_the_summary_is_that_of_the_models():
    rows = study.kept()
    expected = study.as_csv(list(study.summary(rows)))
    assert (study.FOLDER / "summary.csv").read_text(encoding="utf-8") == expected
    models = {(row.data, row.split, row.model, row.alpha) for row in rows}
    assert len(models) == len(rows) == len(study.DATA) * len(study.SPLITS) * len(study.every_model())


def of(data, figure):
    """Means, and the paired comparisons with LambdaMART, by objective and alpha."""
    rows = [row for row in study.kept() if row.data == data]
    plain = [getattr(row, figure) for row in rows if row.model == study.PLAIN]
    overlap = 0.0 if data == "search-log" else 0.5
    return {
        model: study.paired(
            [getattr(row, figure) for row in rows if (row.model, row.alpha) == model], plain, overlap=overlap
        )
        for model in study.every_model()
    }


def test_what_the_page_says_of_the_objectives():
    ndcg, balance = of("search-log", "ndcg"), of("search-log", "risk_to_reward")
    losses, pool = of("search-log", "losses_over_20_percent"), of("search-log", "pool_risk_to_reward")
    plain = (study.PLAIN, 0.0)
    for name in ("U-CRO", "T-SARO"):
        steps = [plain, *((name, alpha) for alpha in study.ALPHAS)]
        for figure in (balance, losses):
            means = [figure[step].mean for step in steps]
            assert means == sorted(means, reverse=True)
            assert all(figure[step].p_value < 0.05 for step in steps[1:])
    assert [round(balance[model].mean, 3) for model in (plain, ("U-CRO", 20), ("T-SARO", 20))] == [
        0.187,
        0.136,
        0.145,
    ]
    assert [round(losses[model].mean, 1) for model in (plain, ("U-CRO", 20), ("T-SARO", 20))] == [67.5, 45.8, 49.9]
    assert round(max(found.difference for found in ndcg.values()), 3) == 0.009
    gains = [round(ndcg["T-FARO", alpha].difference, 3) for alpha in study.ALPHAS]
    assert (min(gains), max(gains)) == (0.003, 0.006)
    assert [abs(ndcg["GeoRisk", alpha].difference) < 0.005 for alpha in study.ALPHAS] == [True, True, False, False]
    assert [round(ndcg["GeoRisk", alpha].difference, 3) for alpha in (10, 20)] == [-0.006, -0.009]
    assert [round(pool[model].mean, 3) for model in (plain, ("GeoRisk", 1), ("GeoRisk", 5))] == [0.249, 0.244, 0.27]
    assert round(pool["GeoRisk", 1].p_value, 3) == 0.661
    for figure in ("ndcg", "risk_to_reward", "losses_over_20_percent", "pool_risk_to_reward"):
        found = of("ltr-lightgbm", figure)
        assert all(paired.p_value is None or paired.p_value > 0.05 for paired in found.values())


def test_independent_splits_are_compared_by_the_paired_t_test():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=10).tolist(), rng.normal(size=10).tolist()
    assert study.paired(one, other, overlap=0).p_value == pytest.approx(ttest_rel(one, other).pvalue)
    # Nadeau & Bengio: a variance of 1/n + overlap in place of 1/n
    statistic = ttest_rel(one, other).statistic / math.sqrt((1 / 10 + 0.5) / (1 / 10))
    assert study.paired(one, other, overlap=0.5).p_value == pytest.approx(2 * t.sf(abs(statistic), 9))
    assert study.paired(one, one, overlap=0).p_value is None


@pytest.mark.slow
@pytest.mark.parametrize("data", [study.DATA[0], pytest.param(study.DATA[1], marks=needs_data)])
def test_models_of_a_split_are_reproduced(data):
    chosen = [(study.PLAIN, 0.0), ("U-CRO", 20), ("GeoRisk", 5)]
    kept = {(row.model, row.alpha): row for row in study.kept() if (row.data, row.split) == (data, 0)}
    for row in study.of_split(data, 0, chosen):
        # Another processor rounds differently, and a tree may then split elsewhere.
        assert row.ndcg == pytest.approx(kept[row.model, row.alpha].ndcg, abs=0.004)
        assert row.risk == pytest.approx(kept[row.model, row.alpha].risk, abs=0.004)
        assert row.queries == kept[row.model, row.alpha].queries
