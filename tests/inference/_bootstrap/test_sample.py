"""The sums of a sample, by hand, and long vectors made short."""

import math

import numpy as np
import pytest
from pytest_riskguard.inference._bootstrap.sample import (
    Sample,
    condensed,
    lattice_step,
)

#: Mean 2.5, deviations -1.5, -0.5, -0.5 and 2.5: their squares add up to 9, their cubes to 12.
SAMPLE = Sample.of([2.0, 5.0, 1.0, 2.0])


def test_every_sum_is_the_one_by_hand():
    assert SAMPLE.x.tolist() == [1, 2, 2, 5]
    assert (SAMPLE.n, SAMPLE.mean, SAMPLE.constant) == (4, 2.5, False)
    assert SAMPLE.centred.tolist() == [-1.5, -0.5, -0.5, 2.5]
    assert (SAMPLE.deviation, SAMPLE.total, SAMPLE.scale) == (1.5, 3.0, 0.75)
    assert SAMPLE.standard_error == pytest.approx(math.sqrt(0.75), rel=1e-15)
    assert SAMPLE.standard == pytest.approx([-1, -1 / 3, -1 / 3, 5 / 3], rel=1e-15)
    assert SAMPLE.acceleration == pytest.approx(12 / (6 * 9**1.5), rel=1e-14)


def test_means_that_only_rounding_keeps_apart_are_the_same():
    assert SAMPLE.same == 0.75e-10
    # where x is large beside its spread, its own last digits count: 4 units in the last place of 2^40
    assert Sample.of([2.0**40, -(2.0**40) + 1]).same > 0.7
    assert Sample.of([-(2.0**40), -(2.0**40) + 2**-10]).same == 4 * 2.0**-12
    assert Sample.of([0, 0, 1]).means(np.array([0.0, 2e-11, 3e-11, -2e-11, 0.5])).tolist() == [0, 0, 3e-11, 0, 0.5]
    assert SAMPLE.means(np.array([-2.0, 0.5])).tolist() == [0.0, 2.5]


def test_normal_quantiles_are_corrected_for_skewness_and_tails():
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


@pytest.mark.parametrize("x", [[1.0], [], [[1.0, 2.0]]])
def test_what_has_no_law_is_refused(x):
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
def test_the_step_is_the_greatest_common_divisor(values, step):
    found = lattice_step(np.array(values))
    assert found is None if step is None else found == pytest.approx(step, rel=1e-12)


@pytest.mark.parametrize("far_out", [1000.0, -1000.0])
def test_each_cell_keeps_its_share_and_three_moments_between_its_own_ends(far_out):
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
