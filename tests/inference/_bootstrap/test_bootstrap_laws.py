"""What is true of every bootstrap law of a mean, whatever its kind."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pytest_riskguard.inference._bootstrap.choice import mean_law

from pytest_riskguard.inference.intervals import critical_value, interval, intervals

whole = arrays(np.int64, st.integers(2, 40), elements=st.integers(-6, 6))
reals = arrays(
    np.float64,
    st.integers(3, 60),
    elements=st.one_of(st.just(0.0), st.floats(-1, 1, width=16), st.floats(-1, 1).map(lambda v: round(v, 3))),
)


def drawn(values: np.ndarray, draws: int) -> tuple[np.ndarray, int]:
    """Masses of the sum of so many draws of whole numbers, one convolution after another, and the least sum."""
    least = int(values.min())
    one = np.bincount(values - least) / values.size
    masses = np.ones(1)
    for _ in range(draws):
        masses = np.convolve(masses, one)
    return masses, draws * least


@given(whole, st.sampled_from([1, 2, 3]))
@settings(max_examples=25, deadline=None)
def test_data_repeated_k_times_have_the_law_of_k_n_draws(values, k):
    """One draw has the same law as before, so phi of the sum is phi of one draw to the power k n."""
    law = mean_law(np.tile(values, k) / 8)
    draws = k * values.size
    masses, least = drawn(values, draws)
    if values.min() == values.max():
        assert law.kind == "constant"
        return
    up_to = np.cumsum(masses)
    slack = max(1e-12, getattr(law, "left_out", 0.0))
    assert law.kind in ("lattice", "enumerated")
    for sums in range(masses.size - 1):
        between = (least + sums + 0.5) / (8 * draws)
        assert law.cdf(between) == pytest.approx(float(up_to[sums]), abs=slack)


@given(reals, st.sampled_from([2, 3, 7]))
@settings(max_examples=20, deadline=None)
def test_student_t_of_repeated_data_follows_its_formula(x, k):
    once, often = interval(x, method="student_t"), interval(np.tile(x, k), method="student_t")
    n = x.size
    if once.lower == once.upper:
        assert often.lower == often.upper
        return
    shrink = math.sqrt((n - 1) / (k * n - 1)) * critical_value(k * n, level=0.95) / critical_value(n, level=0.95)
    assert often.upper - often.lower == pytest.approx(shrink * (once.upper - once.lower), rel=1e-9)
    assert often.upper + often.lower == pytest.approx(once.upper + once.lower, abs=1e-12)


@given(reals, st.sampled_from([0.9, 0.99]))
@settings(max_examples=25, deadline=None)
def test_mirrored_data_have_the_mirrored_law(x, level):
    law, mirrored = mean_law(x), mean_law(-x)
    assert mirrored.kind == law.kind
    if law.kind == "constant":
        return
    unit = float(np.std(x)) / math.sqrt(x.size)
    near = max(law.resolution, 1e-9) * unit
    for own, other in zip(intervals(x, level=level), intervals(-x, level=level), strict=True):
        if own.method == "student_t" or law.kind == "smooth":
            assert other.lower == pytest.approx(-own.upper, abs=2 * near)
            assert other.upper == pytest.approx(-own.lower, abs=2 * near)
    for p in (0.01, 0.2, 0.5, 0.9):
        value = law.quantile(p)
        # P(mean <= v) = P(-mean >= -v), give or take what the laws resolve
        assert 1 - mirrored.cdf(-value - 2 * near) >= p - 1e-9
        assert 1 - mirrored.cdf(-value + 2 * near) <= law.cdf(value) + 1e-9


@given(reals)
@settings(max_examples=25, deadline=None)
def test_a_cdf_rises_from_none_to_all_and_quantiles_invert_it(x):
    law = mean_law(x)
    values = np.linspace(x.min() - 0.1, x.max() + 0.1, 41)
    cdf = np.array([law.cdf(value) for value in values])
    assert np.all(np.isfinite(cdf))
    assert np.all(np.diff(cdf) >= -1e-6)
    assert (round(cdf[0], 6), round(cdf[-1], 6)) == (0.0, 1.0)
    p = np.array([0.001, 0.1, 0.5, 0.975])
    quantiles = law.quantiles(p)
    assert np.all(np.diff(quantiles) >= 0)
    near = 1e-9 * max(float(np.std(x)), 1e-300)
    assert all(law.cdf(value + near) >= probability - 1e-7 for probability, value in zip(p, quantiles, strict=True))
