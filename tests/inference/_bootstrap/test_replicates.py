"""Draws are the same for everyone, counts are multinomial, and no order of adding changes a sum."""

from __future__ import annotations

import math
import zlib

import numpy as np
import pytest
from scipy.stats import binom

from pytest_riskguard.inference._bootstrap.replicates import ExactColumns, draw_counts, rows_per_chunk, words


def test_the_words_of_a_chunk_are_those_they_always_were() -> None:
    """Numpy promises that raw words and seeding never change; every limit from replicates hangs on that."""
    assert words(0, 3).tolist() == [17120693451542302054, 6525578012264026157, 1953806194982274709]
    assert words(7, 1).tolist() == [11422957457007643512]


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


@pytest.mark.parametrize("scale", [1e-280, 1.0, 1e90])
def test_sums_do_not_depend_on_the_order_of_adding(scale: float) -> None:
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(97, 5)) * np.array([1.0, 1e-12, 1e6, 3.0, 0.0]) * scale
    exact = ExactColumns.of(columns)
    counts = draw_counts(97, chunk=1)[:, :60].astype(np.float64).T
    sums = (counts @ exact.integers) * exact.units
    order = rng.permutation(97)
    np.testing.assert_array_equal((counts[:, order] @ ExactColumns.of(columns[order]).integers) * exact.units, sums)
    for row, k in ((0, 0), (13, 1), (59, 2)):
        assert sums[row, k] == math.fsum(counts[row] * exact.integers[:, k]) * exact.units[k]
    assert np.all(np.abs(sums - counts @ columns) <= 1e-11 * np.abs(columns).max(axis=0))
    assert np.max(np.abs(exact.integers).max(axis=0) * 97) < 2**53


@pytest.mark.parametrize(("n", "rows"), [(1, 8192), (128, 8192), (129, 8128), (1000, 1048), (2**20, 1), (2**21, 1)])
def test_a_chunk_has_a_million_cells_and_at_most_8192_replicates(n: int, rows: int) -> None:
    assert rows_per_chunk(n) == rows


@pytest.mark.parametrize(
    ("n", "chunk", "digest"),
    [
        (2, 0, 1096963841),
        (3, 5, 2029131740),
        (7, 1, 408834439),
        (50, 2, 688316970),
        (300, 1, 1588013359),
        (3000, 2, 2416772789),
    ],
)
def test_no_count_of_a_chunk_ever_changes(n: int, chunk: int, digest: int) -> None:
    """The checksum of all counts: draws are part of the method, and the same for everybody."""
    counts = draw_counts(n, chunk=chunk)
    assert counts.dtype == np.uint8
    assert zlib.crc32(np.ascontiguousarray(counts[:, :600]).tobytes()) == digest


def test_columns_are_rounded_to_powers_of_two_that_leave_room_for_every_sum() -> None:
    exact = ExactColumns.of(np.array([[1.0, 0.0], [3.0, 0.0], [-0.5, 0.0], [0.0, 0.0], [0.0, 0.0]]))
    # five times 3 is below 2^4, and 51 digits below that lies 2^-47
    assert exact.units.tolist() == [2.0**-47, 1.0]
    assert exact.integers[:3, 0].tolist() == [2.0**47, 3 * 2.0**47, -(2.0**46)]
    assert exact.integers[:, 1].tolist() == [0, 0, 0, 0, 0]
    # no unit is below the smallest normal number
    assert ExactColumns.of(np.array([[3e-320], [0.0]])).units.tolist() == [2.0**-1022]
