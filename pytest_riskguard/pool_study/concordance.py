"""Whether baselines agree on the order of systems: Friedman's test, Durbin's, and pairs that change places.

Both tests ask the same question: their null hypothesis is that every order of the systems is equally likely under
every baseline. So a small p says that baselines *agree* more than chance would have them, not that they differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from pytest_riskguard.pool_study.bias import places, ranks
from pytest_riskguard.risk.checks import FloatArray


@dataclass(frozen=True)
class RankTest:
    """A test of ranks that several baselines give the same systems.

    Attributes
    ----------
    statistic, p_value : float
        Chi-squared with n_systems - 1 degrees of freedom, large when baselines agree.
    concordance : float
        The statistic as a share of what it is when all baselines give one order: Kendall's W, from 0 to 1.
    """

    statistic: float
    p_value: float
    concordance: float


def friedman_test(values: npt.ArrayLike) -> RankTest | None:
    """Friedman's test as ECIR 2014 used it: systems are treatments, baselines blocks, the baseline's own 0 ranks too.

    A baseline has URisk 0 against itself, which is above that of every system with a risk. So each system comes first
    once, whatever it is worth, and baselines look less of one mind than they are: on ECIR 2014's Table 2 this gives
    p = 0.0003, as printed, and W = 0.49, where ``durbin_test`` finds W = 0.87.

    Parameters
    ----------
    values : array, shape (n_systems, n_baselines)
        URisk, higher is better; the diagonal counts.

    Returns
    -------
    RankTest or None
        None for fewer than three systems or two baselines, and where every baseline has all systems equal.

    Raises
    ------
    ValueError
        Not two axes, or a NaN.

    References
    ----------
    M. Friedman, "The use of ranks to avoid the assumption of normality implicit in the analysis of variance", Journal
    of the American Statistical Association 32, 1937; with the correction for ties of W. J. Conover, "Practical
    nonparametric statistics", 3rd edition 1999, section 5.8.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"values must have two axes (systems, baselines), got shape {values.shape}")
    if np.any(np.isnan(values)):
        raise ValueError("values must be numbers, got nan")
    systems, blocks = values.shape
    if systems < 3 or blocks < 2:
        return None
    table = np.column_stack([places(column) for column in values.T])
    between = float(np.sum((table.sum(axis=1) - blocks * (systems + 1) / 2) ** 2))
    return _test(systems, table, between, highest=blocks**2 * systems * (systems**2 - 1) / 12)


def durbin_test(values: npt.ArrayLike) -> RankTest | None:
    """Durbin's test: Friedman's for incomplete blocks, here without each baseline's place in its own ranking.

    Each baseline ranks the other n - 1 systems, so any two systems meet under n - 2 baselines: a balanced incomplete
    block design, which is what this test is for.

    Parameters
    ----------
    values : array, shape (n_systems, n_systems)
        Higher is better, rows are systems and columns baselines; the diagonal is not looked at.

    Returns
    -------
    RankTest or None
        None for fewer than three systems, and where every baseline has all systems equal.

    Raises
    ------
    ValueError
        Not square, or a NaN off the diagonal.

    References
    ----------
    W. J. Conover, "Practical nonparametric statistics", 3rd edition 1999, section 5.9, with ties as there.
    """
    table = ranks(values)
    n = len(table)
    if n < 3:
        return None
    # of n - 1 places each system takes n - 1, whose mean is n/2
    between = float(np.sum((np.nansum(table, axis=1) - (n - 1) * n / 2) ** 2))
    # with one order, the rank sums of neighbours are n - 2 apart
    return _test(n, table, between, highest=(n - 2) ** 2 * n * (n**2 - 1) / 12)


def _test(systems: int, table: FloatArray, between: float, *, highest: float) -> RankTest | None:
    """The statistic from the spread of rank sums and that of the ranks themselves, whatever is tied in them."""
    within = float(np.nansum((table - np.nanmean(table, axis=0)) ** 2))
    if within == 0:
        return None
    places_taken = np.count_nonzero(~np.isnan(table[:, 0]))
    blocks = table.shape[1]
    untied = blocks * places_taken * (places_taken**2 - 1) / 12
    statistic = (systems - 1) * between / within
    concordance = float(between / highest * untied / within)
    return RankTest(statistic, float(chdtrc(systems - 1, statistic)), concordance)


def changing_pairs(table: npt.ArrayLike) -> int:
    """How many pairs of systems have one before the other under a baseline, and after it under another.

    Parameters
    ----------
    table : array, shape (n_systems, n_systems)
        Places, as ``ranks`` gives them.

    Returns
    -------
    int
        Of n (n - 1) / 2 pairs. A tie is on neither side.
    """
    table = np.asarray(table, dtype=np.float64)
    before = np.zeros((len(table), len(table)), dtype=bool)
    for column in table.T:
        before |= column[:, None] < column[None, :]  # false for NaN: the baseline is before and after nobody
    return int(np.count_nonzero(before & before.T)) // 2
