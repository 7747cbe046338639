"""Rounded scores of many changed topics: every step of the law from a few hundred frequencies."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.inference import mean_law
from pytest_riskguard.inference._bootstrap.fft_law import lattice_law
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.inference._bootstrap.stepped import SteppedLaw, stepped_law


def rounded(
    n: int, decimals: int, *, spread: float = 0.1, alpha: float = 1.0, zeros: float = 0.0, seed: int = 0
) -> np.ndarray:
    rng = np.random.default_rng(seed)
    d = np.round(rng.normal(0, spread, n), decimals)
    d[rng.random(n) < zeros] = 0.0
    return np.where(d < 0, (1 + alpha) * d, d)


CASES = [
    rounded(50, 3),
    rounded(225, 3, alpha=0.5),
    rounded(225, 3, zeros=0.5, seed=1),
    rounded(120, 2, alpha=4, seed=2),
    rounded(60, 4, spread=0.05, alpha=0, seed=3) / 3,
]


@pytest.mark.parametrize("x", CASES)
def test_it_is_the_law_that_the_transform_gives(x: np.ndarray) -> None:
    inverted, transformed = stepped_law(Sample.of(x)), lattice_law(Sample.of(x))
    assert inverted is not None
    assert transformed is not None
    assert inverted.kind == transformed.kind == "lattice"
    apart = inverted.spacing * Sample.of(x).scale
    assert inverted.centre == pytest.approx(transformed.centre, abs=1e-9 * apart)
    for p in np.random.default_rng(1).uniform(0.0003, 0.9997, 40):
        atom = transformed.quantile(p)
        assert inverted.quantile(p) == pytest.approx(atom, abs=1e-9 * apart)
        for value in (atom, atom + 0.4 * apart, atom - 0.4 * apart):
            assert inverted.cdf(value) == pytest.approx(transformed.cdf(value), abs=1e-7)
            assert inverted.mid_cdf(value) == pytest.approx(transformed.mid_cdf(value), abs=1e-7)


@pytest.mark.parametrize("x", CASES)
def test_half_of_the_atom_at_the_mean_is_counted_to_the_last_digits(x: np.ndarray) -> None:
    inverted, transformed = stepped_law(Sample.of(x)), lattice_law(Sample.of(x))
    assert inverted is not None
    assert transformed is not None
    assert inverted.mid_cdf(inverted.centre) == pytest.approx(transformed.mid_cdf(transformed.centre), abs=1e-9)


def test_a_mean_of_zero_is_exactly_zero() -> None:
    x = rounded(101, 3, alpha=0, seed=5)
    x = np.concatenate([x, -x])
    law = mean_law(x)
    assert isinstance(law, SteppedLaw)
    assert law.quantile(law.mid_cdf(0.0)) == 0.0
    assert law.mid_cdf(0.0) == pytest.approx(0.5, abs=1e-12)


def test_a_law_whose_steps_show_again_at_high_frequencies_is_left_to_the_transform() -> None:
    """All but one on a lattice ten times coarser: |phi| falls to nothing and rises to exp(-2) again."""
    x = rounded(60, 2, seed=6)
    x[3] += 0.001
    assert Sample.of(x).step == pytest.approx(0.001)
    assert stepped_law(Sample.of(x)) is None
    assert mean_law(x).kind == "lattice"


@pytest.mark.parametrize("x", [rounded(50, 1), rounded(250, 5), np.random.default_rng(0).normal(size=50)])
def test_coarse_lattices_and_invisible_ones_have_other_laws(x: np.ndarray) -> None:
    assert stepped_law(Sample.of(x)) is None
