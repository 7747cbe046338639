"""All gates of a run as a table, one line each: outcome, figures, measure, on a wide screen the means, the gate.

The gate comes last, so that a long node id is never broken. What a reader should know of a gate that passed, such as
a weak pass, stands under its line; a gate that failed has said everything in its failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import words
from pytest_riskguard.reports.comparisons import after
from pytest_riskguard.reports.terminal.failure import coded, notes, warning_lines
from pytest_riskguard.reports.terminal.layout import at_most, wrapped
from pytest_riskguard.run_context import Detail, Screen
from pytest_riskguard.text import clean, columns, fitted

#: Codes of ANSI: green, yellow, bold red.
_COLOURS = {"pass": "32", "pass with care": "33", "inconclusive": "33", "fail": "1;31", "incomparable": "1;31"}
_HEADINGS = ("outcome", "estimate", "measure", "mean", "gate")
#: Columns that are left out where lines would be longer than the screen, in this order.
_GIVING_WAY = (_HEADINGS.index("mean"), _HEADINGS.index("measure"))
#: Columns of what is wrong with data that cannot be compared: its failure says all of it. Lines of a note.
_MAX_PROBLEM, _MAX_NOTE = 40, 3
_NO_FAILURES: Mapping[str, int] = MappingProxyType({})


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
    rows = [_HEADINGS, *(_row(test, verdict, failures.get(test)) for test, verdict in judged)]
    shown = [place for place in range(len(_HEADINGS)) if any(row[place] for row in rows[1:])]
    widths = [max(columns(row[place]) for row in rows) for place in range(len(_HEADINGS))]
    for place in _GIVING_WAY:
        if place in shown and sum(widths[one] + 2 for one in shown) - 2 > screen.width:
            shown.remove(place)
    table = ["  ".join(row[place] + " " * (widths[place] - columns(row[place])) for place in shown) for row in rows]
    whole = {note for verdict in run for note in coded(verdict.first_warnings)}
    said = {note for verdict in run if not verdict.passed for note in warning_lines(verdict)}  # failures showed them
    text = [table[0].rstrip()]
    for verdict, row, line in zip(run, rows[1:], table[1:], strict=True):
        coloured = f"\x1b[{_COLOURS[words.word(verdict)]}m{row[0]}\x1b[0m{line[len(row[0]) :]}" if colour else line
        text.append(coloured.rstrip())
        under = notes(verdict, run, complete=complete)
        for note in (note for note in under if note not in said):
            text += _under(note, screen, cuts=note not in whole)
        said.update(under)
    return text


def _row(test: str, verdict: Verdict, failures: int | None) -> tuple[str, ...]:
    outcome = words.word(verdict).upper()
    outcome += f" {clean(verdict.reason)}" if verdict.outcome == "fail" and verdict.reason else ""
    problem = words.line(verdict, after_word=True)
    figures = words.estimate(verdict) or fitted(problem, _MAX_PROBLEM)
    measure = clean(verdict.measure or "", limit=24)
    return outcome + after(failures), figures, measure, words.means(verdict), clean(test)


def _under(note: str, screen: Screen, *, cuts: bool) -> list[str]:
    note, _, command = note.partition("\n")
    text = clean(note, limit=100_000)
    part = wrapped([text], width=max(screen.width, 40))
    if cuts and screen.detail == Detail.BRIEF:
        part = at_most(_MAX_NOTE, part, text, screen.width)
    return [*part, *([f"    {command}"] if command else [])]
