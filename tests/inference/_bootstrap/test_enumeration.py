"""Enumerated laws against every ordered draw of a few topics, one by one."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from pytest_riskguard.inference._bootstrap.enumeration import enumerated_mean_law, enumerated_studentized_law
from pytest_riskguard.inference._bootstrap.sample import Sample

SAMPLES = ([0, 0, 1, 3], [-2, 0, 0, 0, 1], [5, 5, 7, 4], [-1, 2], [0.5, 0.5, 0.5, 0.25, 1.75], [1, 2, 4, 8])


def draws(x: list[float]) -> list[tuple[float, ...]]:
    return list(itertools.product(x, repeat=len(x)))


@pytest.mark.parametrize("x", SAMPLES)
def test_the_mean_has_the_law_of_all_ordered_draws(x):
    law = enumerated_mean_law(Sample.of(x))
    assert law is not None
    assert law.kind == "enumerated"
    assert law.centre == pytest.approx(sum(x) / len(x))
    means, counts = np.unique([round(sum(drawn) / len(x), 12) for drawn in draws(x)], return_counts=True)
    up_to = np.cumsum(counts) / len(x) ** len(x)
    below = np.append(0.0, up_to[:-1])
    assert [law.cdf(mean) for mean in means] == pytest.approx(up_to, abs=1e-13)
    assert [law.mid_cdf(mean) for mean in means] == pytest.approx((below + up_to) / 2, abs=1e-13)
    assert law.quantiles((below + up_to) / 2) == pytest.approx(means, abs=1e-12)


@pytest.mark.parametrize("x", SAMPLES)
def test_the_studentized_mean_has_the_law_of_all_ordered_draws_that_vary(x):
    law = enumerated_studentized_law(Sample.of(x))
    assert law is not None
    n, mean = len(x), sum(x) / len(x)
    varying = np.array([drawn for drawn in draws(x) if len(set(drawn)) > 1], dtype=float)
    t = math.sqrt(n) * (varying.mean(axis=1) - mean) / varying.std(axis=1, ddof=1)
    statistics, counts = np.unique(np.round(t, 9), return_counts=True)
    up_to = np.cumsum(counts) / t.size
    assert law.kind == "enumerated"
    assert [law.cdf(statistic) for statistic in statistics] == pytest.approx(up_to, abs=1e-12)
    middle = up_to - counts / t.size / 2
    assert [law.quantile(p) for p in middle] == pytest.approx(statistics, abs=2e-9)


@pytest.mark.parametrize(("n", "changed"), [(1000, 1), (20_000, 1), (20_000, 5)])
def test_of_many_topics_the_number_of_changed_ones_drawn_is_binomial(n, changed):
    law = enumerated_mean_law(Sample.of(np.append(np.zeros(n - changed), np.full(changed, -1.0))))
    assert law is not None
    share, up_to = changed / n, 0.0
    for drawn in range(10):
        up_to += math.comb(n, drawn) * share**drawn * math.exp((n - drawn) * math.log1p(-share))
        assert 1 - law.cdf(-(drawn + 0.5) / n) == pytest.approx(up_to, abs=1e-13)


def test_masses_are_exact_fractions():
    law = enumerated_mean_law(Sample.of([0, 0, 0, 0, 0, 0, 1, 10]))
    assert law is not None
    n = 8

    def mass(ones: int, tens: int) -> Fraction:
        rest = n - ones - tens
        ways = math.factorial(n) // (math.factorial(ones) * math.factorial(tens) * math.factorial(rest))
        return ways * Fraction(6, 8) ** rest * Fraction(1, 8) ** (ones + tens)

    for tens, ones in itertools.product(range(3), range(7)):
        up_to = sum(mass(o, t) for t in range(tens + 1) for o in range(n - t + 1) if t < tens or o <= ones)
        # there are no more than eight ones, so sums are in the order of tens, then ones
        assert law.cdf((10 * tens + ones + 0.5) / n) == pytest.approx(float(up_to), abs=1e-14)
