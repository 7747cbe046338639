"""The section at the end of a pytest run: every gate in a line."""

from __future__ import annotations

import textwrap

import pytest

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.detail import CURRENT
from pytest_riskguard.reports.terminal import summary_line, uncorrected, warning_lines
from pytest_riskguard.reports.text import clean

_MARKUP = {
    "pass": {"green": True},
    "fail": {"red": True, "bold": True},
    "inconclusive": {"yellow": True},
    "incomparable": {"red": True, "bold": True},
}


def write_summary(reporter: pytest.TerminalReporter, judged: list[tuple[str, Verdict]], problems: list[str]) -> None:
    """Write the section; with ``-q`` only what did not pass. The run's own problems are always said."""
    quiet = reporter.config.get_verbosity() < 0
    shown = [(test, verdict) for test, verdict in judged if not (quiet and verdict.passed)]
    if reporter.config.getoption("no_summary"):
        shown = []
    if not (shown or problems):
        return
    reporter.section("riskguard", "=")
    for test, verdict in shown:
        reporter.write(f"{verdict.outcome.upper():<12}", **_MARKUP[verdict.outcome])
        reporter.line(_beside_outcome(summary_line(test, verdict)))
        for warning in warning_lines(verdict):
            reporter.line(" " * 12 + _beside_outcome(warning))
    if not quiet and (remark := uncorrected([verdict for _, verdict in shown])):
        reporter.line(_wrapped(remark, indent=""))
    for problem in problems:
        reporter.line(f"ERROR {clean(problem, limit=1000)}", red=True, bold=True)


def _beside_outcome(text: str) -> str:
    """The text as a paragraph to the right of the column of outcomes."""
    return _wrapped(text, indent=" " * 13)[12:]


def _wrapped(text: str, *, indent: str) -> str:
    return textwrap.fill(
        text,
        width=max(CURRENT.width, 40),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
