"""Principal components of systems by topics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pytest_riskguard.risk.pools import principal_components

POOL = np.random.default_rng(8).random((5, 12))


@pytest.mark.parametrize("centred", [False, True])
def test_coordinates_keep_what_the_systems_have_in_common(centred):
    table = POOL - POOL.mean(axis=0) if centred else POOL
    components = principal_components(POOL, centred=centred)
    np.testing.assert_allclose(components.coordinates @ components.coordinates.T, table @ table.T, atol=1e-12)
    np.testing.assert_allclose(
        np.sum(components.coordinates**2, axis=0) / np.sum(table**2), components.shares, rtol=1e-12
    )
    assert components.shares.sum() == pytest.approx(1)
    assert np.all(np.diff(components.shares) <= 0)
    assert components.shares.size == (4 if centred else 5)


def test_shares_are_the_eigenvalues_of_the_cross_products():
    values = np.linalg.eigvalsh(POOL @ POOL.T)[::-1]
    np.testing.assert_allclose(principal_components(POOL, centred=False).shares, values / values.sum(), rtol=1e-12)


@given(arrays(np.float64, (4, 6), elements=st.floats(0, 1)), st.booleans(), st.permutations(range(6)))
def test_neither_the_order_of_topics_nor_the_sign_of_an_axis_is_left_to_chance(table, centred, order):
    components = principal_components(table, centred=centred)
    again = principal_components(table[:, order], centred=centred)
    shared = min(components.shares.size, again.shares.size)
    np.testing.assert_allclose(components.shares[:shared], again.shares[:shared], atol=1e-9)
    for axis in components.coordinates.T:
        assert axis[np.argmax(np.abs(axis) >= (1 - 1e-9) * np.abs(axis).max())] > 0


def test_two_systems_equally_far_out_do_not_turn_the_axis():
    components = principal_components([[0.1, 0.4], [0.5, 0.2]], centred=True)
    assert components.coordinates[0, 0] > 0 > components.coordinates[1, 0]
    turned = principal_components([[0.6, 0.5, 0.2], [0.3, 0.0, 0.0]], centred=True)  # the second by a rounding more
    assert turned.coordinates[0, 0] > 0 > turned.coordinates[1, 0]


def test_where_there_is_nothing_to_explain_there_is_no_axis():
    for table, centred in (([[0.0, 0.0]] * 3, False), ([[0.1, 0.7, 0.3]] * 3, True)):
        components = principal_components(table, centred=centred)
        assert components.shares.size == 0
        assert components.coordinates.shape == (3, 0)
    assert principal_components([[0.1, 0.7]] * 3, centred=False).shares.tolist() == [1.0]


@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_scores_of_any_size_have_the_same_shares(scale):
    expected = principal_components(POOL, centred=True).shares
    np.testing.assert_allclose(principal_components(POOL * scale, centred=True).shares, expected, rtol=1e-9)
