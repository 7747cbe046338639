"""GeoRisk in replicates, and with each topic left out, against its definition computed cell by cell."""

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
)
from tests.inference.direct_georisk import georisk, replicate

#: What issue and README promise; scores are at most 1.
EXACT = 1e-12
CASES = [*(("linear", alpha) for alpha in (0.0, 1.0, 10.0)), ("smooth", 1.0)]


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


@given(case=st.sampled_from(CASES), scores=score_matrices(), chunk=st.integers(0, 1000), start=st.integers(0, 7000))
@settings(max_examples=60, deadline=None)
def test_the_fast_way_gives_what_the_definition_gives(case, scores, chunk, start):
    """On the same draws, and without each topic."""
    tradeoff, alpha = case
    pool = Pool.of(scores, alpha=alpha, tradeoff=tradeoff)
    counts = draw_counts(scores.shape[1], chunk=chunk)[:, start : start + 6]
    drawn = [replicate(scores, column) for column in counts.T]
    rests = [np.delete(scores, topic, axis=1) for topic in range(scores.shape[1])]
    for found, pools in ((PoolKernel(pool).replicates(counts), drawn), (georisk_left_out(pool), rests)):
        direct = np.array([georisk(one, alpha=alpha, tradeoff=tradeoff) for one in pools]).T
        assert_allclose(found, direct.reshape(found.shape), rtol=0, atol=EXACT)


def test_a_topic_that_outweighs_all_others_can_be_left_out():
    scores = np.array([[1.0, 1e-15, 3e-16], [1.0, 2e-16, 0.0]])
    georisks = georisk_left_out(Pool.of(scores, alpha=5))
    assert_allclose(georisks[:, 0], georisk(scores[:, 1:], alpha=5), rtol=1e-12, atol=0)


def test_a_system_or_a_pool_without_scores_has_a_georisk_of_0():
    scores = np.zeros((3, 6))
    counts = draw_counts(6, chunk=0)[:, :100]
    assert_array_equal(PoolKernel(Pool.of(scores, alpha=1)).replicates(counts), 0.0)
    scores[:2, 0], scores[0, 1] = 0.5, 0.5
    georisks = PoolKernel(Pool.of(scores, alpha=1)).replicates(counts)
    assert_array_equal(georisks[2], 0.0)
    assert_array_equal(georisks[1] == 0, counts[0] == 0)
    assert_array_equal(georisk_left_out(Pool.of(scores, alpha=1))[1, 0], 0.0)


def test_neither_blocks_nor_other_systems_order_move_a_bit(monkeypatch):
    scores = np.random.default_rng(1).beta(1, 2, (6, 40))
    counts = draw_counts(40, chunk=0)[:, :500]
    georisks = PoolKernel(Pool.of(scores, alpha=1)).replicates(counts)
    order = [3, 5, 0, 1, 4, 2]
    turned = PoolKernel(Pool.of(scores[order], alpha=1)).replicates(counts)
    assert_array_equal(turned, georisks[order])
    monkeypatch.setattr("pytest_riskguard.inference.georisk_replicates.MAX_SUMS", 1000)
    in_blocks = PoolKernel(Pool.of(scores, alpha=1)).replicates(counts)
    assert_array_equal(in_blocks, georisks)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": -1}, "alpha must be finite and at least 0"),
        ({"alpha": 1, "tradeoff": "cubic"}, "tradeoff must be one of linear, smooth, got 'cubic'"),
        ({"alpha": 5, "tradeoff": "smooth"}, "expected alpha 1, got 5"),
        ({"alpha": 1, "tradeoff": "smooth"}, r"from 0 to 1 for the smooth trade-off, got 20\.0"),
    ],
)
def test_questions_that_have_no_answer_are_refused(options, message):
    scores = [[20.0, 0.1], [0.3, 0.2]]
    with pytest.raises(ValueError, match=message):
        Pool.of(scores, **options)
    assert Pool.of([[1.0, 0.1], [0.3, 0.2]], alpha=1, tradeoff="smooth").smooth


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


@pytest.mark.parametrize("n", [2, 6, 80])
def test_counts_are_binomial_and_every_topic_is_as_likely(n):
    counts = np.hstack([draw_counts(n, chunk=chunk) for chunk in range(8)])
    rows = counts.shape[1]
    for k in range(8):
        share, expected = float(np.mean(counts == k)), float(binom.pmf(k, n, 1 / n))
        # cells of a replicate hang together a little; n rows independent cells would have this deviation, or less
        assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / (n * rows)) * math.sqrt(2) + 1e-5
    assert np.max(np.abs(counts.mean(axis=1) - 1)) < 5 * math.sqrt((1 - 1 / n) / rows)
    covariance = float(np.mean((counts[0] - 1.0) * (counts[-1] - 1.0)))
    assert abs(covariance + 1 / n) < 6 * math.sqrt(1 / rows)
