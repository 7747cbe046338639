"""Every system as the baseline of all the others: correlations, risks, places."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import pearsonr

from pytest_riskguard import studies
from pytest_riskguard.risk import trisk
from pytest_riskguard.studies.pool_statistics import correlations, every_baseline, places, ranks, sortable_trisk

POOL = np.random.default_rng(4).random((6, 30))
scores = arrays(np.float64, st.tuples(st.integers(2, 5), st.integers(1, 8)), elements=st.floats(-10, 10))


def test_correlations_are_pearsons():
    computed = correlations(POOL)
    for i, one in enumerate(POOL):
        for j, other in enumerate(POOL):
            assert computed[i, j] == pytest.approx(pearsonr(one, other).statistic, abs=1e-14)
    assert np.all(np.diag(computed) == 1)


def test_a_system_that_does_not_vary_has_no_correlation_and_spoils_no_other():
    computed = correlations([[0.3, 0.3, 0.3], [0.1, 0.2, 0.3], [0.2, 0.4, 0.6]])
    assert np.all(np.isnan(computed[0]))
    assert np.all(np.isnan(computed[:, 0]))
    assert computed[1, 2] == 1
    # 0.1 + 0.2 is not 0.3 to the last bit, but it is the same score
    assert np.all(np.isnan(correlations([[0.3, 0.1 + 0.2, 0.3], [0.1, 0.2, 0.3]])[0]))


@pytest.mark.parametrize("scale", [1e-9, 100, 1e90])  # what differs by less than 1e-12 does not vary
def test_correlations_know_no_unit(scale):
    np.testing.assert_allclose(correlations(POOL * scale), correlations(POOL), rtol=0, atol=1e-13)


@given(scores)
def test_correlations_are_symmetric_and_bounded(table):
    computed = correlations(table)
    np.testing.assert_array_equal(computed, computed.T)
    known = computed[~np.isnan(computed)]
    assert np.all(np.abs(known) <= 1)


@pytest.mark.parametrize(("alpha", "topics"), [(0, 30), (1, 2), (10, 30)])
def test_every_cell_is_urisk_and_trisk_of_the_pair(alpha, topics):
    pool = POOL[:, :topics]
    computed = every_baseline(pool, alpha=alpha)
    for i, candidate in enumerate(pool):
        for j, baseline in enumerate(pool):
            pair = trisk(candidate - baseline, alpha=alpha)
            assert computed.urisk[i, j] == pytest.approx(pair.estimate, abs=1e-15)
            if pair.statistic is None:
                assert i == j
                assert np.isnan(computed.trisk[i, j])
            else:
                assert computed.trisk[i, j] == pytest.approx(pair.statistic, rel=1e-12)


def test_without_variation_trisk_keeps_its_side():
    steady = every_baseline([[0.5, 0.2], [0.4, 0.1], [0.5, 0.2]], alpha=1)
    assert np.all(np.isnan(steady.trisk))
    np.testing.assert_array_equal(sortable_trisk(steady), [[0, np.inf, 0], [-np.inf, 0, -np.inf], [0, np.inf, 0]])
    assert np.isnan(every_baseline([[0.5], [0.4]], alpha=1).trisk).all()
    equal = every_baseline([[0.1 + 0.2] * 2, [0.3] * 2], alpha=1)
    np.testing.assert_array_equal(sortable_trisk(equal), np.zeros((2, 2)))  # but for rounding


def test_places_share_what_is_tied():
    assert places([0.1, 0.4, 0.4, -np.inf, np.inf, np.inf]).tolist() == [5, 3.5, 3.5, 6, 1.5, 1.5]
    assert places([0.3, 0.1 + 0.2]).tolist() == [1.5, 1.5]


def test_a_baseline_has_no_place_in_its_own_ranking():
    computed = ranks([[9, 3, 1], [2, -9, 1], [1, 5, 99]])
    np.testing.assert_array_equal(computed, [[np.nan, 2, 1.5], [1, np.nan, 1.5], [2, 1, np.nan]])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([0.1, 0.2], r"two axes \(systems, topics\), got shape \(2,\)"),
        ([[0.1, 0.2]], "at least 2 systems, got 1"),
        ([[], []], "at least 1 topics, got 0"),
        ([[0.1], [np.nan]], "finite .*, got nan"),
        ([[0.1], [1e101]], "at most 1e.100 in size"),
    ],
)
def test_bad_scores_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        correlations(table)
    with pytest.raises(ValueError, match=message):
        every_baseline(table, alpha=1)
    with pytest.raises(ValueError, match="alpha must be finite and at least 0, got -1"):
        every_baseline([[0.1], [0.2]], alpha=-1)


def test_the_function_for_a_pool_stays_one_after_its_first_use():
    studies.every_baseline(POOL, alpha=1)
    assert [callable(studies.pool_report) for _ in range(2)] == [True, True]
