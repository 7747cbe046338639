"""Deterministic resampling: replicates that are the same for everyone, and columns whose sums are exact.

Draws come in chunks, each from a generator seeded by its own number, so it does not matter who computes which chunk,
when, or how many at a time. Only the raw words of the generator are used: numpy promises that these never change,
which it does not for its distributions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen
from pytest_riskguard.risk.checks import FloatArray, IntArray

Counts = npt.NDArray[np.uint8]

#: The only seed: draws are part of the method, users do not choose them.
SEED = 20190523
#: A chunk has about this many cells (topics times replicates) and at most this many replicates: bounds the memory.
CHUNK_CELLS = 2**20
MAX_ROWS = 2**13
#: Counts kept for other pools of the same size, in cells of a byte: bounds the memory.
KEPT_CELLS = 2**26
#: Poisson counts have mean 1 - SHORT/sqrt(n), so that about one replicate in forty has too many draws at once.
SHORT = 2.0
#: No Poisson count with a mean up to 1 is larger, in 16 bits.
MAX_COUNT = 12
#: Cells compared at once: what fits into a processor's cache.
BLOCK = 2**17


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
    """How many replicates of n topics one chunk of ``draw_counts`` holds."""
    return max(1, min(MAX_ROWS, CHUNK_CELLS // n))


def draw_counts(n: int, *, chunk: int) -> Counts:
    """Counts of n topics drawn uniformly with replacement in a chunk's replicates: (n_topics, rows_per_chunk(n)).

    Every topic has exactly the same chance and every replicate, a column, exactly n draws. Poisson probabilities are
    rounded to 2^-16, which moves the variance of a count by less than 2e-4 of itself.
    """
    rows, generator = rows_per_chunk(n), stream(chunk)
    halves = next_words(generator, -(-n * rows // 4)).view("<u2")[: n * rows].reshape(n, rows)
    counts = poisson_counts(halves, mean=max(0.0, 1 - SHORT / math.sqrt(n)))
    missing = n - np.add.reduce(counts, axis=0, dtype=np.uint32).astype(np.int64)
    # whether a replicate is drawn again depends on its sum alone, so no topic is favoured
    too_many = np.flatnonzero(missing < 0)
    counts[:, too_many], missing[too_many] = 0, n
    _add_draws(counts, missing, generator)
    return counts


class Draws:
    """The counts of n topics in as many replicates as are asked for, chunk after chunk.

    Those drawn once are kept for the next pool of this size, up to ``KEPT_CELLS``.
    """

    def __init__(self, n: int) -> None:
        self._n, self._kept = n, dict[int, Counts]()

    def counts(self, replicates: int) -> Iterator[Counts]:
        """Counts of shape (n_topics, rows), the rows of all chunks adding up to ``replicates``."""
        rows = rows_per_chunk(self._n)
        for chunk in range(math.ceil(replicates / rows)):
            yield self._chunk(chunk, rows)[:, : replicates - chunk * rows]

    def _chunk(self, chunk: int, rows: int) -> Counts:
        if chunk in self._kept:
            return self._kept[chunk]
        counts = draw_counts(self._n, chunk=chunk)
        if (chunk + 1) * rows * self._n <= KEPT_CELLS:
            self._kept[chunk] = counts
        return counts


def _edges(mean: float) -> npt.NDArray[np.uint16]:
    """Cumulated Poisson probabilities below 1, in units of 2^-16."""
    from scipy.special import pdtrc

    edges = np.rint(2.0**16 * (1 - pdtrc(np.arange(MAX_COUNT), mean)))
    return np.asarray(edges[edges < 2**16].astype(np.uint16))


def poisson_mean() -> float:
    """The mean of ``poisson_counts``, which rounding keeps from being exactly 1."""
    return float(np.sum(1 - _edges(1.0) / 2.0**16))


def poisson_counts(halves: npt.NDArray[np.uint16], *, mean: float = 1.0) -> Counts:
    """A Poisson count from each 16 random bits: how many of the cumulated probabilities they reach."""
    edges = _edges(mean)
    counts = np.zeros(halves.shape, dtype=np.uint8)
    step = max(1, BLOCK // halves.shape[1])
    reached = np.empty((step, halves.shape[1]), dtype=np.bool_)
    for start in range(0, halves.shape[0], step):
        part = counts[start : start + step]
        for edge in edges:
            np.greater_equal(halves[start : start + step], edge, out=reached[: part.shape[0]])
            part += reached[: part.shape[0]].view(np.uint8)
    return counts


def _add_draws(counts: Counts, missing: IntArray, generator: np.random.SFC64) -> None:
    """Add this many draws to each replicate; the chance of each topic is within 2^-32 of 1/n."""
    n, rows = counts.shape
    total = int(np.sum(missing))
    halves = next_words(generator, (total + 1) // 2).view("<u4")[:total].astype(np.uint64)
    topics = (halves * np.uint64(n) >> np.uint64(32)).astype(np.int64)
    cells = topics * rows + np.repeat(np.arange(rows), missing)
    np.add.at(counts.reshape(-1), cells, np.uint8(1))


@frozen
class ExactColumns:
    """Columns rounded to whole numbers small enough that no sum of n of them is ever rounded.

    A matrix product with counts is then the same to the bit for every number of threads. ``units`` are powers of two
    that the ``integers``, shape (n_topics, n_columns), are multiples of; a column is rounded by half of its unit at
    most.
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
