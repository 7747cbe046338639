"""GeoRisk of every system of a pool in each of many replicates, from one set of draws.

A replicate draws topics with replacement; the whole column of a topic moves, and sums, expected scores and z are
those of the replicate. None of them is computed cell by cell: ``pool_scores`` takes z apart into terms whose sums,
weighted by how often each topic is drawn, are one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference.bootstrap.pool_scores import Pool, checked_alphas, georisk_from
from pytest_riskguard.inference.bootstrap.pool_terms import LinearTerms, SmoothTerms, Terms
from pytest_riskguard.inference.bootstrap.quick_counts import Counts, quick_counts, rows_per_chunk
from pytest_riskguard.inference.bootstrap.resampling import ExactColumns
from pytest_riskguard.risk.checks import FloatArray

#: Sums held at once: bounds the memory of large pools.
MOST_SUMS = 2**21


class PoolKernel:
    """GeoRisk in replicates that are given by their counts.

    All sums are of whole numbers and exact, so no order of adding, hence no number of threads, moves a bit. Scores,
    whose small sums matter, are summed in two parts of some 40 digits each in base 2.

    Parameters
    ----------
    pool : Pool
    alphas : sequence of float
    tradeoff : {"linear", "smooth"}
    """

    def __init__(self, pool: Pool, *, alphas: Sequence[float], tradeoff: str = "linear") -> None:
        checked = checked_alphas(pool, alphas, tradeoff)
        self._systems, self._topics = pool.n_systems, pool.n_topics
        self._terms: Terms = LinearTerms(pool, checked) if tradeoff == "linear" else SmoothTerms(pool)
        scores = np.vstack([pool.scores, pool.totals]).T
        coarse = ExactColumns.of(scores)
        fine = ExactColumns.of(scores - coarse.integers * coarse.units)
        self._coarse, self._fine = coarse.units[:, None], fine.units[:, None]
        self._columns = np.vstack([coarse.integers.T, fine.integers.T, self._terms.columns])

    def replicates(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """GeoRisk and mean of every system.

        Parameters
        ----------
        counts : array of uint8, shape (n_topics, rows)
            How often each topic is drawn in each replicate; columns sum to n_topics.

        Returns
        -------
        georisk : array, shape (n_alphas, n_systems, rows)
            0 where the system has no score in the replicate.
        means : array, shape (n_systems, rows)
            In units of the measure.
        """
        step = max(1, MOST_SUMS // self._columns.shape[0])
        parts = [self._block(counts[:, start : start + step]) for start in range(0, counts.shape[1], step)]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([georisk for georisk, _ in parts], axis=2), np.hstack([means for _, means in parts])

    def _block(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        k = self._systems
        sums = self._columns @ counts.astype(np.float64)
        totals = sums[: k + 1] * self._coarse + sums[k + 1 : 2 * k + 2] * self._fine
        scores, total = totals[:k], totals[k]
        shares = scores / np.where(total > 0, total, 1.0)
        means: FloatArray = scores / self._topics
        zrisk = self._terms.zrisk(sums[2 * k + 2 :], shares, counts)
        return georisk_from(means, zrisk, n_topics=self._topics), means


def georisk_replicates(
    scores: npt.ArrayLike | Pool, *, alphas: Sequence[float], replicates: int, tradeoff: str = "linear"
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """GeoRisk and mean of every system in each replicate, chunk after chunk: all from one set of draws.

    Parameters
    ----------
    scores : array, shape (n_systems, n_topics), or Pool
        In units of the measure, at least 0; two systems at least.
    alphas : sequence of float
        Extra weights of a loss; only 1 with the smooth trade-off.
    replicates : int
        How many in all. More of them leave the first ones as they are.
    tradeoff : {"linear", "smooth"}

    Yields
    ------
    georisk : array, shape (n_alphas, n_systems, rows)
    means : array, shape (n_systems, rows)
        Of one chunk, in order.

    Raises
    ------
    ValueError
        What ``Pool.of`` and ``checked_alphas`` refuse; no replicate.
    """
    if replicates < 1:
        raise ValueError(f"replicates must be at least 1, got {replicates}")
    pool = scores if isinstance(scores, Pool) else Pool.of(scores)
    kernel = PoolKernel(pool, alphas=alphas, tradeoff=tradeoff)
    return _chunks(kernel, pool.n_topics, replicates)


def _chunks(kernel: PoolKernel, n: int, replicates: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    rows = rows_per_chunk(n)
    for chunk in range(math.ceil(replicates / rows)):
        yield kernel.replicates(quick_counts(n, chunk=chunk)[:, : replicates - chunk * rows])
