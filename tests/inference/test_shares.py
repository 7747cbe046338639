"""Shares against SciPy's binomial distribution, which the kernels do not load."""

from __future__ import annotations

import pytest
from scipy import stats

from pytest_riskguard.inference.shares import Share, share


@pytest.mark.parametrize(("count", "n"), [(0, 1), (1, 1), (0, 12), (5, 12), (12, 12), (300, 1000)])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_a_share_has_the_exact_interval(count: int, n: int, level: float) -> None:
    expected = stats.binomtest(count, n).proportion_ci(level, method="exact")
    found = share(count, n, level=level)
    assert found == Share(count / n, found.lower, found.upper)
    assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("count", "n"), [(-1, 3), (4, 3), (0, 0)])
def test_counts_that_are_refused(count: int, n: int) -> None:
    with pytest.raises(ValueError, match="count must lie between 0 and n"):
        share(count, n, level=0.95)
