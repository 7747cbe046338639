"""Annotations and the step summary of a pytest run for GitHub Actions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_riskguard.plugin.session import RiskguardSession
from pytest_riskguard.reports.ci import github


@dataclass
class _Test:
    """The file and line of a test, and whether it failed, with which message."""

    path: Path
    line: int | None
    failed: bool = False
    message: str = ""


class Github:
    """Annotations and the step summary for GitHub Actions; registered where the verdicts are gathered."""

    def __init__(self, session: RiskguardSession) -> None:
        self._session, self._tests = session, dict[str, _Test]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the file and line of each test, and how it failed."""
        name, line, _ = report.location
        if report.when == "setup":
            path = self._session.config.rootpath / name
            self._tests[report.nodeid] = _Test(path, None if line is None else line + 1)
        test = self._tests.get(report.nodeid)
        if test is not None and report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            test.failed, test.message = True, test.message or getattr(crash, "message", "")

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the step summary, and each annotation on a line of its own."""
        session = self._session
        of_verdicts, of_others = self._annotations()
        of_others += [github.Annotation("riskguard", [problem]) for problem in session.problems]
        lines = github.told(
            session.verdicts, of_verdicts, of_others, gates=session.gates, policy=session.policy_changes
        )
        if lines:
            terminalreporter.ensure_newline()
        for line in lines:
            terminalreporter.line(line)

    def _annotations(self) -> tuple[list[github.Annotation], list[github.Annotation]]:
        """For verdicts that failed their test, and for gates that could not be judged."""
        of_verdicts, of_others, annotated = [], [], set()
        for nodeid, verdict in self._session.relay.by_test():
            test = self._tests.get(nodeid)
            if test is not None and test.failed and not verdict.passed:
                annotated.add(nodeid)
                of_verdicts.append(github.annotation(verdict, file=github.place(test.path), line=test.line))
        for nodeid, test in self._tests.items():
            if test.failed and nodeid not in annotated and self._session.is_of_gate_file(nodeid):
                message = test.message.partition("\n")[0]
                of_others.append(github.Annotation("riskguard", [message], github.place(test.path), test.line))
        return of_verdicts, of_others
