"""Topics' parts in a difference of GeoRisk, and the topics without which a gate over a pool passes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.explain import explain
from pytest_riskguard.gates.judge import compare
from pytest_riskguard.gates.pool import PoolComparison
from pytest_riskguard.gates.slices import slices
from pytest_riskguard.risk import georisk, topic_contributions
from tests.gates.conftest import pooled, topic_scores
from tests.strict import gate_of


def compared(x: np.ndarray, *, topics: Topics | None = None, **options: Any) -> PoolComparison:
    candidate, *baselines = (topic_scores(f"s{row}", values) for row, values in enumerate(x))
    return pooled(gate_of("g", kind="georisk_not_worse", **options), candidate, *baselines, topics=topics)


def normal(z: float) -> float:
    """Phi."""
    return math.erfc(-z / math.sqrt(2)) / 2


@pytest.mark.parametrize("options", [{"alpha": 5.0}, {"alpha": 0.0}, {"tradeoff": "smooth"}])
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_a_topics_part_is_that_of_the_mean_score_and_that_of_the_shape(options, scale):
    """sqrt(m1 P1) - sqrt(m2 P2) = (m1 - m2)/(sqrt(m1) + sqrt(m2)) mean(sqrt P) + (P1 - P2)/(...) mean(sqrt m)."""
    x = np.random.default_rng(2).uniform(0.1, 0.9, (3, 15)) * scale
    comparison = compared(x, reference="s2", **options)
    gate = comparison.gate
    part = topic_contributions(x, alpha=gate.alpha, kind=gate.tradeoff)[[0, 2]] / 15
    mean, z = x[[0, 2]].mean(axis=1), part.sum(axis=1)
    p = np.array([normal(value) for value in z])
    by_score = (x[0] - x[2]) / 15 / np.sqrt(mean).sum() * np.sqrt(p).mean()
    slope = (p[0] - p[1]) / (z[0] - z[1])
    by_shape = (part[0] - part[1]) * slope / np.sqrt(p).sum() * np.sqrt(mean).mean()
    assert comparison.contributions == pytest.approx(by_score + by_shape, abs=1e-13)


def test_shares_of_the_loss_are_those_of_the_topics_that_lost():
    """A topic that won may have a negative part, since it counts by what the pool expects of it."""
    x = np.random.default_rng(0).uniform(0.1, 0.9, (4, 15))
    x[0, :8] = x[3, :8] + np.linspace(0.001, 0.01, 8)
    comparison = compared(x, reference="s3", alpha=5.0)
    assert any(comparison.parts[comparison.pair.differences > 0] < 0)
    losers = explain(comparison).responsible_topics
    assert math.fsum(topic.share for topic in losers) == pytest.approx(1)


def test_for_two_middle_baselines_a_part_is_the_mean_of_both():
    x = np.random.default_rng(3).uniform(0.1, 0.9, (5, 12))
    both = [compared(x, alpha=2.0, level=0.5, reference=f"s{row}").contributions for row in (1, 2, 3, 4)]
    order = np.argsort(georisk(x, alpha=2.0)[1:])
    middle = (both[order[1]] + both[order[2]]) / 2
    assert compared(x, alpha=2.0, level=0.5, reference="median").contributions == pytest.approx(middle, abs=1e-15)


def test_systems_whose_shapes_are_all_but_the_same_have_the_slope_at_their_middle():
    base = np.random.default_rng(4).uniform(0.2, 0.8, 12)
    x = np.array([base, base[::-1], base])
    x[0, 0] += 1e-6
    parts = compared(x, alpha=1.0, reference="s2").contributions
    values = georisk(x, alpha=1.0)
    assert math.fsum(parts) == pytest.approx(values[0] - values[2], rel=1e-6)
    assert abs(math.fsum(parts)) > 1e-8


def test_systems_without_any_score_have_no_part_in_anything():
    x = np.zeros((3, 12))
    x[2] = 0.5
    assert compared(x, alpha=1.0).contributions.tolist() == [0.0] * 12


def test_topics_of_a_pool_have_their_part_and_their_slices():
    x = np.random.default_rng(6).uniform(0.2, 0.8, (3, 24))
    topics = Topics({}, {f"t{i:05d}": {"half": "ab"[i % 2]} for i in range(24)})
    comparison = compared(x, topics=topics, alpha=2.0, reference="s2", method="percentile", level=0.6)
    parts = comparison.contributions
    losers = explain(comparison).responsible_topics
    assert {row.topic for row in losers} == {f"t{i:05d}" for i in np.flatnonzero(x[0] < x[2])}
    for row in losers:
        i = int(row.topic[1:])
        assert row.contribution == pytest.approx(parts[i], abs=1e-15)
    found = explain(comparison)
    paired = compare(
        gate_of("g", alpha=2.0, method="percentile", level=0.6),
        topic_scores("s0", x[0]),
        topic_scores("s2", x[2]),
        topics=topics,
    )
    assert found.slices == slices(paired, [row.topic for row in losers])
