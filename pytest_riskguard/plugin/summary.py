"""The section at the end of a pytest run: every gate in a line."""

from __future__ import annotations

import pytest

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.terminal import summary_line

_MARKUP = {
    "pass": {"green": True},
    "fail": {"red": True, "bold": True},
    "inconclusive": {"yellow": True},
    "incomparable": {"red": True, "bold": True},
}


def write_summary(reporter: pytest.TerminalReporter, judged: list[tuple[str, Verdict]], problems: list[str]) -> None:
    """Write the section; with ``-q`` only what did not pass, and the problems of the run itself."""
    quiet = reporter.config.get_verbosity() < 0
    shown = [(test, verdict) for test, verdict in judged if not (quiet and verdict.passed)]
    if not (shown or problems):
        return
    reporter.section("riskguard", "=")
    for test, verdict in shown:
        reporter.write(f"{verdict.outcome.upper():<12}", **_MARKUP[verdict.outcome])
        reporter.line(f" {summary_line(test, verdict)}")
    for problem in problems:
        reporter.line(f"ERROR {problem}", red=True, bold=True)
