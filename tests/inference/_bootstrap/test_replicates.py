"""Draws are the same for everyone, counts are multinomial, and no order of adding changes a sum."""

import math

import numpy as np
import pytest
from pytest_riskguard.inference._bootstrap.replicates import draw_counts, rows_per_chunk
from scipy.stats import binom


@pytest.mark.parametrize("n", [1, 2, 3, 7, 50, 1000])
def test_every_replicate_has_as_many_draws_as_there_are_topics(n):
    counts = draw_counts(n, chunk=0)
    assert counts.shape == (n, rows_per_chunk(n))
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
