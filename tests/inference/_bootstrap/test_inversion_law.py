"""Several levels and several statistics at once, and the sums over frequencies that they share."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from pytest_riskguard.inference._bootstrap.choice import mean_law
from pytest_riskguard.inference._bootstrap.inversion import (
    STEP,
    Inversion,
    frequencies,
    mean_exponential_less_one,
)
from pytest_riskguard.inference._bootstrap.inversion_law import (
    SmoothLaw,
    _rounded_if_many,
    smooth_law,
)
from pytest_riskguard.inference._bootstrap.sample import Sample
from scipy.special import ndtr, ndtri

from pytest_riskguard.inference.intervals import METHODS, Interval, IntervalBatch, interval, intervals

LEVELS = (0.8, 0.999)


def mixed(n: int = 60) -> np.ndarray:
    """Statistics over the same topics whose laws are of every kind."""
    rng = np.random.default_rng(8)
    d = rng.normal(size=n)
    place = np.arange(n) % 20
    columns = {
        "constant": np.full(n, 0.25),
        "few": np.where(place == 0, d, 0.0),
        "lattice": rng.integers(-4, 5, size=n) / 10,
        "fine lattice": np.round(d / 10, 3),
        "smooth": d,
        "heavier": np.where(d < 0, 6 * d, d) ** 3,
        "grid": np.where(place < 4, d, 0.0),
        "sparse": np.where(place < 12, d, 0.0),
    }
    return np.column_stack(list(columns.values()))


def test_each_column_has_the_limits_it_has_alone_to_the_bit():
    x = mixed(40)
    together = intervals(x, methods=METHODS, level=LEVELS)
    assert [(batch.method, batch.level) for batch in together] == [
        (method, level) for level in LEVELS for method in METHODS
    ]
    batches = [batch for batch in together if isinstance(batch, IntervalBatch)]
    assert len(batches) == len(together)
    assert all(batch.lower.shape == batch.upper.shape == (x.shape[1],) for batch in batches)
    for place, column in enumerate(x.T):
        for batch in batches:
            alone = interval(column, method=batch.method, level=batch.level)
            assert (alone.lower, alone.upper) == (batch.lower[place], batch.upper[place])


@pytest.mark.parametrize("column", range(mixed().shape[1]))
def test_several_levels_are_the_single_ones_in_turn(column):
    x = mixed()[:, column]
    together = intervals(x, level=LEVELS)
    assert together == tuple(itertools.chain.from_iterable(intervals(x, level=level) for level in LEVELS))
    assert all(isinstance(limits, Interval) for limits in together)


@pytest.mark.parametrize("column", range(mixed().shape[1]))
def test_quantiles_are_those_of_each_probability(column):
    law = mean_law(mixed()[:, column])
    p = np.array([0.0, 1e-15, 0.0005, 0.2, 0.5, 0.77, 0.999, 1.0])
    assert law.quantiles(p).tolist() == [law.quantile(probability) for probability in p]


@pytest.mark.parametrize(("n", "count"), [(3, 48), (50, 700), (250, 48), (1000, 48)])
def test_products_of_turns_give_the_mean_exponential(n, count):
    """n times its error is that of log phi: no more than 1e-12 of phi, far from where F is formed of it."""
    rng = np.random.default_rng(n)
    values = rng.standard_t(4, size=n) / math.sqrt(n)
    weights = np.full(n, 1 / n)
    angles = np.multiply.outer(frequencies(count), values)
    expected = [
        complex(-2 * math.fsum(np.sin(row / 2) ** 2 * weights), math.fsum(np.sin(row) * weights)) for row in angles
    ]
    computed = mean_exponential_less_one(STEP, count, values, weights)
    phi = np.abs(np.exp(n * np.log1p(expected)))
    assert float(np.max(np.abs(computed - expected) * n * phi)) < 1e-12
    assert float(np.max(np.abs(computed - expected))) < 1e-13


def test_a_long_vector_has_the_law_of_its_moments():
    """Many values are rounded before the look, and phi comes from their moments."""
    x = np.random.default_rng(7).normal(size=40_000)
    law = mean_law(x)
    assert isinstance(law, SmoothLaw)
    standard = (x - x.mean()) / x.std()
    t = frequencies(6)
    cumulants = -(t**2) / 2 - 1j * t**3 * np.mean(standard**3) / (6 * math.sqrt(x.size))
    fourth = (np.mean(standard**4) - 3) / x.size
    assert np.log(law.phi[:6]) == pytest.approx(cumulants + t**4 * fourth / 24, abs=1e-7)


def test_the_inverted_normal_law_is_normal():
    """Three laws at once: standard, narrower, and wider and moved; F, its quantiles, and some of the laws alone."""
    t, scales, shifts = frequencies(128), np.array([1.0, 0.6, 1.2]), np.array([0.0, 0.3, -0.7])
    phi = np.exp(-np.multiply.outer(scales**2, t**2) / 2 + 1j * np.multiply.outer(shifts, t))
    inversion = Inversion(phi)
    z = np.array([[-2.0, 0.0, 1.5, 3.0]] * 3)
    assert inversion.cdf(z) == pytest.approx(ndtr((z - shifts[:, None]) / scales[:, None]), abs=1e-13)
    p = np.array([[0.001, 0.3, 0.5, 0.9999]] * 3)
    expected = shifts[:, None] + scales[:, None] * ndtri(p)
    roots = inversion.quantiles(p, np.zeros(p.shape))
    assert roots == pytest.approx(expected, abs=1e-9)
    some = np.array([False, True, True])
    assert np.array_equal(inversion.only(some).quantiles(p[some], np.zeros((2, 4))), roots[some])
    alone = [Inversion(row[None, :]) for row in phi]
    assert np.array_equal(Inversion.together(alone).cdf(z), inversion.cdf(z))
    assert Inversion.together(alone[:1]) is alone[0]
    assert alone[1].cdf_at_zero() == pytest.approx(ndtr(-0.5), abs=1e-14)


SMOOTH = {
    "normal": np.random.default_rng(60).normal(size=60),
    "heavier": np.random.default_rng(60).normal(size=60) ** 3 * np.where(np.arange(60) % 2, 4, 1),
    "half of the topics": np.append(np.zeros(60), np.random.default_rng(40).normal(size=40)),
    "a third": np.append(np.zeros(150), np.random.default_rng(40).normal(size=45)),
}


def test_more_values_than_8192_are_rounded_to_65536_points_of_the_circle():
    sample = Sample.of(np.random.default_rng(0).normal(size=9000))
    positions, shares = _rounded_if_many(sample)
    assert positions.size < sample.offsets.size
    assert np.sum(shares) == pytest.approx(1)
    assert np.all(positions * 2**16 == np.rint(positions * 2**16))
    turns = sample.offsets / (24 * sample.total) % 1.0
    for order in (1, 3):
        exact, rounded = (
            np.sum(w * np.exp(2j * np.pi * order * u)) for u, w in ((turns, 1 / 9000), (positions, shares))
        )
        assert abs(exact - rounded) < 1e-5
    few = Sample.of(np.arange(5.0) ** 2)
    positions, shares = _rounded_if_many(few)
    assert positions == pytest.approx(np.array([0, 1, 4, 9, 16]) / (24 * few.total))
    assert shares.tolist() == [0.2] * 5


def test_a_smooth_law_ends_where_the_scores_and_the_circle_do():
    sample = Sample.of(SMOOTH["normal"])
    law = smooth_law(sample)
    assert law is not None
    assert (law.cdf(law.centre - 12.1 * sample.scale), law.cdf(law.centre + 12.1 * sample.scale)) == (0, 1)
    assert (law.cdf(law.centre - 30 * sample.scale), law.cdf(law.centre + 30 * sample.scale)) == (0, 1)
    assert SmoothLaw(sample, law.phi, left_out=1e-6).resolution == 1e-6 / 0.00178
    assert law.cdf(law.centre + 2 * sample.scale) == pytest.approx(
        float(law.inversion.cdf(np.array([[2.0]]))[0, 0]), abs=1e-12
    )
    assert law.values(np.array([-1e3, 1.0, 1e3])).tolist() == [
        sample.x[0],
        pytest.approx(sample.mean + sample.scale),
        sample.x[-1],
    ]
    assert law.near(np.array([-9.0, 0.5, 9.0])) == pytest.approx([1e-7, ndtr(0.5), 1 - 1e-7], rel=1e-9)
    edges = [SmoothLaw(sample, law.phi, left_out=left_out).edge for left_out in (1e-13, 1e-12, 1e-11, 1e-10, 1e-7)]
    assert edges == pytest.approx([1e-7, 1e-6, 1e-5, 1e-4, 1e-4])
    assert law.start(np.array([0.0, 0.5, 1.0])) == pytest.approx(sample.normal_corrected(np.array([-8.0, 0.0, 8.0])))
