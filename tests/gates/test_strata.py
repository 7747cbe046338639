"""Topics drawn from strata with known shares: estimates by share, inference by what varies within strata."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.alignment import Strata, align
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.break_even import break_even
from pytest_riskguard.reports.details import figures
from pytest_riskguard.reports.warning_sentences import worded
from pytest_riskguard.risk.tradeoff import linear
from tests.gates.conftest import pair, without
from tests.strict import gate_of

SHARES = {"head": 0.6, "torso": 0.3, "tail": 0.1}
COUNTS = np.array([30, 20, 12])
NUMBERS = np.repeat(np.arange(3), COUNTS)
STRATA = Strata(tuple(SHARES), np.array(list(SHARES.values())), NUMBERS)


def evidence_of(*, replicates: int = 0, clusters=None, shift: float = -0.02) -> Evidence:
    """Differences that vary more the smaller their stratum."""
    rng = np.random.default_rng(8)
    d = rng.normal(size=NUMBERS.size) * np.array([0.05, 0.1, 0.3])[NUMBERS] + shift
    return Evidence(d, rng.normal(0, 0.05, (replicates, d.size)), clusters=clusters, strata=STRATA)


def topics_in(names, numbers=NUMBERS, shares=SHARES, **more) -> Topics:
    """Topics in the strata of these numbers."""
    tags = {topic: {"stratum": list(SHARES)[number]} for topic, number in zip(names, numbers, strict=True)}
    for tag, values in more.items():
        for topic, value in zip(names, values, strict=True):
            tags[topic][tag] = str(value)
    return Topics(dict.fromkeys(names, ""), tags, path_name="topics.tsv", shares=shares)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("replicates", [0, 3])
def test_the_estimate_adds_up_strata_and_its_error_is_that_of_a_stratified_mean(alpha, replicates):
    evidence = evidence_of(replicates=replicates)
    parts = replace(evidence, strata=None).parts(alpha)
    strata = [parts[stratum == NUMBERS] for stratum in range(3)]
    estimate = sum(share * x.mean() for share, x in zip(STRATA.shares, strata, strict=True))
    terms = [share**2 * x.var(ddof=1) / x.size for share, x in zip(STRATA.shares, strata, strict=True)]
    assert evidence.estimate(alpha) == pytest.approx(estimate, abs=1e-15)
    scores = evidence.scores(alpha)
    assert scores.mean() == pytest.approx(estimate, abs=1e-15)
    assert scores.std(ddof=1) / np.sqrt(scores.size) == pytest.approx(np.sqrt(sum(terms)), rel=1e-12)
    freedom = sum(terms) ** 2 / sum(term**2 / (x.size - 1) for term, x in zip(terms, strata, strict=True))
    assert evidence.freedom(alpha) == pytest.approx(freedom, rel=1e-12)
    interval = Ruling(gate_of("g", alpha=alpha), evidence).interval("student_t")
    half = student.ppf(0.975, freedom) * np.sqrt(sum(terms))
    assert (interval.lower, interval.upper) == pytest.approx((estimate - half, estimate + half), abs=1e-12)


def test_strata_drawn_by_their_shares_and_equal_means_say_what_no_strata_say_but_for_freedom():
    rng = np.random.default_rng(2)
    d = rng.normal(size=60) * 0.1
    numbers = np.repeat(np.arange(2), [40, 20])
    for stratum in range(2):  # the same mean and variance everywhere
        x = d[numbers == stratum]
        d[numbers == stratum] = (x - x.mean()) / x.std(ddof=0) * 0.1 - 0.02
    strata = Strata(("a", "b"), np.array([2, 1]) / 3, numbers)
    evidence = Evidence(d, np.zeros((0, 60)), strata=strata)
    alone = replace(evidence, strata=None)
    ruling, plain = (Ruling(gate_of("g", alpha=0), each) for each in (evidence, alone))
    assert ruling.estimate == pytest.approx(plain.estimate, abs=1e-15)
    assert ruling.break_even == pytest.approx(plain.break_even, rel=1e-9)
    assert ruling.test.standard_error == pytest.approx(plain.test.standard_error, rel=0.02)
    assert 57 < evidence.freedom(0.0) < 59
    assert evidence.effective == pytest.approx(59, abs=0.5)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_bets_and_flips_count_each_topic_by_its_strata(alpha):
    evidence = evidence_of()
    weights = (STRATA.shares * NUMBERS.size / COUNTS)[NUMBERS]
    d = evidence.differences
    p = break_even(weights * np.abs(d), (1 + alpha) * weights * np.abs(d), d < 0)
    assert Ruling(gate_of("g", alpha=alpha), evidence).break_even == pytest.approx(p, rel=1e-12)


def test_means_that_differ_between_strata_are_no_noise():
    """Ten points up in one half of the queries and ten down in the other: certain to be about nothing."""
    d = np.repeat([0.1, -0.1], 20) + np.random.default_rng(0).normal(0, 0.01, 40)
    strata = Strata(("a", "b"), np.array([0.5, 0.5]), np.repeat(np.arange(2), 20))
    evidence = Evidence(d, np.zeros((0, 40)), strata=strata)
    interval = Ruling(gate_of("g", alpha=0), evidence).interval("student_t")
    alone = Ruling(gate_of("g", alpha=0), replace(evidence, strata=None)).interval("student_t")
    assert interval.upper - interval.lower < 0.2 * (alone.upper - alone.lower)


def test_clusters_within_strata_are_the_units():
    """Each topic asked three times over says what it says once."""
    once = evidence_of()
    d, numbers = np.repeat(once.differences, 3), np.repeat(NUMBERS, 3)
    clusters = np.repeat(np.arange(NUMBERS.size), 3)
    thrice = Evidence(
        d, np.zeros((0, d.size)), clusters=clusters, strata=Strata(STRATA.names, STRATA.shares, numbers)
    )
    gate = gate_of("g", alpha=1)
    one, other = Ruling(gate, once), Ruling(gate, thrice)
    assert thrice.scores(1.0) == pytest.approx(once.scores(1.0), abs=1e-14)
    assert other.p_value == pytest.approx(one.p_value, rel=1e-6)
    assert other.break_even == pytest.approx(one.break_even, rel=1e-9)
    assert thrice.freedom(1.0) == pytest.approx(once.freedom(1.0), rel=1e-12)
    assert thrice.effective == pytest.approx(once.effective, rel=1e-12)


def test_left_out_topics_leave_their_stratum_its_share():
    evidence = evidence_of()
    rest = evidence.without(np.array([0, 30, 31]))
    assert np.bincount(rest.strata.numbers).tolist() == [29, 18, 12]
    assert rest.strata.weights.mean() == pytest.approx(1)
    tail = evidence.without(np.arange(50, 61))  # one topic of the tail is left
    assert np.all(np.isfinite(tail.scores(1.0)))
    assert tail.freedom(1.0) is not None
    none = evidence.without(np.arange(50, 62))
    assert none.strata.names == ("head", "torso")
    assert none.strata.shares == pytest.approx([2 / 3, 1 / 3])
    assert evidence.only(np.arange(40)).strata is None


def test_a_verdict_shows_its_strata():
    d = evidence_of(shift=-0.05).differences
    candidate, baseline = pair(d.tolist())
    topics = topics_in(baseline.topics)
    verdict = worded(judge(gate_of("g", alpha=1), candidate, baseline, topics=topics))
    assert verdict.outcome == "fail"
    assert list(verdict.topics.strata) == ["head", "torso", "tail"]
    assert STRATA.shares @ list(verdict.topics.strata.values()) == pytest.approx(verdict.estimates.urisk)
    text = "\n".join(figures(verdict))
    assert re.search(r"URisk of each stratum: head -0\.\d{4}; torso", text)
    left = [without(one, verdict.estimates.flip_set) for one in (candidate, baseline)]
    assert judge(gate_of("g", alpha=1), *left, topics=topics).outcome == "pass"


def test_a_slice_has_no_strata_for_shares_within_it_are_not_known():
    d = evidence_of(shift=-0.05).differences
    candidate, baseline = pair(d.tolist())
    topics = topics_in(baseline.topics, language=np.arange(d.size) % 2)
    verdict = judge(gate_of("g", alpha=1), candidate, baseline, topics=topics)
    (even,) = (row for row in verdict.slices if (row.tag, row.value) == ("language", "0"))
    assert even.urisk == pytest.approx(linear(d[::2], alpha=1).mean(), abs=1e-12)
    sliced = gate_of("g", alpha=1, slice="language=0")
    assert align(sliced, candidate, baseline, topics=topics).strata is None


def refusal(topics: Topics, count: int = NUMBERS.size, **options) -> str:
    candidate, baseline = pair([0.1] * count)
    with pytest.raises((DataError, ValueError)) as refused:
        align(gate_of("g", **options), candidate, baseline, topics=topics)
    assert getattr(refused.value, "reason", "bad_strata") == "bad_strata"  # what is wrong says what to do
    return str(refused.value)


def changed(topics: Topics, tags: dict[str, dict[str, str]]) -> Topics:
    return Topics(topics.queries, {**topics.tags, **tags}, path_name=topics.path_name, shares=topics.shares)


def test_topics_that_do_not_fit_the_shares_are_refused():
    names = pair([0.1] * 62)[1].topics
    known = topics_in(names)
    assert "expected at least 2 judged topics in every stratum, tail has 0" in refusal(known, 50)
    assert "tail has 1;" in refusal(known, 51)
    lacking = changed(known, {names[3]: {}, names[4]: {"stratum": ""}})
    assert f"found none for 2 topics: {names[3]}, {names[4]}; give every judged topic" in refusal(lacking)
    strange = changed(known, {names[3]: {"stratum": "middle"}})
    assert (
        "topics.tsv: expected one of head, torso, tail in the column `stratum`, found middle for 1 topic: t00003"
        in refusal(strange)
    )
    crossed = topics_in(names, cluster=[*range(29), 5, 5, *range(31, 62)])
    assert "1 cluster with topics in two strata; strata are drawn apart" in refusal(crossed)
    few = topics_in(names, cluster=[*range(50), *[50] * 12])
    assert "at least 2 judged clusters in every stratum, tail has 1" in refusal(few)
    weighted = replace(known, weights=dict.fromkeys(names, 2.0))
    assert "shares of strata are weights already; leave out" in refusal(weighted, weighted=True)
