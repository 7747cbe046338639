"""Counting every pattern."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from pytest_riskguard.inference._flips.bets import Bets
from pytest_riskguard.inference._flips.counting import MAX_COUNTED, binomial, counted
from tests.inference._flips.laws import bets, convolved, met_in_the_middle


@pytest.mark.parametrize("alpha", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("m", [2, 7, 24, 30])
def test_both_halves_together_have_every_pattern(m: int, alpha: float) -> None:
    rng = np.random.default_rng(m)
    sizes = rng.exponential(size=m)
    for share in (0.1, 0.5, 0.9):
        lost = rng.random(m) < share
        lost[0] = True
        expected = met_in_the_middle(sizes, np.full(m, 1 / (2 + alpha)), lost)
        assert counted(bets(sizes, alpha, lost)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("repeats", [(900, 900), (5, 3000, 2, 2), (20, 20, 20, 20, 20)])
def test_of_equal_topics_only_the_number_of_losses_matters(repeats: tuple[int, ...]) -> None:
    steps = np.repeat([3, 7, 8, 11, 25][: len(repeats)], repeats)
    lost = np.arange(steps.size) % 7 < 3
    expected = convolved(steps, np.full(steps.size, 1 / 3))[int(steps[lost].sum()) :].sum()
    assert counted(bets(steps.astype(float), 1.0, lost)) == pytest.approx(expected, rel=1e-10)


def test_too_many_patterns_are_not_counted() -> None:
    sizes = np.random.default_rng(1).random(MAX_COUNTED + 1)
    lost = sizes > 0.5
    assert counted(bets(sizes, 1.0, lost)) is None
    assert counted(bets(sizes, 1.0, lost), MAX_COUNTED + 1) is not None
    # one entry of so many topics that a half would be too long
    uneven = Bets.of(np.append(np.ones(2**18), 0.3), np.full(2**18 + 1, 0.5), np.append(np.ones(2**18), 0) > 0)
    assert counted(uneven) is None


@pytest.mark.parametrize("chance", [1e-6, 0.1, 0.5, 0.999])
@pytest.mark.parametrize("topics", [1, 2, 30, 1000])
def test_the_number_of_losses_is_binomial(topics: int, chance: float) -> None:
    expected = binom.pmf(np.arange(topics + 1), topics, chance)
    assert binomial(topics, chance) == pytest.approx(expected, rel=1e-9, abs=1e-290)
