"""The characteristic function against the product of its factors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pytest_riskguard.inference._flips.bets import Bets
from pytest_riskguard.inference._flips.swings import MAX_UNTRIED, characteristic


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
def test_it_is_the_product_over_topics(entries, repeats):
    sizes = np.sort(np.random.default_rng(entries).exponential(size=entries))
    made, up, down = made_up(sizes, 1, repeats=repeats)
    angle = 0.3 / math.sqrt(np.sum(repeats * sizes**2))
    phi = characteristic(made, up, down, angle, 700)
    for k in (0, 1, 2, 7, 47, 48, 300, 699):
        assert phi[k] == pytest.approx(plain(made, up, down, (k + 0.5) * angle), rel=1e-10, abs=1e-14)


def test_frequencies_come_back_where_sizes_are_nearly_on_a_lattice():
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
