"""Counting every pattern."""

import numpy as np
import pytest
from pytest_riskguard.inference._flips.bets import binomial, counted
from scipy.stats import binom

from tests.inference._flips.laws import bets, met_in_the_middle


@pytest.mark.parametrize("alpha", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("m", [2, 7, 24, 30])
def test_both_halves_together_have_every_pattern(m, alpha):
    rng = np.random.default_rng(m)
    sizes = rng.exponential(size=m)
    for share in (0.1, 0.5, 0.9):
        lost = rng.random(m) < share
        lost[0] = True
        expected = met_in_the_middle(sizes, np.full(m, 1 / (2 + alpha)), lost)
        assert counted(bets(sizes, alpha, lost)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("chance", [1e-6, 0.1, 0.5, 0.999])
@pytest.mark.parametrize("topics", [1, 2, 30, 1000])
def test_the_number_of_losses_is_binomial(topics, chance):
    expected = binom.pmf(np.arange(topics + 1), topics, chance)
    assert binomial(topics, chance) == pytest.approx(expected, rel=1e-9, abs=1e-290)
