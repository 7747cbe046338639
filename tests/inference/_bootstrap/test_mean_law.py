"""The exact law of the mean against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_riskguard.inference import mean_law
from pytest_riskguard.inference._bootstrap.enumeration import enumerated_law
from pytest_riskguard.inference._bootstrap.fft_law import grid_law, lattice_law
from pytest_riskguard.inference._bootstrap.inversion_law import smooth_law
from pytest_riskguard.inference._bootstrap.sample import Sample
from tests.inference._bootstrap.brute_force import all_multisets, between_atoms, changed_topics_law, resampled_means


def sparse(n: int, changed: int, *, seed: int) -> np.ndarray:
    x = np.zeros(n)
    x[:changed] = np.random.default_rng(seed).normal(size=changed)
    return np.where(x < 0, 2 * x, x)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [5, 6, 7, 8])
def test_every_multiset_of_few_topics_is_accounted_for(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for x in (rng.normal(size=n), rng.integers(-3, 4, size=n) / 10, sparse(n, 3, seed=seed)):
        sample = Sample.of(x)
        law = mean_law(sample)
        assert law.kind == ("constant" if sample.constant else "enumerated")
        for point, below in between_atoms(*all_multisets(x), gap=1e-9):
            assert law.cdf(point) == pytest.approx(below, abs=1e-12)
            assert law.mid_cdf(point) == law.cdf(point)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [5, 8])
def test_a_lattice_gives_the_same_steps(n: int, seed: int) -> None:
    x = np.random.default_rng(seed).integers(-4, 5, size=n) / 3
    law = lattice_law(Sample.of(x))
    assert law is not None
    for point, below in between_atoms(*all_multisets(x), gap=1e-9):
        assert law.cdf(point) == pytest.approx(below, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [5, 6, 7, 8])
def test_the_grid_steps_within_its_resolution(n: int, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=n)
    sample = Sample.of(x)
    law = grid_law(sample)
    margin = law.resolution * sample.scale
    assert law.resolution < 1e-2
    for point, below in between_atoms(*all_multisets(x), gap=2.1 * margin):
        assert law.cdf(point) == pytest.approx(below, abs=1e-12)


def test_the_smooth_law_runs_through_the_middle_of_the_steps() -> None:
    # 60 draws from 11 values on a lattice: |phi| decays long before the lattice shows
    x = np.random.default_rng(5).integers(-5, 6, size=60) / 10
    sample = Sample.of(x)
    steps, smooth = lattice_law(sample), smooth_law(sample)
    assert steps is not None
    if smooth is not None:
        for value in np.arange(-60, 60) / 600:
            assert smooth.cdf(value) == pytest.approx(steps.mid_cdf(value), abs=2e-3)


def test_a_law_on_a_lattice_but_for_a_few_topics_is_not_taken_for_smooth_too_early() -> None:
    """phi falls to nothing and rises again where the lattice of the many topics resonates."""
    rng = np.random.default_rng(11)
    x = np.concatenate([rng.integers(-5, 6, size=46) / 10, rng.normal(size=4)])
    law = mean_law(x)
    draws = x[rng.integers(0, x.size, size=(200_000, x.size))].mean(axis=1)
    for p in (0.025, 0.5, 0.975):
        value = law.quantile(p)
        tolerance = 4.5 * math.sqrt(p * (1 - p) / draws.size) + law.resolution
        assert np.mean(draws <= value - law.resolution * x.std()) <= p + tolerance
        assert np.mean(draws <= value + law.resolution * x.std()) >= p - tolerance
    assert law.kind == "grid" or law.frequencies > 300  # type: ignore[attr-defined]


@pytest.mark.parametrize("n", [50, 225])
@pytest.mark.parametrize("changed", [1, 2, 3])
def test_few_changed_topics_are_enumerated_exactly(n: int, changed: int) -> None:
    x = sparse(n, changed, seed=changed)
    law = mean_law(x)
    assert law.kind == "enumerated"
    for point, below in between_atoms(*changed_topics_law(x[:changed], n, 22), gap=1e-9):
        assert law.cdf(point) == pytest.approx(below, abs=1e-12)


@pytest.mark.parametrize(("n", "changed"), [(50, 5), (50, 12), (50, 20), (225, 8), (225, 15), (225, 20), (225, 25)])
def test_sparse_laws_agree_with_a_million_resamples(n: int, changed: int) -> None:
    x = sparse(n, changed, seed=changed)
    sample = Sample.of(x)
    draws = np.sort(resampled_means(x, 10**6, seed=1))
    for law in (mean_law(sample), grid_law(sample)):
        margin = law.resolution * sample.scale
        for p in (0.0005, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9995):
            noise = 4.5 * math.sqrt(p * (1 - p) / draws.size)
            value = law.quantile(p)
            # the smallest value whose cdf reaches p, give or take the resolution
            assert np.searchsorted(draws, value + margin, side="right") / draws.size >= p - noise
            assert np.searchsorted(draws, value - margin, side="left") / draws.size <= p + noise


@pytest.mark.parametrize(("n", "changed"), [(50, 3), (50, 4), (225, 3), (225, 4)])
def test_the_grid_keeps_its_stated_resolution(n: int, changed: int) -> None:
    sample = Sample.of(sparse(n, changed, seed=n + changed))
    exact, grid = enumerated_law(sample), grid_law(sample)
    assert exact is not None
    margin = grid.resolution * sample.scale
    assert grid.resolution < 1e-2
    for p in np.random.default_rng(2).uniform(0.0005, 0.9995, size=300):
        assert abs(grid.quantile(p) - exact.quantile(p)) <= min(margin, 2e-3 * sample.scale)
    assert exact.mid_cdf(exact.centre) == pytest.approx(grid.mid_cdf(grid.centre), abs=1e-9)


@pytest.mark.parametrize(("n", "changed"), [(50, 3), (50, 4), (225, 3), (225, 4)])
def test_a_grid_point_lies_where_its_replicates_are(n: int, changed: int) -> None:
    sample = Sample.of(sparse(n, changed, seed=n + changed))
    exact, grid = enumerated_law(sample), grid_law(sample)
    assert exact is not None
    levels = np.random.default_rng(3).uniform(0.0005, 0.9995, size=300)
    off = np.array([abs(grid.quantile(p) - exact.quantile(p)) for p in levels])
    # far below half a step of the grid, 1.8e-4 standard errors: hardly any point holds more than one atom
    assert np.quantile(off, 0.9) <= 1e-9 * sample.scale


@pytest.mark.parametrize(("n", "changed"), [(225, 5), (225, 9), (225, 12)])
def test_on_the_grid_no_change_is_exactly_zero(n: int, changed: int) -> None:
    law = mean_law(-np.abs(sparse(n, changed, seed=changed)))
    assert law.kind == "grid"
    assert law.quantile(1.0) == 0.0
    assert 1 - law.cdf(-1e-9) == pytest.approx((1 - changed / n) ** n, rel=1e-9)


def test_a_tiny_loss_does_not_move_the_replicates_without_any() -> None:
    """At level 0.999 the replicate that draws none of six losses is the upper limit: 0 passes a gate, -1e-8 fails."""
    x = np.append(np.zeros(219), [-0.4, -0.31, -0.22, -0.13, -1e-6, -0.000002])
    law = mean_law(x)
    assert law.kind == "grid"
    assert law.quantile(0.9995) == 0.0
    assert 1 - law.cdf(-1e-12) == pytest.approx((1 - 6 / 225) ** 225, rel=1e-9)


@pytest.mark.parametrize("value", [0.1, 0.7])
def test_a_mean_that_only_rounding_keeps_from_zero_is_zero(value: float) -> None:
    law = mean_law([value] * 27 + [-2 * value] * 3)
    assert law.quantile(law.mid_cdf(0.0)) == 0.0


def test_half_of_the_own_atom_is_counted_on_the_grid_too() -> None:
    x = sparse(225, 6, seed=1)
    law, draws = mean_law(x), resampled_means(x, 10**6, seed=2)
    near = 1e-9 * x.std()
    share = (np.mean(draws < x.mean() - near) + np.mean(draws < x.mean() + near)) / 2
    assert law.kind == "grid"
    assert law.centre == pytest.approx(x.mean(), abs=1e-15)
    assert law.mid_cdf(law.centre) == pytest.approx(share, abs=4.5 * 0.5 / 1000)


@pytest.mark.parametrize("changed", [26, 30, 40])
def test_smooth_and_grid_agree_where_both_apply(changed: int) -> None:
    sample = Sample.of(sparse(225, changed, seed=changed))
    smooth, grid = smooth_law(sample), grid_law(sample)
    assert smooth is not None
    for p in (0.0005, 0.025, 0.5, 0.975, 0.9995):
        assert abs(smooth.quantile(p) - grid.quantile(p)) <= 2 * (smooth.resolution + grid.resolution) * sample.scale


def test_where_few_topics_changed_no_sum_is_truncated() -> None:
    for changed in (6, 10, 15):
        assert mean_law(sparse(225, changed, seed=3)).kind == "grid"
    one_far_out = np.random.default_rng(0).normal(size=250) * 0.01
    one_far_out[3] = -100
    assert mean_law(one_far_out).kind == "grid"


def test_constant_data_have_one_value() -> None:
    law = mean_law([0.25] * 12)
    assert (law.kind, law.resolution, law.quantile(0.1), law.cdf(0.2), law.cdf(0.25)) == ("constant", 0, 0.25, 0, 1)
    assert [law.mid_cdf(value) for value in (0.2, 0.25, 0.3)] == [0.0, 0.5, 1.0]


def test_a_million_topics_of_which_one_changed() -> None:
    x = np.zeros(10**6)
    x[0] = -1
    law = mean_law(x)
    # the number of draws is all but Poisson: P(0) = (1 - 1e-6)^1e6
    assert law.cdf(-0.5e-6) == pytest.approx(1 - math.exp(10**6 * math.log1p(-1e-6)), abs=1e-12)
