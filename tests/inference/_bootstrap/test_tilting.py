"""Tilted draws against their definition."""

import math

import numpy as np
import pytest
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.inference._bootstrap.tilting import Draw, Tilts

X = np.round(np.random.default_rng(3).exponential(size=40), 1)
SAMPLE = Sample.of(X)
Y = (X - X.mean()) / (X.std() * math.sqrt(X.size))


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("size", [0.3, 4.0, 40.0, 300.0])
def test_a_draw_has_tilted_chances_and_their_moments(side, size):
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


def test_without_a_tilt_it_is_the_draw_of_the_bootstrap():
    plain, untilted = Draw.plain(SAMPLE), Tilts(SAMPLE, 1).draw(0.0)
    assert plain.shares.tolist() == (SAMPLE.distinct[1] / 40).tolist()
    assert untilted.shares == pytest.approx(plain.shares, rel=1e-14)
    assert (plain.log_norm, plain.centre, plain.spread, plain.depth) == (0, 0, 1, 0)
    assert (untilted.log_norm, untilted.centre, untilted.spread) == pytest.approx((0, 0, 1), abs=1e-14)
