"""GeoRisk in resamples of very many topics: those that matter most are drawn, sums over the others are normal.

GeoRisk depends on topics through the sums of ``georisk_resampling``. In a resample of n topics with columns v_j and
their mean m, such a sum is n m + sum_j (w_j - 1)(v_j - m), whose first three cumulants are the same whether counts
w_j are multinomial or independent Poisson counts of mean 1. So the H topics that move the statistic most get Poisson
counts, and the sum over all others is drawn from the normal law with its covariance: the work depends on H and not
on n.

What is lost is the skewness of the normal part. No topic in it weighs more than the lightest of the H, so its third
cumulant is at most 1/sqrt(H) of that of a single topic with the same variance: a 95 % limit moves by at most
(1.96^2 - 1)/(6 sqrt(H)) standard errors, 0.01 for any data, and far less for most. GeoRisk itself is computed from
the sums as it is: curvature, clipping and the signs of z are not approximated by a normal law.

References
----------
P. Hall, "The Bootstrap and Edgeworth Expansion", Springer 1992, section 3.3 (skewness and limits).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference._bootstrap.georisk_resampling import Pool, PoolKernel
from pytest_riskguard.inference._bootstrap.replicates import (
    SEED,
    Draws,
    ExactColumns,
    next_words,
    poisson_counts,
    poisson_mean,
)
from pytest_riskguard.risk.checks import BoolArray, FloatArray, IntArray
from pytest_riskguard.risk.distributions import ndtri

#: Pools of more topics than this are resampled by this module.
MANY_TOPICS = 50_000
#: Topics whose counts are drawn.
HEAVY = 2048
#: Replicates drawn at once, and topics whose products are summed at once.
ROWS, BLOCK = 2048, 4096
#: Whole numbers up to this, so that sums of a block of their products are exact; and digits of drawn normal deviates.
PRODUCT_SIZE, DEVIATE_UNIT, FACTOR_SIZE = 2.0**19, 2.0**-18, 2.0**20
#: A column with less than this share of its variance left is a sum of the others.
NOTHING_LEFT = 1e-12


def heaviest(influence: FloatArray) -> IntArray:
    """The places of the topics with the largest share in any of several statistics, ascending.

    ``influence``, shape (n_statistics, n_topics), is in units of each statistic.
    """
    centred = np.abs(influence - np.mean(influence, axis=1, keepdims=True))
    lengths = np.sqrt(np.sum(centred**2, axis=1, keepdims=True))
    share = np.max(centred / np.where(lengths > 0, lengths, 1.0), axis=0)
    return np.sort(np.argsort(-share, kind="stable")[:HEAVY])


def georisk_replicates(
    pool: Pool,
    influence: FloatArray,
    *,
    alphas: Sequence[float],
    tradeoff: str,
    replicates: int,
    draws: Draws | None = None,
) -> Iterator[FloatArray]:
    """GeoRisk of shape (n_alphas, n_systems, rows), chunk after chunk, by whichever kernel a pool of this size needs.

    ``influence`` is as for ``heaviest``, ``draws`` as for ``PoolKernel.drawn``; small and large pools need one each.
    """
    if pool.n_topics > MANY_TOPICS:
        yield from LargePoolKernel(pool, heaviest(influence), alphas=alphas, tradeoff=tradeoff).drawn(replicates)
        return
    for georisk, _ in PoolKernel(pool, alphas=alphas, tradeoff=tradeoff).drawn(replicates, draws=draws):
        yield georisk


class LargePoolKernel:
    """Replicates of a pool as ``PoolKernel`` gives them, of which only some topics are drawn one by one.

    Nothing depends on the number of threads: products are sums of whole numbers that are never rounded.
    """

    def __init__(self, pool: Pool, heavy: IntArray, *, alphas: Sequence[float], tradeoff: str = "linear") -> None:
        self._kernel = PoolKernel(pool, alphas=alphas, tradeoff=tradeoff)
        self._topics = pool.n_topics
        columns = self._kernel.columns
        self._sums = np.array([np.add.reduce(row) for row in columns])
        means = (self._sums / pool.n_topics)[:, None]
        own = ExactColumns.of((columns[:, heavy] - means).T)
        self._heavy, self._units = own.integers.T.copy(), own.units[:, None]
        self._expected = poisson_mean() * np.add.reduce(self._heavy, axis=1)[:, None]
        light = np.ones(pool.n_topics, dtype=np.bool_)
        light[heavy] = False
        self._factor, self._factor_units = _whole(_factor(_covariance(columns, means, light)))

    def drawn(self, replicates: int) -> Iterator[FloatArray]:
        """GeoRisk of shape (n_alphas, n_systems, rows), chunk after chunk, the same for every pool of this size."""
        for chunk in range(-(-replicates // ROWS)):
            rows = min(ROWS, replicates - chunk * ROWS)
            generator = np.random.SFC64(np.random.SeedSequence((SEED, chunk, HEAVY)))
            count = self._heavy.shape[1]
            halves = next_words(generator, -(-HEAVY * ROWS // 4)).view("<u2")[: count * ROWS].reshape(count, ROWS)
            deviates = _deviates(next_words(generator, self._factor.shape[1] * ROWS), self._factor.shape[1])
            moved = (self._heavy @ poisson_counts(halves).astype(np.float64) - self._expected) * self._units
            moved += (self._factor @ deviates) * (self._factor_units * DEVIATE_UNIT)
            yield self._kernel.from_sums((self._sums[:, None] + moved)[:, :rows])


def _deviates(words: npt.NDArray[np.uint64], rank: int) -> FloatArray:
    """Normal deviates as whole numbers, in units of ``DEVIATE_UNIT``: shape (rank, ROWS)."""
    uniform = ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return np.asarray(np.rint(ndtri(uniform) / DEVIATE_UNIT)).reshape(rank, ROWS)


def _covariance(columns: FloatArray, means: FloatArray, light: BoolArray) -> FloatArray:
    """Sums of products of the columns less their means over the topics of the normal part: (n_columns, n_columns)."""
    size = np.maximum(np.max(columns, axis=1, keepdims=True) - means, means - np.min(columns, axis=1, keepdims=True))
    units = np.where(size > 0, size / PRODUCT_SIZE, 1.0)
    total = np.zeros((len(columns), len(columns)))
    for start in range(0, columns.shape[1], BLOCK):
        part = slice(start, start + BLOCK)
        whole = np.rint((columns[:, part] - means) / units) * light[part]
        total += whole @ whole.T
    return np.asarray(total * units * units.T)


def _factor(covariance: FloatArray) -> FloatArray:
    """A matrix L with L L' = covariance, by Cholesky's method with pivots: (n_columns, rank).

    Element by element, so that the order of systems moves nothing but rows.
    """
    scale = np.sqrt(np.diag(covariance))
    safe = np.where(scale > 0, scale, 1.0)
    left = covariance / safe[:, None] / safe
    parts: list[FloatArray] = []
    while len(parts) < len(left):
        shares = np.diag(left)
        pivot = int(np.argmax(np.where(shares > NOTHING_LEFT, shares * scale**2, 0.0)))  # not the first of equals
        if not left[pivot, pivot] > NOTHING_LEFT:
            break
        parts.append(left[:, pivot] / np.sqrt(left[pivot, pivot]))
        left = left - np.outer(parts[-1], parts[-1])
    return np.stack(parts, axis=1) * scale[:, None] if parts else np.zeros((len(left), 0))


def _whole(factor: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The factor as whole numbers and the unit of each row."""
    largest = np.max(np.abs(factor), axis=1, initial=0.0, keepdims=True)
    units = np.where(largest > 0, largest / FACTOR_SIZE, 1.0)
    return np.rint(factor / units), units
