"""How further topics are best divided among strata."""

from __future__ import annotations

import heapq
import math

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.checks import FloatArray, IntArray

#: More topics than this are not divided one by one.
MOST = 1_000_000


def neyman(counts: npt.ArrayLike, shares: npt.ArrayLike, deviations: npt.ArrayLike, *, more: int) -> IntArray:
    """How many of ``more`` topics each stratum gets, so that the mean over all queries has the least variance.

    That is sum W^2 s^2/n over strata. Each topic goes where it lowers the variance most, by W^2 s^2/(n (n + 1)).
    Since what another topic adds never grows, no other division is better. Equal strata are served in their order.
    Where nothing varies, topics are divided by the shares alone.

    Parameters
    ----------
    counts : array, shape (n_strata,)
        Topics that each stratum has already, at least 0.
    shares, deviations : array, shape (n_strata,)
        W, how much of all queries a stratum is, above 0; and s, its standard deviation, in any unit, at least 0.
    more : int
        Topics to divide, from 0 to a million; ValueError for any other number and for arrays that do not fit.

    References
    ----------
    J. Neyman, "On the two different aspects of the representative method", Journal of the Royal Statistical Society
    97 (1934); in whole numbers T. Wright, "The equivalence of Neyman optimum allocation for sampling and equal
    proportions for apportioning the U.S. House of Representatives", The American Statistician 66 (2012).
    """
    sizes = np.asarray(counts, dtype=np.int64)
    weights, spreads = np.asarray(shares, dtype=np.float64), np.asarray(deviations, dtype=np.float64)
    if not sizes.shape == weights.shape == spreads.shape or sizes.ndim != 1 or sizes.size == 0:
        raise ValueError(f"expected one number for each stratum, got {sizes.shape}, {weights.shape}, {spreads.shape}")
    if not 0 <= more <= MOST:
        raise ValueError(f"more must be from 0 to {MOST:,}, got {more}")
    if not (np.all(sizes >= 0) and np.all(weights > 0) and np.all((spreads >= 0) & np.isfinite(spreads))):
        raise ValueError("expected counts of at least 0, shares above 0 and finite deviations of at least 0")
    needs = weights * (spreads if np.any(spreads > 0) else np.ones(sizes.size))
    given = np.zeros(sizes.size, dtype=np.int64)
    start = zip(needs.tolist(), sizes.tolist(), strict=True)
    queue = [(-_gain(need, size), place) for place, (need, size) in enumerate(start)]
    heapq.heapify(queue)
    for _ in range(more):
        _, place = queue[0]
        given[place] += 1
        heapq.heapreplace(queue, (-_gain(needs[place], int(sizes[place] + given[place])), place))
    return given


def _gain(need: float, size: int) -> float:
    """What another topic takes from the variance; the first one of a stratum takes all."""
    if size == 0:
        return math.inf if need > 0 else 0.0
    return need * need / (size * (size + 1))


def stratified_error(counts: npt.ArrayLike, shares: npt.ArrayLike, deviations: npt.ArrayLike) -> float:
    """The standard error of the sum of strata's means times their shares; arrays are as for ``neyman``."""
    sizes, weights, spreads = (np.asarray(each, dtype=np.float64) for each in (counts, shares, deviations))
    terms: FloatArray = (weights * spreads) ** 2 / sizes
    return math.sqrt(math.fsum(terms.tolist()))
