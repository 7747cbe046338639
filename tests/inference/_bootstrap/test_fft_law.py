"""Which data lie on a lattice, and sums of draws against every ordered draw of a few topics."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from pytest_riskguard.inference._bootstrap.convolution import (
    GRID_POINTS,
    Convolution,
    _grid_step,
    multiples,
)
from pytest_riskguard.inference._bootstrap.fft_law import grid_law, lattice_law
from pytest_riskguard.inference._bootstrap.sample import Sample, lattice_step

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
def test_the_step_is_found_though_it_carries_rounding(values, step):
    assert lattice_step(values) == pytest.approx(step, rel=1e-9)


@pytest.mark.parametrize("decimals", [2, 3, 4, 5])
def test_rounded_scores_lie_on_a_lattice_however_many_there_are(decimals):
    for seed, n in enumerate((50, 100, 225, 250, 500)):
        d = np.round(np.random.default_rng(seed).normal(size=n) * 0.15, decimals)
        assert lattice_step(d) == pytest.approx(10.0**-decimals, rel=1e-9)
        assert lattice_step(np.where(d < 0, 1.5 * d, d)) == pytest.approx(10.0**-decimals / 2, rel=1e-9)


#: The most frequent score, and the lower of two such, is 2; in steps of 1 the others lie 2 below and 3 above it.
FEW = Sample.of([2.0, 2.0, 0.0, 5.0, 5.0])


def sums_of_all_draws() -> tuple[list[int], list[tuple[float, ...]]]:
    """The sum of each ordered draw in steps from five times the most frequent score, and the draws."""
    draws = list(itertools.product(FEW.x.tolist(), repeat=5))
    return [round(sum(drawn)) - 10 for drawn in draws], draws


def test_a_window_holds_the_probability_of_each_sum():
    convolution = Convolution(FEW, multiples(FEW, 1.0), 1.0)
    assert multiples(FEW, 1.0).tolist() == [-2, 0, 3]
    assert (convolution.points, convolution.middle, convolution.first) == (256, 128, 4 - 128)
    sums, _ = sums_of_all_draws()
    expected = np.bincount(np.array(sums) - convolution.first, minlength=256) / 5**5
    masses = convolution.masses()
    assert masses == pytest.approx(expected, abs=1e-15)
    assert masses.min() >= 0


def test_what_is_drawn_is_expected_by_sum():
    convolution = Convolution(FEW, multiples(FEW, 1.0), 1.0)
    weight = {0.0: 0.3, 2.0: -0.1, 5.0: 1.5}
    expected = np.zeros(256)
    for total, drawn in zip(*sums_of_all_draws(), strict=True):
        expected[total - convolution.first] += sum(weight[value] for value in drawn) / 5**5
    shares = FEW.distinct[1] / 5
    taken = convolution.expected(shares * np.array([weight[value] for value in FEW.distinct[0]]))
    assert taken == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("step", [1.0, 0.1])
def test_a_lattice_has_the_law_of_all_ordered_draws(step):
    sample = Sample.of(FEW.x * step)
    law = lattice_law(sample)
    assert law is not None
    sums, counts = np.unique(sums_of_all_draws()[0], return_counts=True)
    up_to = np.cumsum(counts) / 5**5
    means = (sums + 10) / 5 * step
    assert law.kind == "lattice"
    assert law.centre == pytest.approx(14 / 5 * step, rel=1e-15)
    assert [law.cdf(mean) for mean in means] == pytest.approx(up_to, abs=1e-14)
    assert law.quantiles(up_to - counts / 5**5 / 2) == pytest.approx(means, rel=1e-14)


def test_a_lattice_has_its_own_law_up_to_so_many_points_and_no_further():
    # 24 standard deviations of a sum are 24 root(2) steps wide: 33.9
    sample = Sample.of([0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    assert 24 * sample.total == pytest.approx(24 * math.sqrt(2))
    assert lattice_law(sample, max_points=33) is None
    assert lattice_law(sample, max_points=34) is not None
    assert lattice_law(Sample.of([0.0, 1.0, math.pi])) is None


def test_the_grid_has_a_step_that_few_scores_are_multiples_of_if_there_is_one():
    finest = 24 * FEW.total / GRID_POINTS
    step = _grid_step(FEW)
    assert finest <= step <= finest / 0.75 * 1.001
    assert np.abs(FEW.offsets / step - np.rint(FEW.offsets / step)).max() < 1e-9
    many = Sample.of([0.0, 0.0, 0.1, 0.2, 0.3, 0.4])
    assert _grid_step(many) == 24 * many.total / GRID_POINTS
    # rounding the score of n topics counts root(n) times: the step whose worst score is best, of all that are allowed
    common = Sample.of(np.concatenate([np.zeros(300), np.full(200, math.e), [1.7, math.pi]]))
    finest = 24 * common.total / GRID_POINTS

    def worst(step: float) -> float:
        return max(abs(score / step - round(score / step)) * root for score, root in ((math.e, 200**0.5), (1.7, 1)))

    allowed = [math.pi / k for k in range(1, 20_000) if finest <= math.pi / k and k >= 0.75 * int(math.pi / finest)]
    assert _grid_step(common) == pytest.approx(min(allowed, key=worst), rel=1e-12)


@pytest.mark.parametrize("x", [[2.0, 2.0, 0.0, 3.0, 6.0], [0.0, 0.0, 0.1234, -0.777, 0.31], [0.0, 0.0, -1.0, math.e]])
def test_a_grid_has_the_law_of_all_ordered_draws_and_says_how_far_it_may_be_off(x):
    sample, n = Sample.of(x), len(x)
    law = grid_law(sample)
    totals = np.round([math.fsum(drawn) for drawn in itertools.product(x, repeat=n)], 9)
    means, counts = np.unique(totals / n, return_counts=True)
    up_to = np.cumsum(counts) / n**n
    apart = np.append(np.diff(means) > 1e-3, True)
    assert law.kind == "grid"
    assert law.centre == pytest.approx(sum(x) / n, abs=1e-15)
    assert [law.cdf(mean + 5e-4) for mean in means[apart]] == pytest.approx(up_to[apart], abs=1e-12)
    # each point lies where its replicates are, but for a thousandth of a step of 24/2^16 standard errors
    assert law.quantiles(up_to - counts / n**n / 2) == pytest.approx(means, abs=4e-7 * sample.scale)
    # Bernstein's inequality at 1e-9, for the two sides, and twice: for the replicate and for the mean on its point
    step = _grid_step(sample)
    off = sample.offsets - np.rint(sample.offsets / step) * step
    off = off - np.sum(sample.distinct[1] * off) / n
    third, variance = math.log(2e9) * np.abs(off).max() / 3, np.sum(sample.distinct[1] * off**2)
    within = third + math.sqrt(third**2 + 2 * math.log(2e9) * variance)
    assert law.resolution == pytest.approx(2 * within / sample.total, rel=1e-6, abs=1e-15)
