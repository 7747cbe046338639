"""P-values against the intervals that they invert."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from pytest_riskguard.inference.intervals import interval, upper_p_value
from pytest_riskguard.inference.sample import Sample
from pytest_riskguard.risk import trisk
from pytest_riskguard.risk.tradeoff import linear
from tests.inference.laws import intervals
from tests.inference.made_up_scores import made_up


def test_student_t_gives_the_p_value_of_trisk():
    d = np.random.default_rng(1).normal(-0.05, 0.1, 30)
    test = trisk(d, alpha=1)
    assert test.estimate < 0
    assert upper_p_value(linear(d, alpha=1), method="student_t") == pytest.approx(test.p_value, rel=1e-12)


#: Changes in four clusters, and one far from them.
CLUSTERED = np.array(
    [-51, -38, -27, -49, -49, -38, 61, -49, -50, -49, -16, -38, -51, -38, -49, -49, -50, -38, -38, -49]
) / 100  # fmt: skip


def contradictions(x: np.ndarray, methods: tuple[str, ...], levels: list[float], bounds: list[float]) -> list[object]:
    """Where a limit lies below a bound although p is too large, or does not although p is small enough.

    Bounds are not within rounding of a limit, p-values not within 1e-7 of a level's.
    """
    found: list[object] = []
    grid = Sample.of(x).sums.by_vectors is not None  # whose limits are those of the grid, to 2e-3 standard errors
    for limits in (limits for level in levels for limits in intervals(x, methods=methods, level=level)):
        near = (2e-3 if grid else 1e-8) * max(
            float(np.std(x)) / math.sqrt(x.size), abs(limits.upper - float(np.mean(x)))
        )
        edges = [limits.upper - 1e3 * near, limits.upper - near, limits.upper + near, limits.upper + 1e3 * near]
        for bound in (*bounds, *edges):
            p = upper_p_value(x, method=limits.method, bound=bound)
            assert 0 <= p <= 1
            apart = (
                not math.isclose(p, 1 - limits.level, rel_tol=1e-7 if p > 1e-5 else 1e-2)
                and abs(limits.upper - bound) > near / 2
            )
            if apart and (limits.upper < bound) != (p <= 1 - limits.level):
                found.append((limits, bound, p))
    return found


@given(
    seed=st.integers(0, 10**6),
    levels=st.lists(
        st.one_of(st.floats(0.5, 0.999999), st.sampled_from([0.999, 0.9999, 0.99999, 0.999999, 1 - 1e-9])),
        min_size=1,
        max_size=3,
        unique=True,
    ),
    far=st.floats(-8, 8),
)
@settings(max_examples=40, deadline=None)
def test_no_limit_contradicts_its_p_value(seed, levels, far):
    x = made_up(seed)
    bounds = [0.0, float(x.mean() + far * x.std() / math.sqrt(x.size))]
    assert not np.ptp(x) or contradictions(x, ("student_t", "percentile", "basic", "bca"), levels, bounds) == []


@pytest.mark.parametrize("seed", range(2))
def test_no_studentized_limit_contradicts_its_p_value(seed):
    x = made_up(100 + seed)
    assert contradictions(x, ("studentized",), [0.9, 0.999, 0.99999, 0.999999], [0.0]) == []


@pytest.mark.parametrize("seed", range(2))
def test_a_limit_far_in_the_tail_of_clustered_changes_lies_where_its_p_value_says(seed):
    """Exactly 0.12 for the clustered changes as they stand; clipped probabilities had put it below 0."""
    x = CLUSTERED + np.random.default_rng(seed).uniform(-0.005, 0.005, 20)
    assert interval(CLUSTERED, level=0.999).upper == pytest.approx(0.12, abs=1e-9)
    assert interval(x, level=0.999).upper == pytest.approx(0.12, abs=0.015)
    shifts = np.linspace(0, 0.5, 9)
    p_values = [upper_p_value(x - shift, method="bca") for shift in shifts]
    assert p_values[0] == pytest.approx(upper_p_value(CLUSTERED, method="bca"), rel=0.2)
    assert all(0 < later < earlier for earlier, later in itertools.pairwise(p_values))


def test_p_values_of_percentiles_keep_their_digits_far_in_the_tail():
    """Ten of 200 topics gained 1: their number in a replicate is binomial."""
    gained = np.append(np.zeros(190), np.ones(10))
    for drawn in (30, 40, 60, 100, 199):
        p = 2 * float(binom.sf(drawn - 1, 200, 0.05))
        assert upper_p_value(gained, method="percentile", bound=(drawn - 0.5) / 200) == pytest.approx(p, rel=1e-7)


def test_beyond_the_pole_of_bca_the_limit_is_the_outermost_score_and_p_follows():
    """One topic far above the others: the formula of the upper limit has its pole at a level of about 1 - 1e-8."""
    x = np.append(np.random.default_rng(2).normal(size=59) * 1e-3, 1.0)
    sample, levels = Sample.of(x), [1 - 10.0**-k for k in range(4, 14)]
    pole = float(ndtri(sample.sums.mid)) - 1 / sample.acceleration
    beyond = [level for level in levels if ndtri((1 - level) / 2) < pole]
    assert 0 < len(beyond) < len(levels)
    for level in levels:
        upper = interval(x, level=level).upper
        assert upper < sample.x[-1] or level > 0.99999
        assert upper == sample.x[-1] or level not in beyond
        for bound in (0.5, 0.999, upper - 1e-4, float(sample.x[-1])):
            p = upper_p_value(x, method="bca", bound=bound)
            assert (upper < bound) == (p <= 1 - level)
    # only replicates of the outermost score alone keep the p-value above that of the pole
    assert 2 * ndtr(pole) < upper_p_value(x, method="bca", bound=float(sample.x[-1])) < 1e-5
    assert upper_p_value(x, method="bca", bound=float(sample.x[-1]) + 1e-6) == 0.0


def test_on_the_other_side_of_the_pole_bca_has_limits_that_no_level_moves_and_p_is_0_beyond_them():
    x = -np.append(np.random.default_rng(2).normal(size=59) * 1e-3, 1.0)
    sample = Sample.of(x)
    furthest = float(sample.at_scores(np.array([float(ndtri(sample.sums.mid)) - 1 / sample.acceleration]))[0])
    uppers = [interval(x, level=1 - 10.0**-k).upper for k in range(2, 16)]
    assert uppers == sorted(uppers)
    assert uppers[-1] < furthest < sample.x[-1]
    assert upper_p_value(x, method="bca", bound=furthest + 1e-9) == 0.0
    assert 0 < upper_p_value(x, method="bca", bound=uppers[-1]) < 1e-13
