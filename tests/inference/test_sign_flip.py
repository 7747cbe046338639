"""The sign-flip p-value against counting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.inference import SignFlip, sign_flip
from pytest_riskguard.inference._bootstrap.inversion import frequencies
from pytest_riskguard.inference.sign_flip import MAX_ENUMERATED, _atom, _inverted, _product_of_cosines


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
def test_few_changes_are_counted(m: int, kind: str) -> None:
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
    assert result.exact
    assert result.p_value == pytest.approx(counted(d), rel=1e-12)


@pytest.mark.parametrize(("m", "wins"), [(21, 5), (40, 12), (40, 0), (250, 100), (2000, 0)])
def test_equal_sizes_are_binomial(m: int, wins: int) -> None:
    d = np.append(np.full(wins, 0.2), np.full(m - wins, -0.2))
    expected = sum(math.comb(m, k) for k in range(wins + 1)) / 2**m if m < 1000 else 0.0
    assert sign_flip(d).p_value == pytest.approx(expected, rel=1e-10, abs=1e-300)
    assert sign_flip(d).p_value > 0


@pytest.mark.parametrize("m", [31, 60, 250])
def test_sizes_on_a_lattice_are_convolved(m: int) -> None:
    rng = np.random.default_rng(m)
    d = rng.integers(1, 6, size=m) / 10 * rng.choice([-1, 1], size=m, p=[0.6, 0.4])
    result = sign_flip(d)
    assert result.exact
    # plain convolution of integers, topic by topic
    sizes = np.rint(10 * np.abs(d)).astype(int)
    masses = np.ones(1)
    for size in sizes:
        masses = (np.append(masses, np.zeros(2 * size)) + np.append(np.zeros(2 * size), masses)) / 2
    lowest = int(np.rint(10 * d).sum())
    expected = masses[: (lowest + sizes.sum()) + 1].sum()
    assert result.p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("m", [21, 24, 31, 34])
def test_it_is_never_below_the_exact_value_and_hardly_above(m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for d in (rng.normal(size=m) - 0.4, np.append(rng.normal(size=m - 1) * 0.01, -1.0)):
        exact = met_in_the_middle(d)
        result = sign_flip(d)
        assert exact * (1 - 1e-12) <= result.p_value <= exact + 5e-3
        assert result.exact == (m <= MAX_ENUMERATED)


@pytest.mark.parametrize("strangers", [4, 8, 12])
def test_equal_sizes_among_others_keep_their_atom(strangers: int) -> None:
    """Many equal sizes make sums equal: half a pattern's share is not enough to stay valid."""
    rng = np.random.default_rng(strangers)
    equal = 34 - strangers
    d = np.concatenate([0.1 * rng.choice([-1, 1], size=equal), rng.normal(size=strangers) * 0.1])
    exact = met_in_the_middle(d)
    result = sign_flip(d).p_value
    assert exact * (1 - 1e-12) <= result <= exact + 5e-3


def test_the_share_of_patterns_with_the_observed_sum() -> None:
    d = np.array([0.1, -0.1, -0.1, 0.1, 0.1, 0.2718, -0.2718, 0.31415])
    patterns = np.arange(2**d.size)[:, None] >> np.arange(d.size) & 1
    sums = (2 * patterns - 1) @ np.abs(d)
    assert _atom(d) == pytest.approx(np.mean(np.abs(sums - d.sum()) < 1e-9))


@pytest.mark.parametrize("m", [60, 250, 20_000])
def test_inversion_agrees_with_monte_carlo(m: int) -> None:
    rng = np.random.default_rng(m)
    d = rng.exponential(size=m) * rng.choice([-1.0, 1.0], size=m)
    d[: int(np.sqrt(m))] *= -np.sign(d[: int(np.sqrt(m))])
    result = sign_flip(d)
    assert not result.exact
    replicates = 40_000 if m < 1000 else 1_000
    flips = rng.integers(0, 2, size=(replicates, m), dtype=np.int8)
    share = np.mean((2.0 * flips - 1) @ np.abs(d) <= d.sum())
    assert result.p_value == pytest.approx(share, abs=4.5 * math.sqrt(0.25 / replicates))


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=45), st.randoms(use_true_random=False))
def test_p_is_a_probability_above_zero_whatever_the_order(values: list[float], random: object) -> None:
    result = sign_flip(values)
    assert 0 < result.p_value <= 1
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert sign_flip(shuffled) == result


@pytest.mark.parametrize("scale", [1e-10, 1.0, 1e90])
@pytest.mark.parametrize("m", [10, 60, 3000])
def test_losses_alone_give_the_smallest_p_at_any_scale(m: int, scale: float) -> None:
    d = -np.random.default_rng(m).uniform(1, 2, size=m) * scale
    p = sign_flip(d).p_value
    assert 0 < p <= max(1.01 * 0.5**m, math.exp(-0.4 * m), 1e-300)
    assert sign_flip(-d).p_value == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("d", [[0.0], [0.0, 1e-13, -1e-13], [1e-300, -1e-310]])
def test_nothing_changed_means_p_of_one(d: list[float]) -> None:
    assert sign_flip(d) == SignFlip(1.0, True)


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="differences must be finite, got nan"):
        sign_flip([0.1, math.nan])
    with pytest.raises(ValueError, match="at least 1 topics"):
        sign_flip([])


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e6])
def test_counting_has_no_unit(scale: float) -> None:
    d = np.array([-3.0, -1.0, 2.0, -1.5, -1.5, 0.5, -2.0])
    assert sign_flip(d * scale).p_value == pytest.approx(counted(d), rel=1e-12)
    assert _atom(np.append(d, [1.5, 0.5]) * scale) == pytest.approx(_atom(np.append(d, [1.5, 0.5])), rel=1e-12)
    lattice = np.tile(d, 6) * scale
    result = sign_flip(lattice)
    assert result.exact
    assert result.p_value == pytest.approx(sign_flip(np.tile(d, 6)).p_value, rel=1e-9)


def test_on_a_lattice_p_is_no_smaller_than_that_of_losses_alone() -> None:
    d = -np.tile([0.1, 0.2], 30)
    result = sign_flip(d)
    assert result.exact
    assert 0.5**60 <= result.p_value <= 2e-14


@pytest.mark.parametrize(
    "sizes",
    [
        [0.5, 0.1, 0.1, 0.3, 0.1, 0.3],
        np.linspace(0.5, 1.0, 10_000) / 75,
        np.append(np.linspace(0.5, 1.0, 10_000) / 75, [0.4, 0.9]),
        np.append(np.linspace(0.5, 1.0, 10_000) / 75, 0.6),
        np.repeat(np.linspace(0.5, 1.0, 10_001), 2) / 110,
    ],
    ids=["few", "many", "many and two large", "many and one large", "many, each twice"],
)
def test_the_characteristic_function_is_a_product_of_cosines(sizes: list[float]) -> None:
    phi = _product_of_cosines(np.array(sizes))
    t = frequencies(phi.size)
    for k in (0, 1, 7, 20, 47):
        assert phi[k] == pytest.approx(math.prod(np.cos(t[k] * np.array(sizes)).tolist()), abs=1e-12)


@pytest.mark.parametrize("observed", [-4.0, -1.0, 0.3])
@pytest.mark.parametrize("shift", [0.0, 2.0, 150.0])
def test_inversion_takes_the_mean_over_what_the_largest_changes_add(observed: float, shift: float) -> None:
    sizes = np.random.default_rng(8).uniform(0.5, 1.5, size=26)
    patterns = 2.0 * (np.arange(2**13)[:, None] >> np.arange(13) & 1) - 1
    first, second = patterns @ sizes[:13], np.sort(patterns @ sizes[13:])
    shares = [np.searchsorted(second, observed + s - first).sum() / 2.0**26 for s in (-shift, shift, 0.1)]
    inverted = _inverted(sizes, np.array([-shift, shift, -0.1]), observed)
    assert inverted is not None
    # it is never below, and 1e-5 is the most that it may leave out
    assert 0 <= inverted - np.mean(shares) <= 2e-5


def test_one_large_change_among_many_small_ones_costs_little() -> None:
    d = np.append(np.random.default_rng(1).normal(size=33) * 0.01, -0.08)
    exact = met_in_the_middle(d)
    result = sign_flip(d)
    assert not result.exact
    assert exact <= result.p_value <= exact + 2.1e-5


def test_p_stays_above_the_exact_one_where_sizes_are_of_every_magnitude() -> None:
    signs = np.where(np.arange(34) % 3 == 1, 1.0, -1.0)
    d = signs * 1.37 ** -np.arange(34.0)
    exact = met_in_the_middle(d)
    result = sign_flip(d)
    assert not result.exact
    assert exact <= result.p_value <= exact + 2e-3


def test_p_stays_above_the_exact_one_where_equal_sizes_make_sums_equal() -> None:
    rng = np.random.default_rng(3)
    d = np.concatenate([np.full(14, -0.1), np.full(12, 0.1), rng.uniform(0.01, 0.2, size=8)])
    assert 1e-4 < _atom(d) < 1e-2
    exact = met_in_the_middle(d)
    result = sign_flip(d)
    assert not result.exact
    assert exact * (1 - 1e-12) <= result.p_value <= exact + 5e-5


@pytest.mark.parametrize(("m", "same"), [(95, 0), (96, 0), (130, 0), (250, 40), (700, 0)])
def test_frequencies_that_do_not_matter_are_passed_over(m: int, same: int) -> None:
    rng = np.random.default_rng(m)
    sizes = np.abs(rng.normal(size=m)) * rng.exponential(size=m)
    sizes[:same] = sizes[0]
    unit = np.sort(sizes) / np.linalg.norm(sizes)
    phi = _product_of_cosines(unit)
    t = (np.arange(phi.size) + 0.5) * 2 * np.pi / 24
    plain = np.ones(t.size)
    for size in unit:
        plain *= np.cos(t * size)
    assert phi == pytest.approx(plain, rel=1e-6, abs=1e-26)
    assert np.any(phi == 0) == (m >= 96)
