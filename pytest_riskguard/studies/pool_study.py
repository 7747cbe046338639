"""All figures of ``riskguard study pool``, each system as the baseline of the others; tables and JSON of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pytest_riskguard.data import TopicScores
from pytest_riskguard.reports import Section, Table, clean, counted, document, listed
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
    return Axes(tuple(components.shares.tolist()), tuple(map(tuple, kept)))


def _alpha(names: Sequence[str], scores: FloatArray, alpha: float) -> AlphaStudy:
    risks = every_baseline(scores, alpha=alpha)
    ranked = {"urisk": risks.urisk, "trisk": sortable_trisk(risks)} if len(names) >= MIN_RANKED else {}
    return AlphaStudy(
        alpha=alpha,
        urisk=_matrix(risks.urisk),
        trisk=_matrix(risks.trisk),
        standings=tuple(_standings(names, scores, alpha, risks.urisk)),
        rankings=tuple(_ranking(by, values) for by, values in ranked.items()),
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
            yield Agreement(first, second, *rank_biased_overlap(orders[first], orders[second]))


def _spread(values: FloatArray) -> tuple[float | None, float | None]:
    """The lowest and the median value; NaN is ignored."""
    known = values[~np.isnan(values)]
    return (float(np.min(known)), float(np.median(known))) if known.size else (None, None)


def _matrix(values: FloatArray) -> Matrix:
    return tuple(tuple(None if np.isnan(value) else value for value in row) for row in values.tolist())


# ---- in words and tables

SCHEMA = "riskguard-pool/1"
_LEGEND = (
    "r: correlation over topics with the other systems, lowest and median. lowest, median, highest: URisk over the "
    "others as baselines. GeoRisk: in the whole pool, high is good."
)
_RANKED = (
    " place: mean place by URisk, 1 is the least risky; first: baselines under which it is first. W: 1 when all "
    "baselines give the same order; a small p means that they agree more than by chance, not that they differ. "
    "overlap: rank-biased, phi 0.9, lower bound; residual: what systems outside the pool could add to it. Orders at "
    "an alpha are by mean place."
)


def dumps(report: PoolReport) -> str:
    """The report as JSON text."""
    return document(SCHEMA, report)


def section(report: PoolReport) -> Section:
    """Conclusions and tables for each measure, and the agreement of orders."""
    parts: list[Section | Table] = [_of_measure(study, report.systems) for study in report.measures]
    if report.agreements:
        rows = [
            (f"{_order(one.first)} and {_order(one.second)}", one.overlap_lower, one.overlap_residual)
            for one in report.agreements
        ]
        columns = {"orders": "text", "overlap": ".3f", "residual": ".3f"}
        parts.append(Table("Agreement between orders of the systems", columns, rows, none="-"))
    return Section(
        "Systems as baselines of one another",
        parts=parts,
        notes=[_LEGEND + _RANKED if report.agreements else _LEGEND],
    )


def _order(order: Order) -> str:
    return f"{clean(order.measure or 'scores')} {'mean' if order.alpha is None else f'alpha {order.alpha:g}'}"


def _of_measure(study: MeasureStudy, names: Sequence[str]) -> Section:
    measure = clean(study.measure or "scores")
    return Section(
        f"{measure}: {counted(len(names), 'system')}, {counted(study.topics, 'topic')}",
        [*_conclusions(study)],
        [
            _members(study),
            _table("Correlation over topics", study.correlations, names, ".2f", diagonal=True),
            *(_at_alpha(one, names, f"{measure}, alpha {one.alpha:g}") for one in study.alphas),
        ],
    )


def _members(study: MeasureStudy) -> Table:
    columns = {"#": "d", "system": "name", "mean": ".4f"}
    columns |= dict.fromkeys(("r low", "r med", "axis 1", "axis 2", "c.ax 1", "c.ax 2"), ".2f")
    rows = []
    for place, (member, own, centred) in enumerate(
        zip(study.members, study.uncentred.coordinates, study.centred.coordinates, strict=True)
    ):
        places = [*own, None, None][:2] + [*centred, None, None][:2]
        correlations = (member.correlation_lowest, member.correlation_median)
        rows.append((place + 1, member.system, member.mean, *correlations, *places))
    shares = [" and ".join(f"{share:.1%}" for share in axes.shares[:2]) for axes in (study.uncentred, study.centred)]
    notes = [
        f"Axes 1 and 2 explain {shares[0]} of the sum of squares, c.ax 1 and 2 (each topic's mean subtracted) "
        f"{shares[1]}."
    ]
    for member in study.members:
        name = clean(member.system, limit=60)
        if member.missing:
            notes.append(f"{name} did not answer {counted(len(member.missing), 'topic')}; they score 0.")
        if member.correlation_lowest is None and study.topics > 1:
            notes.append(f"{name} has no correlation: its scores, or those of all others, do not vary over topics.")
    return Table("", columns, rows, note=" ".join(notes), none="-")


def _at_alpha(at_alpha: AlphaStudy, names: Sequence[str], title: str) -> Section:
    columns = {"#": "d", "system": "name", **dict.fromkeys(("lowest", "median", "highest"), "+.4f"), "place": ".1f"}
    columns |= {**dict.fromkeys(("best", "worst", "first"), "g"), "GeoRisk": ".4f"}
    rows = [
        (
            number,
            one.system,
            *(one.urisk_lowest, one.urisk_median, one.urisk_highest),
            *((one.place_mean, one.place_best, one.place_worst, one.firsts) if at_alpha.rankings else [""] * 4),
            one.georisk,
        )
        for number, one in enumerate(at_alpha.standings, 1)
    ]
    parts = [
        Table("", columns, rows, none="-"),
        _table("URisk, rows against columns", at_alpha.urisk, names, "+.4f"),
    ]
    if at_alpha.rankings:
        parts.append(_table("Places by URisk, columns are baselines", at_alpha.rankings[0].places, names, "g"))
    tests = [f"{_rank_tests(ranking)}." for ranking in at_alpha.rankings]
    return Section(f"{title}: each system against all the others", parts=parts, notes=tests)


def _table(title: str, matrix: Matrix, names: Sequence[str], form: str, *, diagonal: bool = False) -> Table:
    """A matrix whose columns are numbered as the systems are."""
    columns = {"#": "d", "system": "name"} | {str(place + 1): form for place in range(len(names))}
    rows = [
        (i + 1, names[i], *("." if i == j and not diagonal else value for j, value in enumerate(row)))
        for i, row in enumerate(matrix)
    ]
    return Table(title, columns, rows, none="-")


def _rank_tests(ranking: Ranking) -> str:
    name = {"urisk": "URisk", "trisk": "TRisk"}[ranking.by]
    text = (
        f"by {name} the order of {ranking.pairs_changing} of {counted(ranking.pairs, 'pair')} of systems depends on "
        "the baseline"
    )
    if (test := ranking.durbin) is not None:
        text += f"; concordance W {test.concordance:.2f} (Durbin p {_p(test.p_value)})"
    if (test := ranking.friedman) is not None:
        text += (
            f"; with each baseline's own 0, as in ECIR 2014, W {test.concordance:.2f} (Friedman p {_p(test.p_value)})"
        )
    return text


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def _conclusions(study: MeasureStudy) -> Iterator[str]:
    named = [
        (m.correlation_median, clean(m.system, limit=60)) for m in study.members if m.correlation_median is not None
    ]
    if len(named) > 2:
        (low, farthest), *_, (high, closest) = sorted(named, key=lambda pair: pair[0])
        yield (
            f"{closest} is closest to the others (median correlation {high:.2f}), {farthest} is farthest ({low:.2f})"
        )
    for at_alpha in study.alphas:
        if at_alpha.rankings:
            yield _least_risky(at_alpha)
    yield _advice(study)


def _least_risky(at_alpha: AlphaStudy) -> str:
    by_urisk = at_alpha.rankings[0]
    firsts = sorted((s for s in at_alpha.standings if s.firsts), key=lambda s: -s.firsts)
    systems = listed(tuple(f"{s.system} under {counted(s.firsts, 'baseline')}" for s in firsts), most=3)
    return (
        f"alpha {at_alpha.alpha:g}: the order of {by_urisk.pairs_changing} of {counted(by_urisk.pairs, 'pair')} "
        f"depends on the baseline; least risky: {systems}"
    )


def _advice(study: MeasureStudy) -> str:
    rankings = [ranking for at_alpha in study.alphas for ranking in at_alpha.rankings]
    if not rankings:
        return "two systems are not enough to tell whether one baseline is a fair yardstick"
    if not any(ranking.pairs_changing for ranking in rankings):
        return "every baseline gives the same order: any of them is a fair yardstick here"
    return "do not rank systems by their risk against one baseline: the order depends on it"
