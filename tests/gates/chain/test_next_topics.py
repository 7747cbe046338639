"""How the next topics are divided among strata, and plans for topics in clusters and strata."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.judge import judge, rule
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.power_plan import next_topics, plan_from_baseline, plan_from_runs
from pytest_riskguard.inference.power import minimum_detectable_effect
from pytest_riskguard.risk import standard_error
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
    return candidate, baseline, Topics.of({}, tags, shares=SHARES)


def in_clusters(topics: Topics, size: int) -> Topics:
    """The same topics in clusters of this size, without strata."""
    tags = {topic: {"cluster": str(place // size)} for place, topic in enumerate(topics.tags)}
    return Topics.of({}, tags)


def gate(**options: Any) -> Gate:
    return gate_of("plan", **options)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_error_before_is_that_of_the_verdict(alpha):
    candidate, baseline, topics = systems()
    found = next_topics(gate(alpha=alpha), candidate, baseline, 100, topics=topics)
    assert [(row.stratum, row.share, row.topics) for row in found.strata] == [
        (name, share, count) for (name, share), count in zip(SHARES.items(), COUNTS, strict=True)
    ]
    parts = rule(gate(alpha=alpha), candidate, baseline, topics=topics).evidence.by_stratum
    error_of = {name: standard_error(part.scores(alpha)) for name, (_, part) in zip(SHARES, parts, strict=True)}
    for row in found.strata[:3]:
        error = error_of[row.stratum]
        assert row.standard_deviation == pytest.approx(error * np.sqrt(row.topics), rel=1e-12)
    variances = [error_of[name] ** 2 * count for name, count in zip(SHARES, COUNTS, strict=True)]
    pooled = np.average(variances, weights=np.array(COUNTS) - 1)
    assert found.strata[3].standard_deviation == pytest.approx(np.sqrt(pooled), rel=1e-12)  # three topics say little
    terms = [(row.share * row.standard_deviation) ** 2 / row.topics for row in found.strata]
    assert found.standard_error == pytest.approx(np.sqrt(sum(terms)), rel=1e-12)
    after = [(row.share * row.standard_deviation) ** 2 / (row.topics + row.next) for row in found.strata]
    assert found.standard_error_after == pytest.approx(np.sqrt(sum(after)), rel=1e-12)
    assert sum(row.next for row in found.strata) == 100
    assert found.strata[2].next > found.strata[1].next  # a tenth of all queries, but they vary most


def test_without_a_candidate_the_baseline_says_what_varies():
    candidate, baseline, topics = systems()
    found = next_topics(gate(alpha=5), None, baseline, 40, topics=topics)
    of_head = baseline.values[NAMES == "head"]
    assert found.strata[0].standard_deviation == pytest.approx(of_head.std(ddof=1), rel=1e-12)
    assert (found.candidate, found.alpha) == (None, 0.0)
    assert candidate.topics == baseline.topics


def test_without_strata_there_is_nothing_to_divide():
    candidate, baseline, topics = systems()
    for known in (None, replace(topics, shares={})):
        with pytest.raises(ValueError, match="--next: the topics have no strata; declare their shares"):
            next_topics(gate(), candidate, baseline, 10, topics=known)


def test_a_plan_for_strata_detects_what_their_standard_error_allows():
    candidate, baseline, topics = systems()
    of: dict[str, Any] = {"power": 0.8, "effects": (0.02, 0.05)}
    plan = plan_from_runs(gate(alpha=1), candidate, baseline, topics=topics, **of)
    verdict = judge(gate(alpha=1), candidate, baseline, topics=topics)
    assert plan.urisk == verdict.estimates.urisk
    assert plan.minimum_detectable_effect == verdict.power.minimum_detectable_effect
    assert plan.standard_deviation == pytest.approx(verdict.estimates.standard_error * np.sqrt(NAMES.size), rel=1e-12)
    assert (plan.topics, plan.clusters, plan.cost) == (65, None, None)
    # signs at random: the variance of each stratum about its own mean, and what the signs add
    d = candidate.values - baseline.values
    urisk = sum(share * -0.5 * np.abs(d[name == NAMES]).mean() for name, share in SHARES.items())
    assert plan.churn == pytest.approx(urisk, rel=1e-12)
    assert 0 < plan.churn_power < 1


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_copies_of_topics_plan_as_the_topics_do(alpha):
    """Each topic three times in a cluster: the same power, and three times the topics."""
    candidate, baseline, _ = systems()
    names = tuple(f"{topic}-{copy}" for topic in baseline.topics for copy in range(3))
    thrice = [replace(one, topics=names, values=np.repeat(one.values, 3)) for one in (candidate, baseline)]
    topics = in_clusters(Topics.of({}, {name: {} for name in names}), 3)
    of: dict[str, Any] = {"power": 0.8, "effects": (0.02, 0.05)}
    plan = plan_from_runs(gate(alpha=alpha), candidate, baseline, **of)
    clustered = plan_from_runs(gate(alpha=alpha), *thrice, topics=topics, **of)
    assert (clustered.topics, clustered.clusters) == (3 * plan.topics, plan.topics)
    assert clustered.standard_deviation == pytest.approx(plan.standard_deviation, rel=1e-12)
    assert clustered.minimum_detectable_effect == pytest.approx(plan.minimum_detectable_effect, rel=1e-6)
    assert clustered.churn == pytest.approx(plan.churn, rel=1e-12)
    if alpha > 0:
        assert clustered.churn_power == pytest.approx(plan.churn_power, rel=1e-6)
    for one, other in zip(clustered.effects, plan.effects, strict=True):
        assert one.power == pytest.approx(other.power, rel=1e-6)
        assert one.topics_needed == 3 * other.topics_needed
    from_baseline = [
        plan_from_baseline(gate(alpha=alpha), one, correlation=0.9, topics=known, **of)
        for one, known in ((baseline, None), (thrice[1], topics))
    ]
    alone, together = from_baseline
    assert together.standard_deviation == pytest.approx(alone.standard_deviation, rel=1e-12)
    assert together.effects[0].topics_needed == 3 * alone.effects[0].topics_needed


def test_few_clusters_detect_nothing():
    candidate, baseline, topics = systems()
    few = in_clusters(topics, 13)
    plan = plan_from_runs(gate(), candidate, baseline, topics=few, power=0.8, effects=(0.05,))
    assert (plan.clusters, plan.minimum_detectable_effect) == (5, None)
    textbook = minimum_detectable_effect(plan.standard_deviation or 0.0, 5, level=0.95)
    assert textbook > 0
