"""Figures of a pool: correlations, principal axes, risks, places."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import pearsonr

from pytest_riskguard import studies
from pytest_riskguard.studies.baselines import correlations, every_baseline, principal_components
from pytest_riskguard.studies.pool import places
from pytest_riskguard.studies.rank_tests import ranks
from tests.studies.pools import urisk

POOL = np.random.default_rng(4).random((6, 30))


def test_correlations_are_pearsons():
    computed = correlations(POOL)
    for i, one in enumerate(POOL):
        for j, other in enumerate(POOL):
            assert computed[i, j] == pytest.approx(pearsonr(one, other).statistic, abs=1e-14)


def test_a_system_that_does_not_vary_has_no_correlation_and_spoils_no_other():
    computed = correlations([[0.1, 0.1, 0.1], [0.1, 0.2, 0.3], [0.2, 0.4, 0.6]])  # whose sum is not 0.3
    assert np.all(np.isnan(computed[0]))
    assert np.all(np.isnan(computed[:, 0]))
    assert computed[1, 2] == pytest.approx(1)


@pytest.mark.parametrize(("alpha", "topics"), [(0, 30), (1, 2), (10, 30)])
def test_rows_are_judged_and_columns_are_baselines(alpha, topics):
    pool = POOL[:, :topics]
    expected = [[urisk(candidate - baseline, alpha) for baseline in pool] for candidate in pool]
    np.testing.assert_allclose(every_baseline(pool, alpha=alpha), expected, rtol=0, atol=1e-15)


def test_coordinates_keep_what_the_systems_have_in_common():
    coordinates, shares = principal_components(POOL)
    np.testing.assert_allclose(coordinates @ coordinates.T, POOL @ POOL.T, atol=1e-12)
    values = np.linalg.eigvalsh(POOL @ POOL.T)[::-1]
    np.testing.assert_allclose(shares, values / values.sum(), rtol=1e-12)
    np.testing.assert_allclose(np.sum(coordinates**2, axis=0), values, rtol=1e-12)


@given(arrays(np.float64, (4, 6), elements=st.floats(0, 1)), st.permutations(range(6)))
def test_neither_the_order_of_topics_nor_the_sign_of_an_axis_is_left_to_chance(table, order):
    coordinates, shares = principal_components(table)
    np.testing.assert_allclose(principal_components(table[:, order])[1], shares, atol=1e-9)
    for axis in coordinates.T:
        assert axis[np.argmax(np.abs(axis) >= np.abs(axis).max() - 1e-9)] >= 0


def test_of_two_systems_equally_far_out_the_first_has_the_sign():
    second = principal_components([[0.3, 0.1], [0.1, 0.3]])[0][:, 1]
    assert second.tolist() == pytest.approx([0.02**0.5, -(0.02**0.5)])


def test_where_there_is_nothing_to_explain_shares_are_0():
    coordinates, shares = principal_components(np.zeros((3, 2)))
    assert not coordinates.any()
    assert shares.tolist() == [0, 0]
    assert principal_components([[0.1, 0.7]] * 3)[1].tolist() == pytest.approx([1, 0])


def test_places_share_what_is_tied():
    assert places(np.array([0.1, 0.4, 0.4, -9, 9, 9])).tolist() == [5, 3.5, 3.5, 6, 1.5, 1.5]
    assert places(np.array([0.3, 0.1 + 0.2])).tolist() == [1.5, 1.5]
    np.testing.assert_array_equal(places(np.array([0.3, np.nan, 0.4])), [2, np.nan, 1])


def test_a_baseline_has_no_place_in_its_own_ranking():
    computed = ranks([[9, 3, 1], [2, -9, 1], [1, 5, 99]])
    np.testing.assert_array_equal(computed, [[np.nan, 2, 1.5], [1, np.nan, 1.5], [2, 1, np.nan]])


@pytest.mark.parametrize("function", [correlations, principal_components, partial(every_baseline, alpha=1)])
def test_bad_scores_are_refused(function):
    with pytest.raises(ValueError, match="finite"):
        function([[0.1], [np.nan]])


def test_the_function_for_a_pool_is_a_public_name():
    assert studies.every_baseline is every_baseline
    with pytest.raises(AttributeError, match="no attribute 'pool_report'"):
        _ = studies.pool_report
