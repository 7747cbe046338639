"""A verdict where somebody prints it, or where it is the value of a notebook's cell."""

from __future__ import annotations

from html import escape

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import words
from pytest_riskguard.reports.terminal.failure import body, first_warnings, steps_in
from pytest_riskguard.run_context import Screen

#: Lines of the text, but for commands; columns that it is wrapped in.
MAX_LINES, _WIDTH = 15, 80


def text(verdict: Verdict) -> str:
    """First line, what happened, the worst queries, what to do next."""
    screen = Screen(width=_WIDTH)
    steps = words.steps(verdict, commands=verdict.commands)
    after = [*first_warnings(verdict, screen), *steps_in(steps, screen)]
    first = f"{words.word(verdict).upper()} {words.line(verdict)}"
    return "\n".join([first, *body(verdict, screen, room=MAX_LINES - 1 - len(after)), *after])


def page(verdict: Verdict) -> str:
    """The same as a piece of HTML."""
    return f"<pre>{escape(text(verdict))}</pre>"
