"""Draws that are the same for everybody, and sums that no order of adding can change."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_riskguard.inference.bootstrap.resampling import (
    ExactColumns,
    drawn_counts,
    drawn_topics,
    resampled_sums,
    rows_per_chunk,
    words,
)


def test_the_words_of_a_chunk_are_those_they_always_were() -> None:
    """Numpy promises that raw words and seeding never change; every limit from replicates hangs on that."""
    assert words(0, 3).tolist() == [17120693451542302054, 6525578012264026157, 1953806194982274709]
    assert words(7, 1).tolist() == [11422957457007643512]


def test_a_chunk_is_the_same_however_much_of_it_is_drawn_and_when() -> None:
    later = drawn_topics(50, 100, chunk=3)
    first = drawn_topics(50, 40, chunk=3)
    np.testing.assert_array_equal(later[:40], first)
    assert not np.array_equal(first, drawn_topics(50, 40, chunk=4))
    np.testing.assert_array_equal(later, drawn_topics(50, 100, chunk=3))


@pytest.mark.parametrize("n", [2, 7, 250])
def test_every_topic_is_as_likely_as_any_other(n: int) -> None:
    rows = 200_000 // n
    counts = drawn_counts(n, rows, chunk=0)
    assert counts.shape == (rows, n)
    np.testing.assert_array_equal(counts.sum(axis=1), n)
    expected = float(rows)
    chi_square = float(((counts.sum(axis=0) - expected) ** 2 / expected).sum())
    # n - 1 degrees of freedom: mean n - 1, variance 2 (n - 1)
    assert abs(chi_square - (n - 1)) < 4 * math.sqrt(2 * (n - 1))


@pytest.mark.parametrize("scale", [1e-280, 1.0, 1e90])
def test_sums_do_not_depend_on_the_order_of_adding(scale: float) -> None:
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(97, 5)) * np.array([1.0, 1e-12, 1e6, 3.0, 0.0]) * scale
    exact = ExactColumns.of(columns)
    counts = drawn_counts(97, 60, chunk=1)
    sums = exact.sums(counts)
    order = rng.permutation(97)
    np.testing.assert_array_equal(ExactColumns.of(columns[order]).sums(counts[:, order]), sums)
    for row, k in ((0, 0), (13, 1), (59, 2)):
        assert sums[row, k] == math.fsum(counts[row] * exact.integers[:, k]) * exact.units[k]
    assert np.all(np.abs(sums - counts @ columns) <= 1e-11 * np.abs(columns).max(axis=0))
    assert np.max(np.abs(exact.integers).max(axis=0) * 97) < 2**53


def test_chunks_follow_each_other_and_columns_share_their_draws() -> None:
    x = np.random.default_rng(1).normal(size=300)
    rows = rows_per_chunk(300)
    replicates = 2 * rows + 10
    chunks = list(resampled_sums(np.column_stack([x, 2 * x]), replicates))
    assert [len(chunk) for chunk in chunks] == [rows, rows, 10]
    np.testing.assert_allclose(chunks[1][:, 0], x[drawn_topics(300, rows, chunk=1)].sum(axis=1), rtol=0, atol=1e-10)
    sums = np.concatenate(chunks)
    np.testing.assert_array_equal(2 * sums[:, 0], sums[:, 1])
    means = sums[:, 0] / 300
    assert abs(means.mean() - x.mean()) < 4 * x.std() / math.sqrt(300 * replicates)
    assert means.std() == pytest.approx(x.std() / math.sqrt(300), rel=4 / math.sqrt(2 * replicates))
