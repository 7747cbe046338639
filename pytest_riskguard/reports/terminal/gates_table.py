"""All gates of a run as a table, one line each: outcome, figures, measure, on a wide screen the means, the gate.

The gate comes last, so that a long node id is never broken. What a reader should know of a gate that passed, such as
a weak pass, stands under its line; a gate that failed has said everything in its failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.card import card, tone, word
from pytest_riskguard.reports.comparisons import after
from pytest_riskguard.reports.terminal import layout
from pytest_riskguard.reports.terminal.failure import changed_lines, notes, warning_lines
from pytest_riskguard.reports.wording.sentences import from_to
from pytest_riskguard.run_context import Detail, Screen
from pytest_riskguard.text import clean, fitted

_STYLES = {"pass": "green", "fail": "bold red", "inconclusive": "yellow", "incomparable": "bold red"}
_HEADINGS = ("outcome", "estimate", "measure", "mean", "gate")
#: Columns that are left out where lines would be longer than the screen, in this order.
_GIVING_WAY = (_HEADINGS.index("mean"), _HEADINGS.index("measure"))
#: Columns of what is wrong with data that cannot be compared: its failure says all of it.
_MAX_PROBLEM = 40
#: Lines of a note, unless more than the default was asked for.
_MAX_NOTE = 3
#: Columns of a line that is not to be wrapped.
_UNLIMITED = 100_000
_NO_FAILURES: Mapping[str, int] = MappingProxyType({})


@frozen
class _Row:
    """One gate: the cells of ``_HEADINGS``, and notes for the lines under it."""

    cells: tuple[str, ...]
    notes: tuple[str, ...] = ()
    style: str = ""


def lines(
    judged: Sequence[tuple[str, Verdict]],
    screen: Screen,
    *,
    colour: bool = False,
    failures: Mapping[str, int] = _NO_FAILURES,
    complete: bool = True,
) -> list[str]:
    """The table of verdicts, each with the test that asked for it: a line for each, in the order given, and notes.

    ``colour`` colours outcomes with ANSI codes. ``failures`` says how often a test failed before its last attempt.
    The run is ``complete`` if every gate was judged.
    """
    run = [verdict for _, verdict in judged]
    rows = [
        _row(test, verdict, failures.get(test), notes(verdict, run, complete=complete)) for test, verdict in judged
    ]
    whole = {note for verdict in run for note in changed_lines(verdict)}
    shown = [place for place in range(len(_HEADINGS)) if any(row.cells[place] for row in rows)]
    for place in _GIVING_WAY:
        if place in shown and _width([_Row(_HEADINGS), *rows], shown) > screen.width:
            shown.remove(place)
    heading, *table = _table([_Row(_HEADINGS), *rows], shown, colour=colour)
    text = [heading]
    said = {note for verdict in run if not verdict.passed for note in warning_lines(verdict)}  # failures showed them
    for row, line in zip(rows, table, strict=True):
        text.append(line)
        for note in (note for note in row.notes if note not in said):
            text += _under(note, screen, cuts=note not in whole)
        said.update(row.notes)
    return text


def _row(test: str, verdict: Verdict, failures: int | None, under: Sequence[str]) -> _Row:
    shown, estimates = card(verdict), verdict.estimates
    means = ""
    if estimates.baseline_mean is not None and estimates.candidate_mean is not None:
        means = from_to(estimates.baseline_mean, estimates.candidate_mean)
    return _Row(
        (
            _outcome(verdict) + after(failures),
            shown.estimate or fitted(shown.line.removeprefix("cannot be compared: "), _MAX_PROBLEM),
            clean(verdict.measure or "", limit=24),
            means,
            clean(test),
        ),
        tuple(under),
        _STYLES["inconclusive" if verdict.passed and tone(verdict) == "caution" else verdict.outcome],
    )


def _outcome(verdict: Verdict) -> str:
    """``FAIL churn``, ``PASS WITH CARE``."""
    outcome = word(verdict).upper()
    return f"{outcome} {clean(verdict.reason)}" if verdict.outcome == "fail" and verdict.reason else outcome


def _width(rows: Sequence[_Row], shown: Sequence[int]) -> int:
    from rich.cells import cell_len

    return sum(max(cell_len(row.cells[place]) for row in rows) + 2 for place in shown) - 2


def _table(rows: Sequence[_Row], shown: Sequence[int], *, colour: bool) -> list[str]:
    from rich.cells import cell_len

    widths = {place: max(cell_len(row.cells[place]) for row in rows) for place in shown[:-1]}
    text = []
    for row in rows:
        blanks = {place: " " * (width - cell_len(row.cells[place]) + 2) for place, width in widths.items()}
        pieces = [f"{row.cells[place]}{blanks.get(place, '')}" for place in shown]
        line = "".join(pieces).rstrip()
        text.append(_coloured(line, row) if colour and row.style else line)
    return text


def _coloured(line: str, row: _Row) -> str:
    """A line whose first cell has its colour; rich, which takes longer to load than all else, is for this alone."""
    from rich.text import Text

    text = Text(line)
    text.stylize(row.style, 0, len(row.cells[0]))
    return layout.lines(text, width=_UNLIMITED, colour=True)[0]


def _under(note: str, screen: Screen, *, cuts: bool) -> list[str]:
    note, _, command = note.partition("\n")
    text = clean(note, limit=100_000)
    wrapped = layout.wrapped([text], width=max(screen.width, 40), indent="  ", hanging="  ")
    if cuts and screen.detail == Detail.BRIEF:
        wrapped = layout.at_most(_MAX_NOTE, wrapped, text, screen.width)
    return [*wrapped, *([f"    {command}"] if command else [])]
