"""Each topic left out: about what the interval of the others has."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.inference.intervals import interval, without_each


def changes(shape: str, n: int) -> np.ndarray:
    rng = np.random.default_rng([n, len(shape)])
    x = rng.normal(-0.02, 0.1, n)
    if shape == "heavy":
        x = 0.05 * rng.standard_t(2, n)
    if shape == "one far out":
        x[0] = -0.8
    if shape == "some changed":
        x[rng.random(n) < 0.5] = 0.0
    return np.where(x < 0, 2 * x, x)


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize("method", ["student_t", "percentile", "basic", "bca"])
@pytest.mark.parametrize(("n", "shape"), [(40, "plain"), (40, "some changed"), (120, "heavy"), (225, "one far out")])
def test_it_is_the_limit_of_the_others_but_for_a_part_of_the_move(n, shape, method, side):
    x = changes(shape, n)
    limit = getattr(interval(x, method=method), side)
    expected = np.array([getattr(interval(np.delete(x, i), method=method), side) for i in range(n)])
    found = without_each(x, limit, method=method, level=0.95)
    # what pivotal topics take it to miss at most, and far less for most topics
    error, standard_error = np.abs(found - expected), x.std() / np.sqrt(n)
    assert np.all(error <= 0.25 * np.abs(found - limit) + 0.01 * standard_error)
    assert np.median(error) < 3e-3 * standard_error


def test_the_studentized_limit_moves_with_the_skewness_too():
    x = changes("some changed", 60)[:14]
    limit = interval(x, method="studentized").upper
    expected = [interval(np.delete(x, i), method="studentized").upper for i in range(x.size)]
    found = without_each(x, limit, method="studentized", level=0.95)
    assert np.corrcoef(found, expected)[0, 1] > 0.9


@pytest.mark.parametrize("x", [np.full(12, 0.1), np.append(np.zeros(11), -0.3)])
def test_where_nothing_else_varies_the_limit_is_that_of_all_or_the_mean(x):
    limit = interval(x).upper
    assert np.all(np.isfinite(without_each(x, limit, method="bca", level=0.95)))
