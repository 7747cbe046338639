"""The sign-flip p-value against counting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.inference.break_even import sign_flip


def counted(d: np.ndarray) -> float:
    """Every sign pattern, one by one."""
    sizes = np.abs(d)
    patterns = np.arange(2**d.size)[:, None] >> np.arange(d.size) & 1
    sums = (2 * patterns - 1) @ sizes
    return float(np.mean(sums <= d.sum() + 1e-9 * sizes.sum()))


def met_in_the_middle(d: np.ndarray) -> float:
    half = d.size // 2

    def sums(sizes: np.ndarray) -> np.ndarray:
        patterns = np.arange(2**sizes.size)[:, None] >> np.arange(sizes.size) & 1
        return np.sort((2 * patterns - 1) @ sizes)

    first, second = sums(np.abs(d[:half])), sums(np.abs(d[half:]))
    limit = d.sum() + 1e-11 * np.abs(d).sum()
    return float(np.searchsorted(second, limit - first, side="right").sum() / 2.0**d.size)


@pytest.mark.parametrize("m", [1, 2, 3, 7, 12, 15])
@pytest.mark.parametrize("kind", ["reals", "ties", "equal", "losses", "wins"])
def test_few_changes_are_counted(m, kind):
    rng = np.random.default_rng(m)
    d = rng.normal(size=m)
    d = {
        "reals": d,
        "ties": rng.choice([-0.3, -0.1, 0.1, 0.2, 0.3], size=m),
        "equal": 0.1 * np.sign(d),
        "losses": -np.abs(d),
        "wins": np.abs(d),
    }[kind]
    result = sign_flip(np.append(d, np.zeros(5)))
    assert result == pytest.approx(counted(d), rel=1e-12)


@pytest.mark.parametrize(("m", "wins"), [(21, 5), (40, 12), (40, 0), (250, 100), (2000, 0)])
def test_equal_sizes_are_binomial(m, wins):
    d = np.append(np.full(wins, 0.2), np.full(m - wins, -0.2))
    expected = sum(math.comb(m, k) for k in range(wins + 1)) / 2**m if m < 1000 else 0.0
    assert sign_flip(d) == pytest.approx(expected, rel=1e-10, abs=1e-300)
    assert sign_flip(d) > 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("m", [21, 24, 31])
def test_it_is_never_below_the_exact_value_and_hardly_above(m, seed):
    rng = np.random.default_rng(seed)
    for d in (rng.normal(size=m) - 0.4, np.append(rng.normal(size=m - 1) * 0.01, -1.0)):
        exact = met_in_the_middle(d)
        result = sign_flip(d)
        assert exact * (1 - 1e-12) <= result <= exact + 5e-3


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=45), st.randoms(use_true_random=False))
def test_p_is_a_probability_above_zero_whatever_the_order(values, random):
    result = sign_flip(values)
    assert 0 < result <= 1
    shuffled = list(values)
    random.shuffle(shuffled)
    assert sign_flip(shuffled) == result
