"""Verdicts on their way from the test to the controller of xdist: attached to the test's report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_riskguard import run_context

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

#: The attribute of a report; JSON text in ASCII, so that xdist carries any topic id, lone surrogates included.
CARRIED = "riskguard_verdicts"


class Relay:
    """Verdicts by test; a test that is run again replaces its own."""

    def __init__(self) -> None:
        self._heard: list[Verdict] = []
        self._by_test: dict[str, list[dict[str, Any]]] = {}

    def heard(self, verdict: Verdict) -> None:
        """Keep a verdict for the next report, in the process that judged."""
        self._heard.append(verdict)

    @property
    def waiting(self) -> tuple[Verdict, ...]:
        """Verdicts since the last report."""
        return tuple(self._heard)

    def attach(self, report: pytest.TestReport) -> None:
        """Attach the verdicts since the last report to this one."""
        verdicts = self._heard
        if not run_context.current().report_wanted:
            verdicts = [verdict.without_diagnostics() for verdict in verdicts]
        setattr(report, CARRIED, json.dumps([verdict.to_dict() for verdict in verdicts]))
        self._heard = []

    def receive(self, report: pytest.TestReport) -> None:
        """Collect the verdicts that a report carries."""
        carried = json.loads(getattr(report, CARRIED, "[]"))
        if report.when == "setup":
            self._by_test.pop(report.nodeid, None)
        if carried:
            self._by_test.setdefault(report.nodeid, []).extend(carried)

    def by_test(self) -> list[tuple[str, Verdict]]:
        """Each verdict with the test that asked, sorted by test."""
        from pytest_riskguard.gates.verdict import Verdict

        return [(test, Verdict.from_dict(data)) for test in sorted(self._by_test) for data in self._by_test[test]]

    def verdicts(self) -> list[Verdict]:
        """The verdicts, sorted by test."""
        return [verdict for _, verdict in self.by_test()]
