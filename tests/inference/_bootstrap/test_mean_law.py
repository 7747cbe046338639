"""The exact law of the mean against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pytest_riskguard.inference._bootstrap.choice import mean_law
from pytest_riskguard.inference._bootstrap.fft_law import grid_law, lattice_law
from pytest_riskguard.inference._bootstrap.inversion_law import smooth_law
from pytest_riskguard.inference._bootstrap.laws import MeanLaw
from pytest_riskguard.inference._bootstrap.sample import Sample

from pytest_riskguard.inference.intervals import interval
from tests.inference._bootstrap.brute_force import all_multisets, between_atoms, changed_topics_law, resampled_means


def sparse(n: int, changed: int, *, seed: int) -> np.ndarray:
    x = np.zeros(n)
    x[:changed] = np.random.default_rng(seed).normal(size=changed)
    return np.where(x < 0, 2 * x, x)


def distinguished(law: MeanLaw, sample: Sample) -> float:
    """How far apart two atoms must be for the law to show both, in units of x."""
    return max(1e-9, 2.1 * law.resolution * sample.scale)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n", [5, 6, 7])
def test_every_multiset_of_few_topics_is_accounted_for(n, seed):
    rng = np.random.default_rng(seed)
    for x in (rng.normal(size=n), rng.integers(-3, 4, size=n) / 10, sparse(n, 3, seed=seed)):
        sample = Sample.of(x)
        law = mean_law(sample)
        for point, below in between_atoms(*all_multisets(x), gap=distinguished(law, sample)):
            assert law.cdf(point) == pytest.approx(below, abs=1e-12)
            assert law.mid_cdf(point) == pytest.approx(law.cdf(point), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [5, 7])
def test_a_lattice_gives_the_same_steps(n, seed):
    x = np.random.default_rng(seed).integers(-4, 5, size=n) / 3
    law = lattice_law(Sample.of(x))
    assert law is not None
    for point, below in between_atoms(*all_multisets(x), gap=1e-9):
        assert law.cdf(point) == pytest.approx(below, abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n", [5, 7])
def test_the_grid_steps_within_its_resolution(n, seed):
    x = np.random.default_rng(seed).normal(size=n)
    sample = Sample.of(x)
    law = grid_law(sample)
    margin = law.resolution * sample.scale
    assert law.resolution < 1e-2
    for point, below in between_atoms(*all_multisets(x), gap=2.1 * margin):
        assert law.cdf(point) == pytest.approx(below, abs=1e-12)


def test_the_smooth_law_runs_through_the_middle_of_the_steps():
    # 60 draws from 11 values on a lattice: |phi| decays long before the lattice shows
    x = np.random.default_rng(5).integers(-5, 6, size=60) / 10
    sample = Sample.of(x)
    steps, smooth = lattice_law(sample), smooth_law(sample)
    assert steps is not None
    if smooth is not None:
        for value in np.arange(-60, 60) / 600:
            assert smooth.cdf(value) == pytest.approx(steps.mid_cdf(value), abs=2e-3)


def test_a_law_on_a_lattice_but_for_a_few_topics_is_not_taken_for_smooth_too_early():
    """phi falls to nothing and rises again where the lattice of the many topics resonates."""
    rng = np.random.default_rng(11)
    x = np.concatenate([rng.integers(-5, 6, size=46) / 10, rng.normal(size=4)])
    law = mean_law(x)
    draws = x[rng.integers(0, x.size, size=(50_000, x.size))].mean(axis=1)
    for p in (0.025, 0.5, 0.975):
        value = law.quantile(p)
        tolerance = 4.5 * math.sqrt(p * (1 - p) / draws.size) + law.resolution
        assert np.mean(draws <= value - law.resolution * x.std()) <= p + tolerance
        assert np.mean(draws <= value + law.resolution * x.std()) >= p - tolerance
    assert law.kind == "grid" or law.frequencies > 300  # type: ignore[attr-defined]


@pytest.mark.parametrize("n", [50, 225])
@pytest.mark.parametrize("changed", [1, 2, 3])
def test_every_way_to_draw_few_changed_topics_is_accounted_for(n, changed):
    x = sparse(n, changed, seed=changed)
    law = mean_law(x)
    assert law.kind == "enumerated"
    for point, below in between_atoms(*changed_topics_law(x[:changed], n, 22), gap=distinguished(law, Sample.of(x))):
        assert law.cdf(point) == pytest.approx(below, abs=1e-10)  # beyond 12 standard errors it wraps around


@pytest.mark.slow
@pytest.mark.parametrize(("n", "changed"), [(50, 5), (50, 12), (50, 20), (225, 8), (225, 15), (225, 20), (225, 25)])
def test_sparse_laws_agree_with_a_million_resamples(n, changed):
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


@pytest.mark.parametrize(("n", "changed"), [(50, 3), (225, 3)])
def test_a_grid_point_lies_where_its_replicates_are(n, changed):
    x = sparse(n, changed, seed=n + changed)
    sample = Sample.of(x)
    means, masses = changed_topics_law(x[:changed], n, 14)  # but for a share of 1e-10 of the replicates
    grid, below = grid_law(sample), np.cumsum(masses)
    assert grid.resolution < 1e-2
    levels = np.random.default_rng(2).uniform(0.0005, 0.9995, size=300)
    exact = means[np.searchsorted(below, levels - 1e-9)]
    off = np.abs(grid.quantiles(levels) - exact) / sample.scale
    assert np.max(off) <= min(grid.resolution, 2e-3)
    # far below half a step of the grid, 1.8e-4 standard errors: hardly any point holds more than one atom
    assert np.quantile(off, 0.9) <= 1e-9
    half = (np.sum(masses[means < x.mean() - 1e-12]) + np.sum(masses[means < x.mean() + 1e-12])) / 2
    assert grid.mid_cdf(grid.centre) == pytest.approx(half, abs=1e-9)


@pytest.mark.parametrize(("alpha", "at_the_mean", "upper"), [(4.47, 0.47771, -0.167625), (5.03, 0.47858, -0.188625)])
def test_few_changes_on_a_fine_lattice_have_its_own_law(alpha, at_the_mean, upper):
    """Many resamples have the sample's own mean; where only some of them stay on it, BCa's limits move by 0.03 SE."""
    losses = np.array([-0.75] * 2 + [-0.5] * 3 + [-0.25] * 2) * (1 + alpha)
    x = np.concatenate([losses, [0.25] * 3, [0.5], np.zeros(29)])
    law = mean_law(x)
    assert Sample.of(x).step == pytest.approx(0.0025)
    assert law.kind == "lattice"
    assert law.mid_cdf(law.centre) == pytest.approx(at_the_mean, abs=1e-5)
    assert interval(x, method="bca").upper == pytest.approx(upper, abs=1e-12)


def test_a_tiny_loss_does_not_move_the_replicates_without_any():
    """At level 0.999 the replicate that draws none of six losses is the upper limit: 0 passes a gate, -1e-8 fails."""
    x = np.append(np.zeros(219), [-0.4, -0.31, -0.22, -0.13, -1e-6, -0.000002])
    law = mean_law(x)
    assert law.kind == "grid"
    assert law.quantile(0.9995) == 0.0
    assert 1 - law.cdf(-1e-12) == pytest.approx((1 - 6 / 225) ** 225, rel=1e-9)


@pytest.mark.parametrize("changed", [26, 30, 40])
def test_smooth_and_grid_agree_where_both_apply(changed):
    sample = Sample.of(sparse(225, changed, seed=changed))
    smooth, grid = smooth_law(sample), grid_law(sample)
    assert smooth is not None
    for p in (0.0005, 0.025, 0.5, 0.975, 0.9995):
        assert abs(smooth.quantile(p) - grid.quantile(p)) <= 2 * (smooth.resolution + grid.resolution) * sample.scale
