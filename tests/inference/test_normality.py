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

from pytest_riskguard.inference._bootstrap.choice import mean_law
from pytest_riskguard.inference.normality import qq_points, shapiro_wilk, skewness

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


finite = st.lists(st.integers(-1000, 1000), min_size=3, max_size=60).filter(lambda x: len(set(x)) > 1)


@settings(max_examples=30, deadline=None)
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


@settings(max_examples=30, deadline=None)
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
