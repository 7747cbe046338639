"""Which data lie on a lattice."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.inference import mean_law
from pytest_riskguard.inference._bootstrap.sample import lattice_step

RNG = np.random.default_rng(7)
P10 = RNG.integers(-6, 7, size=200) / 10
RANKS = np.array([0.0, 1.0, 1 / 2, 1 / 3, 1 / 4])
RECIPROCAL = RANKS[RNG.integers(0, 5, 200)] - RANKS[RNG.integers(0, 5, 200)]


@pytest.mark.parametrize(
    ("values", "step"),
    [
        (P10, 0.1),
        (np.where(P10 < 0, 2 * P10, P10), 0.1),
        (np.where(P10 < 0, 1.5 * P10, P10), 0.05),
        (RECIPROCAL, 1 / 12),
        (np.round(RNG.normal(size=100), 4), 1e-4),
        (np.concatenate([P10, RECIPROCAL]), 1 / 60),
        (np.array([0.3 - 0.1, 0.7 - 0.3, 0.9 - 0.3]), 0.2),
        (P10 * (1 + 1e-13), 0.1),
        (np.array([1e-300, 0.1, 0.3]), 0.1),
    ],
)
def test_the_step_is_found_though_it_carries_rounding(values: np.ndarray, step: float) -> None:
    assert lattice_step(values) == pytest.approx(step, rel=1e-9)


@pytest.mark.parametrize("decimals", [2, 3, 4, 5])
def test_rounded_scores_lie_on_a_lattice_however_many_there_are(decimals: int) -> None:
    for seed, n in enumerate((50, 100, 225, 250, 500)):
        d = np.round(np.random.default_rng(seed).normal(size=n) * 0.15, decimals)
        assert lattice_step(d) == pytest.approx(10.0**-decimals, rel=1e-9)
        assert lattice_step(np.where(d < 0, 1.5 * d, d)) == pytest.approx(10.0**-decimals / 2, rel=1e-9)


@pytest.mark.parametrize("seed", range(200))
def test_random_reals_lie_on_no_lattice(seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=12)
    step = lattice_step(values)
    assert step is None or step < 1e-6


def test_one_stranger_takes_the_others_off_their_lattice() -> None:
    step = lattice_step(np.append(P10, np.pi / 10))
    assert step is None or step < 1e-6


def test_zeros_alone_lie_on_no_lattice() -> None:
    assert lattice_step(np.zeros(3)) is None


@pytest.mark.parametrize("values", [P10, RECIPROCAL, np.where(P10 < 0, 1.5 * P10, P10), P10 + 0.123456])
def test_means_of_lattice_data_have_steps(values: np.ndarray) -> None:
    assert mean_law(values).kind == "lattice"


def test_steps_too_fine_for_their_own_law_are_part_of_its_resolution() -> None:
    x = np.round(RNG.normal(size=225) * 0.15, 4)
    law = mean_law(x)
    assert law.kind == "smooth"
    assert law.resolution >= 1e-4 / 2 / (np.std(x) * np.sqrt(225)) * (1 - 1e-9)


def test_a_lattice_too_fine_to_see_is_treated_as_smooth() -> None:
    assert mean_law(np.round(RNG.normal(size=250), 4)).kind == "smooth"
