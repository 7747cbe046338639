"""GeoRisk of every system with each topic left out, without computing any of them anew.

Leaving out a topic changes every rho_i = S_i/N a little. With topics in order of their ratios x_ij/T_j those whose z
is negative come first, so sums over them are cumulated sums, found by bisection: n log n steps for a system.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference._bootstrap.pool_scores import Pool, checked_alphas, georisk_from, smooth_coefficients
from pytest_riskguard.risk.checks import FloatArray


def georisk_left_out(
    scores: npt.ArrayLike | Pool, *, alphas: Sequence[float], tradeoff: str = "linear"
) -> FloatArray:
    """GeoRisk of every system at every alpha, with each topic left out in turn (c is then n - 1).

    Parameters
    ----------
    scores : array, shape (n_systems, n_topics), or Pool
        In units of the measure, at least 0; two systems and two topics at least.
    alphas : sequence of float
        Extra weights of a loss; only 1 with the smooth trade-off.
    tradeoff : {"linear", "smooth"}

    Returns
    -------
    array, shape (n_topics, n_systems, n_alphas)

    Raises
    ------
    ValueError
        A single topic; what ``Pool.of`` and ``checked_alphas`` refuse.
    """
    pool = scores if isinstance(scores, Pool) else Pool.of(scores)
    checked = checked_alphas(pool, alphas, tradeoff)
    n = pool.n_topics
    if n < 2:
        raise ValueError(f"expected at least 2 topics, for one is left out at a time; got {n}")
    sums, total = _sums_without_each(pool.scores), _sums_without_each(pool.totals)
    shares = sums / np.where(total > 0, total, 1.0)
    roots = np.sqrt(np.where(shares > 0, shares, 1.0))
    if tradeoff == "smooth":
        zrisk = _smooth(pool, shares, roots)[None]
    else:
        z = _sums_without_each(pool.a) / roots - _sums_without_each(pool.b) * roots
        losses = np.stack([_losses(pool, system, shares[system], roots[system]) for system in range(pool.n_systems)])
        zrisk = np.stack([z + alpha * losses for alpha in checked])
    return np.ascontiguousarray(georisk_from(sums / (n - 1), zrisk, n_topics=n - 1).transpose(2, 1, 0))


def _sums_without_each(terms: FloatArray) -> FloatArray:
    """Sums over the last axis without each of its places: what comes before plus what comes after.

    Nothing is subtracted, so that a small sum beside a large topic keeps its digits.
    """
    sums = np.zeros(terms.shape)
    sums[..., 1:] += np.cumsum(terms[..., :-1], axis=-1)
    sums[..., :-1] += np.cumsum(terms[..., :0:-1], axis=-1)[..., ::-1]
    return sums


def _losses(pool: Pool, system: int, shares: FloatArray, roots: FloatArray) -> FloatArray:
    """The sum of a system's negative z, with each topic left out."""
    ratios, a = pool.ratios[system], pool.a[system]
    order = np.argsort(ratios, kind="stable")
    negative = np.searchsorted(ratios[order], shares, side="left")
    own = ratios < shares  # the topic left out is among them
    sums_a = np.append(0.0, np.cumsum(a[order]))[negative] - np.where(own, a, 0.0)
    sums_b = np.append(0.0, np.cumsum(pool.b[order]))[negative] - np.where(own, pool.b, 0.0)
    return np.asarray(sums_a / roots - sums_b * roots)


def _smooth(pool: Pool, shares: FloatArray, roots: FloatArray) -> FloatArray:
    """ZRisk by the cubic: its coefficients are those of powers of rho."""
    constant, first, second, third = (_sums_without_each(part) for part in smooth_coefficients(pool))
    return np.asarray((((third * shares + second) * shares + first) * shares + constant) / roots)
