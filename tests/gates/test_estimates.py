"""Every figure of a verdict on two systems, computed by hand or with SciPy."""

import numpy as np
import pytest
from scipy import stats

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.explain import explain
from pytest_riskguard.gates.findings import Estimates
from pytest_riskguard.gates.judge import compare
from tests.gates.conftest import topic_scores
from tests.strict import gate_of

D = np.array([-0.4, 0.1, -0.05, 0.2, 0.0, -0.15, 0.3, -0.1, 0.25, -0.2, 0.05, 0.15])
BASE = np.linspace(0.45, 0.6, 12)
RISK = gate_of("g", alpha=2, method="student_t")


def compared(gate=RISK, d: np.ndarray = D, *replicates: TopicScores, **options) -> Comparison:
    return compare(gate, topic_scores("new", BASE + d), topic_scores("old", BASE), *replicates, **options)


def estimates(comparison: Comparison) -> Estimates:
    return explain(comparison).estimates


def test_estimates_of_two_systems():
    found = estimates(compared())
    x = np.where(D < 0, 3 * D, D)
    test = stats.ttest_1samp(x, 0.0)
    assert found.candidate_mean == pytest.approx(np.mean(BASE + D), abs=1e-14)
    assert found.baseline_mean == pytest.approx(0.525, abs=1e-14)
    assert found.mean_difference == pytest.approx(0.15 / 12, abs=1e-14)
    assert found.urisk == pytest.approx((1.05 - 2.7) / 12, abs=1e-14)
    assert found.standard_error == pytest.approx(x.std(ddof=1) / np.sqrt(12), rel=1e-12)
    assert found.trisk == pytest.approx(test.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(test.pvalue, rel=1e-12)
    assert found.noise_urisk is None
    assert estimates(compared(RISK, np.tile([0.1, 0.1, -0.2], 4))).mean_difference == 0  # whatever the rounding


def test_weighted_estimates_and_those_less_the_noise_of_replicates():
    weights = np.linspace(1, 2, 12)
    topics = Topics({}, weights=dict(zip(topic_scores("", BASE).topics, weights, strict=True)))
    gate = gate_of("g", alpha=2, method="student_t", weighted=True)
    weighted = estimates(compared(gate, topics=topics))
    for value, per_topic in (
        (weighted.candidate_mean, BASE + D),
        (weighted.baseline_mean, BASE),
        (weighted.mean_difference, D),
        (weighted.urisk, np.where(D < 0, 3 * D, D)),
    ):
        assert value == pytest.approx(np.average(per_topic, weights=weights), abs=1e-14)
    noise = np.roll(D, 1)
    noisy = estimates(compared(RISK, D, topic_scores("old/1", BASE + noise)))
    noise_urisk = np.where(noise < 0, 3 * noise, noise).mean()
    assert noisy.noise_urisk == pytest.approx(noise_urisk, abs=1e-14)
    assert noisy.urisk == pytest.approx((1.05 - 2.7) / 12 - noise_urisk, abs=1e-14)
