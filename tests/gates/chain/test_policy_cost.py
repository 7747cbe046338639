"""What a policy costs: shares of failures that the rule itself gives, by draws that are always the same."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_riskguard.gates import power_plan as module
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.power_plan import policy_cost
from pytest_riskguard.gates.ruling import Ruling
from tests.strict import gate_of

SIZES = (0.01, 0.03)


def moves(n: int, changed: int, *, seed: int = 1) -> np.ndarray:
    values = np.zeros(n)
    values[:changed] = np.random.default_rng(seed).normal(0, 0.15, changed)
    return values


def brute_force(gate, differences, size, *, draws):
    """The shares of losses and of churn among pull requests that are all judged by the rule."""
    rng = np.random.default_rng(99)
    sizes = np.abs(differences)
    fall = size * sizes.size / np.sum(sizes)
    loss = churn = 0
    for _ in range(draws):
        signs = np.where(rng.random(sizes.size) < (1 + min(fall, 1)) / 2, -1, 1)
        ruling = Ruling(gate, Evidence.of(signs * sizes * max(fall, 1)))
        if not ruling.holds:
            loss, churn = (loss, churn + 1) if ruling.plain.passes else (loss + 1, churn)
    return 100 * loss / draws, 100 * churn / draws


@pytest.mark.slow
@pytest.mark.parametrize(("n", "changed", "alpha"), [(60, 10, 0.0), (60, 40, 1.0), (100, 100, 5.0)])
def test_judging_a_part_says_what_judging_all_would(n, changed, alpha):
    gate, differences, draws = gate_of("g", alpha=alpha), moves(n, changed), 400
    cost = policy_cost(gate, differences, SIZES)
    for found in (cost.harmless, *cost.harmful):
        loss, churn = brute_force(gate, differences, found.size, draws=draws)
        for estimate, counted in ((found.loss, loss), (found.churn, churn)):
            error = 100 * math.sqrt(max(counted * (100 - counted), 200) / 1e4 / draws)
            assert abs(estimate - counted) <= 4 * error + 2


@pytest.mark.parametrize(("n", "changed"), [(60, 10), (60, 40)])
def test_harmless_changes_are_losses_as_rarely_as_the_level_says(n, changed):
    for alpha in (0.0, 1.0):
        cost = policy_cost(gate_of("g", alpha=alpha), moves(n, changed), ())
        assert 0.5 <= cost.harmless.loss <= 3.5
        assert (cost.harmless.churn == 0) == (alpha == 0)


def test_more_harm_is_seen_more_often_and_alpha_buys_churn():
    differences = moves(60, 40)
    by_alpha = [policy_cost(gate_of("g", alpha=alpha), differences, (0.01, 0.03, 0.1)) for alpha in (0.0, 1.0)]
    for cost in by_alpha:
        seen = [found.loss + found.churn for found in (cost.harmless, *cost.harmful)]
        assert seen == sorted(seen)
        assert seen[-1] >= 95
    assert by_alpha[1].harmless.churn > 10
    assert by_alpha[0].harmful[1].loss == pytest.approx(by_alpha[1].harmful[1].loss, abs=4)


def test_a_tolerance_and_a_level_count():
    differences = moves(60, 40)
    plain = policy_cost(gate_of("g", alpha=1.0), differences, SIZES)
    tolerant = policy_cost(gate_of("g", alpha=1.0, tolerance=0.05), differences, SIZES)
    strict = policy_cost(gate_of("g", alpha=1.0, level=0.999), differences, SIZES)
    for other in (tolerant, strict):
        assert other.harmless.churn < plain.harmless.churn
        assert other.harmful[1].loss <= plain.harmful[1].loss


def test_where_nothing_can_be_said():
    gate = gate_of("g")
    assert policy_cost(gate, moves(9, 9), SIZES) is None
    assert policy_cost(gate, np.zeros(60), SIZES) is None
    assert policy_cost(gate, np.full(module.MAX_SIGNS // module.MIN_DRAWS + 1, 0.1), SIZES) is None
    with pytest.raises(ValueError, match="sizes of harm must be finite and above 0"):
        policy_cost(gate, moves(60, 40), (0.0,))
    with pytest.raises(ValueError, match="asks about the upper limit of URisk, got not_inferior"):
        policy_cost(gate_of("g", "not_inferior"), moves(60, 40), SIZES)


def test_a_few_changes_that_cannot_fail_never_do():
    cost = policy_cost(gate_of("g", alpha=0.0), moves(60, 3), (0.01,))
    assert (cost.harmless.loss, cost.harmful[0].loss) == (0, 0)


def test_the_mean_falls_by_the_size_of_the_harm():
    """By Student-t alone, whose answers take one line each."""
    differences, draws = moves(60, 40), 20_000
    found = policy_cost(gate_of("g", alpha=0.0, method="student_t"), differences, (0.03,)).harmful[0].loss
    sizes, rng = np.abs(differences), np.random.default_rng(4)
    loses = (1 + 0.03 * 60 / np.sum(sizes)) / 2
    drawn = np.where(rng.random((draws, 60)) < loses, -1, 1) * sizes
    assert np.mean(drawn) == pytest.approx(-0.03, abs=0.001)
    statistics = np.mean(drawn, axis=1) / np.std(drawn, axis=1, ddof=1) * math.sqrt(60)
    assert found == pytest.approx(100 * np.mean(statistics < -2.001), abs=2)


def test_what_only_the_break_even_test_finds_is_judged_too():
    differences = np.zeros(60)
    differences[:4] = (0.9, 0.1, 0.1, 0.1)
    gate = gate_of("g", alpha=1.0)
    everything_lost = Ruling(gate, Evidence.of(-differences))
    assert everything_lost.reaches("student_t")
    assert not everything_lost.passes
    (cost,) = policy_cost(gate, differences, (np.sum(differences) / 60,)).harmful
    assert cost.loss + cost.churn == 100
