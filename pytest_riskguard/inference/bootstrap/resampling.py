"""Deterministic Monte Carlo: draws of topics that are the same for everybody, and sums over them that are exact.

Draws come in chunks, each from a generator seeded by its own number, so it does not matter who computes which chunk,
when, or how many at a time. Only the raw words of the generator are used: numpy promises that these never change,
which it does not for its distributions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.checks import FloatArray

IntArray = npt.NDArray[np.int64]

#: The one seed there is: draws are part of the method, not of a user's choice.
SEED = 20190523
#: Draws per chunk, about: bounds the memory.
CHUNK_DRAWS = 2**19
#: Whole numbers up to this size are exact in floating point, and so are their sums.
EXACT = 2.0**53


def words(chunk: int, count: int) -> npt.NDArray[np.uint64]:
    """The first random words of a chunk."""
    return next_words(stream(chunk), count)


def stream(chunk: int) -> np.random.SFC64:
    """The generator of a chunk, at its start."""
    return np.random.SFC64(np.random.SeedSequence((SEED, chunk)))


def next_words(generator: np.random.SFC64, count: int) -> npt.NDArray[np.uint64]:
    """The next random words of a generator, low byte first on every machine."""
    return np.asarray(generator.random_raw(count), dtype="<u8")


def rows_per_chunk(n: int) -> int:
    """How many replicates of n topics one chunk holds."""
    return max(1, CHUNK_DRAWS // n)


def drawn_topics(n: int, rows: int, *, chunk: int) -> IntArray:
    """Topics drawn uniformly with replacement.

    Parameters
    ----------
    n : int
        Topics, below 2^31.
    rows : int
        Replicates wanted; more rows leave the first ones as they are.
    chunk : int
        Which draws: the same number gives the same ones.

    Returns
    -------
    array of int, shape (rows, n)
        Topic numbers; the chance of each is 1/n but for 2^-32.
    """
    halves = words(chunk, (rows * n + 1) // 2).view("<u4")[: rows * n].astype(np.uint64)
    return (halves * np.uint64(n) >> np.uint64(32)).astype(np.int64).reshape(rows, n)


def drawn_counts(n: int, rows: int, *, chunk: int) -> FloatArray:
    """How often each topic is drawn in each replicate: shape (rows, n), rows sum to n; see ``drawn_topics``."""
    flat = drawn_topics(n, rows, chunk=chunk) + n * np.arange(rows)[:, None]
    return np.bincount(flat.ravel(), minlength=rows * n).astype(np.float64).reshape(rows, n)


@dataclass(frozen=True)
class ExactColumns:
    """Columns rounded to whole numbers small enough that no sum of n of them is ever rounded.

    A matrix product with counts is then the same to the bit however its terms are ordered, hence for every number
    of threads.

    Attributes
    ----------
    integers : array, shape (n_topics, n_columns)
    units : array, shape (n_columns,)
        Powers of two that the integers are multiples of; a column is rounded by half of its unit at the most.
    """

    integers: FloatArray
    units: FloatArray

    @classmethod
    def of(cls, columns: FloatArray) -> ExactColumns:
        """Columns of finite values, shape (n_topics, n_columns), for sums of as many draws as there are topics."""
        largest = np.max(np.abs(columns), axis=0)
        # n |integer| stays below 2^53 with half a unit of rounding to spare
        _, exponents = np.frexp(largest * columns.shape[0])
        units = np.where(largest > 0, np.ldexp(1.0, np.maximum(exponents - 51, -1022)), 1.0)
        return cls(np.rint(columns / units), units)

    def sums(self, counts: FloatArray) -> FloatArray:
        """Sums over the topics of each replicate: (rows, n_topics) counts give (rows, n_columns)."""
        sums: FloatArray = (counts @ self.integers) * self.units
        return sums


def resampled_sums(columns: FloatArray, replicates: int) -> Iterator[FloatArray]:
    """Sums of every column over the topics of each replicate, chunk after chunk.

    Parameters
    ----------
    columns : array, shape (n_topics, n_columns)
        One row per topic, finite.
    replicates : int
        How many in all.

    Yields
    ------
    array, shape (rows, n_columns)
        Of one chunk, in order; all columns of a row are summed over the same draws.
    """
    exact, n = ExactColumns.of(columns), columns.shape[0]
    rows = rows_per_chunk(n)
    for chunk in range(math.ceil(replicates / rows)):
        yield exact.sums(drawn_counts(n, min(rows, replicates - chunk * rows), chunk=chunk))
