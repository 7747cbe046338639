"""A pool of systems as each other's yardstick: as text and as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from pytest_riskguard._version import __version__
from pytest_riskguard.gates.plain import rounded
from pytest_riskguard.pool_study.report import AtAlpha, AtMeasure, Odd, Order, PoolReport, Ranking, Table
from pytest_riskguard.pool_study.yardstick import FEWEST_OTHERS
from pytest_riskguard.reports.text import clean, counted, listed, plain, short, signed

SCHEMA = "riskguard-pool/1"
#: Narrower than this no table is readable.
NARROWEST = 60
_TESTED = {"urisk": "URisk", "trisk": "TRisk"}


def dumps(report: PoolReport) -> str:
    """The report as JSON text: 12 significant digits, what does not exist is null, ASCII for any console."""
    content = {
        "schema": SCHEMA,
        "generated_by": {"name": "pytest-riskguard", "version": __version__},
        **_plain(report),
    }
    return json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return rounded(value) if isinstance(value, float) else value


def explain(report: PoolReport, *, width: int) -> str:
    """For each measure tables and what they mean; then how far orders agree, and a conclusion.

    Matrices of systems by systems that are wider than ``width`` are left out, and it is said.
    """
    width = max(width, NARROWEST)
    names = [clean(name, limit=60) for name in report.systems]
    blocks = [block for at in report.measures for block in _measure(at, names, width)]
    if report.agreements:
        blocks.append(_agreements(report, width))
    blocks.append(_wrapped(_legend(report), width))
    blocks.append("\n".join(conclusions(report, width=width)))
    return "\n\n".join(blocks)


def _measure(at: AtMeasure, names: Sequence[str], width: int) -> Iterator[str]:
    heading = f"{clean(at.measure or 'scores')}: {counted(len(names), 'system')}, {counted(at.topics, 'topic')}"
    yield heading + "\n" + _members(at, names, width)
    yield _matrix("Correlation over topics", at.correlations, names, _correlation, 4, width, whole=True)
    for one in at.alphas:
        title = f"{clean(at.measure or 'scores')}, alpha {short(one.alpha)}"
        yield f"{title}: each system against all the others\n" + _standings(one, names, width)
        yield _matrix(f"{title}: URisk, rows against columns", one.urisk, names, signed, 8, width)
        if one.rankings:
            heading = f"{title}: places by URisk, columns are baselines"
            matrix = _matrix(heading, _top_places(one.rankings[0].places), names, _place, 3, width)
            yield "\n".join([matrix, *(_tests(ranking, width) for ranking in one.rankings)])


def _members(at: AtMeasure, names: Sequence[str], width: int) -> str:
    rows = [
        [
            plain(member.mean),
            *(_correlation(r) for r in (member.correlation_lowest, member.correlation_median)),
            *(
                _coordinate(row[axis]) if axis < len(row) else "-"
                for row in (at.uncentred.coordinates[i], at.centred.coordinates[i])
                for axis in (0, 1)
            ),
        ]
        for i, member in enumerate(at.members)
    ]
    header = ["mean", "r low", "r med", "axis 1", "axis 2", "c.ax 1", "c.ax 2"]
    notes = [
        f"axes 1 and 2 explain {_shares(at.uncentred.shares)} of the sum of squares, c.ax 1 and 2 (each topic's mean "
        f"taken off) {_shares(at.centred.shares)}"
    ]
    for member, name in zip(at.members, names, strict=True):
        if member.missing:
            notes.append(f"{name} did not answer {counted(len(member.missing), 'topic')}; they score 0")
        if member.correlation_lowest is None and at.topics > 1:
            notes.append(f"{name} has no correlation: its scores, or those of all others, do not vary over topics")
    return "\n".join([grid(header, rows, names, [7] * 7, width=width), *(note(line, width=width) for line in notes)])


def _standings(one: AtAlpha, names: Sequence[str], width: int) -> str:
    """One line for each system; a figure of ``Standing`` gets its column here."""
    header = ["lowest", "median", "highest"]
    rows = [[signed(s.urisk_lowest), signed(s.urisk_median), signed(s.urisk_highest)] for s in one.standings]
    if one.rankings:
        header += ["place", "best", "worst", "first"]
        for row, s in zip(rows, one.standings, strict=True):
            row += [plain(s.place_mean, 1), _place(s.place_best), _place(s.place_worst), str(s.firsts)]
    header.append("GeoRisk")
    for row, s in zip(rows, one.standings, strict=True):
        row.append("-" if s.georisk is None else plain(s.georisk))
    return grid(header, rows, names, [9, 9, 9, *([7, 6, 6, 6] if one.rankings else []), 8], width=width)


def _tests(ranking: Ranking, width: int) -> str:
    line = (
        f"by {_TESTED[ranking.by]} {ranking.pairs_changing} of {counted(ranking.pairs, 'pair')} of systems change "
        "places with the baseline"
    )
    if ranking.durbin is not None:
        line += f"; concordance W {plain(ranking.durbin.concordance, 2)} (Durbin p {_p(ranking.durbin.p_value)})"
    if ranking.friedman is not None:
        line += (
            f"; with each baseline's own 0, as in ECIR 2014, W {plain(ranking.friedman.concordance, 2)} (Friedman p "
            f"{_p(ranking.friedman.p_value)})"
        )
    return note(line, width=width)


def _agreements(report: PoolReport, width: int) -> str:
    rows = [
        [
            plain(a.overlap_lower, 3),
            plain(a.overlap_residual, 3),
            "-" if a.tau is None else signed(a.tau, 3),
        ]
        for a in report.agreements
    ]
    labels = [f"{_order(a.first)} and {_order(a.second)}" for a in report.agreements]
    table = grid(["overlap", "residual", "tau"], rows, labels, [9, 10, 8], width=width, numbered=False, longest=width)
    return "How far orders of the systems agree\n" + table


def _order(order: Order) -> str:
    what = "mean" if order.alpha is None else f"alpha {short(order.alpha)}"
    return f"{clean(order.measure or 'scores')} {what}"


def _legend(report: PoolReport) -> str:
    text = (
        "r: correlation over topics with the other systems, lowest and median. lowest, median, highest: URisk over "
        "the others as baselines. GeoRisk: in the whole pool, high is good."
    )
    if report.agreements:
        text += (
            " place: mean place by URisk, 1 is the least risky; first: baselines under which it has the first place. "
            "W: 1 when all baselines give one order; a small p says that they agree more than by chance, not that "
            "they differ. overlap: rank-biased, phi 0.9, at least this; what systems not in the pool could add is "
            "the residual. Orders at an alpha are by mean place."
        )
    return text


def _top_places(places: Table) -> Table:
    """Places as in sports: equals share the first of their places, so that each is a whole number."""
    taken = list(zip(*places, strict=True))
    return tuple(
        tuple(
            None if place is None else place - (column.count(place) - 1) / 2
            for place, column in zip(row, taken, strict=True)
        )
        for row in places
    )


def _matrix(
    title: str,
    table: Table,
    names: Sequence[str],
    shown: Any,
    cell: int,
    width: int,
    *,
    whole: bool = False,
) -> str:
    """A matrix with numbers for its columns, if it fits."""
    cell = max(cell, len(str(len(names))) + 1)
    needed = label_width(names, width=width, cells=cell * len(names))
    if needed < SHORTEST_NAME:
        least = 2 + len(str(len(names))) + 2 + SHORTEST_NAME + cell * len(names)
        return _wrapped(f"{title}: left out, it takes {least} columns (it is in --json)", width)
    rows = [
        ["." if i == j and not whole else shown(value) for j, value in enumerate(row)] for i, row in enumerate(table)
    ]
    header = [str(column + 1) for column in range(len(names))]
    return _wrapped(title, width) + "\n" + grid(header, rows, names, [cell] * len(names), width=width)


def _wrapped(text: str, width: int) -> str:
    return textwrap.fill(text, width=width)


def _shares(shares: Sequence[float]) -> str:
    first, second = (*shares, 0.0, 0.0)[:2]
    return f"{100 * first:.1f} % and {100 * second:.1f} %"


def _correlation(value: float | None) -> str:
    """Two decimals without the 0 before the point."""
    if value is None:
        return "-"
    text = f"{value:.2f}"
    return text.replace("0.", ".", 1) if abs(value) < 0.995 else text[:-3]


def _coordinate(value: float) -> str:
    return f"{round(value, 2) + 0.0:+.2f}"


def _place(value: float | None) -> str:
    return "." if value is None else f"{value:.3g}"


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else plain(value)


#: Odd pairs, and systems in a sentence, that are named before the rest is counted.
_NAMED = 5


def conclusions(report: PoolReport, *, width: int) -> Iterator[str]:
    """A heading for each measure, and under it one sentence a line, wrapped."""
    for at in report.measures:
        yield f"What {clean(at.measure or 'the scores')} says"
        yield from (note(sentence, width=width) for sentence in _conclusion(at))


def _conclusion(at: AtMeasure) -> Iterator[str]:
    known = [member for member in at.members if member.correlation_median is not None]
    if len(known) > 2:
        ordered = sorted(known, key=lambda member: member.correlation_median or 0.0)
        low, high = ordered[0], ordered[-1]
        yield (
            f"closest to the others is {_named(high.system)} (median correlation "
            f"{plain(high.correlation_median, 2)}), farthest {_named(low.system)} "
            f"({plain(low.correlation_median, 2)})"
        )
    for one in at.alphas:
        if one.rankings:
            yield _who_is_first(one)
    if len(at.members) < FEWEST_OTHERS + 2:
        yield (
            f"fewer than {FEWEST_OTHERS + 2} systems do not tell which correlation is usual, so no baseline can be "
            "called odd"
        )
    candidates = list(dict.fromkeys(pair.candidate for pair in at.odd))
    for candidate in candidates[:_NAMED]:
        yield _odd_in_words([pair for pair in at.odd if pair.candidate == candidate])
    if len(candidates) > _NAMED:
        yield f"and {counted(len(candidates) - _NAMED, 'more system')} with odd yardsticks"
    yield _advice(at)


def _who_is_first(one: AtAlpha) -> str:
    by_urisk = one.rankings[0]
    firsts = sorted((s for s in one.standings if s.firsts), key=lambda s: -s.firsts)
    said = listed(tuple(f"{s.system} under {counted(s.firsts, 'baseline')}" for s in firsts), most=3)
    return (
        f"alpha {short(one.alpha)}: {by_urisk.pairs_changing} of {counted(by_urisk.pairs, 'pair')} change places "
        f"with the baseline; least risky is {said}"
    )


def _odd_in_words(pairs: Sequence[Odd]) -> str:
    """One candidate, and the baselines that are odd yardsticks for it, the oddest first."""
    first, more = pairs[0], len(pairs) - 1
    baseline = _named(first.baseline)
    text = (
        f"{baseline} is an odd yardstick for {_named(first.candidate)}: over topics the two correlate "
        f"{plain(first.fit.correlation, 2)}, {baseline} and the other systems {plain(first.fit.median, 2)} (median)"
    )
    return f"{text}; so {'is' if more == 1 else 'are'} {counted(more, 'other baseline')}" if more else text


def _advice(at: AtMeasure) -> str:
    if at.odd:
        odd = tuple(dict.fromkeys(pair.candidate for pair in at.odd))
        return (
            "so one baseline is no fair yardstick for all of them: judge "
            f"{listed(odd, most=_NAMED)} against several, or against their mean"
        )
    if not any(one.rankings for one in at.alphas):
        return "two systems are not enough to tell whether one baseline is a fair yardstick"
    if not any(ranking.pairs_changing for one in at.alphas for ranking in one.rankings):
        return "so every baseline gives the same order: one of them is a fair yardstick here"
    order = "do not order systems by their risk against one baseline, for the order depends on it"
    if len(at.members) < FEWEST_OTHERS + 2:
        return f"so {order}"
    return f"so no baseline is odd for a gate on any of them; but {order}"


def _named(system: str) -> str:
    return clean(system, limit=60)


#: The longest part of a name in a table, and the shortest that still tells systems apart.
LONGEST_NAME, SHORTEST_NAME = 20, 8


def note(text: str, *, width: int) -> str:
    """A line under a table, wrapped."""
    return textwrap.fill(text, width=width, initial_indent="  ", subsequent_indent="    ")


def label_width(names: Sequence[str], *, width: int, cells: int, numbered: bool = True) -> int:
    """What is left for names beside figures of so many columns."""
    taken = 2 + (len(str(len(names))) + 2 if numbered else 0) + cells
    return width - taken


def grid(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    names: Sequence[str],
    cells: Sequence[int],
    *,
    width: int,
    numbered: bool = True,
    longest: int = LONGEST_NAME,
) -> str:
    """Lines of a number, a name cut to fit, and figures to the right of their columns."""
    from rich.cells import cell_len, set_cell_size

    cells = cells[: len(header)]
    room = max(label_width(names, width=width, cells=sum(cells), numbered=numbered), SHORTEST_NAME)
    label = min(max(cell_len(name) for name in names), longest, room)
    digits = len(str(len(names)))

    def fitted(name: str) -> str:
        return set_cell_size(name if cell_len(name) <= label else set_cell_size(name, label - 1) + "…", label)

    def line(number: str, name: str, figures: Sequence[str]) -> str:
        start = f"  {number:>{digits}}  " if numbered else "  "
        figured = "".join(f"{figure:>{cell}}" for figure, cell in zip(figures, cells, strict=True))
        return (start + fitted(name) + figured).rstrip()

    lines = [line("", "", header)]
    lines += [line(str(i), name, row) for i, (name, row) in enumerate(zip(names, rows, strict=True), start=1)]
    return "\n".join(lines)
