"""Do several baselines give the same systems the same order? Ranks under each baseline, and tests of them.

In every matrix, rows are judged systems and columns are the baselines that they are judged against.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from pytest_riskguard.risk.checks import FloatArray
from pytest_riskguard.studies.pool import places


def ranks(values: npt.ArrayLike) -> FloatArray:
    """Places of the systems under each baseline: 1 is the least risky; ties within 1e-12 share their mean place.

    ``values``, shape (n_systems, n_systems), are as from ``every_baseline``: higher is better. The diagonal is NaN in
    the result: a baseline has no place in its own ranking, as in ECIR 2014's Table 2.
    """
    values = np.asarray(values, dtype=np.float64)
    others = ~np.eye(len(values), dtype=bool)
    table = np.full(values.shape, np.nan)
    for column in range(len(values)):
        rows = others[:, column]
        table[rows, column] = places(values[rows, column])
    return table


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

    ``values``, shape (n_systems, n_baselines), are URisk, higher is better, of at least three systems; values within
    1e-12 are tied. None where all systems are equal under every baseline.
    """
    values = np.asarray(values, dtype=np.float64)
    systems, baselines = values.shape
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
    block design. None where all are equal under every baseline. ``values`` are those of ``ranks``, of at least three
    systems.

    References
    ----------
    W. J. Conover, "Practical nonparametric statistics", 3rd edition 1999, section 5.9, with ties as there.
    """
    table = ranks(values)
    n = len(table)
    centred = table - n / 2  # the mean of the places 1 to n - 1
    within = float(np.nansum(centred**2))
    if within == 0:
        return None
    between = float(np.sum(np.nansum(centred, axis=1) ** 2))
    statistic = (n - 1) * between / within
    # with the same order everywhere the rank sums of neighbours are n - 2 apart
    concordance = min(n * between / ((n - 2) * (n + 1) * within), 1.0)
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
