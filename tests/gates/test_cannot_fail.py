"""Gates that, as the scores show, no candidate could fail: refused, or named in a warning."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.verdict import Family, Verdict
from pytest_riskguard.reports.warning_sentences import worded
from tests.gates.conftest import judge_pool, topic_scores
from tests.strict import gate_of

pytestmark = pytest.mark.usefixtures("few_draws")

RNG = np.random.default_rng(12)
#: 40 topics that score 0.2 on average, and 0.4 at most.
LOW = topic_scores("prod", np.round(RNG.uniform(0.0, 0.4, 40), 3))
BETTER = topic_scores("candidate", LOW.values + 0.1)
#: Only 3 of 40 topics score at all, or 8.
SPARSE = topic_scores("prod", np.where(np.arange(40) < 3, 0.8, 0.0))
EIGHT = topic_scores("prod", np.where(np.arange(40) < 8, 0.5 + np.arange(40) / 100, 0.0))
HIGH = topic_scores("prod", np.linspace(0.1, 0.8, 40))
OUTLIER = topic_scores("prod", np.where(np.arange(40) < 8, 0.01, 0.0) + np.where(np.arange(40) == 0, 0.9, 0.0))
OF_ONE = {"kind": "no_topic_collapse", "max_loss": 0.9}
OF_SHARES = {**OF_ONE, "max_loss": None, "max_share": 1.0}


def codes(verdict: Verdict) -> set[str]:
    return {warning.code for warning in verdict.warnings}


@pytest.mark.parametrize(
    ("options", "baseline", "said"),
    [
        ({"tolerance": 0.5}, LOW, "tolerance 0.5"),
        ({"alpha": 5.0, "tolerance": 1.5}, LOW, "tolerance 1.5"),
        ({"alpha": 5.0, "tolerance": 1.5, "on_churn": "warn"}, LOW, "tolerance 1.5"),
        ({"kind": "equivalent", "tolerance": 0.6}, LOW, "tolerance 0.6"),
        ({"method": "student_t", "tolerance": 0.5}, LOW, "tolerance 0.5"),
        (OF_ONE, LOW, "warned"),  # the usual limit would not be exceeded either
        (OF_ONE, HIGH, "max_loss 0.9"),
        ({**OF_ONE, "max_loss": 0.3, "allowed": 0.05}, OUTLIER, "warned"),  # as the usual gate
        ({**OF_ONE, "slice": "a=b"}, HIGH, "warned"),
        (OF_SHARES, HIGH, "warned"),  # of limits that are off none is at fault
        ({"level": 0.9999}, EIGHT, "level 0.9999"),
        ({"level": 0.9999, "tolerance": 0.9}, EIGHT, "tolerance 0.9 and level 0.9999"),
        ({"method": "student_t"}, OUTLIER, "warned"),  # one outlier blinds it
        ({}, OUTLIER, ""),
        ({}, topic_scores("prod", np.full(5, 0.5)), ""),
        ({"tolerance": 0.2}, LOW, ""),
        ({"kind": "not_inferior", "tolerance": 0.2}, LOW, ""),
        ({"level": 0.999999}, LOW, ""),
    ],
)
def test_options_that_even_scores_of_0_satisfy_are_refused_where_they_are_at_fault(options, baseline, said):
    verdict = judge(gate_of("g", **options), topic_scores("candidate", baseline.values + 0.1), baseline)
    if said in ("", "warned"):
        assert ("cannot_fail" in codes(verdict)) == bool(said)
        assert verdict.outcome in ("pass", "inconclusive")
        return
    assert (verdict.outcome, verdict.reason) == ("incomparable", "cannot_fail")
    assert (verdict.problem or "").startswith(f"{said}: even a candidate that scores 0 on every topic would pass")
    assert verdict.remedy == "choose a smaller " + " and ".join(part.split()[0] for part in said.split(" and "))


def test_a_level_that_a_family_chose_is_not_at_fault():
    verdict = judge(gate_of("g"), EIGHT, EIGHT, family=Family("holm", 500, 0.9999, 1.0))
    assert "cannot_fail" in codes(verdict)


def test_a_baseline_with_little_to_lose_gives_a_warning():
    better = topic_scores("candidate", np.where(np.arange(40) < 9, 0.9, 0.0))
    verdict = worded(judge(gate_of("g"), better, SPARSE))
    (told,) = (warning.message for warning in verdict.warnings if warning.code == "cannot_fail")
    assert verdict.outcome == "pass"
    assert "prod scores above 0 on 3 of 40 topics, 0.06 on average and 0.8 at most; choose another measure" in told


@pytest.mark.parametrize("kind", ["not_significantly_risky", "no_topic_collapse"])
def test_scores_of_0_on_both_sides_are_no_evidence(kind):
    nothing = topic_scores("candidate", np.zeros(40)), topic_scores("prod", np.zeros(40))
    verdict = judge(gate_of("g", kind=kind), *nothing)
    assert (verdict.outcome, verdict.reason) == ("incomparable", "cannot_fail")
    assert (verdict.problem or "").startswith("every score of every system is 0, so nDCG@10 says nothing")
    assert "cannot_fail" in codes(judge(gate_of("g", kind=kind), BETTER, nothing[1]))
    own = [replace(system, measure="clicks") for system in nothing]  # 0 need not be the least
    assert judge(gate_of("g", kind=kind), *own).outcome == "pass"


def test_a_pool_without_scores_and_a_tolerance_beyond_georisk_are_refused():
    systems = [topic_scores(name, LOW.values) for name in ("prod", "old")]
    verdict = judge_pool(gate_of("g", kind="georisk_not_worse", tolerance=0.35), BETTER, systems)
    assert (verdict.outcome, verdict.reason) == ("incomparable", "cannot_fail")
    assert (verdict.problem or "").startswith(
        "tolerance 0.35: even a candidate that scores 0 on every topic would pass, since prod scores 0.1992 on"
    )
    assert judge_pool(gate_of("g", kind="georisk_not_worse", tolerance=0.25), BETTER, systems).outcome == "pass"
    nothing = topic_scores("candidate", np.zeros(40))
    assert judge_pool(gate_of("g", kind="georisk_not_worse", tolerance=0.25), nothing, systems).outcome == "fail"
    own = [replace(system, measure="clicks") for system in (BETTER, *systems)]  # 0 need not be the least
    assert judge_pool(gate_of("g", kind="georisk_not_worse", tolerance=0.35), own[0], own[1:]).outcome == "pass"
    empty = [topic_scores(name, np.zeros(40)) for name in ("candidate", "prod", "old")]
    verdict = judge_pool(gate_of("g", kind="georisk_not_worse"), empty[0], empty[1:])
    assert (verdict.outcome, verdict.reason) == ("incomparable", "cannot_fail")


def weighted_by(weight: float, losing: int = 30, **options: Any) -> Verdict:
    """So many of 40 topics lose 0.1 and have this weight; the others, of weight 1, win as much."""
    loses = np.arange(40) < losing
    baseline = topic_scores("prod", np.full(40, 0.5) + np.arange(40) / 200)
    candidate = topic_scores("candidate", baseline.values + np.where(loses, -0.1, 0.1))
    weights = dict(zip(baseline.topics, np.where(loses, weight, 1.0).tolist(), strict=True))
    return judge(gate_of("g", weighted=True, **options), candidate, baseline, topics=Topics({}, weights=weights))


@pytest.mark.parametrize("options", [{}, {"on_inconclusive": "warn"}, {"kind": "not_inferior", "tolerance": 0.01}])
def test_weights_that_leave_the_losing_topics_nothing_are_refused(options):
    for weight in (1e-300, 1e-9, 0.003):
        verdict = weighted_by(weight, **options)
        assert (verdict.outcome, verdict.reason) == ("incomparable", "cannot_fail")
        said = "the 30 topics that lost (t00000, t00001, t00002, t00003, t00004 and 25 more) have "
        assert said in (verdict.problem or "")


def test_weights_that_leave_the_losing_topics_little_give_a_warning():
    verdict = weighted_by(0.02)
    (told,) = (warning for warning in verdict.warnings if warning.code == "outweighed")
    assert (verdict.outcome, len(told.parameters["topics"])) == ("pass", 30)
    assert told.parameters["share"] == pytest.approx(0.6 / 10.6)
    assert "outweighed" not in codes(weighted_by(0.04))  # a tenth of the weight
    assert weighted_by(1.0).outcome == "fail"
    assert weighted_by(0.02, losing=4).outcome == "pass"  # as without weights


def test_next_to_nothing_lost_in_heavy_topics_does_not_hide_what_the_others_lost():
    """Thirty topics of next to no weight lose 0.1 each, the ten of all weight a millionth."""
    light = np.arange(40) < 30
    baseline = topic_scores("prod", np.full(40, 0.5) + np.arange(40) / 200)
    candidate = topic_scores("candidate", baseline.values - np.where(light, 0.1, 1e-6))
    topics = Topics({}, weights=dict(zip(baseline.topics, np.where(light, 1e-9, 1.0).tolist(), strict=True)))
    verdict = judge(gate_of("g", weighted=True, tolerance=0.01), candidate, baseline, topics=topics)
    assert (verdict.outcome, verdict.reason) == ("incomparable", "cannot_fail")
    assert "the 30 topics that lost (t00000, t00001" in (verdict.problem or "")
