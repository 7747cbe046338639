"""All figures of ``riskguard study pool``, with each system as the baseline of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pytest_riskguard.data import TopicScores
from pytest_riskguard.risk import georisk, principal_components, zrisk
from pytest_riskguard.risk.checks import FloatArray, mean
from pytest_riskguard.studies.pool_statistics import (
    RankTest,
    changing_pairs,
    correlations,
    durbin_test,
    every_baseline,
    friedman_test,
    rank_biased_overlap,
    ranks,
    sortable_trisk,
)

#: With more systems, tables of all pairs are of no use to a reader.
MIN_SYSTEMS, MAX_SYSTEMS = 2, 200
#: Two systems cannot be ranked: under each of them as the baseline only the other is left.
MIN_RANKED = 3
#: Principal axes whose coordinates are kept.
MAX_AXES = 5

#: Rows are judged systems, columns are baselines; None where the figure is undefined.
Matrix = tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class Member:
    """One system for one measure.

    Correlations are over topics with the other systems; None where its scores, or those of all others, do not vary.
    On ``missing`` topics, which it did not answer, it scores 0.
    """

    system: str
    mean: float
    correlation_lowest: float | None
    correlation_median: float | None
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Axes:
    """Principal axes: ``shares`` of all of them, ``coordinates`` of each system on the first five."""

    shares: tuple[float, ...]
    coordinates: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Standing:
    """One system at one alpha, against all the others as baselines.

    URisk and places (by URisk, 1 is the least risky; None in a pool of two) are over baselines; ``firsts`` counts the
    baselines under which no other system has a better place. ``zrisk`` and ``georisk`` are in the whole pool; None
    where a score is below 0.
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
    """Places of the systems under every baseline, by ``urisk`` or ``trisk``; ties share the mean of their places.

    ``pairs_changing`` counts the pairs of systems whose order depends on the baseline. ``friedman`` ranks each
    baseline's own 0 as well, as ECIR 2014 does; ``durbin`` does not.
    """

    by: str
    places: Matrix
    pairs: int
    pairs_changing: int
    friedman: RankTest | None
    durbin: RankTest | None


@dataclass(frozen=True)
class AlphaStudy:
    """All systems against all, at one alpha; no ranking in a pool of two."""

    alpha: float
    urisk: Matrix
    trisk: Matrix
    standings: tuple[Standing, ...]
    rankings: tuple[Ranking, ...]


@dataclass(frozen=True)
class MeasureStudy:
    """All systems against all, for one measure."""

    measure: str | None
    topics: int
    members: tuple[Member, ...]
    correlations: Matrix
    uncentred: Axes
    centred: Axes
    alphas: tuple[AlphaStudy, ...]


@dataclass(frozen=True)
class Order:
    """An order of the systems: by their mean score (``alpha`` None), or by their mean place at an alpha."""

    measure: str | None
    alpha: float | None


@dataclass(frozen=True)
class Agreement:
    """How much two orders agree: rank-biased overlap at phi 0.9.

    Its two parts add up to that of the pool taken as complete.
    """

    first: Order
    second: Order
    overlap_lower: float
    overlap_residual: float


@dataclass(frozen=True)
class PoolReport:
    """The study of a pool.

    ``systems`` is the order of every row and column; ``qrels`` and ``digests`` identify the judgements and each
    system's run or scores. Agreements are between the orders of one measure, and between measures at the same alpha;
    a pool of two has none.
    """

    systems: tuple[str, ...]
    qrels: str | None
    digests: tuple[str | None, ...]
    measures: tuple[MeasureStudy, ...]
    agreements: tuple[Agreement, ...]


def pool_report(
    pools: Sequence[tuple[Sequence[TopicScores], Sequence[tuple[str, ...]]]], *, alphas: Sequence[float]
) -> PoolReport:
    """Every system against every other, for each measure and alpha.

    ``pools`` holds for each measure (at least one) the scores of the systems (at least two) on the same topics, and
    for each system the topics that it did not answer. Systems are the same for all measures, in the same order;
    scores may be negative. ``alphas`` are extra weights of a loss, at least 0, all different.
    """
    systems = pools[0][0]
    measures = [_measure(pool, missing, alphas=alphas) for pool, missing in pools]
    return PoolReport(
        systems=tuple(system.name for system in systems),
        qrels=next((system.qrels_digest for system in systems if system.qrels_digest), None),
        digests=tuple(system.digest for system in systems),
        measures=tuple(measures),
        agreements=tuple(_agreements(measures)) if len(systems) >= MIN_RANKED else (),
    )


def _measure(
    pool: Sequence[TopicScores], missing: Sequence[tuple[str, ...]], *, alphas: Sequence[float]
) -> MeasureStudy:
    names = [system.name for system in pool]
    scores = np.array([system.values for system in pool])
    matrix = correlations(scores)
    return MeasureStudy(
        measure=pool[0].measure,
        topics=scores.shape[1],
        members=tuple(
            Member(name, mean(row), *_spread(np.delete(matrix[i], i)), missing[i])
            for i, (name, row) in enumerate(zip(names, scores, strict=True))
        ),
        correlations=_matrix(matrix),
        uncentred=_axes(scores, centred=False),
        centred=_axes(scores, centred=True),
        alphas=tuple(_alpha(names, scores, alpha) for alpha in alphas),
    )


def _axes(scores: FloatArray, *, centred: bool) -> Axes:
    components = principal_components(scores, centred=centred)
    kept = components.coordinates[:, :MAX_AXES].tolist()
    return Axes(tuple(components.shares.tolist()), tuple(tuple(row) for row in kept))


def _alpha(names: Sequence[str], scores: FloatArray, alpha: float) -> AlphaStudy:
    risks = every_baseline(scores, alpha=alpha)
    rankings = (_ranking("urisk", risks.urisk), _ranking("trisk", sortable_trisk(risks)))
    return AlphaStudy(
        alpha=alpha,
        urisk=_matrix(risks.urisk),
        trisk=_matrix(risks.trisk),
        standings=tuple(_standings(names, scores, alpha, risks.urisk)),
        rankings=rankings if len(names) >= MIN_RANKED else (),
    )


def _standings(names: Sequence[str], scores: FloatArray, alpha: float, urisk: FloatArray) -> Iterator[Standing]:
    places = ranks(urisk)
    best = np.nanmin(places, axis=0)
    ranked = len(names) >= MIN_RANKED
    pool_risks = [[None] * len(names)] * 2  # neither is defined for negative scores
    if not np.any(scores < 0):
        pool_risks = [risk(scores, alpha=alpha).tolist() for risk in (zrisk, georisk)]
    for i, name in enumerate(names):
        others = np.arange(len(names)) != i
        risks, own_places = urisk[i, others], places[i, others]
        yield Standing(
            name,
            float(risks.min()),
            float(np.median(risks)),
            float(risks.max()),
            float(own_places.mean()) if ranked else None,
            float(own_places.min()) if ranked else None,
            float(own_places.max()) if ranked else None,
            int(np.count_nonzero(own_places == best[others])) if ranked else 0,
            *(values[i] for values in pool_risks),
        )


def _ranking(by: str, values: FloatArray) -> Ranking:
    places = ranks(values)
    n = len(values)
    return Ranking(
        by=by,
        places=_matrix(places),
        pairs=n * (n - 1) // 2,
        pairs_changing=changing_pairs(places),
        friedman=friedman_test(values),
        durbin=durbin_test(values),
    )


def _agreements(measures: Sequence[MeasureStudy]) -> Iterator[Agreement]:
    """Agreement of orders that differ in one thing: the alpha, within a measure; or the measure, at one alpha."""
    orders: dict[Order, list[float]] = {}
    for study in measures:
        orders[Order(study.measure, None)] = [member.mean for member in study.members]
        for at_alpha in study.alphas:
            places = [-(standing.place_mean or 0.0) for standing in at_alpha.standings]
            orders[Order(study.measure, at_alpha.alpha)] = places
    for first, second in combinations(orders, 2):
        if first.measure == second.measure or first.alpha == second.alpha:
            overlap = rank_biased_overlap(orders[first], orders[second])
            yield Agreement(first, second, overlap.lower, overlap.residual)


def _spread(values: FloatArray) -> tuple[float | None, float | None]:
    """The lowest and the median value; NaN is ignored."""
    known = values[~np.isnan(values)]
    return (float(np.min(known)), float(np.median(known))) if known.size else (None, None)


def _matrix(values: FloatArray) -> Matrix:
    return tuple(tuple(None if np.isnan(value) else value for value in row) for row in values.tolist())
