"""Equivalence: shown on these differences and on their negatives not to be worse than the tolerance."""

import numpy as np
import pytest

from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import Gate, NotInferior, gate_of, limit_of
from pytest_riskguard.gates.ruling import Ruling, margin_of, witnesses
from pytest_riskguard.inference.intervals import interval
from tests.gates.conftest import evidence, pair


def gate(tolerance: float, **options: object) -> Gate:
    return gate_of("g", "equivalent", tolerance=tolerance, **options)


def samples(seed: int) -> np.ndarray:
    """Differences of all sorts: dense, few changes, on a lattice, skewed, with one outlier."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 70))
    d = rng.normal(rng.normal(0, 0.02), 0.1, n)
    match seed % 5:
        case 1:
            d[int(rng.integers(8, n)) :] = 0.0
        case 2:
            d = np.round(d, 1)
        case 3:
            d = rng.exponential(0.1, n) * rng.choice([-1.0, 1.0], n) + 0.01
        case 4:
            d[0] = rng.choice([-0.7, 0.7])
    return d


def near(d: np.ndarray) -> float:
    """A tolerance near which the answer turns."""
    reached = [interval(d, method=method).upper for method in ("student_t", "bca")]
    reached += [-interval(d, method=method).lower for method in ("student_t", "bca")]
    return max(max(reached), 1e-3)


@pytest.mark.parametrize("method", ["auto", "student_t", "basic", "percentile"])
def test_it_passes_exactly_where_neither_direction_is_inferior(method):
    seen = set()
    for seed in range(8):
        d = samples(seed)
        for factor in (0.7, 0.97, 1 + 1e-9, 1.03):
            asked = gate(near(d) * factor, method=method)
            either = [Ruling(asked.as_kind(NotInferior), evidence(sign * d)).passes for sign in (1, -1)]
            assert Ruling(asked, evidence(d)).passes == all(either)
            seen.add(tuple(either))
    assert seen == {(True, True), (True, False), (False, True), (False, False)}


@pytest.mark.parametrize(("seed", "tolerance"), [(4, 0.1), (20, 0.03)])
def test_the_answer_is_the_same_whichever_system_is_the_candidate(seed, tolerance):
    d = np.round(samples(seed), 3)
    one, other = (judge(gate(tolerance), *pair(sign * d)) for sign in (1, -1))
    assert (one.outcome, one.reason) == (other.outcome, other.reason)
    assert one.estimates.break_even_p_value == pytest.approx(other.estimates.break_even_p_value, rel=1e-9)
    assert one.power.topics_for_tolerance == other.power.topics_for_tolerance


def test_the_limit_that_decides_lies_within_the_bounds_exactly_where_all_limits_do():
    for seed in range(10):
        d = samples(seed)
        for factor in (0.9, 1.1):
            asked = gate(near(d) * factor)
            ruling = Ruling(asked, evidence(d))
            limits = [end for m in witnesses(asked) for end in (ruling.interval(m).lower, ruling.interval(m).upper)]
            furthest = max(limits, key=abs)
            assert limit_of(asked, ruling.deciding) == furthest
            assert (margin_of(asked, furthest) >= 0) == (max(map(abs, limits)) < asked.tolerance)
            assert ruling.sense == -np.sign(furthest)


@pytest.mark.parametrize(("difference", "change"), [(0.0, "loss"), (0.005, "win"), (-0.005, "loss")])
def test_equivalence_says_which_changes_that_no_topic_shows_would_overturn_it(difference, change):
    verdict = judge(gate(0.02), *pair(np.full(40, difference)))
    assert verdict.outcome == "pass"
    (found,) = (w.parameters for w in verdict.warnings if w.parameters.get("about") == "unseen_changes")
    share = found["share"]
    assert share == pytest.approx(0.0881, abs=5e-5)
    assert found["change"] == change
    assert (1 - share) * abs(difference) + share * found["size"] == pytest.approx(0.02, rel=1e-9)


def test_a_clear_gain_is_not_equivalence_and_its_wins_are_responsible():
    d = np.full(40, 0.001)
    d[:3] = (0.5, 0.9, 0.7)
    d[3:6] = -0.2
    verdict = judge(gate(0.02), *pair(d))
    assert (verdict.outcome, verdict.reason) == ("fail", "not_shown")
    named = [topic.topic for topic in verdict.responsible_topics]
    assert named[:3] == ["t00001", "t00002", "t00000"]
    assert len(named) == 37  # all that won, none that lost
    assert sum(topic.share or 0.0 for topic in verdict.responsible_topics) == pytest.approx(1)
    assert verdict.responsible_topics[0].flagged


def test_a_pass_does_not_ask_for_a_new_baseline():
    d = np.random.default_rng(3).normal(0.01, 0.005, 60)  # better beyond doubt, but by less than matters
    verdict = judge(gate(0.05), *pair(d))
    assert verdict.outcome == "pass"
    assert "significantly_better" not in {warning.code for warning in verdict.warnings}
