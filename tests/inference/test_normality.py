"""Shapiro-Wilk, skewness and Q-Q points of the bootstrap law."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from pytest_riskguard.inference import mean_law, qq_points, shapiro_wilk, skewness

VECTORS = (
    "normal50_r1",
    "normal50_r2",
    "zeros50_r1",
    "skew50_r1",
    "lattice50_r1",
    "normal250_r6",
    "beta250_r6",
)


@pytest.mark.parametrize("column", ["x", "d"])
@pytest.mark.parametrize("name", VECTORS)
def test_w_and_its_p_value_agree_with_r(reference_data: Path, name: str, column: str) -> None:
    summary = json.loads((reference_data / "rboot/oracle.json").read_text())["vectors"][name]["summary"]
    with (reference_data / f"rboot/{name}.csv").open() as lines:
        statistic = shapiro_wilk([float(row[column]) for row in csv.DictReader(lines)])
    assert statistic is not None
    # scipy's normal quantiles have nine digits, R's fifteen
    assert statistic.w == pytest.approx(summary[f"sw_W_{column}"], abs=5e-10)
    assert statistic.p_value == pytest.approx(summary[f"sw_p_{column}"], abs=2e-8)


def test_three_topics_have_an_exact_law() -> None:
    # equally spaced: W = 1; two equal: W at its least, 3/4
    even, uneven = shapiro_wilk([1, 2, 3]), shapiro_wilk([0, 0, 5])
    assert even is not None
    assert uneven is not None
    assert (even.w, even.p_value) == pytest.approx((1, 1), abs=1e-12)
    assert (uneven.w, uneven.p_value) == pytest.approx((0.75, 0), abs=1e-12)
    rng = np.random.default_rng(3)
    p_values = [statistic.p_value for x in rng.normal(size=(2000, 3)) if (statistic := shapiro_wilk(x))]
    assert scipy.stats.kstest(p_values, "uniform").pvalue > 0.001


def test_normal_scores_are_seldom_called_otherwise() -> None:
    rng = np.random.default_rng(5)
    for n in (10, 50):
        p_values = [statistic.p_value for x in rng.normal(size=(2000, n)) if (statistic := shapiro_wilk(x))]
        # 100 of 2000 expected at 5 %: 4.5 standard deviations of the count
        assert sum(p < 0.05 for p in p_values) == pytest.approx(100, abs=45)


@pytest.mark.parametrize("x", [[1.0, 2.0], [0.0] * 50, [0.1] * 3, np.arange(5001.0)])
def test_where_the_approximation_does_not_hold_there_is_no_answer(x: list[float]) -> None:
    assert shapiro_wilk(x) is None


finite = st.lists(st.integers(-1000, 1000), min_size=3, max_size=60).filter(lambda x: len(set(x)) > 1)


@settings(max_examples=60, deadline=None)
@given(finite, st.floats(1e-3, 1e3), st.floats(-10, 10))
def test_scale_shift_and_order_do_not_matter(x: list[int], scale: float, shift: float) -> None:
    values = np.array(x, dtype=float)
    before, after = shapiro_wilk(values), shapiro_wilk(scale * values[::-1] + shift)
    assert before is not None
    assert after is not None
    assert 0 < before.w <= 1
    assert 0 <= before.p_value <= 1
    assert after.w == pytest.approx(before.w, abs=1e-9)
    assert shapiro_wilk(values[::-1]) == before
    mirrored = shapiro_wilk(-values)
    assert mirrored is not None
    assert mirrored.w == pytest.approx(before.w, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(finite)
def test_skewness_is_the_moment_skewness(x: list[int]) -> None:
    statistic = skewness(x)
    assert statistic == pytest.approx(scipy.stats.skew(x), abs=1e-10)
    assert skewness([-value for value in x]) == pytest.approx(-statistic, abs=1e-10)


def test_skewness_by_hand() -> None:
    # x - mean = -1, -1, 2: moments 2 and 2 with divisor 3
    assert skewness([0, 0, 3]) == pytest.approx(2 / 2**1.5)
    assert skewness([0.2] * 9) is None
    with pytest.raises(ValueError, match="at least 2 topics"):
        skewness([1])


def test_a_normal_looking_law_lies_on_the_diagonal() -> None:
    x = np.random.default_rng(1).uniform(size=2000)
    points = qq_points(x)
    assert points is not None
    assert points.normal.tolist() == pytest.approx(np.linspace(-3, 3, 25).tolist())
    assert np.max(np.abs(points.bootstrap - points.normal)) < 0.01


def test_points_are_quantiles_of_the_exact_law_and_those_of_replicates() -> None:
    rng = np.random.default_rng(2)
    x = -(rng.exponential(size=40))
    points = qq_points(x, z=[-2.5, -1, 0, 1, 2.5])
    assert points is not None
    law, error = mean_law(x), float(np.std(x)) / math.sqrt(40)
    expected = [(law.quantile(float(ndtr(z))) - float(np.mean(x))) / error for z in points.normal]
    assert points.bootstrap.tolist() == pytest.approx(expected, abs=1e-9)
    replicates = rng.choice(x, size=(100_000, 40)).mean(axis=1)
    drawn = (np.quantile(replicates, ndtr(points.normal)) - x.mean()) / error
    assert points.bootstrap.tolist() == pytest.approx(drawn.tolist(), abs=0.05)
    # losses reach further than wins: both ends of the law lie below the diagonal
    assert points.bootstrap[0] < -2.5
    assert points.bootstrap[-1] < 2.5


def test_points_of_no_law_and_points_too_far_out() -> None:
    assert qq_points([0.5] * 20) is None
    with pytest.raises(ValueError, match="z must lie between -8 and 8, got 9"):
        qq_points([1, 2, 3], z=[0, 9])


def test_points_may_be_none_and_reach_to_8() -> None:
    points = qq_points([1, 2, 4], z=[])
    assert points is not None
    assert points.bootstrap.size == 0
    ends = qq_points([1, 2, 4], z=[-8, 8])
    assert ends is not None
    # the mean of three draws is at least 1 and at most 4; the mean is 7/3, the standard error root(14/27)
    assert ends.bootstrap * math.sqrt(14 / 27) + 7 / 3 == pytest.approx([1, 4], abs=1e-12)


@pytest.mark.parametrize(
    ("z", "message"),
    [
        ([8.0, -8.5, 9.0], r"^z must lie between -8 and 8, got -8\.5$"),
        ([0.0, math.nan], "^z must be finite, got nan$"),
        ([[0.0]], r"^z must have one axis \(topics\), got shape \(1, 1\)$"),
    ],
)
def test_points_that_are_none_are_refused(z: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        qq_points([1, 2, 4], z=z)


def test_scores_that_are_none_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"^x must be finite, got nan$"):
        shapiro_wilk([0.1, math.nan, 0.2])
