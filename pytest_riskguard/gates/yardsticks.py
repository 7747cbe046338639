"""Every system of a pool as the baseline of all the others: whether one of them is a fair yardstick."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.gates.align import on_one_list
from pytest_riskguard.gates.evidence import FloatArray
from pytest_riskguard.gates.pool_figures import (
    Agreement,
    AtAlpha,
    AtMeasure,
    Axes,
    Member,
    Odd,
    Order,
    PoolReport,
    Ranking,
    Standing,
    Table,
)
from pytest_riskguard.gates.spec import Gate, Missing
from pytest_riskguard.risk.agreement import kendall_tau, rank_biased_overlap
from pytest_riskguard.risk.bias import correlations, every_baseline, ranks, statistics
from pytest_riskguard.risk.checks import mean
from pytest_riskguard.risk.components import principal_components
from pytest_riskguard.risk.concordance import changing_pairs, durbin_test, friedman_test
from pytest_riskguard.risk.multiple import georisk, zrisk
from pytest_riskguard.risk.yardstick import fit_of

#: A pool for which the tables still make sense.
FEWEST_SYSTEMS, MOST_SYSTEMS = 2, 200
#: With two, there is nobody to rank but the other.
FEWEST_RANKED = 3
#: Principal axes whose coordinates are kept.
AXES = 5


def pool_report(
    pools: Sequence[Sequence[TopicScores]], *, alphas: Sequence[float], missing: Missing = "refuse"
) -> PoolReport:
    """Each system against each, for each measure and alpha.

    Parameters
    ----------
    pools : sequence of sequences of TopicScores
        For each measure the scores of the systems, always the same in the same order. Scores may be negative: nothing
        here depends on where 0 lies.
    alphas : sequence of float
        Extra weights of a loss, at least 0, no two the same.
    missing : {"refuse", "zero"}
        What it means that a system lacks a topic that another has.

    Raises
    ------
    DataError
        The systems are not scored on the same topics.
    ValueError
        No measure, fewer than two systems or more than 200.
    """
    if not pools:
        raise ValueError("expected scores for at least one measure, found none")
    count = len(pools[0])
    if not FEWEST_SYSTEMS <= count <= MOST_SYSTEMS:
        raise ValueError(f"a pool has {FEWEST_SYSTEMS} to {MOST_SYSTEMS} systems, got {count}")
    gate = Gate(name="pool", missing=missing)
    found = [_at_measure(*on_one_list(gate, pool), alphas=alphas) for pool in pools]
    return PoolReport(
        systems=tuple(system.name for system in pools[0]),
        qrels=next((system.qrels_digest for system in pools[0] if system.qrels_digest), None),
        digests=tuple(system.digest for system in pools[0]),
        measures=tuple(found),
        agreements=tuple(_agreements(found)) if count >= FEWEST_RANKED else (),
    )


def _at_measure(
    pool: Sequence[TopicScores], missing: tuple[tuple[str, ...], ...], *, alphas: Sequence[float]
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
