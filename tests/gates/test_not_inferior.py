"""The burden of proof on the candidate: the lower limit must be above the tolerance."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from pytest_riskguard.gates.judge import compare, judge
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.inference.break_even import break_even_above
from pytest_riskguard.inference.intervals import interval
from pytest_riskguard.risk.tradeoff import linear
from tests.gates.conftest import evidence, pair
from tests.strict import gate_of


def gate(**options: object) -> Gate:
    return gate_of("g", "not_inferior", **options)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_it_passes_exactly_where_both_intervals_and_the_break_even_test_show_it(seed, alpha):
    d = np.random.default_rng(seed).normal(0, 0.1, 60)
    x, sizes, outcomes = linear(d, alpha=alpha), np.abs(d), []
    lower = min(interval(x, method=method).lower for method in ("bca", "student_t"))
    for tolerance in (-lower - 1e-6, -lower + 1e-6, -lower + 0.002, -lower + 0.005):
        chance = break_even_above(sizes, (1 + alpha) * sizes, d < 0, tolerated=60 * tolerance)
        comparison = compare(gate(alpha=alpha, tolerance=tolerance), *pair(d))
        shown = lower > -tolerance and 2 * chance <= 0.05
        assert comparison.answer == (("pass", None) if shown else ("fail", "not_shown"))
        assert comparison.ruling.break_even == pytest.approx(chance, rel=1e-9)
        outcomes.append(shown)
    assert outcomes[0] is False
    assert outcomes[-1] is True


def wins(m: int, n: int, *losses: float) -> np.ndarray:
    """So many equal wins, these losses, and topics that did not change."""
    changes = [0.1] * m + [-loss for loss in losses]
    return np.array(changes + [0.0] * (n - len(changes)))


@pytest.mark.parametrize(("alpha", "m"), [(0, 9), (0.2, 12), (1, 24), (5, 23), (10, 42)])
def test_too_few_changes_show_nothing(alpha, m):
    verdict = judge(gate(alpha=alpha), *pair(wins(m, 100) + np.linspace(0, 1e-4, 100) * (wins(m, 100) > 0)))
    assert (verdict.outcome, verdict.reason) == ("inconclusive", "too_few_changes")
    assert judge(gate(alpha=alpha), *pair(-wins(m, 100))).reason == "not_shown"


def test_intervals_that_a_little_luck_explains_show_nothing():
    d = wins(22, 60, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1)
    verdict = judge(gate(tolerance=0.0), *pair(d))
    assert verdict.estimates.break_even_p_value == pytest.approx(binom.cdf(6, 28, 1 / 3), rel=1e-9)
    assert (verdict.outcome, verdict.reason) == ("fail", "not_shown")


def unseen(verdict: Verdict) -> dict[str, Any] | None:
    """What the verdict says of changes that no topic showed."""
    return next((w.parameters for w in verdict.warnings if w.parameters.get("about") == "unseen_changes"), None)


def test_wins_alone_pass_and_say_which_losses_would_overturn_it():
    # one topic in 13.6 that loses 0.15 puts URisk at -0.02, and 25 topics show none with probability 0.15
    verdict = judge(gate(alpha=5, tolerance=0.02), *pair(np.full(25, 0.05)))
    assert verdict.outcome == "pass"
    found = unseen(verdict)
    assert found["share"] == pytest.approx(1 - 0.025 ** (1 / 25), rel=1e-12)
    share, size = found["share"], found["size"]
    assert (1 - share) * 0.05 - share * 6 * size == pytest.approx(-0.02, rel=1e-9)
    assert found["change"] == "loss"
    assert size == pytest.approx(0.077, abs=5e-4)


def test_losses_that_no_topic_shows_are_told_only_where_no_topic_shows_one():
    seen = np.full(60, 0.05)
    seen[0] = -0.3
    below = judge(gate(alpha=1, tolerance=0.002), *pair(np.where(seen > 0, 0.01, seen)))
    assert (below.outcome, unseen(below)) == ("fail", None)
    assert unseen(judge(gate(alpha=5, tolerance=0.02), *pair(np.full(60, 0.03)))) is not None
    ruling = Ruling(gate(alpha=5, tolerance=0.02), evidence(np.where(seen > 0, 0.03, seen)))
    assert ruling.unseen_losses(plausible=0.5) is None


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
    assert judge(gate(alpha=0, tolerance=0.03), *pair(d - 0.1)).power.topics_for_tolerance is None
