"""All gates of a run as a table: outcome, gate, measure, estimate, the limit that decided, and the margin.

A wide screen has columns for the risk and the two means as well; a narrow one shows them under the row, next to the
gate, where every screen shows reasons and warnings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.known_gates import after
from pytest_riskguard.reports.shown import MAX_NAME, Shown
from pytest_riskguard.reports.terminal import layout
from pytest_riskguard.reports.terminal.failure import warning_lines
from pytest_riskguard.run_context import Screen
from pytest_riskguard.text import clean, percent, plain, signed

_STYLES = {"pass": "green", "fail": "bold red", "inconclusive": "yellow", "incomparable": "bold red"}
#: Columns of aligned figures.
_FIGURES = ("estimate", "limit", "margin")
_HEADINGS = ("outcome", "gate", "measure", *_FIGURES, "risk", "mean")
_GATE, _RISK, _MEAN = (_HEADINGS.index(name) for name in ("gate", "risk", "mean"))
#: Columns for wide screens.
_WIDE = (_RISK, _MEAN)
#: Node ids that are too long are broken after these pieces. They get at least the first number of columns; if they
#: cannot have the second, the columns for wide screens are left out.
_PIECES = re.compile(r".+?(?:::|[/\[]|$)")
_MIN_GATE, _SPACIOUS = 20, 30
#: A problem with the data is cut to this length; the failure has already shown all of it.
MAX_PROBLEM = 300
_NO_FAILURES: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class _Row:
    """One gate: the cells of ``_HEADINGS``, further remarks, and its warnings."""

    cells: tuple[str, ...]
    remarks: tuple[str, ...]
    warnings: tuple[str, ...]
    style: str


_HEADING = _Row(_HEADINGS, (), (), "")


def lines(
    judged: Sequence[tuple[str, Verdict]],
    screen: Screen,
    *,
    colour: bool = False,
    failures: Mapping[str, int] = _NO_FAILURES,
) -> list[str]:
    """The table of verdicts, each with the test that asked for it: one or more lines for each, in the order given.

    On a screen of less than 60 columns lines may be longer; ``colour`` colours outcomes with ANSI codes. ``failures``
    says how often a test failed before its last attempt.
    """
    width = screen.width
    rows = [_row(test, verdict, screen) for test, verdict in judged]
    rows = [
        replace(row, cells=(row.cells[0] + after(failures.get(test)), *row.cells[1:]))
        for row, (test, _) in zip(rows, judged, strict=True)
    ]
    filled = [p for p in range(len(_HEADINGS)) if p == _GATE or any(row.cells[p] for row in rows)]
    widths = {place: max(_columns(row.cells[place]) for row in (_HEADING, *rows)) for place in filled}
    narrowed = sum(widths.values()) - widths[_GATE] + min(widths[_GATE], _SPACIOUS)
    wide = narrowed + 2 * (len(widths) - 1) <= width
    shown = [place for place in filled if wide or place not in _WIDE]
    others = sum(widths[place] + 2 for place in shown) - 2 - widths[_GATE]
    room = max(min(widths[_GATE], width - others), _MIN_GATE)
    gates = [_broken(row.cells[_GATE], room) for row in rows]
    heading, *table = _table(rows, gates, shown, width=max(width, others + room), colour=colour)
    printed = [heading]
    for row, gate in zip(rows, gates, strict=True):
        printed += table[: len(gate)]
        table = table[len(gate) :]
        printed += _under(row, wide=wide, indent=widths[0] + 2, width=width)
    return printed


def _columns(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _row(test: str, verdict: Verdict, screen: Screen) -> _Row:
    shown, measure, estimates = Shown(verdict), clean(verdict.measure or "", limit=24), verdict.estimates
    outcome = verdict.outcome.upper()
    if verdict.outcome == "incomparable":
        remark = f"{verdict.reason}: {clean(verdict.problem or '', limit=MAX_PROBLEM)}"
        return _Row((outcome, clean(test), measure, "", "", "", "", ""), (remark,), (), _STYLES["incomparable"])
    if verdict.outcome == "fail" and verdict.reason:
        outcome += f" {clean(verdict.reason)}"
    if verdict.asked.by_topic:
        figures = ("" if shown.worst is None else signed(shown.worst.difference), "", "", "")  # the remark names it
    else:
        figures = (
            "undefined" if shown.risk is None else shown.value(shown.risk),
            "" if shown.deciding_limit is None else shown.value(shown.deciding_limit),
            "" if shown.margin is None else signed(shown.margin),
            shown.georisk_name if verdict.pool else shown.risk_name,
        )
    means = ""
    if estimates.baseline_mean is not None:
        means = f"{plain(estimates.baseline_mean)} -> {plain(estimates.candidate_mean)}"
    return _Row(
        (outcome, clean(test), measure, *figures, means),
        tuple(_remarks(shown)),
        tuple(warning_lines(verdict, screen)),
        _STYLES[verdict.outcome],
    )


def _remarks(shown: Shown) -> list[str]:
    verdict, remarks = shown.verdict, []
    if verdict.slice is not None:
        remarks.append(shown.part_of_topics)
    if verdict.asked.by_topic:
        remarks.append(shown.collapse)
    if verdict.pool is not None:
        reference = clean(verdict.pool.decided_by, limit=MAX_NAME)
        remarks.append(f"against {reference} in a pool of {len(verdict.pool.systems)}")
    if shown.identical:
        remarks.append(shown.identical)
    if verdict.outcome == "inconclusive":
        remarks.append(shown.inconclusive)
    if verdict.tolerance > 0:
        remarks.append(f"bound {shown.bound}")
    if verdict.family is not None:
        remarks.append(f"at {percent(verdict.family.level)} (family of {verdict.family.size})")
    if verdict.warnings and not verdict.passed:
        remarks.append("warnings: " + ", ".join(dict.fromkeys(clean(warning.code) for warning in verdict.warnings)))
    return remarks


def _broken(text: str, room: int) -> list[str]:
    """A node id on as many lines as it needs, broken between its parts where that is possible."""
    pieces = _PIECES.findall(text) or [""]
    lines = [""]
    for piece in pieces:
        if lines[-1] and _columns(lines[-1] + piece) > room:
            lines.append("")
        lines[-1] += piece
        while len(lines[-1]) > room:
            lines[-1:] = [lines[-1][:room], lines[-1][room:]]
    return lines


def _table(
    rows: Sequence[_Row], gates: Sequence[Sequence[str]], shown: Sequence[int], *, width: int, colour: bool
) -> list[str]:
    from rich.text import Text

    table = layout.bare_table()
    for heading in (_HEADINGS[place] for place in shown):
        table.add_column(heading, no_wrap=True, justify="right" if heading in _FIGURES else "left")
    for row, gate in zip(rows, gates, strict=True):
        cells = [Text("\n".join(gate)) if place == _GATE else Text(row.cells[place]) for place in shown]
        cells[0].stylize(row.style)
        table.add_row(*cells)
    return layout.lines(table, width=width, colour=colour)


def _under(row: _Row, *, wide: bool, indent: int, width: int) -> list[str]:
    remarks = list(row.remarks)
    if not wide:
        risk, means = row.cells[_RISK], row.cells[_MEAN]
        remarks = [part for part in (risk, f"mean {means}" if means else "") if part] + remarks
    paragraphs = [*(["; ".join(remarks)] if remarks else []), *row.warnings]
    return layout.wrapped(paragraphs, width=max(width, 40), indent=" " * indent, hanging="")
