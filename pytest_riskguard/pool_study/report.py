"""Every system of a pool as the baseline of all the others: whether one of them is a fair yardstick."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.pool_study.agreement import kendall_tau, rank_biased_overlap
from pytest_riskguard.pool_study.bias import correlations, every_baseline, ranks, statistics
from pytest_riskguard.pool_study.components import principal_components
from pytest_riskguard.pool_study.concordance import RankTest, changing_pairs, durbin_test, friedman_test
from pytest_riskguard.pool_study.yardstick import YardstickFit, fit_of
from pytest_riskguard.risk.checks import FloatArray, mean
from pytest_riskguard.risk.georisk import georisk, zrisk

#: A pool for which the tables still make sense.
FEWEST_SYSTEMS, MOST_SYSTEMS = 2, 200
#: With two, there is nobody to rank but the other.
FEWEST_RANKED = 3
#: Principal axes whose coordinates are kept.
AXES = 5
#: Rows are systems judged, columns their baselines; None where there is no such number.
Table = tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class Member:
    """One system for one measure.

    Attributes
    ----------
    system : str
    mean : float
        In units of the measure.
    correlation_lowest, correlation_median, correlation_highest : float or None
        Over topics with the other systems; None where its scores, or those of all others, do not vary over topics.
    missing : tuple of str
        Topics that it did not answer; it scores 0 there.
    """

    system: str
    mean: float
    correlation_lowest: float | None
    correlation_median: float | None
    correlation_highest: float | None
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Axes:
    """Principal axes: ``shares`` of all of them, ``coordinates`` of each system on the first five."""

    shares: tuple[float, ...]
    coordinates: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Odd:
    """A baseline that is an odd yardstick for a candidate, both by name."""

    candidate: str
    baseline: str
    fit: YardstickFit


@dataclass(frozen=True)
class Standing:
    """One system at one alpha, against all the others as baselines.

    Attributes
    ----------
    system : str
    urisk_lowest, urisk_median, urisk_highest : float
        Over baselines, in units of the measure.
    place_mean, place_best, place_worst : float or None
        By URisk, 1 is the least risky; None in a pool of two.
    firsts : int
        Baselines under which no other system has a better place.
    zrisk, georisk : float or None
        In the whole pool; None where a score is below 0.
    """

    system: str
    urisk_lowest: float
    urisk_median: float
    urisk_highest: float
    place_mean: float | None
    place_best: float | None
    place_worst: float | None
    firsts: int
    zrisk: float | None
    georisk: float | None


@dataclass(frozen=True)
class Ranking:
    """Places of the systems under every baseline.

    Attributes
    ----------
    by : str
        ``urisk`` or ``trisk``.
    places : Table
        1 is the least risky, equals share the mean of their places; None on the diagonal.
    pairs, pairs_changing : int
        Pairs of systems, and those whose order is another under another baseline.
    friedman, durbin : RankTest or None
        With each baseline's own 0 among the values, as in ECIR 2014, and without; see ``concordance``.
    """

    by: str
    places: Table
    pairs: int
    pairs_changing: int
    friedman: RankTest | None
    durbin: RankTest | None


@dataclass(frozen=True)
class AtAlpha:
    """All systems against all, at one alpha; no ranking in a pool of two."""

    alpha: float
    urisk: Table
    trisk: Table
    standings: tuple[Standing, ...]
    rankings: tuple[Ranking, ...]


@dataclass(frozen=True)
class AtMeasure:
    """All systems against all, for one measure; ``odd`` holds the pairs that go together badly."""

    measure: str | None
    topics: int
    members: tuple[Member, ...]
    correlations: Table
    uncentred: Axes
    centred: Axes
    odd: tuple[Odd, ...]
    alphas: tuple[AtAlpha, ...]


@dataclass(frozen=True)
class Order:
    """An order of the systems: by their mean score (``alpha`` None), or by their mean place at an alpha."""

    measure: str | None
    alpha: float | None


@dataclass(frozen=True)
class Agreement:
    """How far two orders agree.

    Attributes
    ----------
    first, second : Order
    overlap_lower, overlap_residual : float
        Rank-biased overlap at phi 0.9. Their sum is the overlap of the pool taken as complete.
    tau : float or None
        Kendall's tau-b; None where an order has all systems tied.
    """

    first: Order
    second: Order
    overlap_lower: float
    overlap_residual: float
    tau: float | None


@dataclass(frozen=True)
class PoolReport:
    """A pool of systems as each other's yardstick.

    Attributes
    ----------
    systems : tuple of str
        In the order of every row and column.
    qrels : str or None
        Digest of the judgements; None for scores that came without.
    digests : tuple of (str or None)
        Of each system's run or scores.
    measures : tuple of AtMeasure
    agreements : tuple of Agreement
        Between the orders of one measure, and between measures at the same alpha; none in a pool of two.
    """

    systems: tuple[str, ...]
    qrels: str | None
    digests: tuple[str | None, ...]
    measures: tuple[AtMeasure, ...]
    agreements: tuple[Agreement, ...]


def pool_report(
    pools: Sequence[tuple[Sequence[TopicScores], Sequence[tuple[str, ...]]]], *, alphas: Sequence[float]
) -> PoolReport:
    """Each system against each, for each measure and alpha.

    Parameters
    ----------
    pools : sequence of pairs
        For each measure the scores of the systems, on the same topics, and for each system the topics that it did not
        answer. The systems are always the same, in the same order. Scores may be negative: nothing here depends on
        where 0 lies.
    alphas : sequence of float
        Extra weights of a loss, at least 0, no two the same.

    Raises
    ------
    ValueError
        No measure, fewer than two systems or more than 200.
    """
    if not pools:
        raise ValueError("expected scores for at least one measure, found none")
    systems = pools[0][0]
    count = len(systems)
    if not FEWEST_SYSTEMS <= count <= MOST_SYSTEMS:
        raise ValueError(f"a pool has {FEWEST_SYSTEMS} to {MOST_SYSTEMS} systems, got {count}")
    found = [_at_measure(pool, missing, alphas=alphas) for pool, missing in pools]
    return PoolReport(
        systems=tuple(system.name for system in systems),
        qrels=next((system.qrels_digest for system in systems if system.qrels_digest), None),
        digests=tuple(system.digest for system in systems),
        measures=tuple(found),
        agreements=tuple(_agreements(found)) if count >= FEWEST_RANKED else (),
    )


def _at_measure(
    pool: Sequence[TopicScores], missing: Sequence[tuple[str, ...]], *, alphas: Sequence[float]
) -> AtMeasure:
    names = [system.name for system in pool]
    scores = np.array([system.values for system in pool])
    found = correlations(scores)
    return AtMeasure(
        measure=pool[0].measure,
        topics=scores.shape[1],
        members=tuple(
            Member(name, mean(row), *_spread(np.delete(found[i], i)), missing[i])
            for i, (name, row) in enumerate(zip(names, scores, strict=True))
        ),
        correlations=_table(found),
        uncentred=_axes(scores, centred=False),
        centred=_axes(scores, centred=True),
        odd=tuple(_odd(names, found, topics=scores.shape[1])),
        alphas=tuple(_at_alpha(names, scores, alpha) for alpha in alphas),
    )


def _axes(scores: FloatArray, *, centred: bool) -> Axes:
    components = principal_components(scores, centred=centred)
    kept = components.coordinates[:, :AXES].tolist()
    return Axes(tuple(components.shares.tolist()), tuple(tuple(row) for row in kept))


def _odd(names: Sequence[str], found: FloatArray, *, topics: int) -> Iterator[Odd]:
    """The pairs of candidate and baseline that go together badly, the worst first."""
    fits = [
        Odd(candidate, baseline, fit_of(float(found[i, j]), np.delete(found[:, j], [i, j]), topics=topics))
        for i, candidate in enumerate(names)
        for j, baseline in enumerate(names)
        if i != j
    ]
    yield from sorted((pair for pair in fits if pair.fit.odd), key=lambda pair: -(pair.fit.distance or 0.0))


def _at_alpha(names: Sequence[str], scores: FloatArray, alpha: float) -> AtAlpha:
    risks = every_baseline(scores, alpha=alpha)
    ranked = len(names) >= FEWEST_RANKED
    places = ranks(risks.urisk)
    defined = not np.any(scores < 0)
    z, geo = (of(scores, alpha=alpha).tolist() if defined else [None] * len(names) for of in (zrisk, georisk))
    standings = []
    for i, name in enumerate(names):
        lowest, median, highest = _spread(np.delete(risks.urisk[i], i))
        taken = np.delete(places[i], i)
        firsts = np.count_nonzero(taken == np.delete(np.nanmin(places, axis=0), i)) if ranked else 0
        standings.append(
            Standing(
                name,
                lowest or 0.0,
                median or 0.0,
                highest or 0.0,
                float(np.mean(taken)) if ranked else None,
                float(np.min(taken)) if ranked else None,
                float(np.max(taken)) if ranked else None,
                int(firsts),
                z[i],
                geo[i],
            )
        )
    return AtAlpha(
        alpha=alpha,
        urisk=_table(risks.urisk),
        trisk=_table(risks.trisk),
        standings=tuple(standings),
        rankings=(_ranking("urisk", risks.urisk), _ranking("trisk", statistics(risks))) if ranked else (),
    )


def _ranking(by: str, values: FloatArray) -> Ranking:
    places = ranks(values)
    n = len(values)
    return Ranking(
        by=by,
        places=_table(places),
        pairs=n * (n - 1) // 2,
        pairs_changing=changing_pairs(places),
        friedman=friedman_test(values),
        durbin=durbin_test(values),
    )


def _agreements(measures: Sequence[AtMeasure]) -> Iterator[Agreement]:
    """Orders that differ in one thing: the alpha, within a measure; or the measure, at one alpha."""
    orders = {
        Order(at.measure, alpha): values
        for at in measures
        for alpha, values in (
            (None, [member.mean for member in at.members]),
            *((one.alpha, [-(standing.place_mean or 0.0) for standing in one.standings]) for one in at.alphas),
        )
    }
    for first, second in combinations(orders, 2):
        if first.measure == second.measure or first.alpha == second.alpha:
            overlap = rank_biased_overlap(orders[first], orders[second])
            tau = kendall_tau(orders[first], orders[second])
            yield Agreement(first, second, overlap.lower, overlap.residual, tau)


def _spread(values: FloatArray) -> tuple[float | None, float | None, float | None]:
    """The lowest, the median and the highest of the numbers among the values."""
    known = values[~np.isnan(values)]
    if known.size == 0:
        return None, None, None
    return float(np.min(known)), float(np.median(known)), float(np.max(known))


def _table(values: FloatArray) -> Table:
    return tuple(tuple(None if np.isnan(value) else value for value in row) for row in values.tolist())
