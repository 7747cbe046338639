"""The characteristic function against the product of its factors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_riskguard.inference._flips.bets import Bets
from pytest_riskguard.inference._flips.swings import BLOCK, MANY_ENTRIES, MAX_UNTRIED, characteristic


def plain(made: Bets, up: np.ndarray, down: np.ndarray, t: float) -> complex:
    rise = (1 - up + up * np.exp(1j * t * made.sizes)) ** made.won
    fall = (1 - down + down * np.exp(-1j * t * made.sizes)) ** made.lost
    return complex(np.prod(rise * fall))


def made_up(sizes: np.ndarray, seed: int, *, repeats: int = 1) -> tuple[Bets, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    lost = rng.integers(0, repeats + 1, size=sizes.size)
    up = rng.uniform(0.1, 0.6, size=sizes.size)
    return Bets(sizes, up, repeats - lost, lost, 0.0), up, 1 - up


@pytest.mark.parametrize("repeats", [1, 2, 7, 40])
@pytest.mark.parametrize("entries", [2, 40, 300])
def test_it_is_the_product_over_topics(entries: int, repeats: int) -> None:
    sizes = np.sort(np.random.default_rng(entries).exponential(size=entries))
    made, up, down = made_up(sizes, 1, repeats=repeats)
    angle = 0.3 / math.sqrt(np.sum(repeats * sizes**2))
    phi = characteristic(made, up, down, angle, 700)
    for k in (0, 1, 2, 7, 47, 48, 300, 699):
        assert phi[k] == pytest.approx(plain(made, up, down, (k + 0.5) * angle), rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("large", [(), (0.4, 3.0)])
@pytest.mark.parametrize("repeats", [1, 3])
def test_small_angles_of_many_topics_have_their_part_from_cumulants(repeats: int, large: tuple[float, ...]) -> None:
    entries = MANY_ENTRIES + 3000
    sizes = np.append(np.random.default_rng(2).uniform(0.01, 1, size=entries), large)
    sizes.sort()
    made, up, down = made_up(sizes, 2, repeats=repeats)
    angle = 0.26 / math.sqrt(np.sum(repeats * sizes**2 * up * down))
    assert sizes.size * 400 > MAX_UNTRIED
    phi = characteristic(made, up, down, angle, 400)
    assert not np.any(phi[BLOCK:])  # so it is the one block that cumulants are for
    for k in (0, 3, 12, 25):
        assert phi[k] == pytest.approx(plain(made, up, down, (k + 0.5) * angle), rel=1e-11)


def test_frequencies_come_back_where_sizes_are_nearly_on_a_lattice() -> None:
    """Passed over are only those where nothing is, and a lattice that one size breaks repeats itself."""
    rng = np.random.default_rng(4)
    sizes = np.sort(np.append(rng.integers(1, 4, size=400) + 1e-9 * rng.random(400), math.sqrt(2)))
    made, up, down = made_up(sizes, 3)
    angle = 0.26 / math.sqrt(np.sum(sizes**2 * up * down))
    count = 3 * round(2 * math.pi / angle)
    assert sizes.size * count > MAX_UNTRIED
    phi = characteristic(made, up, down, angle, count)
    expected = np.array([plain(made, up, down, (k + 0.5) * angle) for k in range(count)])
    assert phi == pytest.approx(expected, rel=1e-9, abs=1e-13)
    assert np.max(np.abs(phi[count // 2 :])) > 0.1
    assert np.count_nonzero(phi) < count / 2


def test_topics_that_cannot_swing_do_not_count() -> None:
    sizes = np.array([1.0, 1e12])
    made = Bets(sizes, np.array([0.5, 0.5]), np.array([1, 0]), np.array([0, 1]), 0.0)
    phi = characteristic(made, np.array([0.3, 1.0]), np.array([0.7, 0.0]), 0.1, BLOCK)
    assert phi[5] == pytest.approx(0.7 + 0.3 * np.exp(0.55j), rel=1e-14)
