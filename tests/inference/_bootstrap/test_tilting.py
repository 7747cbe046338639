"""Tilted draws against their definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.inference._bootstrap.tilting import MAX_THETA, Draw, Tilts, root

X = np.round(np.random.default_rng(3).exponential(size=40), 1)
SAMPLE = Sample.of(X)
Y = (X - X.mean()) / (X.std() * math.sqrt(X.size))


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("size", [0.3, 4.0, 40.0, 300.0])
def test_a_draw_has_tilted_chances_and_their_moments(side: int, size: float) -> None:
    draw = Tilts(SAMPLE, side).draw(size)
    inclined = side * size * Y
    weights = np.exp(inclined - inclined.max())
    assert draw.theta == side * size
    assert draw.log_norm == pytest.approx(40 * (math.log(np.mean(weights)) + inclined.max()), rel=1e-12)
    shares = [np.sum(weights[value == X]) / np.sum(weights) for value in SAMPLE.distinct[0]]
    assert draw.shares == pytest.approx(np.array(shares), rel=1e-10, abs=1e-300)
    mean = np.sum(weights * Y) / np.sum(weights)
    assert draw.centre == pytest.approx(40 * mean, rel=1e-12)
    assert draw.spread == pytest.approx(math.sqrt(40 * np.sum(weights * (Y - mean) ** 2) / np.sum(weights)), rel=1e-9)
    assert draw.depth == pytest.approx(math.sqrt(2 * (draw.theta * draw.centre - draw.log_norm)))


def test_without_a_tilt_it_is_the_draw_of_the_bootstrap() -> None:
    plain, untilted = Draw.plain(SAMPLE), Tilts(SAMPLE, 1).draw(0.0)
    assert plain.shares.tolist() == (SAMPLE.distinct[1] / 40).tolist()
    assert untilted.shares == pytest.approx(plain.shares, rel=1e-14)
    assert (plain.log_norm, plain.centre, plain.spread, plain.depth) == (0, 0, 1, 0)
    assert (untilted.log_norm, untilted.centre, untilted.spread) == pytest.approx((0, 0, 1), abs=1e-14)


@pytest.mark.parametrize("side", [-1, 1])
def test_tilts_are_found_by_depth_and_by_centre(side: int) -> None:
    tilts = Tilts(SAMPLE, side)
    for depth in (0.5, 4.0, 7.0):
        size = tilts.at_depth(depth)
        assert tilts.draw(size).depth == pytest.approx(depth, rel=1e-10)
        assert tilts.at_centre(tilts.draw(size).centre) == pytest.approx(size, rel=1e-9)
    assert tilts.at_centre(-side * 1.0) < 1e-9
    assert tilts.at_depth(math.inf) == tilts.at_centre(side * 1e9) == tilts.furthest


@pytest.mark.parametrize("side", [-1, 1])
def test_under_the_furthest_tilt_every_second_replicate_at_least_holds_only_the_score_furthest_out(side: int) -> None:
    tilts = Tilts(SAMPLE, side)
    share = tilts.draw(tilts.furthest).shares[-1 if side > 0 else 0]
    assert share**40 > 0.49
    near = Tilts(Sample.of([0.0, 1.0, 1.0 + 1e-9]), 1)
    assert near.furthest == MAX_THETA


def test_very_many_scores_are_condensed_where_a_tilt_is_looked_for() -> None:
    x = np.random.default_rng(0).normal(size=30_000)
    tilts = Tilts(Sample.of(x), 1)
    rough, draw = tilts.roughly(8.0), tilts.draw(8.0)
    assert tilts.scores.size == rough.shares.size < 5000 < draw.shares.size
    assert (rough.log_norm, rough.centre, rough.spread) == pytest.approx(
        (draw.log_norm, draw.centre, draw.spread), rel=1e-6
    )


def test_roots_are_found_with_and_without_a_slope() -> None:
    assert root(lambda x: (x**3 - 2, 3 * x**2), 0.0, 9.0) == pytest.approx(2 ** (1 / 3), rel=1e-14)
    assert root(lambda x: (x**3 - 2, 0.0), 0.0, 9.0) == pytest.approx(2 ** (1 / 3), rel=1e-13)
    flat = root(lambda x: (math.atan(50 * (x - 0.3)), 50 / (1 + 2500 * (x - 0.3) ** 2)), -9.0, 9.0)
    assert flat == pytest.approx(0.3)
    assert root(lambda x: (x - 7, 1.0), 0.0, 5.0) == pytest.approx(5.0)
