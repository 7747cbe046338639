"""A verdict where somebody prints it, or where it is the value of a notebook's cell: the card, as text or as HTML."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.card import Step, card, unsaid, word
from pytest_riskguard.reports.sections import worst_topics
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.terminal.failure import MAX_WORST, body, first_warnings, steps_of
from pytest_riskguard.run_context import Screen
from pytest_riskguard.text import clean

#: Lines of the text, but for commands; columns that it is wrapped in.
MAX_LINES, _WIDTH = 15, 80
#: Characters of a piece of text on the page.
_MAX_TEXT = 4000
#: Colours of outcomes that are read on white and on black.
_COLOURS = {"go": "#2e7d32", "caution": "#b26a00", "stop": "#c62828"}


def text(verdict: Verdict) -> str:
    """First line, what happened, the worst queries, what to do next."""
    shown, screen = card(verdict, here=True), Screen(width=_WIDTH)
    after = [*first_warnings(verdict, screen), *steps_of(shown, screen)]
    lines = [f"{word(verdict).upper()} {shown.line}", *body(verdict, screen, room=MAX_LINES - 1 - len(after))]
    return "\n".join([*lines, *after])


def page(verdict: Verdict) -> str:
    """The same as a piece of HTML that needs nothing else, with every text escaped."""
    shown = card(verdict, here=True)
    title = f'<strong style="color: {_COLOURS[shown.tone]}">{_plain(word(verdict).upper())}</strong>'
    parts = [f"<p>{title} {_plain(shown.line)}</p>", f"<p>{_plain(shown.paragraph)}</p>"]
    table = worst_topics(Shown(verdict), most=MAX_WORST)
    if shown.worst and not verdict.passed:
        head = _row("th", table.columns)
        parts.append(
            f"<table><thead>{head}</thead><tbody>{''.join(_row('td', row) for row in table.cells)}</tbody></table>"
        )
    parts += [
        f"<p>{_plain(text)}</p>" for text in (shown.why, *(warning.message for warning in unsaid(verdict))) if text
    ]
    if shown.steps:
        parts.append(f"<ul>{''.join(map(_step, shown.steps))}</ul>")
    return f"<div>{''.join(parts)}</div>"


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{_plain(cell)}</{tag}>' for cell in cells)}</tr>"


def _step(step: Step) -> str:
    return f"<li>{_plain(step.text)}{f': <code>{_plain(step.command)}</code>' if step.command else ''}</li>"


def _plain(text: str) -> str:
    """Other people's text, which stays text."""
    return escape(clean(text, limit=_MAX_TEXT))
