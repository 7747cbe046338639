"""GeoRisk of every system of a pool in each of many replicates, from one set of draws.

A replicate draws topics with replacement; the whole column of a topic moves, and sums, expected scores and z are
those of the replicate. None of them is computed cell by cell: ``pool_scores`` takes z apart into terms whose sums,
weighted by how often each topic is drawn, are one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference._bootstrap.pool_scores import Pool, checked_alphas, georisk_from, smooth_coefficients
from pytest_riskguard.inference._bootstrap.replicates import Counts, ExactColumns, draw_counts, rows_per_chunk
from pytest_riskguard.risk.checks import FloatArray

#: Sums held at once: bounds the memory of large pools.
MAX_SUMS = 2**21


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
        step = max(1, MAX_SUMS // self._columns.shape[0])
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
        yield kernel.replicates(draw_counts(n, chunk=chunk)[:, : replicates - chunk * rows])


class Terms(Protocol):
    """Sums over drawn topics that make up ZRisk.

    ``columns``, shape (n_columns, n_topics), are what is summed.
    """

    columns: FloatArray

    def zrisk(self, sums: FloatArray, shares: FloatArray, counts: Counts) -> FloatArray:
        """ZRisk, shape (n_alphas, n_systems, rows), from the sums (n_columns, rows) and rho (n_systems, rows)."""


class LinearTerms:
    """Wins as they are, losses weighted by 1 + alpha.

    Which z are negative is fixed beforehand as it is in the sample, and put right in each replicate for the topics
    whose ratio x_ij/T_j lies between the sample's rho_i and the replicate's: few, since rho_i moves little.
    """

    def __init__(self, pool: Pool, alphas: FloatArray) -> None:
        self._alphas, self._systems = alphas, pool.n_systems
        total = math.fsum(pool.totals)
        self._shares = np.array([math.fsum(row) for row in pool.scores.tolist()]) / (total if total > 0 else 1.0)
        negative = pool.ratios < self._shares[:, None]
        parts = np.vstack([pool.a, pool.b])
        exact = ExactColumns.of(parts.T)
        integers, self._units = exact.integers.T, exact.units[:, None]
        a, b = integers[:-1], integers[-1]
        self.columns = np.vstack([integers, np.where(negative, a, 0.0), np.where(negative, b, 0.0)])
        self._order = np.argsort(pool.ratios, axis=1, kind="stable")
        self._ratios = np.take_along_axis(pool.ratios, self._order, axis=1)
        self._negative = np.count_nonzero(negative, axis=1)
        # in order of ratios: those counted as negative are to be taken off, the others to be added
        sides = np.where(np.arange(pool.n_topics) < self._negative[:, None], -1.0, 1.0)
        self._changes = np.stack([np.take_along_axis(a, self._order, axis=1), b[self._order]], axis=1)
        self._changes *= sides[:, None, :]

    def zrisk(self, sums: FloatArray, shares: FloatArray, counts: Counts) -> FloatArray:
        """See ``Terms``."""
        k = self._systems
        all_a, all_b = sums[:k], sums[k]
        negative_a, negative_b = sums[k + 1 : 2 * k + 1], sums[2 * k + 1 :]
        for system, share in enumerate(shares):
            self._cross(system, share, counts, negative_a[system], negative_b[system])
        roots = np.sqrt(np.where(shares > 0, shares, 1.0))
        unit_a, unit_b = self._units[:-1], self._units[-1]
        z = all_a * unit_a / roots - all_b * unit_b * roots
        losses = negative_a * unit_a / roots - negative_b * unit_b * roots
        return np.stack([z + alpha * losses for alpha in self._alphas])

    def _cross(self, system: int, share: FloatArray, counts: Counts, a: FloatArray, b: FloatArray) -> None:
        """Put right the sums of negative z where rho has passed a topic's ratio."""
        own = int(self._negative[system])
        negative = np.searchsorted(self._ratios[system], share, side="left").astype(np.uint32)
        first, last = min(own, int(np.min(negative))), max(own, int(np.max(negative)))
        if first == last:
            return
        crossed = np.arange(first, last, dtype=np.uint32)[:, None] < negative
        np.logical_not(crossed[: own - first], out=crossed[: own - first])
        drawn = counts[self._order[system, first:last]]
        drawn *= crossed.view(np.uint8)
        changes = self._changes[system, :, first:last] @ drawn.astype(np.float64)
        a += changes[0]
        b += changes[1]


class SmoothTerms:
    """The cubic s(x - e)/sqrt(e) is a polynomial in rho, over sqrt(rho): signs do not matter."""

    def __init__(self, pool: Pool) -> None:
        self._systems = pool.n_systems
        exact = ExactColumns.of(np.vstack(smooth_coefficients(pool)).T)
        self.columns, self._units = exact.integers.T.copy(), exact.units[:, None]

    def zrisk(self, sums: FloatArray, shares: FloatArray, counts: Counts) -> FloatArray:  # noqa: ARG002 - no signs
        """See ``Terms``."""
        k = self._systems
        constant, first, second, third = np.split(sums * self._units, [k, 2 * k, 3 * k])
        safe = np.where(shares > 0, shares, 1.0)
        polynomial = ((third * safe + second) * safe + first) * safe + constant
        return np.asarray(polynomial / np.sqrt(safe))[None]
