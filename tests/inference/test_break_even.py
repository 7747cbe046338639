"""The break-even p-value against counting and simulation."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.inference.break_even import (
    break_even,
    break_even_above,
    break_even_quantile,
)
from tests.inference.laws import convolved


def chances_of_loss(gains: np.ndarray, losses: np.ndarray, tolerated: float = 0.0) -> np.ndarray:
    """By raising the common factor until the expected sum is as low as tolerated."""
    low, high = 0.0, 1e9
    for _ in range(200):
        factor = (low + high) / 2
        chances = np.minimum(1.0, factor * gains / (gains + losses))
        if np.sum(gains) - np.sum(chances * (gains + losses)) > -tolerated:
            low = factor
        else:
            high = factor
    return chances


def counted(
    gains: np.ndarray, losses: np.ndarray, lost: np.ndarray, tolerated: float = 0.0, *, above: bool = False
) -> float:
    """Every pattern of wins and losses, one by one."""
    patterns = (np.arange(2**lost.size)[:, None] >> np.arange(lost.size) & 1).astype(bool)
    chances = chances_of_loss(gains, losses, tolerated) if tolerated else gains / (gains + losses)
    sums = np.where(patterns, -losses, gains).sum(axis=1)
    masses = np.prod(np.where(patterns, chances, 1 - chances), axis=1)
    observed, rounding = np.sum(np.where(lost, -losses, gains)), 1e-11 * np.sum(gains + losses)
    return math.fsum(masses[sums >= observed - rounding if above else sums <= observed + rounding])


def topics(m: int, alpha: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gains and losses of the linear trade-off, and which topics are losses."""
    rng = np.random.default_rng([0, m])
    sizes = rng.exponential(size=m)
    return sizes, (1 + alpha) * sizes, rng.random(m) < 1.4 / (2 + alpha)


@pytest.mark.parametrize("tolerated", [0.0, 0.3, 2.0, 15.0])
@pytest.mark.parametrize("seed", range(6))
def test_chances_need_not_be_equal(seed, tolerated):
    rng = np.random.default_rng(seed)
    gains, losses = rng.exponential(size=(2, 12)) * rng.choice([0.1, 1.0, 3.0], size=12)
    lost = rng.random(12) < 0.6
    p = break_even(gains, losses, lost, tolerated=tolerated)
    assert p == pytest.approx(min(1.0, counted(gains, losses, lost, tolerated)), rel=1e-9)


@pytest.mark.parametrize("alpha", [0, 1, 5, 10])
@pytest.mark.parametrize(("m", "losses"), [(1, 1), (40, 12), (40, 40), (250, 100), (1000, 990)])
def test_equal_sizes_are_binomial(m, losses, alpha):
    chance = Fraction(1, 2 + alpha)
    expected = sum(math.comb(m, k) * chance**k * (1 - chance) ** (m - k) for k in range(losses, m + 1))
    lost = np.arange(m) < losses
    result = break_even(np.full(m, 0.1), np.full(m, 0.1 * (1 + alpha)), lost)
    assert result == pytest.approx(max(float(expected), 2.2250738585072014e-308), rel=1e-9)


@given(
    st.lists(st.tuples(st.floats(1e-3, 1), st.floats(1e-3, 1), st.booleans()), min_size=0, max_size=40),
    st.floats(0, 3),
    st.randoms(use_true_random=False),
)
def test_p_is_a_probability_above_zero_whatever_the_order(values, tolerated, random):
    def p(values: list[tuple[float, float, bool]]) -> float:
        gains, losses, lost = (np.array([value[k] for value in values]) for k in range(3))
        return break_even(gains, losses, lost.astype(bool), tolerated=tolerated)

    result = p(values)
    assert 0 < result <= 1
    shuffled = list(values)
    random.shuffle(shuffled)
    assert p(shuffled) == result


def test_nothing_changed_or_lost_means_p_of_one():
    assert break_even([], [], []) == 1.0
    assert break_even([0.1, 0.2], [0.1, 0.3], [False, False]) == 1.0
    gains, losses, _ = topics(250, 0.0)
    assert break_even(gains, losses, gains < 0.2) == 1.0  # by all but nothing, and elsewhere it errs upwards


@pytest.mark.parametrize(
    ("gains", "losses", "lost", "tolerated", "message"),
    [
        ([0.1], [0.1, 0.2], [True], 0.0, "losses and lost must have the same shape"),
        ([0.1, 0.0], [0.1, 0.2], [True, False], 0.0, "gains must be above 0, got 0.0"),
        ([0.1], [0.1], [1], 0.0, "lost must be an array of bool, got one of int64"),
        ([0.1], [0.1], [True], -1.0, "tolerated must be finite and at least 0, got -1.0"),
    ],
)
def test_errors_say_what_is_wrong(gains, losses, lost, tolerated, message):
    with pytest.raises(ValueError, match=message):
        break_even(gains, losses, lost, tolerated=tolerated)


@pytest.mark.parametrize("tolerated", [0.0, 0.3, 2.0, 15.0])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 5.0, 10.0])
@pytest.mark.parametrize("m", [1, 5, 11])
def test_the_other_side_is_counted(m, alpha, tolerated):
    gains, losses, lost = topics(m, alpha)
    above = break_even_above(gains, losses, lost, tolerated=tolerated)
    counts = counted(gains, losses, lost, tolerated, above=True)
    assert above == pytest.approx(counts, rel=1e-11, abs=1e-14)


def test_a_win_that_chance_excludes_has_no_probability():
    # the larger topic loses for sure: the expected sum is -1.9 where losses of both are 2
    stakes = np.array([1.0, 0.01]), np.array([1.9, 0.1]), np.array([False, True])
    assert break_even_above(*stakes, tolerated=1.95) < 1e-300
    assert break_even_above(stakes[0], stakes[1], np.array([True, True]), tolerated=1.95) == 1
    assert break_even_quantile(*stakes[:2], 0.9, tolerated=1.95) == pytest.approx(-1.89)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 1e6])
@pytest.mark.parametrize("m", [40, 250])
def test_the_far_tail_keeps_its_digits(m, alpha):
    """Down to the smallest number that there is: nearly all lost, against convolution of whole sizes."""
    rng = np.random.default_rng(m)
    steps = rng.integers(1, 60, size=m)
    for wins in (1, 3, m // 8):
        lost = rng.permutation(m) >= wins
        exact = math.fsum(convolved(steps, np.full(m, 1 / (2 + alpha)))[int(steps[lost].sum()) :])
        result = break_even(steps / 7, (1 + alpha) * steps / 7, lost)
        assert result == pytest.approx(max(exact, 2.2250738585072014e-308), rel=1e-9)


@given(
    st.lists(st.tuples(st.floats(-200, 60), st.floats(-9, 9), st.booleans()), min_size=1, max_size=60),
    st.sampled_from([0.0, 0.1, 2.0]),
)
def test_any_stakes_have_two_sides(values, tolerance):
    """Sizes of every magnitude, chances next to 0 and 1: both sides are probabilities and share the observed sum."""
    gains, ratios = (10.0 ** np.array([value[k] for value in values]) for k in range(2))
    stakes = gains, gains * ratios, np.array([value[2] for value in values])
    tolerated = tolerance * float(np.sum(gains))
    below, above = (test(*stakes, tolerated=tolerated) for test in (break_even, break_even_above))
    assert 0 < below <= 1
    assert 0 < above <= 1
    assert below + above >= 1 - 1e-9


@pytest.mark.parametrize(("p_value", "alpha"), [(0.05, 5.0), (0.025, 1.0), (0.0025, 0.0)])
@pytest.mark.parametrize("changed", [4, 12, 31, 120])
def test_at_a_quantile_the_p_value_is_the_one_asked_for(changed, alpha, p_value):
    sizes = np.random.default_rng([changed, int(alpha)]).uniform(0.02, 0.5, changed)
    gains, losses = sizes, (1 + alpha) * sizes
    chance = 1 / (2 + alpha)
    spread = float(np.sqrt(np.sum((gains + losses) ** 2) * chance * (1 - chance)))
    quantile = break_even_quantile(gains, losses, p_value, tolerated=0.0)
    if chance**changed > p_value:
        assert quantile == -np.inf
        return
    within = 0.02 if changed < 31 else 0.05
    rng = np.random.default_rng(1)
    sums = gains.sum() - (rng.random((100_000, changed)) < chance) @ (gains + losses)
    low, high = (np.mean(sums <= quantile + side * within * spread) for side in (-1, 1))
    error = 4 * np.sqrt(p_value / len(sums))
    assert low <= p_value + error
    assert high >= p_value - error or changed <= 12  # few bets: the next lower sum may have a much lower p
