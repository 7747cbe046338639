"""Scores of several systems on the same topics, taken apart so that the z of any replicate are sums of their parts.

With S_i the sum of system i, N that of all and T_j the sum of topic j over systems the expected score is
e_ij = rho_i T_j where rho_i = S_i/N. Drawing topics with replacement changes rho_i but never T_j, so

    z_ij = (x_ij - e_ij)/sqrt(e_ij) = a_ij/sqrt(rho_i) - b_j sqrt(rho_i),    a_ij = x_ij/sqrt(T_j), b_j = sqrt(T_j),

which is negative where x_ij/T_j < rho_i.

References
----------
B. T. Dinçer, C. Macdonald, I. Ounis, "Risk-sensitive evaluation and learning to rank using multiple baselines",
SIGIR 2016 (z, ZRisk and GeoRisk); R. Benham, A. Moffat, J. S. Culpepper, "On the pluses and minuses of risk", AIRS
2019 (the smooth trade-off).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from pytest_riskguard.risk.checks import MAX_SIZE, FloatArray, loss_weight
from pytest_riskguard.risk.tradeoff import KINDS, SMOOTH, SMOOTH_ALPHA


@dataclass(frozen=True)
class Pool:
    """Scores of several systems on the same topics, with what their z-scores are made of.

    Attributes
    ----------
    scores : array, shape (n_systems, n_topics)
        In units of the measure, at least 0.
    totals : array, shape (n_topics,)
        T_j, rounded once, so that the order of systems cannot move it.
    ratios : array, shape (n_systems, n_topics)
        x_ij/T_j; infinite for a topic that nobody answered, whose z are 0.
    a : array, shape (n_systems, n_topics)
    b : array, shape (n_topics,)
        The two parts of z.
    """

    scores: FloatArray
    totals: FloatArray
    ratios: FloatArray
    a: FloatArray
    b: FloatArray

    @classmethod
    def of(cls, scores: npt.ArrayLike) -> Pool:
        """Check the scores, shape (n_systems, n_topics).

        Raises
        ------
        ValueError
            Not two axes, fewer than two systems, no topic, a score that is not finite, negative or beyond 1e100.
        """
        x = np.array(scores, dtype=np.float64)
        if x.ndim != 2:
            raise ValueError(f"scores must have two axes (systems, topics), got shape {x.shape}")
        if x.shape[0] < 2 or x.shape[1] < 1:
            raise ValueError(
                f"scores must be those of two systems at least, on one topic at least, got shape {x.shape}"
            )
        if not np.all(np.isfinite(x)):
            raise ValueError(f"scores must be finite, got {x[~np.isfinite(x)][0]}")
        if np.any(x < 0):
            raise ValueError(f"scores must not be negative, for z divides by a root of their sums; got {x[x < 0][0]}")
        if np.any(x > MAX_SIZE):
            raise ValueError(f"scores must not exceed {MAX_SIZE:g}, got {x[x > MAX_SIZE][0]}")
        totals = np.array([math.fsum(topic) for topic in x.T.tolist()])
        answered = totals > 0
        divisors = np.where(answered, totals, 1.0)
        return cls(x, totals, np.where(answered, x / divisors, np.inf), x / np.sqrt(divisors), np.sqrt(totals))

    @property
    def n_systems(self) -> int:
        """Systems in the pool."""
        return int(self.scores.shape[0])

    @property
    def n_topics(self) -> int:
        """Topics, those that nobody answered included: c of the formulas."""
        return int(self.scores.shape[1])


def checked_alphas(pool: Pool, alphas: Sequence[float], tradeoff: str) -> FloatArray:
    """Loss weights that go with the trade-off.

    Raises
    ------
    ValueError
        No alpha, one that is negative or not finite; an unknown trade-off; smooth with an alpha other than 1 or a
        score above 1.
    """
    if tradeoff not in KINDS:
        raise ValueError(f"tradeoff must be one of {', '.join(KINDS)}, got {tradeoff!r}")
    checked = np.array([loss_weight(alpha) for alpha in alphas])
    if checked.size == 0:
        raise ValueError("expected at least one alpha, got none")
    if tradeoff == "smooth":
        if np.any(checked != SMOOTH_ALPHA):
            raise ValueError(f"the smooth trade-off has no alpha but {SMOOTH_ALPHA:g}, got {list(alphas)!r}")
        if np.any(pool.scores > 1):
            raise ValueError(f"scores must be from 0 to 1 for the smooth trade-off, got {np.max(pool.scores)}")
    return checked


def georisk_from(means: FloatArray, zrisk: FloatArray, *, n_topics: int) -> FloatArray:
    """``sqrt(mean Phi(ZRisk/c))``: 0 for a system without any score."""
    georisk: FloatArray = np.sqrt(means * ndtr(zrisk / n_topics))
    return georisk


def smooth_coefficients(pool: Pool) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Of s(x - rho T)/sqrt(T), the cubic of AIRS 2019, in ascending powers of rho: one for each topic.

    The first three are those of each system, shape (n_systems, n_topics), the last one, shape (n_topics,), of all.
    """
    cubic, square, plain = SMOOTH
    x, b = pool.scores, pool.b
    return (
        ((cubic * x + square) * x + plain) * pool.a,
        -((3 * cubic * x + 2 * square) * x + plain) * b,
        (3 * cubic * x + square) * b**3,
        -cubic * b**5,
    )
