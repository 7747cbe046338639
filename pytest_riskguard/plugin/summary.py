"""The section at the end of a pytest run: a table of all gates."""

from __future__ import annotations

import textwrap

import pytest

from pytest_riskguard import run_context
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import gates_table
from pytest_riskguard.reports.terminal import uncorrected
from pytest_riskguard.text import clean


def write_summary(reporter: pytest.TerminalReporter, judged: list[tuple[str, Verdict]], problems: list[str]) -> None:
    """Write the section; with ``-q`` only what did not pass. Problems of the run are always shown."""
    quiet = reporter.config.get_verbosity() < 0
    shown = [(test, verdict) for test, verdict in judged if not (quiet and verdict.passed)]
    if reporter.config.getoption("no_summary"):
        shown = []
    if not (shown or problems):
        return
    reporter.section("riskguard", "=")
    screen = run_context.current().screen
    if shown:
        # pytest knows what --color and NO_COLOR want.
        colour = reporter.config.get_terminal_writer().hasmarkup
        for line in gates_table.lines(shown, screen, colour=colour):
            reporter.line(line)
    if not quiet and (remark := uncorrected([verdict for _, verdict in shown])):
        for line in textwrap.wrap(remark, width=max(screen.width, 40)):
            reporter.line(line)
    for problem in problems:
        reporter.line(f"ERROR {clean(problem, limit=1000)}", red=True, bold=True)
