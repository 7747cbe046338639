"""The distribution functions against those of ``scipy.special``, whose names they have."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special, stats

from pytest_riskguard import distributions

ALONG = np.concatenate([np.linspace(-36.0, 9.0, 901), [-1e-9, 0.0, 1e-9]])
SHARES = np.concatenate([10.0 ** -np.arange(1, 300), np.linspace(0.001, 0.999, 999), 1 - 10.0 ** -np.arange(3, 15)])
FREEDOMS = [1, 2, 3, 4.5, 10, 39, 79.5, 80, 81, 249, 999, 6999, 99_999]


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("ndtr", ALONG),
        ("ndtri", np.append(SHARES, [0.0, 1.0, -0.1, np.nan])),
    ],
)
def test_functions_of_arrays_are_those_of_scipy(name, places, monkeypatch):
    own, expected = getattr(distributions, name), getattr(special, name)(places)
    assert_allclose(own(places), expected, rtol=1e-12, atol=2e-16)
    assert own(places[:4].reshape(2, 2)).shape == (2, 2)
    assert float(own(float(places[3]))) == own(places)[3]
    monkeypatch.setattr(distributions, "MANY", 10)
    assert_allclose(own(places), expected, rtol=1e-12, atol=2e-16)


def test_logarithms_of_far_tails_are_those_of_scipy():
    for x in (-1e6, -1000.0, -100.0, -37.6, -30.01, -30.0, -29.99, -5.0, -1.0, 0.0, 2.0, 8.0):
        assert distributions.log_ndtr(x) == pytest.approx(float(special.log_ndtr(x)), rel=1e-12)
    for y in (-1e12, -1e5, -5000.0, -691.0, -690.0, -100.0, -1.01, -1.0, -0.5, -1e-3, -1e-14):
        assert distributions.ndtri_exp(y) == pytest.approx(float(special.ndtri_exp(y)), rel=1e-12)
    assert distributions.ndtri_exp(0.0) == math.inf
    assert distributions.ndtri_exp(-math.inf) == -math.inf


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_student_t_is_that_of_scipy(freedom):
    for t in (0.0, 1e-3, 0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0):
        # the lower tail keeps its digits
        assert distributions.stdtr(freedom, -t) == pytest.approx(float(special.stdtr(freedom, -t)), rel=1e-11)
        assert distributions.stdtr(freedom, t) == pytest.approx(float(special.stdtr(freedom, t)), rel=1e-13)
    assert distributions.stdtr(freedom, -math.inf) == 0
    for p in (1e-300, 1e-12, 1e-6, 0.01, 0.1, 0.5, 0.6, 0.95, 0.975, 0.9995, 1 - 1e-9):
        expected = float(stats.t.ppf(p, freedom))
        assert distributions.stdtrit(freedom, p) == pytest.approx(expected, rel=1e-12, abs=1e-15)
