"""ZRisk of every system of a pool as sums over drawn topics, both trade-offs."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from pytest_riskguard.inference.bootstrap.pool_scores import Pool, smooth_coefficients
from pytest_riskguard.inference.bootstrap.quick_counts import Counts
from pytest_riskguard.inference.bootstrap.resampling import ExactColumns
from pytest_riskguard.risk.checks import FloatArray


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
    """The cubic s(x - e)/sqrt(e) is a polynomial in rho, over sqrt(rho): no sign is asked for."""

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
