"""Statistics of a pool in which each system is the baseline of the others: correlations, risks and ranks.

B. T. Dinçer, I. Ounis, C. Macdonald, "Tackling biased baselines in the risk-sensitive evaluation of retrieval
systems", ECIR 2014: a baseline favours systems whose scores rise and fall over topics as its own do. In every matrix
of this module, rows are judged systems and columns are the baselines that they are judged against.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from pytest_riskguard.risk import trisk
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, systems_by_topics


def correlations(scores: npt.ArrayLike) -> FloatArray:
    """Pearson's correlation over topics between all pairs of systems: symmetric, from -1 to 1.

    The row and the column of a system that scores the same on every topic are NaN, the diagonal included. ``scores``,
    shape (n_systems, n_topics), are in units of the measure; at least two systems and one topic, finite (else
    ValueError).
    """
    scores = systems_by_topics(scores)
    sizes = np.maximum(1.0, np.max(np.abs(scores), axis=1))
    varying = np.flatnonzero(np.ptp(scores, axis=1) > ROUNDING_ERROR * sizes)
    matrix = np.full((len(scores), len(scores)), np.nan)
    matrix[np.ix_(varying, varying)] = np.corrcoef(scores[varying])
    matrix = np.asarray((matrix + matrix.T) / 2)
    matrix[np.abs(matrix - 1) <= ROUNDING_ERROR] = 1.0  # exact for a system with itself or with its equal
    return matrix


@dataclass(frozen=True, eq=False)
class EveryBaseline:
    """Risk of all systems against all, shape (n_systems, n_systems): rows are judged, columns are baselines.

    ``urisk`` is in units of the measure, 0 on the diagonal; ``trisk`` is that over its standard error, NaN where the
    trade-off scores do not vary, as on the diagonal.
    """

    urisk: FloatArray
    trisk: FloatArray


def every_baseline(scores: npt.ArrayLike, *, alpha: float) -> EveryBaseline:
    """URisk and TRisk of every system against every system as the baseline (ECIR 2014, Table 2).

    Scores are those of ``correlations``, of either sign; alpha is at least 0; the trade-off is linear.
    """
    scores = systems_by_topics(scores)
    shape = len(scores), len(scores)
    tests = [trisk(system - baseline, alpha=alpha) for system, baseline in product(scores, scores)]
    return EveryBaseline(
        np.array([test.estimate for test in tests]).reshape(shape),
        np.array([test.statistic for test in tests], dtype=np.float64).reshape(shape),
    )


def sortable_trisk(risks: EveryBaseline) -> FloatArray:
    """TRisk with a value for every pair: without variation 0 for equal systems, infinite for others, signed as URisk.

    So a system that is worse than its baseline by the same amount on every topic comes after all those that vary.
    """
    limits: FloatArray = np.where(np.abs(risks.urisk) <= ROUNDING_ERROR, 0.0, np.copysign(np.inf, risks.urisk))
    return np.where(np.isnan(risks.trisk), limits, risks.trisk)


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


def places(values: npt.ArrayLike) -> FloatArray:
    """Places from the highest value (1) to the lowest; values within 1e-12 of a neighbour share their mean place."""
    values = np.asarray(values, dtype=np.float64)
    order = np.argsort(-values, kind="stable")
    falling = values[order]
    with np.errstate(invalid="ignore"):  # inf - inf is NaN, and the two are tied
        gaps = (falling[:-1] - falling[1:] > ROUNDING_ERROR) & (falling[:-1] != falling[1:])
    groups = np.concatenate([[0], np.cumsum(gaps)])
    sizes = np.bincount(groups)
    shared = np.cumsum(sizes) - (sizes - 1) / 2
    ranked = np.empty(values.size)
    ranked[order] = shared[groups]
    return ranked


#: The persistence that papers use: the top ten systems have 86 % of the weight.
PHI = 0.9


def rank_biased_overlap(first: npt.ArrayLike, second: npt.ArrayLike, *, phi: float = PHI) -> tuple[float, float]:
    """Rank-biased overlap of two orders of the same systems, from 0 to 1: its lower bound, and the residual.

    The bound is the overlap if both orders continued with systems that have nothing in common, the residual how much
    further systems could add.

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
    agreements = agreement_by_depth(first, second)
    n = agreements.size
    depths = np.arange(1, n + 1)
    seen = (1 - phi) * math.fsum(phi ** (depths - 1) * agreements)
    # n systems in common at depths d > n: (1 - phi) sum phi^(d-1) n/d, the logarithm's series from term n + 1
    beyond = n * (1 - phi) / phi * (-math.log1p(-phi) - math.fsum(phi**depths / depths))
    beyond = min(max(beyond, 0.0), phi**n)
    return seen + beyond, phi**n - beyond


def agreement_by_depth(first: npt.ArrayLike, second: npt.ArrayLike) -> FloatArray:
    """The share of systems that the tops of two orders have in common, at depths 1 to n_systems.

    Tied systems all take the first of their places, so a top can be longer than its depth: the share is of the mean
    length, ``2 X_d / (|S_d| + |T_d|)`` (section 5.4 of Webber et al.).

    Parameters are those of ``rank_biased_overlap``.
    """
    tops = [_top_places(first), _top_places(second)]
    n = tops[0].size
    lengths = [np.cumsum(np.bincount(top, minlength=n + 1))[1:] for top in tops]
    common = np.cumsum(np.bincount(np.maximum(*tops), minlength=n + 1))[1:]
    return 2 * common / (lengths[0] + lengths[1])


def _top_places(values: npt.ArrayLike) -> npt.NDArray[np.intp]:
    """Places where tied systems all take the first of the places that they share."""
    shared = places(values)
    _, inverse, sizes = np.unique(shared, return_inverse=True, return_counts=True)
    return np.rint(shared - (sizes[inverse] - 1) / 2).astype(np.intp)


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
