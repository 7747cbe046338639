"""A law of draws: what it answers of draws counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.inference._bootstrap.laws import DrawnLaw

LAW = DrawnLaw(np.array([0.3, -0.1, 0.0, 1e-14, 0.2, -1e-14, 0.1, -0.3]), centre=0.0, same=1e-12)


def test_draws_that_rounding_keeps_apart_are_one():
    assert LAW.cdf(0.0) == 5 / 8
    assert LAW.mid_cdf(0.0) == (2 + 3 / 2) / 8
    assert LAW.mid_cdf(0.15) == LAW.cdf(0.15) == 6 / 8
    assert (LAW.cdf(-0.31), LAW.cdf(0.3), LAW.size) == (0.0, 1.0, 8)


@pytest.mark.parametrize(
    ("p", "expected"), [(0.0, -0.3), (1 / 8, -0.3), (1 / 8 + 1e-9, -0.1), (0.75, 0.1), (0.76, 0.2), (1.0, 0.3)]
)
def test_a_quantile_is_the_smallest_draw_whose_cdf_reaches_the_probability(p, expected):
    assert LAW.quantile(p) == expected


def test_a_law_is_constant_where_every_draw_is_the_sample():
    assert not LAW.constant
    assert DrawnLaw(np.array([0.5, 0.5 + 1e-14]), centre=0.5, same=1e-12).constant
    assert not DrawnLaw(np.array([0.5, 0.5]), centre=0.4, same=1e-12).constant
