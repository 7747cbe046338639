"""Figures of a pool: correlations, principal axes, risks, places."""

from functools import partial

import numpy as np
import pytest

from pytest_riskguard import studies
from pytest_riskguard.studies.baselines import correlations, every_baseline, principal_components
from pytest_riskguard.studies.pool import places
from pytest_riskguard.studies.rank_tests import ranks


def test_a_system_that_does_not_vary_has_no_correlation_and_spoils_no_other():
    computed = correlations([[0.1, 0.1, 0.1], [0.1, 0.2, 0.3], [0.2, 0.4, 0.6]])  # whose sum is not 0.3
    assert np.all(np.isnan(computed[0]))
    assert np.all(np.isnan(computed[:, 0]))
    assert computed[1, 2] == pytest.approx(1)


def test_of_two_systems_equally_far_out_the_first_has_the_sign():
    second = principal_components([[0.3, 0.1], [0.1, 0.3]])[0][:, 1]
    assert second.tolist() == pytest.approx([0.02**0.5, -(0.02**0.5)])


def test_where_there_is_nothing_to_explain_shares_are_0():
    for part in principal_components(np.zeros((3, 2))):
        assert not part.any()
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
    assert not hasattr(studies, "pool_report")
