"""Failures about the same queries: the first shows them, the others say where they are.

The text of a failure is made where the test ran, which may be a worker of xdist; only the process that prints all of
them knows which come first. It shortens the others before they are printed; JUnit XML has them whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_riskguard.run_context import Detail, Screen

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

#: The line of a failure that is kept, with all before the headline's end.
_KEPT = "reproduce: "


def shorten(reports: Sequence[pytest.TestReport], judged: Mapping[str, Sequence[Verdict]], screen: Screen) -> None:
    """Shorten the texts of failed gates, in the order in which they are printed; ``judged`` has verdicts by test."""
    from pytest_riskguard.reports.terminal.failure import most_topics, repeats

    if screen.detail > Detail.BRIEF:
        return
    failed = [
        (report, verdict)
        for report in reports
        for verdict in judged.get(report.nodeid, ())[-1:]  # a test ends with the first verdict that fails it
        if not verdict.passed
    ]
    for place, first in repeats([verdict for _, verdict in failed], most=most_topics(screen)).items():
        (report, verdict), (shown, _) = failed[place], failed[first]
        _shorten(report, verdict, shown.nodeid)


def _shorten(report: pytest.TestReport, verdict: Verdict, shown: str) -> None:
    from pytest_riskguard.reports.terminal.failure import pointer
    from pytest_riskguard.reports.words import line as line_of

    headline = line_of(verdict)
    for lines in _texts(report.longrepr):
        start = next((place for place, line in enumerate(lines) if headline in line), None)
        end = next((place for place, line in enumerate(lines) if line.lstrip("E ").startswith(_KEPT)), None)
        if start is not None and end is not None and start < end:
            margin = lines[end].partition(_KEPT)[0]
            lines[start + 1 :] = [margin + pointer(shown).lstrip(), lines[end]]


def _texts(shown: Any) -> Iterator[list[str]]:
    """The lines of each traceback entry, to be changed in place."""
    tracebacks = [part[0] for part in getattr(shown, "chain", ())] or [getattr(shown, "reprtraceback", None)]
    for traceback in tracebacks:
        for entry in getattr(traceback, "reprentries", ()):
            if isinstance(lines := getattr(entry, "lines", None), list):
                yield lines
