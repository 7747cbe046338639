"""What a comparison could have seen."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_riskguard.inference import cannot_fail, critical_value, minimum_detectable_effect, topics_needed
from pytest_riskguard.risk import trisk


@pytest.mark.parametrize(
    ("n", "level", "power"), [(10, 0.95, 0.8), (50, 0.95, 0.8), (50, 0.999, 0.5), (225, 0.95, 0.9)]
)
def test_a_loss_of_the_detectable_size_is_found_with_the_stated_power(n: int, level: float, power: float) -> None:
    effect = minimum_detectable_effect(0.3, n, level=level, power=power)
    rng = np.random.default_rng(n)
    replicates = 40_000
    x = rng.normal(-effect, 0.3, size=(replicates, n))
    t = x.mean(axis=1) / (x.std(axis=1, ddof=1) / math.sqrt(n))
    found = np.mean(t < -critical_value(n, level=level))
    assert found == pytest.approx(power, abs=4.5 * math.sqrt(power * (1 - power) / replicates))


@pytest.mark.parametrize("n", [5, 10, 50, 1001, 1002])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_it_solves_the_noncentral_t(n: int, level: float) -> None:
    from scipy.special import nctdtr

    away = minimum_detectable_effect(1.0, n, level=level) * math.sqrt(n)
    assert 1 - nctdtr(n - 1, away, critical_value(n, level=level)) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 10, 10**6])
@pytest.mark.parametrize("level", [0.01, 0.95, 1 - 1e-9])
@pytest.mark.parametrize("power", [0.01, 0.5, 0.999])
def test_extremes_give_numbers(n: int, level: float, power: float) -> None:
    effect = minimum_detectable_effect(1.0, n, level=level, power=power)
    assert math.isfinite(effect)
    assert effect >= 0


@pytest.mark.parametrize("effect", [0.5, 0.1, 0.01, 0.0001])
def test_the_topics_needed_suffice_and_one_fewer_does_not(effect: float) -> None:
    n = topics_needed(0.3, effect, level=0.95)
    assert n is not None
    assert minimum_detectable_effect(0.3, n, level=0.95) <= effect
    assert minimum_detectable_effect(0.3, n - 1, level=0.95) > effect


def test_a_vanishing_effect_needs_more_topics_than_there_are() -> None:
    assert topics_needed(1.0, 1e-9, level=0.95) is None
    assert topics_needed(0.0, 1e-9, level=0.95) == 2


@pytest.mark.parametrize(("changed", "cannot"), [(1, True), (3, True), (4, False), (50, False)])
def test_at_95_percent_three_changed_topics_cannot_fail_and_four_can(changed: int, cannot: bool) -> None:
    assert cannot_fail(changed, 50, level=0.95) is cannot
    if changed < 50:
        # equal losses are the worst case
        d = np.append(np.full(changed, -0.1), np.zeros(50 - changed))
        statistic = trisk(d, alpha=0).statistic
        assert statistic is not None
        assert (abs(statistic) <= critical_value(50, level=0.95)) is cannot


@pytest.mark.parametrize("n", [10, 50, 225])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.999])
def test_a_gate_cannot_fail_exactly_where_equal_losses_do_not_reach_significance(n: int, level: float) -> None:
    for changed in range(1, n):
        d = np.append(np.full(changed, -0.1), np.zeros(n - changed))
        statistic = trisk(d, alpha=0).statistic
        assert statistic is not None
        assert cannot_fail(changed, n, level=level) == (abs(statistic) <= critical_value(n, level=level))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: minimum_detectable_effect(-1, 50, level=0.95), "standard_deviation must be finite and at least 0"),
        (lambda: minimum_detectable_effect(1, 1, level=0.95), "n must be at least 2, got 1"),
        (lambda: minimum_detectable_effect(1, 50, level=1), "level must be between 0 and 1, got 1"),
        (lambda: minimum_detectable_effect(1, 50, level=0.95, power=0), "power must be between 0 and 1, got 0"),
        (lambda: topics_needed(1, 0, level=0.95), "effect must be finite and above 0, got 0"),
        (lambda: critical_value(1, level=0.95), "n must be at least 2, got 1"),
        (lambda: critical_value(10, level=2), "level must be between 0 and 1, got 2"),
    ],
)
def test_errors_say_what_is_wrong(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
