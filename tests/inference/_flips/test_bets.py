"""Topics as bets."""

import numpy as np
import pytest
from pytest_riskguard.inference._flips.bets import Bets


@pytest.mark.parametrize("loses", [True, False])
@pytest.mark.parametrize("entry", [0, 1, 2])
def test_without_a_topic_the_others_must_make_up_the_rest(entry, loses):
    made = Bets.of(np.array([1.0, 2.0, 2.0, 5.0]), np.full(4, 0.5), np.array([True, True, False, False]))
    rest = made.without(entry, loses=loses)
    assert rest.limit == pytest.approx(made.limit - made.sizes[entry] * loses)
    assert rest.total == pytest.approx(made.total - made.sizes[entry])
    assert rest.short == pytest.approx(rest.total - rest.limit, abs=1e-10)
    assert np.sum(rest.topics) == 3


@pytest.mark.parametrize(("offset", "expected"), [(0.0, 0), (0.6, 2), (0.5999999999, 2), (0.7, 2), (-0.1, -1)])
def test_a_sum_between_two_points_of_a_lattice_needs_the_upper_one(offset, expected):
    made = Bets(np.array([0.3, 0.9]), np.full(2, 0.5), np.ones(2, dtype=int), np.ones(2, dtype=int), 1e-12, offset)
    on_lattice = made.on_lattice(0.3)
    assert on_lattice.sizes.tolist() == [1.0, 3.0]
    assert on_lattice.offset == expected
