"""The comparison on the topics of one tag."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.findings import Slice
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.inference.families import holm, pooled_draws
from pytest_riskguard.reports.card import Card
from tests.gates.conftest import pair, topic_scores
from tests.strict import gate_of


def tagged(n: int, **columns: list[str]) -> Topics:
    names = [f"t{i:05d}" for i in range(n)]
    return Topics(
        dict.fromkeys(names, ""),
        {name: {tag: values[i] for tag, values in columns.items()} for i, name in enumerate(names)},
    )


N = 70
#: Of 9, 11, 20 and 30 topics.
KIND = ["a"] * 9 + ["b"] * 11 + ["c"] * 20 + ["d"] * 30
RNG = np.random.default_rng(12)
D = RNG.normal(np.repeat([-0.3, -0.1, 0.05, 0.0], [9, 11, 20, 30]), 0.1)
WEIGHTS = RNG.uniform(1, 3, N)
TOPICS = replace(
    tagged(N, kind=KIND, half=["x", "y"] * 35),
    weights={f"t{i:05d}": weight for i, weight in enumerate(WEIGHTS.tolist())},
)
AGAIN = topic_scores("again", 0.5 + RNG.normal(0, 0.03, N))


def slices(verdict: Verdict) -> dict[str, Slice]:
    return {f"{each.tag}={each.value}": each for each in verdict.slices}


def part(scores: TopicScores, keep: list[int]) -> TopicScores:
    return replace(scores, topics=tuple(scores.topics[i] for i in keep), values=scores.values[keep])


def alone_on(name: str, gate: Gate, candidate: TopicScores, baseline: TopicScores, **more: Any) -> Verdict:
    """The gate on the topics of one slice."""
    tag, value = name.split("=")
    keep = [i for i, topic in enumerate(candidate.topics) if TOPICS.tags[topic][tag] == value]
    replicates = [part(again, keep) for again in more.get("replicates", ())]
    return judge(gate, part(candidate, keep), part(baseline, keep), topics=TOPICS, replicates=replicates)


@pytest.mark.parametrize(
    ("gate", "replicates"),
    [
        (gate_of("g", alpha=1), []),
        (gate_of("g", alpha=3, level=0.9, method="percentile", tolerance=0.01), []),
        (gate_of("g", alpha=2, on_churn="warn"), []),
        (gate_of("g", alpha=1, weighted=True), [AGAIN]),
        (gate_of("g", tradeoff="smooth"), []),
    ],
    ids=["auto", "percentile", "warn", "weighted", "smooth"],
)
def test_a_slice_is_the_gate_on_these_topics_alone(gate, replicates):
    candidate, baseline = pair(D)
    told = slices(judge(gate, candidate, baseline, topics=TOPICS, replicates=replicates))
    assert [*told] == ["half=x", "half=y", "kind=a", "kind=b", "kind=c", "kind=d"]
    for name in ("half=y", "kind=a", "kind=b"):  # of 35, 9 and 11 topics
        each = told[name]
        alone = alone_on(name, gate, candidate, baseline, replicates=replicates)
        assert each.count == alone.topics.count
        assert (each.wins, each.losses) == (alone.topics.wins, alone.topics.losses)
        e = alone.estimates
        assert (each.mean_difference, each.urisk) == (e.mean_difference, e.urisk)
        if (interval := alone.decisive_interval) is not None:
            assert (each.lower, each.upper) == (interval.lower, interval.upper)


def test_holm_goes_over_all_slices_that_have_a_p_value():
    told = slices(judge(gate_of("g"), *pair(D), topics=TOPICS))
    tested = {name: each for name, each in told.items() if each.adjusted_p_value is not None}
    assert len(tested) == 5
    p = [alone_on(name, gate_of("g"), *pair(D)).estimates.decision_p_value for name in tested]
    adjusted = holm([each or 0.0 for each in p])
    assert [each.adjusted_p_value for each in tested.values()] == adjusted.tolist()
    assert [each.risky for each in tested.values()] == [bool(p <= 0.05) for p in adjusted]
    assert {each.value for each in tested.values() if each.risky} == {"b", "x", "y"}


def test_slices_of_one_tag_draw_from_the_changes_of_all():
    rng = np.random.default_rng(5)
    d = np.where(np.arange(150) % 50 < 12, rng.normal(np.repeat([-0.09, 0.02, 0.0], 50), 0.1), 0.0)
    topics = tagged(150, kind=["a"] * 50 + ["b"] * 50 + ["c"] * 50)
    told = [*slices(judge(gate_of("g", alpha=0), *pair(d), topics=topics)).values()]
    drawn = np.minimum(2 * pooled_draws(list(d.reshape(3, 50))), 1.0)
    p = [judge(gate_of("g", alpha=0), *pair(of_part)).estimates.decision_p_value for of_part in d.reshape(3, 50)]
    adjusted = np.maximum([each or 0.0 for each in p], drawn)
    assert [each.adjusted_p_value for each in told] == adjusted.tolist()
    assert adjusted[0] != holm([each or 0.0 for each in p])[0]
    assert [each.risky for each in told] == [True, False, False]


def test_a_slice_is_risky_from_its_adjusted_p_value_on():
    at = slices(judge(gate_of("g", level=0.9), *pair(D), topics=TOPICS))["kind=b"].adjusted_p_value
    for level, risky in ((1 - 1.01 * at, True), (1 - 0.99 * at, False)):
        assert slices(judge(gate_of("g", level=level), *pair(D), topics=TOPICS))["kind=b"].risky is risky


def test_below_ten_topics_a_slice_is_reported_and_not_tested():
    small = slices(judge(gate_of("g"), *pair(D), topics=TOPICS))["kind=a"]
    assert small.count == 9
    assert small.urisk < -0.3
    assert (small.lower, small.upper, small.adjusted_p_value, small.risky) == (None,) * 4


def test_a_gate_about_single_topics_tests_no_slice():
    told = slices(judge(gate_of("g", kind="no_topic_collapse"), *pair(D), topics=TOPICS))
    assert len(told) == 6
    assert all(each.adjusted_p_value is each.lower is each.risky is None for each in told.values())
    assert told["kind=a"].mean_difference == pytest.approx(D[:9].mean())


@pytest.mark.parametrize(
    ("values", "divides"),
    [
        ([f"v{i}" for i in range(120)], False),  # an identifier
        ([f"v{i // 2}" for i in range(120)], False),  # 60 values are too many
        ([f"v{i % 50}" for i in range(120)], True),
        ([f"v{i}" for i in range(40)] + [""] * 80, False),
        ([f"v{i // 2}" for i in range(40)] + [""] * 80, True),
        (["all"] * 120, False),
    ],
)
def test_a_tag_that_names_topics_divides_nothing(values, divides):
    verdict = judge(gate_of("g"), *pair(np.full(120, -0.1)), topics=tagged(120, url=values))
    assert bool(verdict.slices) is divides


@pytest.mark.parametrize(("kind", "sign"), [("not_significantly_risky", 1), ("equivalent", -1)])
def test_the_topics_responsible_in_a_slice_are_named_the_most_harmful_first(kind, sign):
    d = sign * np.where(
        np.arange(40) % 4 == 0, -0.3 - 0.002 * np.arange(40), np.where(np.arange(40) == 1, -0.6, 0.01)
    )
    verdict = judge(
        gate_of("g", kind=kind, alpha=0, tolerance=0.01), *pair(d), topics=tagged(40, half=["x", "y"] * 20)
    )
    told = slices(verdict)
    assert told["half=x"].responsible == tuple(f"t{place:05d}" for place in range(36, -1, -4))
    assert told["half=y"].responsible == ("t00001",)
    assert Card(verdict).share(told["half=y"]) == pytest.approx(0.6 / (0.6 + 3.36))


def test_one_topic_is_no_group_however_much_it_lost():
    lost = pair(np.where(np.arange(40) == 1, -0.6, 0.0))
    assert Card(judge(gate_of("g"), *lost, topics=tagged(40, half=["x", "y"] * 20))).group is None
