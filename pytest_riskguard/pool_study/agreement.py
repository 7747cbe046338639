"""How much orders of the same systems agree.

Two orders: rank-biased overlap and Kendall's tau. The orders under all baselines: Friedman's test, Durbin's, and
pairs that change places. The null hypothesis of both tests is that every order of the systems is equally likely under
every baseline. So a small p-value means that baselines *agree* more than by chance, not that they differ.

W. Webber, A. Moffat, J. Zobel, "A similarity measure for indefinite rankings", ACM Transactions on Information
Systems 28(4), 2010. No maintained package has both its bounds and its ties, so the overlap is computed here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from pytest_riskguard.pool_study.bias import places, ranks
from pytest_riskguard.risk.checks import FloatArray, between_0_and_1, per_topic

#: The persistence that papers use: the top ten systems have 86 % of the weight.
PHI = 0.9


@dataclass(frozen=True)
class Overlap:
    """Rank-biased overlap of two orders, from 0 to 1.

    ``lower`` is the overlap if both orders continued with systems that have nothing in common, ``residual`` how much
    further systems could add.
    """

    lower: float
    residual: float


def rank_biased_overlap(first: npt.ArrayLike, second: npt.ArrayLike, *, phi: float = PHI) -> Overlap:
    """Rank-biased overlap of two orders of the same systems.

    ValueError with no system, shapes that differ, a NaN, or ``phi`` out of range.

    Parameters
    ----------
    first, second : array, shape (n_systems,)
        The values that order the systems; the highest is at the top. Values within 1e-12 are tied.
    phi : float
        The probability of looking one place further down, in (0, 1).

    References
    ----------
    Webber et al. 2010: Eq. 4, its lower bound Eq. 11 and its residual Eq. 30, for whole orders of the same n systems,
    so X_n = n and f = n.
    """
    between_0_and_1(phi, name="phi")
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


@dataclass(frozen=True)
class RankTest:
    """A test of the ranks that several baselines give the same systems.

    ``statistic`` is chi-squared with n_systems - 1 degrees of freedom, large when baselines agree. ``concordance`` is
    Kendall's W, from 0 to 1: the statistic as a share of its value when all baselines give the same order.
    """

    statistic: float
    p_value: float
    concordance: float


def friedman_test(values: npt.ArrayLike) -> RankTest | None:
    """Friedman's test as in ECIR 2014: systems are treatments, baselines are blocks, and the diagonal is ranked too.

    A baseline has URisk 0 against itself, more than any system with a risk. So each system comes first once, however
    bad it is, and baselines seem to agree less than they do: Table 2 of ECIR 2014 gives p = 0.0003, as printed, and W
    = 0.49, but ``durbin_test`` gives W = 0.87. Computed by ``scipy.stats.friedmanchisquare``, corrected for ties.

    ``values``, shape (n_systems, n_baselines), are URisk, higher is better; values within 1e-12 are tied. ValueError
    with a NaN or another shape. None for fewer than three systems or two baselines, and where all systems are equal
    under every baseline.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"values must have two axes (systems, baselines), got shape {values.shape}")
    if np.any(np.isnan(values)):
        raise ValueError("values must be numbers, got nan")
    systems, baselines = values.shape
    if systems < 3 or baselines < 2:
        return None
    table = np.column_stack([places(column) for column in values.T])
    if np.ptp(table) == 0:
        return None
    from scipy.stats import friedmanchisquare  # takes 0.8 s to import

    test = friedmanchisquare(*table)
    statistic = float(test.statistic)
    return RankTest(statistic, float(test.pvalue), statistic / (baselines * (systems - 1)))


def durbin_test(values: npt.ArrayLike) -> RankTest | None:
    """Durbin's test: Friedman's for incomplete blocks, here without each baseline's place in its own ranking.

    Each baseline ranks the other n - 1 systems, so any two systems meet under n - 2 baselines: a balanced incomplete
    block design. None for fewer than three systems, and where all are equal under every baseline. ``values`` and
    errors are those of ``ranks``.

    References
    ----------
    W. J. Conover, "Practical nonparametric statistics", 3rd edition 1999, section 5.9, with ties as there.
    """
    table = ranks(values)
    n = len(table)
    if n < 3:
        return None
    centred = table - n / 2  # the mean of the places 1 to n - 1
    within = float(np.nansum(centred**2))
    if within == 0:
        return None
    between = float(np.sum(np.nansum(centred, axis=1) ** 2))
    statistic = (n - 1) * between / within
    # with the same order everywhere the rank sums of neighbours are n - 2 apart
    concordance = n * between / ((n - 2) * (n + 1) * within)
    return RankTest(statistic, float(chdtrc(n - 1, statistic)), concordance)


def changing_pairs(table: npt.ArrayLike) -> int:
    """Count the pairs of systems, of n (n - 1) / 2, whose order under one baseline is reversed under another.

    The table is one of ``ranks``; a tie is in neither order.
    """
    table = np.asarray(table, dtype=np.float64)
    before = np.zeros((len(table), len(table)), dtype=bool)
    for column in table.T:
        before |= column[:, None] < column[None, :]  # False for the NaN of the baseline itself
    return int(np.count_nonzero(before & before.T)) // 2
