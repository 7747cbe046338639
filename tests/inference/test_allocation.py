"""Neyman's division of further topics among strata."""

from itertools import product

import numpy as np
import pytest

from pytest_riskguard.inference.power import neyman, stratified_error


@pytest.mark.parametrize("seed", range(8))
def test_no_other_division_has_a_smaller_error(seed):
    rng = np.random.default_rng(seed)
    counts, shares, deviations = rng.integers(2, 15, 3), rng.dirichlet([1, 1, 1]), rng.uniform(0.01, 1, 3)
    more = int(rng.integers(1, 16))
    given = neyman(counts, shares, deviations, more=more)
    assert given.sum() == more
    ways = [way for way in product(range(more + 1), repeat=3) if sum(way) == more]
    best = min(stratified_error(counts + np.array(way), shares, deviations) for way in ways)
    assert stratified_error(counts + given, shares, deviations) == pytest.approx(best, rel=1e-12)


def test_equal_strata_are_served_in_their_order_and_without_variation_by_share():
    assert neyman([4, 4, 4], [1 / 3] * 3, [0.2] * 3, more=4).tolist() == [2, 1, 1]
    assert neyman([1, 1], [0.75, 0.25], [0, 0], more=38).tolist() == [29, 9]
    assert neyman([0, 50], [0.5, 0.5], [1, 1], more=1).tolist() == [1, 0]
    assert neyman([3, 3], [0.5, 0.5], [1, 0], more=5).tolist() == [5, 0]
    assert neyman([3, 3], [0.5, 0.5], [1, 1], more=0).tolist() == [0, 0]


def test_the_error_is_that_of_a_stratified_mean():
    error = stratified_error([10, 20], [0.6, 0.4], [0.2, 0.5])
    assert error == pytest.approx(np.sqrt(0.6**2 * 0.04 / 10 + 0.4**2 * 0.25 / 20), rel=1e-14)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (([1, 2], [0.5], [1, 1], 3), "expected one number for each stratum"),
        (([], [], [], 3), "expected one number for each stratum"),
        (([1, 1], [0.5, 0.5], [1, 1], -1), "up to a million topics"),
        (([1, 1], [0.5, 0.5], [1, 1], 10**7), "up to a million topics"),
        (([1, 1], [0.5, 0.0], [1, 1], 3), "shares above 0"),
        (([1, 1], [0.5, 0.5], [1, float("nan")], 3), "finite deviations"),
    ],
)
def test_what_is_no_stratum_is_refused(arguments, problem):
    *arrays, more = arguments
    with pytest.raises(ValueError, match=problem):
        neyman(*arrays, more=more)
