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


def test_independent_splits_are_compared_by_the_paired_t_test():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=10).tolist(), rng.normal(size=10).tolist()
    assert study.paired(one, other, overlap=0).p_value == pytest.approx(ttest_rel(one, other).pvalue)
    # Nadeau & Bengio: a variance of 1/n + overlap in place of 1/n
    statistic = ttest_rel(one, other).statistic / math.sqrt((1 / 10 + 0.5) / (1 / 10))
    assert study.paired(one, other, overlap=0.5).p_value == pytest.approx(2 * t.sf(abs(statistic), 9))
    assert study.paired(one, one, overlap=0).p_value is None


@pytest.mark.nightly
@pytest.mark.parametrize("data", [study.DATA[0], pytest.param(study.DATA[1], marks=needs_data)])
def test_models_of_a_split_are_reproduced(data):
    chosen = [(study.PLAIN, 0.0), ("U-CRO", 20), ("GeoRisk", 5)]
    kept = {(row.model, row.alpha): row for row in study.kept() if (row.data, row.split) == (data, 0)}
    for row in study.of_split(data, 0, chosen):
        # Another processor rounds differently, and a tree may then split elsewhere.
        assert row.ndcg == pytest.approx(kept[row.model, row.alpha].ndcg, abs=0.004)
        assert row.risk == pytest.approx(kept[row.model, row.alpha].risk, abs=0.004)
        assert row.queries == kept[row.model, row.alpha].queries
