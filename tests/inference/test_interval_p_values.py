"""P-values against the intervals that they invert."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_riskguard.inference import interval, upper_p_value
from pytest_riskguard.inference.intervals import METHODS
from pytest_riskguard.risk import linear, trisk

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)


def data(kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    d = {
        "dense": lambda: rng.normal(-0.02, 0.1, 60),
        "lattice": lambda: np.round(rng.normal(-0.1, 0.2, 40), 1),
        "sparse": lambda: np.append(rng.normal(-0.1, 0.2, 4), np.zeros(60)),
        "skewed": lambda: -(rng.exponential(0.1, 30) ** 2) + 0.02,
        "grid": lambda: np.append(rng.normal(-0.05, 0.2, 12), np.zeros(60)),
    }[kind]()
    return linear(d, alpha=1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["dense", "lattice", "sparse", "skewed", "grid"])
@pytest.mark.parametrize("seed", range(4))
def test_an_upper_limit_is_below_the_bound_exactly_where_p_is_small_enough(method, kind, seed):
    x = data(kind, seed)
    for bound in (0.0, -0.01, float(np.mean(x)) / 2):
        p = upper_p_value(x, method=method, bound=bound)
        assert 0 <= p <= 1
        for level in LEVELS:
            if not math.isclose(p, 1 - level, rel_tol=1e-6):
                below = interval(x, method=method, level=level).upper < bound
                assert below == (p <= 1 - level), (p, level)


def test_student_t_gives_the_p_value_of_trisk():
    d = np.random.default_rng(1).normal(-0.05, 0.1, 30)
    test = trisk(d, alpha=1)
    assert test.estimate < 0
    assert upper_p_value(linear(d, alpha=1), method="student_t") == pytest.approx(test.p_value, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_constant_scores_have_a_p_value_of_0_or_1(method):
    assert upper_p_value([-0.1] * 20, method=method) == 0.0
    assert upper_p_value([0.1] * 20, method=method) == 1.0
    assert upper_p_value([0.0] * 20, method=method) == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_a_bound_beyond_all_scores_is_certain(method):
    x = data("lattice", 0)
    if method in ("percentile", "bca"):
        assert upper_p_value(x, method=method, bound=float(x.max()) + 0.1) == 0.0
        assert upper_p_value(x, method=method, bound=float(x.min()) - 0.1) == 1.0


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=40), st.floats(-1, 1), st.sampled_from(METHODS))
@settings(max_examples=150, deadline=None)
def test_no_data_give_anything_but_a_probability(values, bound, method):
    assert 0 <= upper_p_value(values, method=method, bound=bound) <= 1


@pytest.mark.parametrize("method", METHODS)
def test_a_higher_bound_has_no_higher_p(method):
    x = data("dense", 3)
    p_values = [upper_p_value(x, method=method, bound=bound) for bound in np.linspace(-0.1, 0.05, 31)]
    assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(p_values))


def test_an_unknown_method_is_named():
    with pytest.raises(ValueError, match=r"method must be one of student_t, .*, got 'wald'"):
        upper_p_value([0.1, 0.2], method="wald")
