"""Effect sizes against SciPy's distributions, which the kernels do not load."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from pytest_riskguard.inference import interval
from pytest_riskguard.inference.effect_sizes import EffectSize, share, standardised_mean


@pytest.mark.parametrize("n", [3, 10, 12, 50, 250])
@pytest.mark.parametrize("d", [-2.0, -0.31, -0.02, 0.0, 0.15, 0.9])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_at_each_limit_the_observed_t_is_as_rare_as_the_level_says(n: int, d: float, level: float) -> None:
    found = standardised_mean(d * 0.2, 0.2, n, level=level)
    assert found.value == pytest.approx(d, abs=1e-15)
    assert found.lower < d < found.upper
    for limit, tail in ((found.lower, (1 + level) / 2), (found.upper, (1 - level) / 2)):
        # near 0, t is taken as normal, which is right to a few ten-thousandths of the tail
        assert stats.nct.cdf(d * math.sqrt(n), n - 1, limit * math.sqrt(n)) == pytest.approx(tail, abs=1e-4)


@pytest.mark.parametrize("n", [10, 40, 300])
def test_the_limits_have_one_sign_exactly_where_students_have(n: int) -> None:
    rng = np.random.default_rng(n)
    for shift in np.linspace(-4, 4, 17) / math.sqrt(n):
        scores = rng.normal(shift, size=n)
        limits = interval(scores, method="student_t", level=0.95)
        found = standardised_mean(scores.mean(), scores.std(ddof=1), n, level=0.95)
        if min(abs(limits.lower), abs(limits.upper)) > 0.02 / math.sqrt(n):
            assert (found.lower > 0, found.upper < 0) == (limits.lower > 0, limits.upper < 0)


def test_a_million_topics_have_the_normal_interval() -> None:
    found = standardised_mean(-0.1, 1.0, 10**6, level=0.95)
    half = 1.959964 * math.sqrt((1 + 0.1**2 / 2) / 10**6)
    assert (found.lower, found.upper) == pytest.approx((-0.1 - half, -0.1 + half), abs=1e-6)


@pytest.mark.parametrize(("count", "n"), [(0, 1), (1, 1), (0, 12), (5, 12), (12, 12), (300, 1000)])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_a_share_has_the_exact_interval(count: int, n: int, level: float) -> None:
    expected = stats.binomtest(count, n).proportion_ci(level, method="exact")
    found = share(count, n, level=level)
    assert found == EffectSize(count / n, found.lower, found.upper)
    assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    ("mean", "deviation", "n", "level", "message"),
    [
        (math.nan, 1.0, 10, 0.95, "mean must be finite"),
        (0.1, 0.0, 10, 0.95, "deviation above 0"),
        (0.1, 1.0, 1, 0.95, "n must be at least 2, got 1"),
        (0.1, 1.0, 10, 1.0, "level must be between 0 and 1"),
    ],
)
def test_means_that_are_refused(mean: float, deviation: float, n: int, level: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        standardised_mean(mean, deviation, n, level=level)


@pytest.mark.parametrize(("count", "n"), [(-1, 3), (4, 3), (0, 0)])
def test_counts_that_are_refused(count: int, n: int) -> None:
    with pytest.raises(ValueError, match="count must lie between 0 and n"):
        share(count, n, level=0.95)
