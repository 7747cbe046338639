"""Pools of very many topics are resampled in another way, which gives the same law."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pytest_riskguard.inference._bootstrap import large_pools
from pytest_riskguard.inference._bootstrap.georisk_resampling import Pool, PoolKernel

from pytest_riskguard.risk.checks import FloatArray

TOPICS, REPLICATES = 3000, 3000


def _pool(kind: str) -> FloatArray:
    rng = np.random.default_rng(3)
    base = np.round(rng.beta(1, 2, TOPICS), 4)
    changed = base.copy()
    if kind == "noise":
        changed = np.clip(base + rng.normal(0, 0.1, TOPICS), 0, 1)
    else:  # all that differs is on 30 topics: far from normal
        few = rng.choice(TOPICS, 30, replace=False)
        changed[few] = rng.beta(1, 2, 30)
    return np.array([changed, base, np.clip(base + rng.normal(0, 0.1, TOPICS), 0, 1)])


def _difference(georisk: FloatArray) -> FloatArray:
    return georisk[0, 0] - georisk[0, 1]


@pytest.mark.parametrize(
    ("kind", "tradeoff"),
    [
        ("noise", "linear"),
        *(pytest.param("few", tradeoff, marks=pytest.mark.slow) for tradeoff in ("linear", "smooth")),
    ],
)
def test_the_law_is_that_of_counted_topics(kind, tradeoff):
    scores = _pool(kind)
    pool, alphas = Pool.of(scores), [1.0]
    slow = PoolKernel(pool, alphas=alphas, tradeoff=tradeoff)
    exact = np.concatenate([_difference(georisk) for georisk, _ in slow.drawn(REPLICATES)])
    heavy = large_pools.heaviest(scores[:1] - scores[1:2])
    fast = large_pools.LargePoolKernel(pool, heavy, alphas=alphas, tradeoff=tradeoff)
    drawn = np.concatenate([_difference(georisk) for georisk in fast.drawn(REPLICATES)])
    spread = float(np.std(exact))
    # four standard errors of the difference of two estimates from this many draws
    assert_allclose(np.mean(drawn), np.mean(exact), rtol=0, atol=4 * spread * np.sqrt(2 / REPLICATES))
    assert_allclose(np.std(drawn), spread, rtol=4 * np.sqrt(1 / REPLICATES) * 1.2)
    for p, error in ((0.025, 0.0538), (0.5, 0.0324), (0.975, 0.0538)):  # sqrt(2 p (1 - p)/draws)/density
        assert_allclose(np.quantile(drawn, p), np.quantile(exact, p), rtol=0, atol=4 * error * spread)


def test_more_replicates_leave_the_first_ones_unchanged():
    scores = _pool("noise")
    kernel = large_pools.LargePoolKernel(Pool.of(scores), large_pools.heaviest(scores), alphas=[1.0])
    some = np.concatenate([_difference(g) for g in kernel.drawn(100)])
    more = np.concatenate([_difference(g) for g in kernel.drawn(1000)])
    assert_array_equal(more[:100], some)


def test_the_order_of_the_other_systems_does_not_matter():
    scores = _pool("noise")
    heavy = large_pools.heaviest(scores[:1] - scores[1:2])
    first, second = (
        next(large_pools.LargePoolKernel(Pool.of(scores[order]), heavy, alphas=[1.0]).drawn(200))[:, places]
        for order, places in (([0, 1, 2], [0, 1, 2]), ([2, 0, 1], [1, 2, 0]))
    )
    assert_allclose(first, second, rtol=1e-9)


def test_topics_that_differ_alone_are_counted():
    influence = np.zeros((1, 10_000))
    influence[0, 7777] = 1.0
    assert 7777 in large_pools.heaviest(influence)
