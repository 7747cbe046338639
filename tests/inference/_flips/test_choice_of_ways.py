"""Laws that are hard to invert, each against counting."""

from __future__ import annotations

import numpy as np
import pytest
from pytest_riskguard.inference._flips.tilted import at_least_observed

from tests.inference._flips.laws import bets, convolved, met_in_the_middle

M = 30


def hard_sizes(kind: str) -> np.ndarray:
    rng = np.random.default_rng(9)
    return {
        "one huge": np.append(rng.exponential(size=M - 1) * 0.01, 5.0),
        "three huge": np.append(rng.exponential(size=M - 3) * 0.01, [5.0, 7.0, 11.0]),
        "powers": 1.37 ** -np.arange(float(M)),
        "twelve orders of magnitude": 10 ** -np.linspace(0, 12, M),
        "close to a lattice": rng.integers(1, 4, size=M) / 10 + 1e-7 * rng.random(M),
        "two sizes": np.repeat([0.1, 0.2718], M // 2),
        "smooth": rng.exponential(size=M),
    }[kind]


@pytest.mark.parametrize("alpha", [0.0, 1.0, 10.0, 1e6])
@pytest.mark.parametrize(
    "kind",
    [
        "one huge",
        "three huge",
        "powers",
        "twelve orders of magnitude",
        "close to a lattice",
        "two sizes",
        "smooth",
    ],
)
def test_p_is_never_below_the_exact_one_and_hardly_above(kind, alpha):
    rng = np.random.default_rng(int(alpha))
    sizes = hard_sizes(kind)
    for share in (1 / (2 + alpha), 0.4):
        lost = rng.random(M) < share
        lost[rng.integers(M)] = True
        exact = met_in_the_middle(sizes, np.full(M, 1 / (2 + alpha)), lost)
        p, _ = at_least_observed(bets(sizes, alpha, lost))
        assert exact * (1 - 1e-11) <= p
        if kind == "close to a lattice":  # sums that only the seventh digit tells apart may count as equal
            exact = met_in_the_middle(np.rint(10 * sizes), np.full(M, 1 / (2 + alpha)), lost)
        assert p <= exact * 1.01


@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("m", [60, 120, 400])
def test_sums_that_only_the_ninth_digit_tells_apart_count_as_equal(m, alpha):
    """Only wins are off the lattice, upwards: all patterns with as many points as observed are above it."""
    rng = np.random.default_rng(m)
    steps = rng.integers(1, 4, size=m)
    lost = rng.random(m) < 1.2 / (2 + alpha)
    exact = convolved(steps, np.full(m, 1 / (2 + alpha)))[int(steps[lost].sum()) :].sum()
    p, _ = at_least_observed(bets(steps + 1e-9 * rng.uniform(1, 2, size=m) * ~lost, alpha, lost))
    assert exact * (1 - 1e-9) <= p <= exact * 1.05


def test_topics_taken_apart_weigh_as_likely_as_they_are():
    """Sizes so far apart that only taking the largest out helps, too many for counting."""
    rng = np.random.default_rng(12)
    small = rng.exponential(size=400) * 1e-5
    lost = np.append(rng.random(400) < 0.36, [True, False, True])
    sizes = np.append(small, [1.0, 3.0, 9.0])
    p, _ = at_least_observed(bets(sizes, 1.0, lost))
    alone, _ = at_least_observed(bets(small, 1.0, lost[:400]))
    # 1 + 9 and the small ones are reached by 3 + 9 and whatever else, or by 1 + 9 and enough of the small ones
    assert p == pytest.approx(1 / 9 + 2 / 27 * alone, rel=1e-3)
