"""Many tests at once: p-values adjusted for their number, and the threshold that each then meets.

References
----------
S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57
(1995).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.checks import FloatArray, between_0_and_1


def holm(p_values: npt.ArrayLike | Sequence[float]) -> FloatArray:
    """P-values adjusted by Holm's method: rejecting those up to a keeps the chance of any false rejection below a.

    The p-value of rank i among k, lowest first, becomes the largest of ``(k - j + 1) p_j`` over ranks j up to i, and
    at most 1. It holds for any dependence between tests. ``p_values``, shape (n_tests,), are in any order, which the
    result keeps. ValueError with none, a second axis, or one outside [0, 1].
    """
    p = _checked(p_values)
    order = np.argsort(p, kind="stable")
    factors = np.arange(p.size, 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return adjusted


def benjamini_hochberg(p_values: npt.ArrayLike | Sequence[float]) -> FloatArray:
    """P-values adjusted by Benjamini and Hochberg: rejecting those up to a keeps the false discovery rate below a.

    The p-value of rank i among k, lowest first, becomes the smallest of ``k p_j / j`` over ranks j from i, and 1 at
    the most. It holds for independent tests, and for tests that are positively dependent, as gates on the same topics
    mostly are. Parameters and errors are those of ``holm``.
    """
    from scipy.stats import false_discovery_control  # takes half a second to import

    return np.asarray(false_discovery_control(_checked(p_values)))


def effective_levels(
    p_values: npt.ArrayLike | Sequence[float], *, level: float = 0.95, correction: str = "holm"
) -> FloatArray:
    """The significance threshold that each test meets once the others are known: above 0, at most ``1 - level``.

    An interval at level ``1 - a_i`` then decides as the adjusted p-value does: ``p_i <= a_i`` exactly where the
    adjusted p-value is at most ``1 - level``. Where rounding would separate the two, the threshold moves by one
    unit in the last place.

    Holm: a rejected test of rank i among k has ``(1 - level)/(k - i + 1)``, all others have the threshold of the
    first that is not rejected; equal p-values have the rank of their first. Benjamini-Hochberg: with K rejected, all
    have ``max(K, 1)(1 - level)/k``.

    Parameters
    ----------
    p_values : array, shape (n_tests,)
        As for ``holm``; two-sided where the intervals are.
    level : float
        Confidence of each interval without correction, in (0, 1).
    correction : {"holm", "benjamini_hochberg"}
    """
    between_0_and_1(level, name="level")
    if correction not in _ADJUSTED:
        raise ValueError(f"correction must be one of {', '.join(_ADJUSTED)}, got {correction!r}")
    p = _checked(p_values)
    rejected = _ADJUSTED[correction](p) <= 1 - level
    count = int(np.count_nonzero(rejected))
    if correction == "holm":
        # rank of the first of equal p-values, less 1; for tests not rejected, that of the first of them
        ranks = np.minimum(np.searchsorted(np.sort(p), p, side="left"), count)
        thresholds = (1 - level) / (p.size - np.minimum(ranks, p.size - 1))
    else:
        thresholds = np.full(p.size, max(count, 1) * (1 - level) / p.size)
    return np.where(rejected, np.maximum(thresholds, p), np.minimum(thresholds, np.nextafter(p, 0.0)))


_ADJUSTED: dict[str, Callable[[npt.ArrayLike], FloatArray]] = {"holm": holm, "benjamini_hochberg": benjamini_hochberg}


def _checked(p_values: npt.ArrayLike | Sequence[float]) -> FloatArray:
    given = np.asarray(p_values, dtype=object)
    if given.ndim != 1:
        raise ValueError(f"p-values must have one axis (tests), got shape {given.shape}")
    if given.size == 0:
        raise ValueError("expected at least one p-value, got none")
    for number, p in enumerate(given.tolist()):
        if p is None or not (math.isfinite(p) and 0 <= p <= 1):
            raise ValueError(f"p-values must be numbers from 0 to 1, got {p!r} at position {number}")
    return np.asarray(given, dtype=np.float64)
