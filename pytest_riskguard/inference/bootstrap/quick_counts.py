"""How often each topic is drawn, many replicates at a time: quicker than drawing topic after topic.

The counts of n draws are multinomial. So are independent Poisson counts once their sum is known, and so they stay
when the draws still missing are drawn one by one. Poisson counts of a mean a little below 1 come out of 16 random
bits each by comparisons alone, and leave few draws missing.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import pdtrc

from pytest_riskguard.inference.bootstrap.resampling import IntArray, next_words, stream

Counts = npt.NDArray[np.uint8]

#: Cells (topics times replicates) of one chunk, about, and its replicates at the most: bounds the memory.
CHUNK_CELLS = 2**20
MOST_ROWS = 2**13
#: Poisson counts have mean 1 - SHORT/sqrt(n), so that about one replicate in forty has too many draws at once.
SHORT = 2.0
#: No Poisson count with a mean up to 1 is larger, in 16 bits.
LARGEST_COUNT = 12
#: Cells compared at once: what fits into a processor's cache.
BLOCK = 2**17


def rows_per_chunk(n: int) -> int:
    """How many replicates of n topics one chunk of ``quick_counts`` holds."""
    return max(1, min(MOST_ROWS, CHUNK_CELLS // n))


def quick_counts(n: int, *, chunk: int) -> Counts:
    """Counts of n topics drawn uniformly with replacement, in all replicates of a chunk.

    Every topic has exactly the same chance and every replicate exactly n draws. Poisson probabilities are rounded to
    2^-16, which moves the variance of a count by less than 2e-4 of itself.

    Parameters
    ----------
    n : int
        Topics, below 2^31.
    chunk : int
        Which draws: the same number gives the same ones.

    Returns
    -------
    array of uint8, shape (n_topics, rows_per_chunk(n))
        One column per replicate; columns sum to n.
    """
    rows, generator = rows_per_chunk(n), stream(chunk)
    halves = next_words(generator, -(-n * rows // 4)).view("<u2")[: n * rows].reshape(n, rows)
    counts = _poisson_counts(halves, mean=max(0.0, 1 - SHORT / math.sqrt(n)))
    missing = n - np.add.reduce(counts, axis=0, dtype=np.uint32).astype(np.int64)
    # whether a replicate is drawn anew hangs on its sum alone, hence favours no topic
    too_many = np.flatnonzero(missing < 0)
    counts[:, too_many], missing[too_many] = 0, n
    _add_draws(counts, missing, generator)
    return counts


def _poisson_counts(halves: npt.NDArray[np.uint16], *, mean: float) -> Counts:
    """For 16 random bits each: how many of the cumulated Poisson probabilities they reach."""
    edges = np.rint(2.0**16 * (1 - pdtrc(np.arange(LARGEST_COUNT), mean)))
    edges = edges[edges < 2**16].astype(np.uint16)
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
    """Add so many draws to each replicate; the chance of each topic is 1/n but for 2^-32."""
    n, rows = counts.shape
    total = int(np.sum(missing))
    halves = next_words(generator, (total + 1) // 2).view("<u4")[:total].astype(np.uint64)
    topics = (halves * np.uint64(n) >> np.uint64(32)).astype(np.int64)
    cells = topics * rows + np.repeat(np.arange(rows), missing)
    np.add.at(counts.reshape(-1), cells, np.uint8(1))
