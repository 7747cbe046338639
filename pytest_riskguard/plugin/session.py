"""A pytest run in which gates are judged: which files are collected, where verdicts gather, how it ends."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_riskguard import recorder
from pytest_riskguard.plugin.options import Mode, node_ids_given, selected
from pytest_riskguard.plugin.relay import Relay
from pytest_riskguard.reports import detail

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict
    from pytest_riskguard.plugin.collection import RiskguardFile

WIDTH = "riskguard_width"


def _width() -> int:
    columns = shutil.get_terminal_size(fallback=(80, 24)).columns
    return max(columns - 4, 40)  # pytest puts "E   " before each line of a failure


class RiskguardSession:
    """Registered as a plugin of its own when riskguard is on."""

    def __init__(self, config: pytest.Config, mode: Mode) -> None:
        self.config, self.mode = config, mode
        self.relay = Relay()
        self.problems: list[str] = []
        worker: dict[str, Any] | None = getattr(config, "workerinput", None)
        self.is_worker = worker is not None
        verbosity = config.get_verbosity()
        detail.CURRENT.topics = None if verbosity >= 2 else 3 if verbosity < 0 else 10
        detail.CURRENT.width = _width() if worker is None else worker[WIDTH]

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell an xdist worker how wide the screen is that it cannot see."""
        node.workerinput[WIDTH] = detail.CURRENT.width

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Collect the gate files whatever ``testpaths`` says, unless single tests are named."""
        config = session.config
        if config.getoption("riskguard_no_yaml") or node_ids_given(config):
            return
        given = [(config.invocation_params.dir / argument).resolve() for argument in config.args]
        for path in self.mode.files:
            resolved = path.resolve()
            if not any(resolved == other or other in resolved.parents for other in given):
                config.args.append(str(path))

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> RiskguardFile | None:
        """Gate files become collectors of gates."""
        if self.config.getoption("riskguard_no_yaml"):
            return None
        if not any(file_path == path or file_path.resolve() == path.resolve() for path in self.mode.files):
            return None
        from pytest_riskguard.plugin.collection import RiskguardFile

        collector: RiskguardFile = RiskguardFile.from_parent(parent, path=file_path)
        return collector

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Listen for verdicts while a test runs."""
        recorder.listeners.append(self.relay.heard)
        try:
            return (yield)
        finally:
            recorder.listeners.remove(self.relay.heard)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Send what was heard along with the test's report, which xdist carries to the controller."""
        report = yield
        self.relay.attach(report)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather verdicts where the reports end up."""
        if not self.is_worker:
            self.relay.receive(report)

    @property
    def verdicts(self) -> list[Verdict]:
        """All verdicts so far, in an order that no worker decides."""
        return self.relay.verdicts()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the reports, and turn a run red that judged nothing or too little."""
        config = session.config
        if self.is_worker or config.getoption("collectonly"):
            return
        self.problems += self._too_few_gates() + self._written()
        if self.problems and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _too_few_gates(self) -> list[str]:
        judged, required = len(self.verdicts), self.config.getoption("riskguard_require")
        if required is not None and judged < required:
            return [f"{judged} gates were judged, --riskguard-require={required} asks for more"]
        if judged == 0 and required is None and not selected(self.config):
            return ["riskguard is on and no gate was judged: declare gates in riskguard.yaml or use the fixture"]
        return []

    def _written(self) -> list[str]:
        from pytest_riskguard.reports import json

        problems = []
        for path in self.config.getoption("riskguard_report"):
            try:
                json.write(self.config.invocation_params.dir / path, self.verdicts)
            except OSError as error:
                problems.append(f"could not write the report {path}: {error.strerror}")
        return problems

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List all gates, passes with their margin too."""
        from pytest_riskguard.plugin.summary import write_summary

        write_summary(terminalreporter, self.relay.by_test(), self.problems)
