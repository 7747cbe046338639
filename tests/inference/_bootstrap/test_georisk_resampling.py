"""GeoRisk in replicates, and with each topic left out, against its definition computed cell by cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pytest_riskguard.inference._bootstrap.georisk_resampling import Pool, PoolKernel, georisk_left_out
from pytest_riskguard.inference._bootstrap.replicates import draw_counts

from tests.inference._bootstrap.direct_georisk import georisk, replicate

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
        x = 10.0 ** rng.uniform(-16, 0, shape) * (rng.random(shape) < 0.5)
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
    georisks, means = PoolKernel(Pool.of(scores), alphas=alphas, tradeoff=tradeoff).replicates(counts)
    for row in range(counts.shape[1]):
        drawn = replicate(scores, counts[:, row])
        assert_allclose(means[:, row], drawn.mean(axis=1), rtol=1e-14, atol=1e-300)
        for i, alpha in enumerate(alphas):
            direct = georisk(drawn, alpha=alpha, tradeoff=tradeoff)
            assert_allclose(georisks[i, :, row], direct, rtol=0, atol=EXACT)


@pytest.mark.parametrize(("tradeoff", "alphas"), CASES)
@given(scores=score_matrices())
@settings(max_examples=30, deadline=None)
def test_the_jackknife_gives_what_the_definition_gives_without_each_topic(tradeoff, alphas, scores):
    georisks = georisk_left_out(Pool.of(scores), alphas=alphas, tradeoff=tradeoff)
    assert georisks.shape == (len(alphas), *scores.shape)
    for topic in range(scores.shape[1]):
        for i, alpha in enumerate(alphas):
            direct = georisk(np.delete(scores, topic, axis=1), alpha=alpha, tradeoff=tradeoff)
            assert_allclose(georisks[i, :, topic], direct, rtol=0, atol=EXACT)


def test_a_topic_that_outweighs_all_others_can_be_left_out():
    scores = np.array([[1.0, 1e-15, 3e-16], [1.0, 2e-16, 0.0]])
    georisks = georisk_left_out(Pool.of(scores), alphas=ALPHAS)
    for i, alpha in enumerate(ALPHAS):
        assert_allclose(georisks[i, :, 0], georisk(scores[:, 1:], alpha=alpha), rtol=1e-12, atol=0)


def test_a_system_or_a_pool_without_scores_has_a_georisk_of_0():
    scores = np.zeros((3, 6))
    counts = draw_counts(6, chunk=0)[:, :100]
    assert_array_equal(PoolKernel(Pool.of(scores), alphas=ALPHAS).replicates(counts)[0], 0.0)
    scores[:2, 0], scores[0, 1] = 0.5, 0.5
    georisks, _ = PoolKernel(Pool.of(scores), alphas=ALPHAS).replicates(counts)
    assert_array_equal(georisks[:, 2], 0.0)
    assert_array_equal(georisks[:, 1] == 0, np.broadcast_to(counts[0] == 0, (4, 100)))
    assert_array_equal(georisk_left_out(Pool.of(scores), alphas=ALPHAS)[:, 1, 0], 0.0)


def test_neither_blocks_nor_other_systems_order_move_a_bit(monkeypatch):
    scores = np.random.default_rng(1).beta(1, 2, (6, 40))
    counts = draw_counts(40, chunk=0)[:, :500]
    georisks, means = PoolKernel(Pool.of(scores), alphas=ALPHAS).replicates(counts)
    order = [3, 5, 0, 1, 4, 2]
    turned, turned_means = PoolKernel(Pool.of(scores[order]), alphas=ALPHAS).replicates(counts)
    assert_array_equal(turned, georisks[:, order])
    assert_array_equal(turned_means, means[order])
    monkeypatch.setattr("pytest_riskguard.inference._bootstrap.georisk_resampling.MAX_SUMS", 1000)
    in_blocks, _ = PoolKernel(Pool.of(scores), alphas=ALPHAS).replicates(counts)
    assert_array_equal(in_blocks, georisks)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alphas": []}, "at least one alpha"),
        ({"alphas": [-1]}, "alpha must be finite and at least 0"),
        ({"alphas": [1], "tradeoff": "cubic"}, "tradeoff must be one of linear, smooth, got 'cubic'"),
        ({"alphas": [1, 5], "tradeoff": "smooth"}, "expected alpha 1, got 5"),
        ({"alphas": [1], "tradeoff": "smooth"}, r"from 0 to 1 for the smooth trade-off, got 20\.0"),
    ],
)
def test_questions_that_have_no_answer_are_refused(options, message):
    scores = [[20.0, 0.1], [0.3, 0.2]]
    with pytest.raises(ValueError, match=message):
        PoolKernel(Pool.of(scores), **options)
    with pytest.raises(ValueError, match=message):
        georisk_left_out(Pool.of(scores), **options)


SMALL = np.array([[0.3, 0.0, 0.9, 0.5], [0.2, 0.6, 0.1, 0.5], [0.0, 0.4, 0.8, 0.0]])
COUNTS = np.array([[1, 4, 0, 0, 2, 1], [1, 0, 4, 0, 1, 2], [1, 0, 0, 3, 1, 0], [1, 0, 0, 1, 0, 1]], dtype=np.uint8)


@pytest.mark.parametrize(("tradeoff", "alphas"), CASES)
@pytest.mark.parametrize("scale", [1.0, 1e-9])
def test_a_small_pool_has_the_georisk_of_the_definition_in_every_kind_of_replicate(tradeoff, alphas, scale):
    kernel = PoolKernel(Pool.of(SMALL * scale), alphas=alphas, tradeoff=tradeoff)
    georisks, means = kernel.replicates(COUNTS)
    assert georisks.shape == (len(alphas), 3, 6)
    left_out = georisk_left_out(Pool.of(SMALL * scale), alphas=alphas, tradeoff=tradeoff)
    for i, alpha in enumerate(alphas):
        for row, counts in enumerate(COUNTS.T):
            drawn = replicate(SMALL * scale, counts)
            direct = georisk(drawn, alpha=alpha, tradeoff=tradeoff)
            assert_allclose(georisks[i, :, row], direct, rtol=0, atol=1e-13)
            assert_allclose(means[:, row], drawn.mean(axis=1), rtol=1e-14)
        for topic in range(4):
            direct = georisk(np.delete(SMALL * scale, topic, axis=1), alpha=alpha, tradeoff=tradeoff)
            assert_allclose(left_out[i, :, topic], direct, rtol=0, atol=1e-13)
