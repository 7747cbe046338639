"""Topics as bets."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.inference._flips.bets import Bets


def test_topics_with_the_same_size_and_chance_are_one_entry() -> None:
    sizes = np.array([0.3, 0.1 + 0.2, 0.1, 0.3, 0.1])
    lost = np.array([True, True, False, False, False])
    made = Bets.of(sizes, np.array([0.5, 0.5, 0.5, 0.25, 0.5]), lost)
    assert made.sizes.tolist() == [0.1, 0.3, 0.3]
    assert made.chances.tolist() == [0.5, 0.25, 0.5]
    assert made.won.tolist() == [2, 1, 0]
    assert made.lost.tolist() == [0, 0, 2]
    assert made.total == pytest.approx(1.1)
    assert made.short == pytest.approx(0.5)
    assert made.limit == pytest.approx(0.6)


def test_losses_that_are_sure_are_taken_from_the_sum_that_is_asked_for() -> None:
    sizes, lost = np.array([1.0, 2.0, 4.0, 8.0]), np.array([True, False, True, False])
    made = Bets.of(sizes, np.array([0.5, 1.0, 1.0, 0.5]), lost)
    assert made.sizes.tolist() == [1.0, 8.0]
    # 5 was lost; 6 is lost for sure
    assert made.limit == pytest.approx(-1.0)
    assert made.short == pytest.approx(10.0)


@pytest.mark.parametrize("loses", [True, False])
@pytest.mark.parametrize("entry", [0, 1, 2])
def test_without_a_topic_the_others_must_make_up_the_rest(entry: int, loses: bool) -> None:
    made = Bets.of(np.array([1.0, 2.0, 2.0, 5.0]), np.full(4, 0.5), np.array([True, True, False, False]))
    rest = made.without(entry, loses=loses)
    assert rest.limit == pytest.approx(made.limit - made.sizes[entry] * loses)
    assert rest.total == pytest.approx(made.total - made.sizes[entry])
    assert rest.short == pytest.approx(rest.total - rest.limit, abs=1e-10)
    assert np.sum(rest.topics) == 3


@pytest.mark.parametrize(("offset", "expected"), [(0.0, 0), (0.6, 2), (0.5999999999, 2), (0.7, 2), (-0.1, -1)])
def test_a_sum_between_two_points_of_a_lattice_needs_the_upper_one(offset: float, expected: int) -> None:
    made = Bets(np.array([0.3, 0.9]), np.full(2, 0.5), np.ones(2, dtype=int), np.ones(2, dtype=int), 1e-12, offset)
    on_lattice = made.on_lattice(0.3)
    assert on_lattice.sizes.tolist() == [1.0, 3.0]
    assert on_lattice.offset == expected


def test_a_topic_finds_its_entry() -> None:
    sizes = np.array([0.3, 0.1, 0.1 + 0.2, 1e-20, 0.3])
    chances = np.array([0.5, 0.5, 0.5, 0.5, 0.2])
    made = Bets.of(sizes, chances, np.array([True, False, False, False, True]))
    assert made.entries_of(sizes, chances).tolist() == [2, 0, 2, -1, 1]
