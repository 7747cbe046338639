"""Plans for topics in clusters and strata."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.power import plan_of
from pytest_riskguard.inference.power import minimum_detectable_effect
from tests.gates.conftest import pair
from tests.strict import gate_of

COUNTS = [30, 20, 12, 3]
NAMES = np.repeat(["head", "torso", "tail", "rest"], COUNTS)
SHARES = {"head": 0.6, "torso": 0.25, "tail": 0.1, "rest": 0.05}
SPREADS = {"head": 0.05, "torso": 0.1, "tail": 0.3, "rest": 0.1}


def systems() -> tuple[TopicScores, TopicScores, Topics]:
    rng = np.random.default_rng(4)
    d = rng.normal(size=NAMES.size) * np.array([SPREADS[name] for name in NAMES])
    candidate, baseline = pair(d.tolist())
    baseline = replace(baseline, values=baseline.values + rng.normal(0, 0.1, NAMES.size))
    candidate = replace(candidate, values=baseline.values + d)
    tags = {topic: {"stratum": str(name)} for topic, name in zip(baseline.topics, NAMES, strict=True)}
    return candidate, baseline, Topics({}, tags, shares=SHARES)


def in_clusters(topics: Topics, size: int) -> Topics:
    """The same topics in clusters of this size, without strata."""
    tags = {topic: {"cluster": str(place // size)} for place, topic in enumerate(topics.tags)}
    return Topics({}, tags)


def gate(**options: Any) -> Gate:
    return gate_of("plan", **options)


def test_a_plan_for_strata_detects_what_their_standard_error_allows():
    candidate, baseline, topics = systems()
    of: dict[str, Any] = {"power": 0.8, "effects": (0.02, 0.05)}
    found = plan_of(gate(alpha=1), candidate, baseline, topics=topics, **of)
    verdict = judge(gate(alpha=1), candidate, baseline, topics=topics)
    assert found.urisk == verdict.estimates.urisk
    assert found.minimum_detectable_effect == verdict.power.minimum_detectable_effect
    deviation = verdict.estimates.standard_error * np.sqrt(NAMES.size)
    assert found.standard_deviation == pytest.approx(deviation, rel=1e-12)
    assert (found.topics, found.clusters) == (65, None)
    assert found.churn_power is None


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_copies_of_topics_plan_as_the_topics_do(alpha):
    """Each topic three times in a cluster: the same power, and three times the topics."""
    candidate, baseline, _ = systems()
    names = tuple(f"{topic}-{copy}" for topic in baseline.topics for copy in range(3))
    thrice = [replace(one, topics=names, values=np.repeat(one.values, 3)) for one in (candidate, baseline)]
    topics = in_clusters(Topics({}, {name: {} for name in names}), 3)
    of: dict[str, Any] = {"power": 0.8, "effects": (0.02, 0.05)}
    found = plan_of(gate(alpha=alpha), candidate, baseline, **of)
    clustered = plan_of(gate(alpha=alpha), *thrice, topics=topics, **of)
    assert (clustered.topics, clustered.clusters) == (3 * found.topics, found.topics)
    assert clustered.standard_deviation == pytest.approx(found.standard_deviation, rel=1e-12)
    assert clustered.minimum_detectable_effect == pytest.approx(found.minimum_detectable_effect, rel=1e-6)
    assert clustered.churn_power is None
    for one, other in zip(clustered.effects, found.effects, strict=True):
        assert one.topics_needed == 3 * other.topics_needed
    from_baseline = [
        plan_of(gate(alpha=alpha), None, one, correlation=0.9, topics=known, **of)
        for one, known in ((baseline, None), (thrice[1], topics))
    ]
    alone, together = from_baseline
    assert together.standard_deviation == pytest.approx(alone.standard_deviation, rel=1e-12)
    assert together.effects[0].topics_needed == 3 * alone.effects[0].topics_needed


def test_few_clusters_detect_nothing():
    candidate, baseline, topics = systems()
    few = in_clusters(topics, 13)
    found = plan_of(gate(), candidate, baseline, topics=few, power=0.8, effects=(0.05,))
    assert (found.clusters, found.minimum_detectable_effect) == (5, None)
    textbook = minimum_detectable_effect(found.standard_deviation or 0.0, 5, level=0.95)
    assert textbook > 0
