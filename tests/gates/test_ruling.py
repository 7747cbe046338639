"""The decisive rule: few changes, few topics, auto, explicit methods."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.gates.flips import passes_without_each
from pytest_riskguard.gates.kinds import NotSignificantlyRisky, gate_of
from pytest_riskguard.gates.ruling import (
    Rule,
    Ruling,
    detects_max_mde,
    limit_of,
    margin_of,
    min_changes,
    p_by_rule,
    rule_for,
)
from pytest_riskguard.inference import interval
from pytest_riskguard.risk import linear
from tests.gates.conftest import evidence


@pytest.mark.parametrize(("level", "changes"), [(0.95, 6), (0.999, 11), (0.9, 5), (0.5, 2)])
def test_min_changes_follow_the_sign_flip_law(level, changes):
    assert min_changes(level) == changes


@pytest.mark.parametrize(
    ("method", "n", "changed", "witnesses", "demand"),
    [
        ("auto", 25, 25, ("bca",), "all"),
        ("auto", 24, 24, ("bca", "student_t"), "all"),
        ("auto", 200, 5, ("bca", "student_t"), "any"),
        ("auto", 24, 5, ("bca", "student_t"), "any"),
        ("auto", 200, 6, ("bca",), "all"),
        ("percentile", 12, 12, ("percentile",), "all"),
        ("percentile", 200, 3, ("percentile", "student_t"), "any"),
        ("student_t", 200, 3, ("student_t",), "any"),
    ],
)
def test_the_rule_for_a_comparison_of_this_size(method, n, changed, witnesses, demand):
    rule = rule_for(gate_of("g", method=method), n_topics=n, n_changed=changed)
    assert (rule.witnesses, rule.demand) == (witnesses, demand)


def test_below_25_topics_the_lower_of_both_limits_decides():
    d = np.array([0.1, 0.05, -0.02, 0.2, 0.15, -0.3, 0.02, 0.01, 0.04, 0.03, -0.01, 0.02])
    ruling = Ruling(NotSignificantlyRisky("g"), evidence(d))
    upper = {i.method: i.upper for i in ruling.intervals}
    assert upper[ruling.deciding.method] == min(upper["bca"], upper["student_t"])


def test_with_few_changes_the_higher_limit_decides():
    d = np.zeros(100)
    d[:5] = -0.001
    ruling = Ruling(NotSignificantlyRisky("g"), evidence(d))
    upper = {i.method: i.upper for i in ruling.intervals}
    assert upper[ruling.deciding.method] == max(upper["bca"], upper["student_t"])


def test_a_limit_within_1e_12_of_the_bound_has_reached_it():
    d = np.full(30, -0.1)
    assert Ruling(NotSignificantlyRisky("g", tolerance=0.1), evidence(d)).plain.passes
    assert Ruling(NotSignificantlyRisky("g", tolerance=0.1 - 1e-13), evidence(d)).plain.passes
    assert not Ruling(NotSignificantlyRisky("g", tolerance=0.1 - 1e-9), evidence(d)).plain.passes


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("method", ["auto", "percentile", "student_t"])
def test_the_short_way_to_the_verdict_is_the_long_one(seed, method):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60))
    d = np.round(rng.normal(0, 0.2, n), 3) * (rng.random(n) < rng.choice([0.1, 0.5, 1.0]))
    for alpha in (0.0, 0.3, 1.0, 5.0):
        gate = NotSignificantlyRisky("g", method=method, alpha=alpha)
        limit = limit_of(gate, Ruling(gate, evidence(d)).deciding)
        assert Ruling(gate, evidence(d)).passes == (margin_of(gate, limit) >= 0)


@pytest.mark.parametrize("on_churn", ["fail", "warn"])
@pytest.mark.parametrize("seed", range(8))
def test_leaving_out_each_topic_is_the_gate_on_one_topic_fewer(seed, on_churn):
    rng = np.random.default_rng(seed)
    n = [11, 12, 25, 26, 40, 40, 60, 30][seed]
    d = rng.normal(-0.03, 0.2, n)
    if seed >= 5:
        d[rng.permutation(n)[: n - 7]] = 0  # seven changes: leaving one out of them leaves six, below none
    if seed == 6:
        d[np.flatnonzero(d)[0]] = 0  # six changes: leaving one out makes them few
    gate = NotSignificantlyRisky("g", alpha=1, on_churn=on_churn)
    expected = [Ruling(gate, evidence(np.delete(d, i))).lets_through for i in range(n)]
    ruling = Ruling(gate, evidence(d))
    _, lets_through = passes_without_each(ruling, passing=ruling.lets_through)
    assert lets_through.tolist() == expected


@pytest.mark.parametrize("limit", [float("nan"), float("inf"), float("-inf")])
def test_a_limit_that_is_no_number_never_passes(limit):
    assert not margin_of(NotSignificantlyRisky("g"), limit) >= 0


def test_method_decides_alone_when_it_is_named():
    rng = np.random.default_rng(3)
    d = rng.normal(0.02, 0.2, 50)
    for method in ("student_t", "basic", "percentile", "bca"):
        ruling = Ruling(NotSignificantlyRisky("g", method=method), evidence(d))
        assert ruling.deciding.method == method
        assert ruling.interval(method).upper == interval(linear(d, alpha=1), method=method).upper


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("alpha", -1, r"alpha: expected a number from 0 to 1e\+09, found the number -1"),
        ("alpha", float("nan"), r"alpha: expected a number from 0 to 1e\+09, found the number nan"),
        ("level", 1.0, "level: expected a number between 0.000001 and 0.999999 such as 0.95, found"),
        ("level", 0.9999999999999999, "level: expected a number between 0.000001 and 0.999999 such as 0.95, found"),
        ("tolerance", float("inf"), "tolerance: expected a finite number, at least 0, found the number inf"),
        ("max_mde", -0.1, "max_mde: expected a finite number, at least 0, found the number -0.1"),
        ("method", "wald", "method: expected auto, student_t, basic, studentized, percentile or bca, found 'wald'"),
        ("on_churn", "ignore", "on_churn: expected fail or warn, found 'ignore'"),
        (
            "kind",
            "risky",
            "kind: expected not_significantly_risky, georisk_not_worse, not_inferior, no_drift or "
            "no_topic_collapse, ",
        ),
        ("missing", "drop", "missing: expected refuse or zero, found 'drop'"),
    ],
)
def test_an_option_outside_its_range_is_refused_by_name(option, value, message):
    with pytest.raises(ValueError, match=message):
        gate_of("g", **{option: value})


def test_the_lowest_limit_decides_where_all_must_reach_the_bound_and_the_highest_where_any_must():
    limits = {"bca": 0.2, "student_t": 0.1}
    assert Rule(("bca", "student_t"), "all").decisive(limits) == "student_t"
    assert Rule(("bca", "student_t"), "any").decisive(limits) == "bca"
    assert Rule(("bca",), "all").decisive(limits) == "bca"


@pytest.mark.parametrize(
    ("options", "sizes", "witnesses", "demand"),
    [
        ({"kind": "not_inferior"}, {"n_changed": 5}, ("bca", "student_t"), "all"),
        ({"kind": "not_inferior"}, {"n_changed": 6}, ("bca",), "all"),
        ({}, {"n_changed": 10, "level": 0.999}, ("bca", "student_t"), "any"),
        ({}, {"n_changed": 11, "level": 0.999}, ("bca",), "all"),
        ({"level": 0.999}, {"n_changed": 10}, ("bca", "student_t"), "any"),
        ({"level": 0.999}, {"n_changed": 10, "level": 0.95}, ("bca",), "all"),
        ({}, {"n_changed": 200, "uneven": True}, ("bca", "student_t"), "any"),
        ({"kind": "not_inferior"}, {"n_changed": 200, "uneven": True}, ("bca", "student_t"), "all"),
    ],
)
def test_the_rule_depends_on_the_side_the_level_and_the_weights(options, sizes, witnesses, demand):
    rule = rule_for(gate_of("g", **options), n_topics=200, **sizes)
    assert (rule.witnesses, rule.demand) == (witnesses, demand)


def test_an_upper_limit_must_reach_the_bound_and_a_lower_one_lie_above_it():
    upper, lower = gate_of("g", tolerance=0.125), gate_of("g", kind="not_inferior", tolerance=0.125)
    bca = interval(np.linspace(-0.2, 0.3, 30), method="bca")
    assert (limit_of(upper, bca), limit_of(lower, bca)) == (bca.upper, bca.lower)
    assert margin_of(upper, 0.25) == pytest.approx(0.375)
    assert (margin_of(upper, -0.125), margin_of(lower, -0.125)) == (1e-12, -1e-12)


@pytest.mark.parametrize(("effect", "detects"), [(0.1, True), (0.0999, True), (0.1001, False), (None, False)])
def test_an_effect_as_large_as_max_mde_is_small_enough(effect, detects):
    assert detects_max_mde(gate_of("g", max_mde=0.1), effect) is detects
    assert detects_max_mde(gate_of("g"), effect)


@pytest.mark.parametrize(
    ("method", "n", "changed", "own", "student_t", "expected"),
    [
        ("auto", 25, 20, 0.03, 0.02, 0.03),  # BCa alone
        ("auto", 24, 20, 0.03, 0.02, 0.02),  # below 25 topics either may fail the gate
        ("auto", 24, 20, 0.02, 0.03, 0.02),
        ("percentile", 24, 20, 0.03, 0.02, 0.03),
        # five changes: both must fail while 1 - level is below 2^-4 = 0.0625
        ("auto", 100, 5, 0.01, 0.03, 0.03),
        ("auto", 100, 5, 0.01, 0.2, 0.0625),
        ("auto", 100, 5, 0.08, 0.5, 0.08),
        ("auto", 24, 3, 0.01, 0.02, 0.02),
        ("auto", 24, 3, 0.01, 0.4, 0.25),
        ("auto", 24, 5, 0.08, 0.07, 0.07),
    ],
)
def test_the_p_value_is_the_smallest_at_which_the_rule_fails(method, n, changed, own, student_t, expected):
    def p_of(name: str) -> float:
        return {"bca": own, "percentile": own, "student_t": student_t}[name]

    gate = gate_of("g", method=method)
    assert p_by_rule(gate, p_of, n_topics=n, n_changed=changed) == expected
    assert p_by_rule(gate, p_of, n_topics=n, n_changed=changed, uneven=True) == max(own, student_t)
    assert p_by_rule(gate_of("g", method="student_t"), p_of, n_topics=n, n_changed=changed) == student_t


def test_a_ruling_on_other_topics_is_at_the_same_alpha():
    d = np.linspace(-0.2, 0.3, 30)
    ruling = Ruling(gate_of("g", alpha=1, level=0.8), evidence(d), alpha=3.0)
    assert ruling.at(3.0) is ruling  # so that no interval is computed twice
    assert (ruling.at(1.0).alpha, ruling.plain.alpha) == (1.0, 0.0)
    places = np.arange(20)
    for other, rest in ((ruling.without(places), d[20:]), (ruling.only(places), d[:20])):
        assert other.alpha == 3.0
        assert other.scores.tolist() == linear(rest, alpha=3).tolist()
    assert ruling.interval("basic").upper == interval(linear(d, alpha=3), method="basic", level=0.8).upper
    assert Ruling(gate_of("g", method="studentized"), evidence(d)).deciding.method == "studentized"


@pytest.mark.parametrize(("kind", "demand"), [("not_inferior", "all"), ("not_significantly_risky", "any")])
def test_limits_without_each_topic_are_those_of_the_others(kind, demand):
    d = np.random.default_rng(5).normal(0.02, 0.2, 30)
    gate = gate_of("g", kind=kind, alpha=1)
    rule = Rule(("bca", "student_t"), demand)
    expected = [limit_of(gate, Ruling(gate, evidence(np.delete(d, i))).deciding_by(rule)) for i in (0, 7, 29)]
    limits = Ruling(gate, evidence(d)).limits_without_each(rule, np.array([0, 7, 29]))
    assert limits == pytest.approx(expected, abs=1e-9)
