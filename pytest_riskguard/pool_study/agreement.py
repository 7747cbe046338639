"""How much two orders of the same systems agree: rank-biased overlap and Kendall's tau.

W. Webber, A. Moffat, J. Zobel, "A similarity measure for indefinite rankings", ACM Transactions on Information
Systems 28(4), 2010. No maintained package has both its bounds and its ties, so the overlap is computed here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.pool_study.bias import places
from pytest_riskguard.risk.checks import FloatArray, per_topic

#: The persistence that papers use: the top ten systems have 86 % of the weight.
PHI = 0.9


@dataclass(frozen=True)
class Overlap:
    """Rank-biased overlap of two orders, from 0 to 1.

    Attributes
    ----------
    lower : float
        The overlap if both orders continued with systems that have nothing in common.
    residual : float
        How much further systems could add. Both orders hold the same systems, so the upper bound ``lower + residual``
        is also the extrapolated value, and the overlap of the pool taken as complete.
    """

    lower: float
    residual: float

    @property
    def extrapolated(self) -> float:
        """The overlap if further systems agree completely, as the whole orders do (Eq. 23)."""
        return self.lower + self.residual


def rank_biased_overlap(first: npt.ArrayLike, second: npt.ArrayLike, *, phi: float = PHI) -> Overlap:
    """Rank-biased overlap of two orders of the same systems.

    Parameters
    ----------
    first, second : array, shape (n_systems,)
        The values that order the systems; the highest is at the top. Values within 1e-12 are tied.
    phi : float
        The probability of looking one place further down, above 0 and below 1.

    Raises
    ------
    ValueError
        No system, shapes that differ, a NaN, or ``phi`` out of range.

    References
    ----------
    Webber et al. 2010: Eq. 4, its lower bound Eq. 11 and its residual Eq. 30, for whole orders of the same n systems,
    so X_n = n and f = n.
    """
    if not 0 < phi < 1:
        raise ValueError(f"phi must be above 0 and below 1, got {phi!r}")
    agreements = agreement_by_depth(first, second)
    n = agreements.size
    depths = np.arange(1, n + 1)
    seen = (1 - phi) * math.fsum(phi ** (depths - 1) * agreements)
    # n systems in common at depths d > n: (1 - phi) sum phi^(d-1) n/d, the logarithm's series from term n + 1
    beyond = n * (1 - phi) / phi * (-math.log1p(-phi) - math.fsum(phi**depths / depths))
    beyond = min(max(beyond, 0.0), phi**n)
    return Overlap(seen + beyond, phi**n - beyond)


def agreement_by_depth(first: npt.ArrayLike, second: npt.ArrayLike) -> FloatArray:
    """The share of systems that the tops of two orders have in common, at depths 1 to n_systems.

    Tied systems all take the first of their places, so a top can be longer than its depth: the share is of the mean
    length, ``2 X_d / (|S_d| + |T_d|)`` (section 5.4 of Webber et al.).

    Parameters and errors are those of ``rank_biased_overlap``.
    """
    tops = [_top_places(values, name) for values, name in ((first, "first"), (second, "second"))]
    if tops[0].shape != tops[1].shape:
        raise ValueError(f"first and second differ in shape: {tops[0].shape} and {tops[1].shape}")
    n = tops[0].size
    lengths = [np.cumsum(np.bincount(top, minlength=n + 1))[1:] for top in tops]
    common = np.cumsum(np.bincount(np.maximum(*tops), minlength=n + 1))[1:]
    return 2 * common / (lengths[0] + lengths[1])


def _top_places(values: npt.ArrayLike, name: str) -> npt.NDArray[np.intp]:
    """Places where tied systems all take the first of the places that they share."""
    shared = places(per_topic(values, name=name))
    _, inverse, sizes = np.unique(shared, return_inverse=True, return_counts=True)
    return np.rint(shared - (sizes[inverse] - 1) / 2).astype(np.intp)


def kendall_tau(first: npt.ArrayLike, second: npt.ArrayLike) -> float | None:
    """Kendall's tau-b of two orders, corrected for ties: 1 for the same order, -1 for the reverse.

    None where all systems are tied in an order, so for a single system too. Parameters and errors are those of
    ``rank_biased_overlap``.
    """
    orders = [places(per_topic(values, name=name)) for values, name in ((first, "first"), (second, "second"))]
    if orders[0].shape != orders[1].shape:
        raise ValueError(f"first and second differ in shape: {orders[0].shape} and {orders[1].shape}")
    if any(np.ptp(order) == 0 for order in orders):
        return None
    from scipy.stats import kendalltau  # takes 0.8 s to import

    return float(kendalltau(*orders).statistic)
