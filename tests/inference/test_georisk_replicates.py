"""GeoRisk in replicates, and with each topic left out, against its definition computed cell by cell."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom

from pytest_riskguard.inference import georisk_replicates as made
from pytest_riskguard.inference.georisk_replicates import (
    Pool,
    PoolKernel,
    draw_counts,
    georisk_left_out,
    georisk_replicates,
)
from tests.inference.direct_georisk import georisk, replicate

ALPHAS = (0.0, 1.0, 5.0, 10.0)
#: What issue and README promise; scores are at most 1.
EXACT = 1e-12
CASES = [("linear", ALPHAS), ("smooth", (1.0,))]


@st.composite
def score_matrices(draw: st.DrawFn) -> np.ndarray:
    """Pools of all sorts: dense, tied, sparse, with empty topics and systems, tiny beside large, twins."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.integers(2, 7)), draw(st.integers(2, 40))
    kind = draw(st.sampled_from(["dense", "tied", "sparse", "empty", "tiny", "twins", "constant", "one"]))
    x = rng.beta(0.5, 1, shape)
    if kind == "tied":
        x = np.round(x, 1)
    elif kind == "sparse":
        x *= rng.random(shape) < 0.2
    elif kind == "empty":
        x[0], x[:, : shape[1] // 2] = 0, 0
    elif kind == "tiny":
        x = 10.0 ** rng.uniform(-3, 0, shape) * (rng.random(shape) < 0.5)
    elif kind == "twins":
        x[1] = x[0]
        x[1, 0] = rng.random()
    elif kind == "constant":
        x[:] = rng.random()
    elif kind == "one":
        x[:] = 0
        x[-1, -1] = 0.3
    return x


@pytest.mark.parametrize(("tradeoff", "alphas"), CASES)
@given(scores=score_matrices(), chunk=st.integers(0, 1000), start=st.integers(0, 7000))
@settings(max_examples=30, deadline=None)
def test_the_fast_way_gives_what_the_definition_gives_on_the_same_draws(tradeoff, alphas, scores, chunk, start):
    counts = draw_counts(scores.shape[1], chunk=chunk)[:, start : start + 6]
    georisks = PoolKernel(Pool.of(scores, alphas=alphas, tradeoff=tradeoff)).replicates(counts)
    for row in range(counts.shape[1]):
        drawn = replicate(scores, counts[:, row])
        for i, alpha in enumerate(alphas):
            direct = georisk(drawn, alpha=alpha, tradeoff=tradeoff)
            assert_allclose(georisks[i, :, row], direct, rtol=0, atol=EXACT)


@pytest.mark.parametrize(("tradeoff", "alphas"), CASES)
@given(scores=score_matrices())
@settings(max_examples=30, deadline=None)
def test_the_jackknife_gives_what_the_definition_gives_without_each_topic(tradeoff, alphas, scores):
    georisks = georisk_left_out(Pool.of(scores, alphas=alphas, tradeoff=tradeoff))
    assert georisks.shape == (len(alphas), *scores.shape)
    for topic in range(scores.shape[1]):
        for i, alpha in enumerate(alphas):
            direct = georisk(np.delete(scores, topic, axis=1), alpha=alpha, tradeoff=tradeoff)
            assert_allclose(georisks[i, :, topic], direct, rtol=0, atol=EXACT)


def test_a_topic_that_outweighs_all_others_can_be_left_out():
    scores = np.array([[1.0, 1e-15, 3e-16], [1.0, 2e-16, 0.0]])
    georisks = georisk_left_out(Pool.of(scores, alphas=ALPHAS))
    for i, alpha in enumerate(ALPHAS):
        assert_allclose(georisks[i, :, 0], georisk(scores[:, 1:], alpha=alpha), rtol=1e-12, atol=0)


def test_a_system_or_a_pool_without_scores_has_a_georisk_of_0():
    scores = np.zeros((3, 6))
    counts = draw_counts(6, chunk=0)[:, :100]
    assert_array_equal(PoolKernel(Pool.of(scores, alphas=ALPHAS)).replicates(counts), 0.0)
    scores[:2, 0], scores[0, 1] = 0.5, 0.5
    georisks = PoolKernel(Pool.of(scores, alphas=ALPHAS)).replicates(counts)
    assert_array_equal(georisks[:, 2], 0.0)
    assert_array_equal(georisks[:, 1] == 0, np.broadcast_to(counts[0] == 0, (4, 100)))
    assert_array_equal(georisk_left_out(Pool.of(scores, alphas=ALPHAS))[:, 1, 0], 0.0)


def test_neither_blocks_nor_other_systems_order_move_a_bit(monkeypatch):
    scores = np.random.default_rng(1).beta(1, 2, (6, 40))
    counts = draw_counts(40, chunk=0)[:, :500]
    georisks = PoolKernel(Pool.of(scores, alphas=ALPHAS)).replicates(counts)
    order = [3, 5, 0, 1, 4, 2]
    turned = PoolKernel(Pool.of(scores[order], alphas=ALPHAS)).replicates(counts)
    assert_array_equal(turned, georisks[:, order])
    monkeypatch.setattr("pytest_riskguard.inference.georisk_replicates.MAX_SUMS", 1000)
    in_blocks = PoolKernel(Pool.of(scores, alphas=ALPHAS)).replicates(counts)
    assert_array_equal(in_blocks, georisks)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alphas": [-1]}, "alpha must be finite and at least 0"),
        ({"alphas": [1], "tradeoff": "cubic"}, "tradeoff must be one of linear, smooth, got 'cubic'"),
        ({"alphas": [1, 5], "tradeoff": "smooth"}, "expected alpha 1, got 5"),
        ({"alphas": [1], "tradeoff": "smooth"}, r"from 0 to 1 for the smooth trade-off, got 20\.0"),
    ],
)
def test_questions_that_have_no_answer_are_refused(options, message):
    scores = [[20.0, 0.1], [0.3, 0.2]]
    with pytest.raises(ValueError, match=message):
        Pool.of(scores, **options)


SMALL = np.array([[0.3, 0.0, 0.9, 0.5], [0.2, 0.6, 0.1, 0.5], [0.0, 0.4, 0.8, 0.0]])
COUNTS = np.array([[1, 4, 0, 0, 2, 1], [1, 0, 4, 0, 1, 2], [1, 0, 0, 3, 1, 0], [1, 0, 0, 1, 0, 1]], dtype=np.uint8)


@pytest.mark.parametrize(("tradeoff", "alphas"), CASES)
@pytest.mark.parametrize("scale", [1.0, 1e-9])
def test_a_small_pool_has_the_georisk_of_the_definition_in_every_kind_of_replicate(tradeoff, alphas, scale):
    kernel = PoolKernel(Pool.of(SMALL * scale, alphas=alphas, tradeoff=tradeoff))
    georisks = kernel.replicates(COUNTS)
    assert georisks.shape == (len(alphas), 3, 6)
    left_out = georisk_left_out(Pool.of(SMALL * scale, alphas=alphas, tradeoff=tradeoff))
    for i, alpha in enumerate(alphas):
        for row, counts in enumerate(COUNTS.T):
            drawn = replicate(SMALL * scale, counts)
            direct = georisk(drawn, alpha=alpha, tradeoff=tradeoff)
            assert_allclose(georisks[i, :, row], direct, rtol=0, atol=1e-13)
        for topic in range(4):
            direct = georisk(np.delete(SMALL * scale, topic, axis=1), alpha=alpha, tradeoff=tradeoff)
            assert_allclose(left_out[i, :, topic], direct, rtol=0, atol=1e-13)


# draws


@pytest.mark.parametrize("n", [1, 2, 3, 7, 50, 1000])
def test_every_replicate_has_as_many_draws_as_there_are_topics(n):
    counts = draw_counts(n, chunk=0)
    assert counts.shape == (n, made.rows_per_chunk(n))
    np.testing.assert_array_equal(counts.sum(axis=0), n)


def test_a_chunk_is_the_one_it_always_was():
    """Raw words of the generator never change; every limit of GeoRisk hangs on these counts."""
    counts = draw_counts(10, chunk=3)
    assert counts[:, 0].tolist() == [2, 1, 2, 1, 2, 1, 1, 0, 0, 0]
    np.testing.assert_array_equal(counts, draw_counts(10, chunk=3))
    assert not np.array_equal(counts, draw_counts(10, chunk=4))


@pytest.mark.parametrize("n", [2, 6, 50, 300])
def test_counts_are_binomial(n):
    counts = np.hstack([draw_counts(n, chunk=chunk) for chunk in range(12)])
    rows = counts.shape[1]
    for k in range(6):
        share, expected = float(np.mean(counts == k)), float(binom.pmf(k, n, 1 / n))
        # cells of a replicate hang together a little; n rows independent cells would have this deviation, or less
        assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / (n * rows)) * math.sqrt(2) + 1e-5


@pytest.mark.parametrize("n", [2, 6, 50, 300])
def test_every_topic_is_as_likely_and_two_topics_draw_against_each_other(n):
    counts = np.hstack([draw_counts(n, chunk=chunk) for chunk in range(12)]).astype(float)
    rows = counts.shape[1]
    variance = 1 - 1 / n
    assert np.max(np.abs(counts.mean(axis=1) - 1)) < 5 * math.sqrt(variance / rows)
    assert float(np.mean((counts - 1) ** 2)) == pytest.approx(variance, abs=5 * math.sqrt(3 / (rows * n)) + 2e-4)
    covariance = float(np.mean((counts[0] - 1) * (counts[-1] - 1)))
    assert abs(covariance + 1 / n) < 6 * math.sqrt(1 / rows)


# pools of very many topics

TOPICS, REPLICATES = 3000, 3000


def _pool(kind: str) -> np.ndarray:
    rng = np.random.default_rng(3)
    base = np.round(rng.beta(1, 2, TOPICS), 4)
    changed = base.copy()
    if kind == "noise":
        changed = np.clip(base + rng.normal(0, 0.1, TOPICS), 0, 1)
    else:  # all that differs is on 30 topics: far from normal
        few = rng.choice(TOPICS, 30, replace=False)
        changed[few] = rng.beta(1, 2, 30)
    return np.array([changed, base, np.clip(base + rng.normal(0, 0.1, TOPICS), 0, 1)])


def drawn_differences(scores: np.ndarray, replicates: int, *, tradeoff: str = "linear") -> np.ndarray:
    pool = Pool.of(scores, alphas=[1.0], tradeoff=tradeoff)
    drawn = georisk_replicates(pool, georisk_left_out(pool), replicates=replicates)
    return np.concatenate([georisk[0, 0] - georisk[0, 1] for georisk in drawn])


@pytest.mark.parametrize(
    ("kind", "tradeoff"),
    [
        ("noise", "linear"),
        *(pytest.param("few", tradeoff, marks=pytest.mark.slow) for tradeoff in ("linear", "smooth")),
    ],
)
def test_the_law_is_that_of_counted_topics(kind, tradeoff, monkeypatch):
    scores = _pool(kind)
    exact = drawn_differences(scores, REPLICATES, tradeoff=tradeoff)
    monkeypatch.setattr(made, "MANY_TOPICS", 1000)
    drawn = drawn_differences(scores, REPLICATES, tradeoff=tradeoff)
    spread = float(np.std(exact))
    # four standard errors of the difference of two estimates from this many draws
    assert_allclose(np.mean(drawn), np.mean(exact), rtol=0, atol=4 * spread * np.sqrt(2 / REPLICATES))
    assert_allclose(np.std(drawn), spread, rtol=4 * np.sqrt(1 / REPLICATES) * 1.2)
    for p, error in ((0.025, 0.0538), (0.5, 0.0324), (0.975, 0.0538)):  # sqrt(2 p (1 - p)/draws)/density
        assert_allclose(np.quantile(drawn, p), np.quantile(exact, p), rtol=0, atol=4 * error * spread)


def test_more_replicates_and_another_order_of_systems_leave_the_first_ones_unchanged(monkeypatch):
    monkeypatch.setattr(made, "MANY_TOPICS", 1000)
    scores = _pool("noise")
    some, more = drawn_differences(scores, 100), drawn_differences(scores, 3000)
    assert_array_equal(more[:100], some)
    pool, turned = (Pool.of(scores[order], alphas=[1.0]) for order in ([0, 1, 2], [2, 0, 1]))
    first, second = (
        next(georisk_replicates(each, georisk_left_out(each), replicates=200)) for each in (pool, turned)
    )
    assert_allclose(first, second[:, [1, 2, 0]], rtol=1e-6)
