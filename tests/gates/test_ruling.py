"""The rule of judgement: which interval and which test must fail, few changes, few topics, explicit methods."""

import numpy as np
import pytest

from pytest_riskguard.gates.kinds import limit_of
from pytest_riskguard.gates.ruling import Ruling, margin_of
from pytest_riskguard.inference.intervals import Interval, interval
from tests.gates.conftest import evidence
from tests.strict import NotSignificantlyRisky, gate_of

Answers = dict[str, float]


def answering(gate, limits: Answers, *, break_even: float) -> Ruling:
    """A ruling whose intervals and whose break-even test are these."""
    ruling = Ruling(gate, evidence(np.linspace(-0.2, 0.1, 40)))
    side = {m: (v, 1.0) if gate.side == "lower" else (-1.0, v) for m, v in limits.items()}
    ruling._intervals = {m: Interval(m, gate.level, *both) for m, both in side.items()}
    ruling.break_even = break_even
    return ruling


def test_a_limit_lies_so_many_standard_errors_from_the_mean():
    # mean 1.5, variance 5/3 with divisor n - 1: the standard error is root(5/12)
    ruling = Ruling(gate_of("g", method="student_t"), evidence(np.array([0.0, 1.0, 2.0, 3.0])))
    ruling._intervals["student_t"] = Interval("student_t", 0.95, -0.5, 4.0)
    assert ruling.critical(side="lower") == pytest.approx(2 / np.sqrt(5 / 12), rel=1e-14)
    assert ruling.critical(side="upper") == pytest.approx(2.5 / np.sqrt(5 / 12), rel=1e-14)


@pytest.mark.parametrize(
    ("own", "student_t", "break_even", "passes", "deciding"),
    [
        (0.1, 0.1, 0.9, True, "bca"),
        (0.1, -0.1, 0.001, True, "bca"),  # whatever the others say
        (-0.1, -0.2, 0.9, False, "bca"),  # Student-t agrees
        (-0.1, 0.1, 0.025, False, "bca"),  # the break-even test agrees
        (-0.1, 0.1, 0.0251, True, "student_t"),  # neither does
    ],
)
def test_a_gate_fails_by_its_own_interval_and_one_of_the_others(own, student_t, break_even, passes, deciding):
    for method, name in (("auto", "bca"), ("percentile", "percentile")):
        gate = gate_of("g", method=method)
        ruling = answering(gate, {name: own, "student_t": student_t}, break_even=break_even)
        assert ruling.passes is passes
        assert ruling.deciding.method == (name if deciding == "bca" else deciding)
        assert (margin_of(gate, limit_of(gate, ruling.deciding)) >= 0) is passes


@pytest.mark.parametrize(
    ("own", "student_t", "passes", "deciding"),
    [
        (0.1, 0.2, True, "bca"),
        (0.1, 0.05, True, "student_t"),
        (0.1, -0.1, False, "student_t"),
        (-0.1, 0.1, False, "bca"),
    ],
)
def test_not_inferior_is_shown_by_both_intervals(own, student_t, passes, deciding):
    ruling = answering(gate_of("g", kind="not_inferior"), {"bca": own, "student_t": student_t}, break_even=0.001)
    assert (ruling.passes, ruling.deciding.method) == (passes, deciding)


@pytest.mark.parametrize(("limit", "passes"), [(0.1, True), (-0.1, False)])
def test_student_t_decides_alone_if_it_is_asked_for(limit, passes):
    ruling = answering(gate_of("g", method="student_t"), {"student_t": limit}, break_even=0.9 - limit)
    assert (ruling.passes, ruling.deciding.method) == (passes, "student_t")


def test_four_lost_topics_of_a_hundred_fail_at_alpha_1_though_one_lost_most():
    """Student-t sees an outlier; that all four lost is what counts: 3^-4 by chance."""
    for lost, alpha, passes in (
        (4, 1, False),
        (3, 1, True),
        (5, 0, True),
        (6, 0, False),
        (3, 5, False),
        (2, 5, True),
    ):
        d = np.zeros(100)
        d[:lost] = -0.9, *[-0.1] * (lost - 1)
        ruling = Ruling(gate_of("g", alpha=alpha), evidence(d))
        assert ruling.reaches("student_t")
        assert (lost, alpha, ruling.passes) == (lost, alpha, passes)
        assert ruling.break_even == pytest.approx((2 + alpha) ** -lost, rel=1e-12)


def test_a_limit_within_1e_12_of_the_bound_has_reached_it():
    def passes(tolerance):
        return Ruling(NotSignificantlyRisky("g", tolerance=tolerance), evidence(np.full(30, -0.1))).at(0.0).passes

    assert passes(0.1)
    assert passes(0.1 - 1e-13)
    assert not passes(0.1 - 1e-9)


D = np.where(np.arange(100) < 6, -0.5, 0.0)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"alpha": 1.0, "tolerance": 0.01}, "loss"),  # six of 100 fall from 1.0 to 0.5: down beyond chance
        ({"alpha": 0.0, "tolerance": 0.0}, "loss"),
        ({"alpha": 0.0, "tolerance": 0.01}, None),
        ({"alpha": 1.0, "tolerance": 0.03}, None),
    ],
)
@pytest.mark.parametrize("on_churn", ["fail", "warn"])
def test_a_loss_is_what_fails_at_alpha_0_and_tolerance_0_too(changed, reason, on_churn):
    ruling = Ruling(NotSignificantlyRisky("g", on_churn=on_churn, **changed), evidence(D))
    assert ruling.lets_through is (reason is None)
    assert not ruling.plain.passes


@pytest.mark.parametrize("tolerance", [0.0, 0.005, 0.02])
def test_where_churn_only_warns_the_p_value_and_the_gate_ask_both_conditions(tolerance):
    for seed in range(4):
        d = np.round(np.random.default_rng(seed).normal(-0.02, 0.1, 60), 2)
        strict, both = (
            Ruling(NotSignificantlyRisky("g", alpha=2.0, tolerance=tolerance, on_churn=on_churn), evidence(d))
            for on_churn in ("fail", "warn")
        )
        of_mean = Ruling(NotSignificantlyRisky("g", alpha=0.0), evidence(d))
        assert both.p_value == max(strict.p_value, of_mean.p_value)
        assert both.lets_through == (strict.lets_through or of_mean.lets_through)


def test_an_upper_limit_must_reach_the_bound_and_a_lower_one_lie_above_it():
    upper, lower = gate_of("g", tolerance=0.125), gate_of("g", kind="not_inferior", tolerance=0.125)
    bca = interval(np.linspace(-0.2, 0.3, 30), method="bca")
    assert (limit_of(upper, bca), limit_of(lower, bca)) == (bca.upper, bca.lower)
    assert margin_of(upper, 0.25) == pytest.approx(0.375)
    assert (margin_of(upper, -0.125), margin_of(lower, -0.125)) == (1e-12, -1e-12)
