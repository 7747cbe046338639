"""The study of a pool in words and tables, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_riskguard.reports import Section, Table, clean, counted, document, listed
from pytest_riskguard.studies.pool_report import (
    AlphaStudy,
    Matrix,
    MeasureStudy,
    Order,
    PoolReport,
    Ranking,
)

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
            _matrix("Correlation over topics", study.correlations, names, ".2f", diagonal=True),
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
        _matrix("URisk, rows against columns", at_alpha.urisk, names, "+.4f"),
    ]
    if at_alpha.rankings:
        parts.append(_matrix("Places by URisk, columns are baselines", at_alpha.rankings[0].places, names, "g"))
    tests = [f"{_rank_tests(ranking)}." for ranking in at_alpha.rankings]
    return Section(f"{title}: each system against all the others", parts=parts, notes=tests)


def _matrix(title: str, matrix: Matrix, names: Sequence[str], form: str, *, diagonal: bool = False) -> Table:
    """A matrix whose columns are numbered as the systems are."""
    columns = {"#": "d", "system": "name"} | {str(place + 1): form for place in range(len(names))}
    rows = [
        (i + 1, names[i], *("." if i == j and not diagonal else value for j, value in enumerate(row)))
        for i, row in enumerate(matrix)
    ]
    return Table(title, columns, rows, none="-" if diagonal else ".")


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
    found = [(member.correlation_median, clean(member.system, limit=60)) for member in study.members]
    medians = [(median, name) for median, name in found if median is not None]
    if len(medians) > 2:
        ordered = sorted(medians, key=lambda pair: pair[0])
        (low, farthest), (high, closest) = ordered[0], ordered[-1]
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
