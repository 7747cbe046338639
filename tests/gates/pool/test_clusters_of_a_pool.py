"""GeoRisk of topics that hang together: the jackknife leaves out whole clusters."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.risk import georisk
from tests.gates.conftest import judge_pool, pooled

NEEDS, SIZE = 20, 4
CLUSTERS = np.repeat(np.arange(NEEDS), SIZE)


def pool(seed: int = 0, *, loss: float = 0.0, size: int = SIZE) -> list[TopicScores]:
    """A candidate and two baselines whose scores differ by need, hardly by topic."""
    rng = np.random.default_rng(seed)
    names = tuple(f"q{place:03d}" for place in range(NEEDS * size))
    needs = rng.uniform(0.3, 0.7, (3, NEEDS))
    needs[0] -= loss
    scores = np.clip(np.repeat(needs, size, axis=1) + 0.01 * rng.random((3, NEEDS * size)), 0, 1)
    return [TopicScores(name, None, names, row) for name, row in zip(("new", "old", "other"), scores, strict=True)]


def in_clusters(systems: list[TopicScores], clusters: np.ndarray = CLUSTERS) -> Topics:
    names = systems[0].topics
    return Topics({}, {topic: {"cluster": str(number)} for topic, number in zip(names, clusters, strict=True)})


@pytest.mark.parametrize(
    ("alpha", "reference", "clusters"),
    [(1.0, None, CLUSTERS), (5.0, "median", np.minimum(np.arange(NEEDS * SIZE) // 3, 19))],
)
def test_the_standard_error_is_that_of_the_jackknife_over_clusters(alpha, reference, clusters):
    candidate, *baselines = pool()
    topics = in_clusters([candidate], clusters)
    comparison = pooled(
        gate_of("g", "georisk_not_worse", alpha=alpha, reference=reference), candidate, *baselines, topics=topics
    )
    scores = np.array([system.values for system in (candidate, *baselines)])

    def difference(columns: np.ndarray) -> float:
        values = georisk(scores[:, columns], alpha=alpha)
        return float(values[0] - (values[1] if reference is None else np.median(values[1:])))

    left = np.array([difference(np.flatnonzero(clusters != cluster)) for cluster in range(NEEDS)])
    error = np.sqrt((NEEDS - 1) / NEEDS * np.sum((left - left.mean()) ** 2))
    found = comparison.ruling.decisive.difference
    assert found.standard_error == pytest.approx(error, rel=1e-9)
    assert found.left_out.size == NEEDS
    alone = pooled(comparison.gate, candidate, *baselines)
    assert found.standard_error > alone.ruling.decisive.difference.standard_error


@pytest.mark.slow
def test_a_loss_of_few_needs_fails_only_as_many_topics():
    """What fails as 80 topics passes as the 20 needs that they are, and 9 clusters decide nothing."""
    gate = gate_of("g", "georisk_not_worse", alpha=1)
    systems = next(
        one
        for one in (pool(seed, loss=0.04) for seed in range(50))
        if judge_pool(gate, one[0], one[1:]).outcome == "fail"
        and judge_pool(gate, one[0], one[1:], topics=in_clusters(one)).outcome == "pass"
    )
    candidate, *baselines = systems
    verdict = judge_pool(gate, candidate, baselines, topics=in_clusters(systems))
    assert verdict.topics.clusters == NEEDS
    alone = judge_pool(gate, candidate, baselines)
    assert verdict.estimates.georisk_difference == alone.estimates.georisk_difference
    assert (verdict.power.minimum_detectable_effect or 0) > (alone.power.minimum_detectable_effect or 1)
    few = in_clusters(systems, np.arange(NEEDS * SIZE) % 9)
    assert judge_pool(gate, candidate, baselines, topics=few).reason == "too_few_topics"
