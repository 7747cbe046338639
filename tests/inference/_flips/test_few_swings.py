"""Laws of few swings against counting and convolution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pytest_riskguard.inference._flips.bets import Bets, line_of
from pytest_riskguard.inference._flips.swings import FEW_TOPICS, by_few_swings

from tests.inference._flips.laws import bets, convolved, met_in_the_middle


def lost_topics(m: int, kind: str, seed: int) -> np.ndarray:
    """A few that lost, or almost all."""
    rng = np.random.default_rng([m, seed])
    lost = np.zeros(m, dtype=np.bool_)
    lost[rng.choice(m, size=int(rng.integers(1, 5)), replace=False)] = True
    return lost if kind == "few lost" else ~lost


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["few lost", "few won"])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 30.0, 1000.0])
@pytest.mark.parametrize("spread", [1, 3])
def test_few_topics_are_between_the_exact_probability_and_a_little_more(alpha, kind, seed, spread):
    """Sizes of one magnitude, and of several."""
    m = 34
    sizes = np.random.default_rng(seed).exponential(size=m) ** spread
    lost = lost_topics(m, kind, seed)
    exact = met_in_the_middle(sizes, np.full(m, 1 / (2 + alpha)), lost)
    made = bets(sizes, alpha, lost)
    p = by_few_swings(made, line_of(made))
    if p is not None:
        assert exact * (1 - 1e-11) <= p <= exact * (1 + 4e-3 if exact < 1e-7 else 1 + 4e-4) + 1e-12


@pytest.mark.parametrize(("losses", "alpha"), [(1, 0.0), (1, 20.0), (2, 300.0), (4, 5000.0)])
@pytest.mark.parametrize(("m", "largest"), [(FEW_TOPICS - 1, 5_000), (FEW_TOPICS + 1, 5_000), (190, 2_000)])
def test_many_topics_have_the_law_of_a_fine_lattice(m, largest, alpha, losses):
    """Of which it is not told, so that half of the atom may be left out."""
    rng = np.random.default_rng([m, losses])
    steps = rng.integers(largest // 10, largest, size=m)
    lost = np.zeros(m, dtype=np.bool_)
    lost[rng.choice(m, size=losses, replace=False)] = True
    if alpha == 0:
        lost = ~lost
    masses = convolved(steps, np.full(m, 1 / (2 + alpha)))
    observed = int(steps[lost].sum())
    exact = math.fsum(masses[observed:])
    made = Bets.of(steps.astype(float), np.full(m, 1 / (2 + alpha)), lost)
    p = by_few_swings(made, line_of(made))
    assert p is not None or losses > 1
    if p is not None:
        assert exact - 0.6 * masses[observed] <= p <= exact * (1 + 5e-3 if exact < 1e-7 else 1 + 1e-3) + 1e-12


@pytest.mark.parametrize("alpha", [200.0, 2000.0])
def test_topics_that_are_alike_swing_one_by_one(alpha):
    sizes = np.repeat(np.random.default_rng(4).exponential(size=9), 4)
    lost = np.zeros(36, dtype=np.bool_)
    lost[[5, 6, 30]] = True
    exact = met_in_the_middle(sizes, np.full(36, 1 / (2 + alpha)), lost)
    made = bets(sizes, alpha, lost)
    assert made.sizes.size == 9
    p = by_few_swings(made, line_of(made))
    assert p is not None
    assert exact * (1 - 1e-11) <= p <= exact * (1 + 4e-4)
