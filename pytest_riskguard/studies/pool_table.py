"""The study of a pool as text and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence

from pytest_riskguard.formats.serialization import to_plain
from pytest_riskguard.reports.json import document
from pytest_riskguard.studies.pool_report import (
    AlphaStudy,
    Matrix,
    MeasureStudy,
    OddPair,
    Order,
    PoolReport,
    Ranking,
)
from pytest_riskguard.studies.pool_statistics import MIN_OTHERS
from pytest_riskguard.text import clean, counted, listed, percent, plain, probability, short, signed

SCHEMA = "riskguard-pool/1"
#: No table is readable at a smaller width.
MIN_WIDTH = 60
#: The longest part of a system's name in a table, and the shortest that still tells systems apart.
MAX_NAME, MIN_NAME = 20, 8
#: Below this many systems no baseline is called odd.
MIN_SYSTEMS = MIN_OTHERS + 2
#: How many systems a sentence names, or get a sentence each; the rest are counted.
MAX_NAMED = 5
_STATISTICS = {"urisk": "URisk", "trisk": "TRisk"}


def dumps(report: PoolReport) -> str:
    """The report as JSON text."""
    return document(SCHEMA, to_plain(report))


def explain(report: PoolReport, *, width: int) -> str:
    """Tables for each measure, the agreement of orders, and conclusions.

    Matrices of systems by systems that are wider than ``width`` are left out; a line says so.
    """
    width = max(width, MIN_WIDTH)
    names = [_name(name) for name in report.systems]
    blocks = [block for study in report.measures for block in _tables(study, names, width)]
    if report.agreements:
        blocks.append(_agreements(report, width))
    blocks.append(textwrap.fill(_legend(ranked=bool(report.agreements)), width=width))
    conclusions = []
    for study in report.measures:
        conclusions.append(f"Conclusions for {_label(study.measure)}")
        conclusions += [_note(sentence, width) for sentence in _conclusions(study)]
    return "\n\n".join([*blocks, "\n".join(conclusions)])


def _tables(study: MeasureStudy, names: Sequence[str], width: int) -> Iterator[str]:
    measure = _label(study.measure)
    heading = f"{measure}: {counted(len(names), 'system')}, {counted(study.topics, 'topic')}"
    yield heading + "\n" + _members(study, names, width)
    yield _matrix("Correlation over topics", study.correlations, names, _correlation, 4, width, diagonal=True)
    for at_alpha in study.alphas:
        title = f"{measure}, alpha {short(at_alpha.alpha)}"
        yield f"{title}: each system against all the others\n" + _standings(at_alpha, names, width)
        yield _matrix(f"{title}: URisk, rows against columns", at_alpha.urisk, names, signed, 8, width)
        if at_alpha.rankings:
            places = _sports_places(at_alpha.rankings[0].places)
            matrix = _matrix(f"{title}: places by URisk, columns are baselines", places, names, _place, 3, width)
            yield "\n".join([matrix, *(_note(_rank_tests(ranking), width) for ranking in at_alpha.rankings)])


def _members(study: MeasureStudy, names: Sequence[str], width: int) -> str:
    header = ["mean", "r low", "r med", "axis 1", "axis 2", "c.ax 1", "c.ax 2"]
    rows = []
    for i, member in enumerate(study.members):
        row = [plain(member.mean), _correlation(member.correlation_lowest), _correlation(member.correlation_median)]
        for axes in (study.uncentred, study.centred):
            coordinates = [f"{round(value, 2) + 0.0:+.2f}" for value in axes.coordinates[i][:2]]
            row += [*coordinates, "-", "-"][:2]
        rows.append(row)
    notes = [
        f"axes 1 and 2 explain {_shares(study.uncentred.shares)} of the sum of squares, c.ax 1 and 2 (each topic's "
        f"mean subtracted) {_shares(study.centred.shares)}"
    ]
    for member, name in zip(study.members, names, strict=True):
        if member.missing:
            notes.append(f"{name} did not answer {counted(len(member.missing), 'topic')}; they score 0")
        if member.correlation_lowest is None and study.topics > 1:
            notes.append(f"{name} has no correlation: its scores, or those of all others, do not vary over topics")
    return "\n".join([_grid(header, rows, names, [7] * 7, width), *(_note(text, width) for text in notes)])


def _standings(at_alpha: AlphaStudy, names: Sequence[str], width: int) -> str:
    columns = {"lowest": 9, "median": 9, "highest": 9, "place": 7, "best": 6, "worst": 6, "first": 6, "GeoRisk": 8}
    if not at_alpha.rankings:
        columns = {name: cell for name, cell in columns.items() if name not in ("place", "best", "worst", "first")}
    rows = []
    for standing in at_alpha.standings:
        cells = {
            "lowest": signed(standing.urisk_lowest),
            "median": signed(standing.urisk_median),
            "highest": signed(standing.urisk_highest),
            "place": plain(standing.place_mean, 1),
            "best": _place(standing.place_best),
            "worst": _place(standing.place_worst),
            "first": str(standing.firsts),
            "GeoRisk": "-" if standing.georisk is None else plain(standing.georisk),
        }
        rows.append([cells[name] for name in columns])
    return _grid(list(columns), rows, names, list(columns.values()), width)


def _rank_tests(ranking: Ranking) -> str:
    text = (
        f"by {_STATISTICS[ranking.by]} the order of {ranking.pairs_changing} of {counted(ranking.pairs, 'pair')} of "
        "systems depends on the baseline"
    )
    if ranking.durbin is not None:
        text += (
            f"; concordance W {plain(ranking.durbin.concordance, 2)} (Durbin p {probability(ranking.durbin.p_value)})"
        )
    if ranking.friedman is not None:
        text += (
            f"; with each baseline's own 0, as in ECIR 2014, W {plain(ranking.friedman.concordance, 2)} "
            f"(Friedman p {probability(ranking.friedman.p_value)})"
        )
    return text


def _agreements(report: PoolReport, width: int) -> str:
    rows = [
        [
            plain(agreement.overlap_lower, 3),
            plain(agreement.overlap_residual, 3),
            "-" if agreement.tau is None else signed(agreement.tau, 3),
        ]
        for agreement in report.agreements
    ]
    labels = [f"{_order(agreement.first)} and {_order(agreement.second)}" for agreement in report.agreements]
    header = ["overlap", "residual", "tau"]
    table = _grid(header, rows, labels, [9, 10, 8], width, numbered=False, max_name=width)
    return "Agreement between orders of the systems\n" + table


def _order(order: Order) -> str:
    return f"{_label(order.measure)} {'mean' if order.alpha is None else f'alpha {short(order.alpha)}'}"


def _legend(*, ranked: bool) -> str:
    text = (
        "r: correlation over topics with the other systems, lowest and median. lowest, median, highest: URisk over "
        "the others as baselines. GeoRisk: in the whole pool, high is good."
    )
    if ranked:
        text += (
            " place: mean place by URisk, 1 is the least risky; first: baselines under which it is first. W: 1 when "
            "all baselines give the same order; a small p means that they agree more than by chance, not that they "
            "differ. overlap: rank-biased, phi 0.9, lower bound; residual: what systems outside the pool could add "
            "to it. Orders at an alpha are by mean place."
        )
    return text


def _conclusions(study: MeasureStudy) -> Iterator[str]:
    medians = [(m.correlation_median, _name(m.system)) for m in study.members if m.correlation_median is not None]
    if len(medians) > 2:
        ordered = sorted(medians, key=lambda pair: pair[0])
        (low, farthest), (high, closest) = ordered[0], ordered[-1]
        yield (
            f"{closest} is closest to the others (median correlation {plain(high, 2)}), {farthest} is farthest "
            f"({plain(low, 2)})"
        )
    for at_alpha in study.alphas:
        if at_alpha.rankings:
            yield _least_risky(at_alpha)
    if len(study.members) < MIN_SYSTEMS:
        yield f"too few systems to call a baseline odd: at least {MIN_SYSTEMS} are needed"
    candidates = list(dict.fromkeys(pair.candidate for pair in study.odd))
    for candidate in candidates[:MAX_NAMED]:
        yield _odd_yardstick([pair for pair in study.odd if pair.candidate == candidate])
    if len(candidates) > MAX_NAMED:
        yield f"and {counted(len(candidates) - MAX_NAMED, 'more system')} with odd yardsticks"
    yield _advice(study)


def _least_risky(at_alpha: AlphaStudy) -> str:
    by_urisk = at_alpha.rankings[0]
    firsts = sorted((s for s in at_alpha.standings if s.firsts), key=lambda s: -s.firsts)
    systems = listed(tuple(f"{s.system} under {counted(s.firsts, 'baseline')}" for s in firsts), most=3)
    return (
        f"alpha {short(at_alpha.alpha)}: the order of {by_urisk.pairs_changing} of {counted(by_urisk.pairs, 'pair')} "
        f"depends on the baseline; least risky: {systems}"
    )


def _odd_yardstick(pairs: Sequence[OddPair]) -> str:
    """About one candidate and the baselines that are odd yardsticks for it, the oddest first."""
    oddest, more = pairs[0], len(pairs) - 1
    baseline, candidate = _name(oddest.baseline), _name(oddest.candidate)
    text = (
        f"{baseline} is an odd yardstick for {candidate}: over topics their correlation is "
        f"{plain(oddest.fit.correlation, 2)}, while the median correlation of {baseline} with the other systems is "
        f"{plain(oddest.fit.median, 2)}"
    )
    return f"{text}; so {'is' if more == 1 else 'are'} {counted(more, 'other baseline')}" if more else text


def _advice(study: MeasureStudy) -> str:
    if study.odd:
        odd = tuple(dict.fromkeys(pair.candidate for pair in study.odd))
        return (
            f"no single baseline is a fair yardstick for all of them: judge {listed(odd, most=MAX_NAMED)} against "
            "several, or against their mean"
        )
    rankings = [ranking for at_alpha in study.alphas for ranking in at_alpha.rankings]
    if not rankings:
        return "two systems are not enough to tell whether one baseline is a fair yardstick"
    if not any(ranking.pairs_changing for ranking in rankings):
        return "every baseline gives the same order: any of them is a fair yardstick here"
    advice = "do not rank systems by their risk against one baseline: the order depends on it"
    if len(study.members) < MIN_SYSTEMS:
        return advice
    return f"no baseline is odd for a gate on any of them, but {advice}"


def _sports_places(places: Matrix) -> Matrix:
    """Places as in sports: ties share the first of their places, so each place is a whole number."""
    columns = list(zip(*places, strict=True))
    return tuple(
        tuple(
            None if place is None else place - (column.count(place) - 1) / 2
            for place, column in zip(row, columns, strict=True)
        )
        for row in places
    )


def _matrix(
    title: str,
    matrix: Matrix,
    names: Sequence[str],
    format_value: Callable[[float | None], str],
    cell: int,
    width: int,
    *,
    diagonal: bool = False,
) -> str:
    """A matrix whose columns are numbered as the systems are, or a line about the width that it needs."""
    cell = max(cell, len(str(len(names))) + 1)
    min_width = _indent(names) + MIN_NAME + cell * len(names)
    if width < min_width:
        return textwrap.fill(f"{title}: left out, it needs {min_width} columns (--json has it)", width=width)
    rows = [
        ["." if i == j and not diagonal else format_value(value) for j, value in enumerate(row)]
        for i, row in enumerate(matrix)
    ]
    header = [str(column + 1) for column in range(len(names))]
    return textwrap.fill(title, width=width) + "\n" + _grid(header, rows, names, [cell] * len(names), width)


def _grid(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    names: Sequence[str],
    cells: Sequence[int],
    width: int,
    *,
    numbered: bool = True,
    max_name: int = MAX_NAME,
) -> str:
    """Lines of a number, a name cut to fit, and figures flush right in cells of the given widths."""
    from rich.cells import cell_len, set_cell_size

    indent = _indent(names, numbered=numbered)
    room = max(width - indent - sum(cells), MIN_NAME)
    label = min(max(cell_len(name) for name in names), max_name, room)
    lines = []
    for number, (name, row) in enumerate([("", header), *zip(names, rows, strict=True)]):
        start = " " * indent if number == 0 or not numbered else f"{number:>{indent - 2}}  "
        cut = name if cell_len(name) <= label else set_cell_size(name, label - 1) + "…"
        figures = "".join(f"{figure:>{cell}}" for figure, cell in zip(row, cells, strict=True))
        lines.append((start + set_cell_size(cut, label) + figures).rstrip())
    return "\n".join(lines)


def _indent(names: Sequence[str], *, numbered: bool = True) -> int:
    """The columns before a name: two blanks, and a number with two more."""
    return len(str(len(names))) + 4 if numbered else 2


def _note(text: str, width: int) -> str:
    """A line under a table, wrapped."""
    return textwrap.fill(text, width=width, initial_indent="  ", subsequent_indent="    ")


def _name(system: str) -> str:
    return clean(system, limit=60)


def _label(measure: str | None) -> str:
    return clean(measure or "scores")


def _shares(shares: Sequence[float]) -> str:
    first, second = (*shares, 0.0, 0.0)[:2]
    return f"{percent(first, 1)} and {percent(second, 1)}"


def _correlation(value: float | None) -> str:
    """Two decimals without the 0 before the point."""
    if value is None:
        return "-"
    text = f"{value:.2f}"
    return text.replace("0.", ".", 1) if abs(value) < 0.995 else text[:-3]


def _place(value: float | None) -> str:
    return "." if value is None else f"{value:.3g}"
