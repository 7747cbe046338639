"""The sums of a sample, by hand, and long vectors made short."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_riskguard.inference._bootstrap.sample import (
    CELLS,
    MAX_VALUES,
    Sample,
    condensed,
    lattice_step,
)
from pytest_riskguard.risk.checks import exact_sum

#: Mean 2.5, deviations -1.5, -0.5, -0.5 and 2.5: their squares add up to 9, their cubes to 12.
SAMPLE = Sample.of([2.0, 5.0, 1.0, 2.0])


def test_every_sum_is_the_one_by_hand() -> None:
    assert SAMPLE.x.tolist() == [1, 2, 2, 5]
    assert (SAMPLE.n, SAMPLE.mean, SAMPLE.constant) == (4, 2.5, False)
    assert SAMPLE.centred.tolist() == [-1.5, -0.5, -0.5, 2.5]
    assert (SAMPLE.deviation, SAMPLE.total, SAMPLE.scale) == (1.5, 3.0, 0.75)
    assert SAMPLE.standard_error == pytest.approx(math.sqrt(0.75), rel=1e-15)
    assert SAMPLE.standard == pytest.approx([-1, -1 / 3, -1 / 3, 5 / 3], rel=1e-15)
    assert SAMPLE.acceleration == pytest.approx(12 / (6 * 9**1.5), rel=1e-14)


def test_distinct_values_are_counted_and_measured_from_the_most_frequent_one() -> None:
    values, counts = SAMPLE.distinct
    assert (values.tolist(), counts.tolist(), SAMPLE.mode) == ([1, 2, 5], [1, 2, 1], 1)
    assert SAMPLE.offsets.tolist() == [-1, 0, 3]
    assert SAMPLE.step == 1.0
    assert Sample.of([0.0, 1.0, math.pi]).step is None


def test_means_that_only_rounding_keeps_apart_are_the_same() -> None:
    assert SAMPLE.same == 0.75e-10
    # where x is large beside its spread, its own last digits count: 4 units in the last place of 2^40
    assert Sample.of([2.0**40, -(2.0**40) + 1]).same > 0.7
    assert Sample.of([-(2.0**40), -(2.0**40) + 2**-10]).same == 4 * 2.0**-12
    assert Sample.of([0, 0, 1]).means(np.array([0.0, 2e-11, 3e-11, -2e-11, 0.5])).tolist() == [0, 0, 3e-11, 0, 0.5]
    assert SAMPLE.means(np.array([-2.0, 0.5])).tolist() == [0.0, 2.5]


def test_normal_quantiles_are_corrected_for_skewness_and_tails() -> None:
    """Cornish and Fisher, with the mean's skewness 4/9 and its excess ((2 + 625 + 81)/81/4 - 3)/4."""
    skewness, excess = 4 / 9, ((2 + 625 + 81) / 81 / 4 - 3) / 4
    assert SAMPLE.normal_corrected(np.array([0.0, 2.0, -1.0])) == pytest.approx(
        [
            -skewness / 6,
            2 + skewness / 6 * 3 + excess / 24 * 2 - skewness**2 / 36 * 6,
            -1 + excess / 24 * 2 - skewness**2 / 36 * 3,
        ],
        rel=1e-13,
    )


@pytest.mark.parametrize("zeros", [0, 9_997, 9_998, 20_000])
def test_sums_are_rounded_once_however_many_there_are(zeros: int) -> None:
    assert exact_sum(np.append(np.zeros(zeros), [1e16, 1.0, -1e16])) == 1.0


def test_a_negative_zero_is_a_zero() -> None:
    assert not np.signbit(Sample.of([-0.0, 1.0]).x).any()


@pytest.mark.parametrize("x", [[1.0], [], [[1.0, 2.0]]])
def test_what_has_no_law_is_refused(x: list[float]) -> None:
    with pytest.raises(ValueError, match=r"^x must (hold at least 2 topics, got [01]|have one axis \(topics\))"):
        Sample.of(x)


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([0.0, 3.0], 3.0),
        ([-6.0, 4.0], 2.0),
        ([6.0, 10.0, 15.0], 1.0),
        ([0.0, 0.7, -0.35, 2.1], 0.35),
        # less than 4e-9 of the largest value is no step: what is left of Euclid's algorithm would be rounding
        ([1.0, 1 + 1 / 2.0**27], 2.0**-27),
        ([1.0, 1 + 1 / 2.0**28], None),
        ([0.0], None),
        ([1.0, math.sqrt(2.0)], None),
        ([7e6, -21e6, 5.6e7], 7e6),
        ([1.4e-7, 3.5e-7], 7e-8),
        # Euclid's algorithm ends at 1e-8, of which the second value is a multiple but for a twentieth
        ([1.0, 0.3 + 0.01 / (1e7 + 0.35)], None),
    ],
)
def test_the_step_is_the_greatest_common_divisor(values: list[float], step: float | None) -> None:
    found = lattice_step(np.array(values))
    assert found is None if step is None else found == pytest.approx(step, rel=1e-12)


def test_few_values_are_left_as_they_are() -> None:
    y, shares = np.arange(float(MAX_VALUES)), np.full(MAX_VALUES, 1 / MAX_VALUES)
    few, held = condensed(y, shares)
    assert few is y
    assert held is shares


@pytest.mark.parametrize("far_out", [1000.0, -1000.0])
def test_each_cell_keeps_its_share_and_three_moments_between_its_own_ends(far_out: float) -> None:
    """Two values that have a cell's moments up to the third lie within the cell, and cells are narrow both ways."""
    rng = np.random.default_rng(3)
    y = np.sort(np.append(rng.uniform(size=4095), far_out))
    shares = rng.uniform(1, 2, size=y.size)
    shares /= shares.sum()
    few, held = condensed(y, shares)
    # the one far out and the highest have their own cells; the others, alike by value, are cut by rank, into eights
    edges = [0, *([1] if far_out < 0 else []), *range(8, 4096, 8), 4095]
    assert few.size == held.size == 2 * len(edges)
    assert np.all(held >= 0)
    low, high = np.split(few, 2)
    for cell, block in enumerate(np.split(np.arange(4096), edges[1:])):
        own, pair = held[[cell, len(edges) + cell]], np.array([low[cell], high[cell]])
        centre = float(np.sum(shares[block] * y[block]) / np.sum(shares[block]))
        for power in range(4):
            expected = math.fsum(shares[block] * (y[block] - centre) ** power)
            slack = 1e-12 * float(np.ptp(y[block])) ** power + 1e-15
            assert float(np.sum(own * (pair - centre) ** power)) == pytest.approx(expected, abs=slack)
        assert y[block[0]] - 1e-9 <= low[cell] <= high[cell] <= y[block[-1]] + 1e-9


def test_equal_shares_of_a_straight_line_are_cut_into_equal_cells() -> None:
    y = np.arange(4096.0) - 2000
    few, held = condensed(y, np.full(y.size, 1 / y.size))
    # eight numbers in a row, whose variance is 63/12; the highest one lies on the edge of a cell of its own
    middle = 3.5 - 2000 + 8 * np.arange(511)
    low, high = few[: CELLS + 1], few[CELLS + 1 :]
    assert low[:511] == pytest.approx(middle - math.sqrt(63 / 12), rel=1e-12)
    assert high[:511] == pytest.approx(middle + math.sqrt(63 / 12), rel=1e-12)
    assert held[:511] == pytest.approx(np.full(511, 4 / 4096), rel=1e-12)
    assert (low[-1], high[-1], held[-1]) == (2095.0, 2095.0, 0.5 / 4096)


@pytest.mark.parametrize("size", [4096, 4097, 16_382, 16_383, 40_000])
@pytest.mark.parametrize("kind", ["normal", "cubes", "powers", "cancelling", "rounded", "tiny", "zeros"])
def test_sums_of_long_vectors_are_rounded_once(size: int, kind: str) -> None:
    rng = np.random.default_rng(size)
    x = rng.normal(size=size)
    if kind == "cubes":
        x = x**3 * 1e-7
    elif kind == "powers":
        x = x * 10.0 ** rng.integers(-30, 30, size)
    elif kind == "cancelling":
        x = rng.permutation(np.concatenate([x, -x, [1e-17, 3e-33]]))
    elif kind == "rounded":
        x = np.round(x, 3)
    elif kind == "tiny":
        x = x * 2.0 ** rng.integers(-1074, -1000, size)
    elif kind == "zeros":
        x = np.zeros(size)
        x[-1] = 1e100
    assert exact_sum(x) == math.fsum(x)
    assert exact_sum(x[::-1]) == math.fsum(x)
