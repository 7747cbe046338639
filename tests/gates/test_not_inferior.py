"""The burden of proof on the candidate: the lower limit must be above the tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import Gate, gate_of
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference import interval
from pytest_riskguard.risk import linear
from tests.gates.conftest import evidence, pair


def gate(**options: object) -> Gate:
    return gate_of("g", "not_inferior", **options)


def codes(verdict):
    return {warning.code for warning in verdict.warnings}


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(6))
def test_it_passes_exactly_where_the_lower_limit_is_above_the_bound(seed, alpha):
    d = np.random.default_rng(seed).normal(0, 0.1, 60)
    lower = interval(linear(d, alpha=alpha), method="bca").lower
    for tolerance, outcome in ((-lower + 1e-6, "pass"), (max(-lower - 1e-6, 0.0), "fail")):
        verdict = judge(gate(alpha=alpha, tolerance=tolerance), *pair(d))
        assert verdict.outcome == outcome
        assert verdict.reason == (None if outcome == "pass" else "not_shown")
        assert verdict.decisive_interval is not None
        assert verdict.decisive_interval.method == "bca"


def test_equal_systems_are_shown_not_inferior_by_any_tolerance_but_none():
    assert judge(gate(tolerance=0.001), *pair(np.zeros(40))).outcome == "pass"
    assert judge(gate(tolerance=0.0), *pair(np.zeros(40))).outcome == "fail"


def test_no_change_at_all_says_how_little_that_shows():
    (notice,) = judge(gate(tolerance=0.001), *pair(np.zeros(40))).warnings
    # the largest share p with (1 - p)^40 = 0.025
    assert notice.code == "no_variation"
    assert notice.parameters["may_change"] == pytest.approx(0.0881, abs=5e-5)


def test_too_little_evidence_fails_and_says_how_many_topics_would_do():
    d = np.random.default_rng(2).normal(0.0, 0.2, 50)
    d -= d.mean()
    verdict = judge(gate(alpha=0, tolerance=0.03), *pair(d))
    assert (verdict.outcome, verdict.reason) == ("fail", "not_shown")
    needed = verdict.power.topics_for_tolerance
    assert needed is not None
    # 80 % power of a two-sided 95 % interval: (1.96 + 0.84)^2 (sd/tolerance)^2
    assert needed == pytest.approx(7.849 * (np.std(d, ddof=1) / 0.03) ** 2, rel=0.02)
    assert verdict.power.minimum_detectable_effect is None


def test_with_so_many_topics_four_of_five_would_be_shown():
    rng = np.random.default_rng(4)
    d = rng.normal(-0.005, 0.1, 60)
    needed = judge(gate(alpha=0, tolerance=0.03), *pair(d)).power.topics_for_tolerance
    assert needed is not None
    shown = sum(interval(rng.choice(d, needed), method="student_t").lower > -0.03 for _ in range(1000))
    assert shown == pytest.approx(800, abs=60)


def test_an_estimate_beyond_the_tolerance_needs_no_number_of_topics():
    d = np.random.default_rng(2).normal(-0.1, 0.05, 50)
    verdict = judge(gate(tolerance=0.03), *pair(d))
    assert (verdict.outcome, verdict.power.topics_for_tolerance) == ("fail", None)


def test_both_intervals_must_show_it():
    d = np.zeros(100)
    d[:3] = -0.2
    ruling = Ruling(gate(tolerance=0.013), evidence(d), alpha=0)
    lower = {i.method: i.lower for i in ruling.intervals}
    assert lower[ruling.deciding.method] == min(lower["bca"], lower["student_t"])
    assert "few_changed_topics" in codes(judge(gate(tolerance=0.05), *pair(d)))


def test_below_ten_topics_it_is_inconclusive():
    verdict = judge(gate(tolerance=0.5), *pair(np.linspace(0, 0.1, 9)))
    assert (verdict.outcome, verdict.reason) == ("inconclusive", "too_few_topics")


def test_the_topics_without_which_it_would_be_shown():
    d = np.append(np.random.default_rng(5).normal(0.01, 0.03, 60), -0.6)
    verdict = judge(gate(alpha=0, tolerance=0.01), *pair(d, level=0.7))
    assert verdict.outcome == "fail"
    assert [topic.topic for topic in verdict.responsible_topics if topic.flips_verdict] == ["t00060"]
    assert verdict.estimates.flip_set == ("t00060",)


def test_alpha_star_is_the_largest_alpha_at_which_it_is_shown():
    d = np.random.default_rng(6).normal(0.05, 0.1, 80)
    verdict = judge(gate(alpha=1, tolerance=0.01), *pair(d))
    star = verdict.estimates.alpha_star
    assert isinstance(star, float)
    assert judge(gate(alpha=star, tolerance=0.01), *pair(d)).outcome == "pass"
    assert judge(gate(alpha=1.002 * star + 1e-3, tolerance=0.01), *pair(d)).outcome == "fail"


@pytest.mark.parametrize("option", [{"on_churn": "warn"}, {"max_mde": 0.1}, {"max_share": 0.5}, {"protected": ["q"]}])
def test_options_of_other_questions_are_refused(option):
    with pytest.raises(ValueError, match="has no meaning for not_inferior"):
        gate(**option)
