"""Topics that hang together: estimates by topic, inference by cluster."""

from dataclasses import replace

import numpy as np
import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.alignment import align
from pytest_riskguard.gates.alignment import clusters_of as clusters_by_number
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.break_even import break_even
from pytest_riskguard.reports.details import figures
from tests.gates.conftest import pair, without
from tests.strict import gate_of

RNG = np.random.default_rng(11)
SIZES = RNG.integers(1, 6, 30)
UNEQUAL = np.repeat(np.arange(30), SIZES)


def evidence_of(clusters, *, weights=None, replicates: int = 0) -> Evidence:
    """Differences of which half belongs to the cluster."""
    rng = np.random.default_rng(5)
    d = 0.1 * (rng.normal(size=clusters.max() + 1)[clusters] + rng.normal(size=clusters.size)) - 0.03
    return Evidence(d, rng.normal(0, 0.05, (replicates, d.size)), weights, "linear", clusters)


def clusters_of(topics, numbers) -> Topics:
    """Topics in these clusters."""
    tags = {topic: {"cluster": f"need {number}"} for topic, number in zip(topics, numbers, strict=True)}
    return Topics(dict.fromkeys(topics, ""), tags)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_estimate_is_that_of_topics_and_its_spread_the_jackknife_over_clusters(alpha, weighted):
    weights = np.random.default_rng(2).uniform(0.2, 5, UNEQUAL.size) if weighted else None
    evidence = evidence_of(UNEQUAL, weights=weights)
    assert evidence.estimate(alpha) == replace(evidence, clusters=None).estimate(alpha)
    scores = evidence.scores(alpha)
    assert evidence.uneven
    assert scores.size == evidence.units == 30
    assert scores.mean() == pytest.approx(evidence.estimate(alpha), abs=1e-15)
    left = np.array([evidence.only(np.flatnonzero(cluster != UNEQUAL)).estimate(alpha) for cluster in range(30)])
    assert scores == pytest.approx(evidence.estimate(alpha) + 29 * (left.mean() - left), rel=1e-9)


@pytest.mark.parametrize(
    ("queries", "named", "is_refused"),
    [
        ((), ("other",), True),  # given in Python
        (("q1", "q2"), ("other",), True),  # ... with query texts
        (("other", "another"), ("other",), True),  # a file about other topics
        (("q1", "q2", "q3"), ("q3",), False),  # a file whose clusters lie outside the judged topics
        ((), ("q1", "other"), False),
    ],
)
def test_clusters_of_no_judged_topic_are_refused(queries, named, is_refused):
    topics = Topics(dict.fromkeys(queries, "text"), {topic: {"cluster": "c"} for topic in named})
    if not is_refused:
        assert clusters_by_number(topics, ("q1", "q2")) is None
        return
    with pytest.raises(
        DataError, match=r"the clusters: expected clusters of judged topics, such as 'q1', found those"
    ):
        clusters_by_number(topics, ("q1", "q2"))


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_copies_of_a_topic_add_nothing(alpha):
    """Each of 30 topics asked three times over: the verdict's p-value is that of the 30."""
    d = np.random.default_rng(7).normal(-0.04, 0.1, 30)
    once = Evidence.of(d)
    thrice = Evidence(np.repeat(d, 3), np.zeros((0, 90)), clusters=np.repeat(np.arange(30), 3))
    gate = gate_of("g", alpha=alpha, tolerance=0.005)
    assert Ruling(gate, thrice).p_value == pytest.approx(Ruling(gate, once).p_value, rel=1e-9)
    assert Ruling(gate, thrice).break_even == pytest.approx(Ruling(gate, once).break_even, rel=1e-9)
    assert thrice.effective_topics(alpha) == pytest.approx(30 * 87 / 89, rel=1e-9)  # s^2 of 90 copies has divisor 89


@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("replicates", [0, 3])
def test_the_break_even_test_bets_on_whole_clusters(alpha, replicates):
    evidence = evidence_of(UNEQUAL, replicates=replicates)
    parts = evidence.parts(alpha)
    sums = np.bincount(UNEQUAL, parts)
    won = np.bincount(UNEQUAL, np.where(parts > 0, parts, 0))
    lost = np.bincount(UNEQUAL, np.where(parts < 0, -parts, 0)) / (1 + alpha)
    ratios = 1 + alpha * np.abs(won - lost) / (won + lost)
    gains = np.where(sums < 0, -sums / ratios, sums)
    p = break_even(gains, ratios * gains, sums < 0)
    assert Ruling(gate_of("g", alpha=alpha), evidence).break_even == pytest.approx(p, rel=1e-12)


def test_clusters_come_from_the_topics_file_and_a_topic_without_one_stands_alone():
    candidate, baseline = pair([0.1] * 6)
    names = list(baseline.topics)
    tags = {names[0]: {"cluster": names[3]}, names[1]: {"cluster": ""}, names[5]: {"cluster": names[3]}, names[2]: {}}
    aligned = align(gate_of("g"), candidate, baseline, topics=Topics({}, tags))
    assert aligned.clusters.tolist() == [0, 1, 2, 3, 4, 0]  # though one is named like the cluster
    single = Topics({}, {names[0]: {"cluster": "a"}, names[1]: {"cluster": "b"}})
    assert align(gate_of("g"), candidate, baseline, topics=single).clusters is None


def test_a_loss_of_few_clusters_is_no_evidence_and_too_few_are_none():
    """Fifteen needs in four variants each: what fails as 60 topics may pass as 15, and 9 decide nothing."""
    rng = np.random.default_rng(1)
    per_need = np.round(rng.normal(-0.06, 0.15, 15), 3)
    candidate, baseline = pair(np.repeat(per_need, 4).tolist())
    gate = gate_of("g", alpha=0)
    topics = clusters_of(baseline.topics, np.repeat(np.arange(15), 4))
    assert judge(gate, candidate, baseline).outcome == "fail"
    verdict = judge(gate, candidate, baseline, topics=topics)
    assert verdict.outcome == "pass"
    assert verdict.estimates.urisk == judge(gate, candidate, baseline).estimates.urisk
    few = judge(gate, candidate, baseline, topics=clusters_of(baseline.topics, np.arange(60) % 9))
    assert (few.outcome, few.reason) == ("inconclusive", "too_few_topics")


def test_what_would_flip_a_verdict_is_judged_by_clusters():
    d = np.repeat(np.random.default_rng(4).normal(-0.07, 0.1, 20), 3)
    candidate, baseline = pair(d.tolist())
    topics = clusters_of(baseline.topics, np.repeat(np.arange(20), 3))
    gate = gate_of("g", alpha=1)
    verdict = judge(gate, candidate, baseline, topics=topics)
    assert verdict.outcome == "fail"
    assert verdict.topics.clusters == 20
    assert verdict.topics.effective == pytest.approx(20 * 57 / 59, rel=1e-9)
    assert "60 topics in 20 clusters, which count like 19.3 independent topics" in "\n".join(figures(verdict))
    assert not verdict.slices  # a cluster is one observation, not a slice
    assert verdict.estimates.flip_set
    left = [without(one, verdict.estimates.flip_set) for one in (candidate, baseline)]
    assert judge(gate, *left, topics=topics).outcome == "pass"
