"""A pytest run that judges gates: collects gate files, gathers verdicts (over xdist too), and writes reports."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_riskguard import run_context
from pytest_riskguard.plugin.options import Mode, node_ids_given, selected
from pytest_riskguard.reports import github
from pytest_riskguard.reports.internal_errors import bare, caught, plain

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.engine import Engine
    from pytest_riskguard.gates.verdict import Verdict
    from pytest_riskguard.plugin.yaml_items import RiskguardFile

#: With these options pytest runs no tests, so that it is no error if no gate was judged.
_ONLY_SHOWING = ("collectonly", "showfixtures", "show_fixtures_per_test", "setuponly", "setupplan", "cacheshow")
#: Exit codes of runs that ran their tests; the others (interrupted, usage, internal) have other causes.
_RAN = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
_JUNIT_COUNT = pytest.StashKey[int]()
_ENGINES = pytest.StashKey[dict[Path, "Engine"]]()
#: The attribute of a test report that holds verdicts: JSON in ASCII, so that xdist carries even lone surrogates.
CARRIED = "riskguard_verdicts"
#: The same for lines about failures of riskguard's own.
CARRIED_FAILURES = "riskguard_failures"


def engine_for(config: pytest.Config, settings: Config) -> Engine:
    """The engine over a riskguard.yaml's collection, the same one for all its gates and for the fixture."""
    from pytest_riskguard.baselines.store import Store
    from pytest_riskguard.engine import Engine

    engines = config.stash.setdefault(_ENGINES, {})
    if settings.path not in engines:
        engines[settings.path] = Engine(
            qrels=settings.collection.qrels,
            topics=settings.collection.topics,
            store=Store(settings.store),
            measures=settings.all_measures,
            shrink=settings.collection.shrink,
            report=bool(config.getoption("riskguard_report", default=())),
        )
    return engines[settings.path]


class Relay:
    """Verdicts by test; those of a test that runs again replace its earlier ones."""

    def __init__(self) -> None:
        #: Verdicts since the last report, in the process that judged, and lines about failures of riskguard's own.
        self.waiting: list[Verdict] = []
        self.waiting_failures: list[str] = []
        #: All such lines that have been received.
        self.failures: list[str] = []
        self._by_test: dict[str, list[dict[str, Any]]] = {}

    def attach(self, report: pytest.TestReport) -> None:
        """Attach the verdicts since the last report to this one."""
        verdicts = self.waiting
        if not run_context.current().report_wanted:
            verdicts = [verdict.without_diagnostics() for verdict in verdicts]
        setattr(report, CARRIED, json.dumps([_as_plain(verdict) for verdict in verdicts]))
        setattr(report, CARRIED_FAILURES, json.dumps(self.waiting_failures))
        self.waiting.clear()
        self.waiting_failures.clear()

    def receive(self, report: pytest.TestReport) -> None:
        """Collect the verdicts that a report carries."""
        carried = json.loads(getattr(report, CARRIED, "[]"))
        self.failures += json.loads(getattr(report, CARRIED_FAILURES, "[]"))
        if report.when == "setup":
            self._by_test.pop(report.nodeid, None)
        if carried:
            self._by_test.setdefault(report.nodeid, []).extend(carried)

    def by_test(self) -> list[tuple[str, Verdict]]:
        """Each verdict with the test that asked for it, sorted by test."""
        from pytest_riskguard.gates.verdict import Verdict

        verdicts = []
        carried = [(test, data) for test in sorted(self._by_test) for data in self._by_test[test]]
        for test, data in carried:
            with caught("reading a verdict that a test carried"):
                verdicts.append((test, Verdict.from_dict(data)))
        return verdicts


def _as_plain(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON; if one of its findings cannot be computed, the bare answer."""
    with caught("computing the findings of a verdict"):
        return verdict.to_dict()
    return bare(verdict).to_dict()


class RiskguardSession:
    """Registered as a plugin of its own when riskguard is on."""

    def __init__(self, config: pytest.Config, mode: Mode) -> None:
        self.config, self.mode = config, mode
        self.relay = Relay()
        self.problems: list[str] = []
        self.is_worker = hasattr(config, "workerinput")
        self._collected: set[Path] = set()
        self._broken = False
        self._session: pytest.Session | None = None
        self._failures_shown = 0
        context = ExitStack()
        context.enter_context(run_context.changed(failure_listeners=(self.relay.waiting_failures.append,)))
        config.add_cleanup(context.close)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Collect the gate files whatever ``testpaths`` says, unless single tests are named."""
        if not self._collects_files:
            return
        config = session.config
        given = [(config.invocation_params.dir / argument).resolve() for argument in config.args]
        for path in self.mode.files:  # those named on the command line are arguments already
            resolved = path.resolve()
            if not any(resolved == other or other in resolved.parents for other in given):
                config.args.append(str(path))

    @property
    def _collects_files(self) -> bool:
        return not (self.config.getoption("riskguard_no_yaml") or node_ids_given(self.config))

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> RiskguardFile | None:
        """Gate files become collectors of gates."""
        if self.config.getoption("riskguard_no_yaml"):
            return None
        if not any(file_path == path or file_path.resolve() == path.resolve() for path in self.mode.gate_files):
            return None
        from pytest_riskguard.plugin.yaml_items import RiskguardFile

        self._collected.add(file_path.resolve())
        collector: RiskguardFile = RiskguardFile.from_parent(parent, path=file_path)
        return collector

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Collect gate files where pytest does not look (``norecursedirs``, such as hidden folders)."""
        if not self._collects_files:
            return
        for path in self.mode.files:
            if path.resolve() in self._collected:
                continue
            if session.config.hook.pytest_ignore_collect(collection_path=path, config=session.config):
                continue  # the user excluded it
            collector = self.pytest_collect_file(path, session)
            if collector is not None:
                items.extend(item for item in session.genitems(collector) if isinstance(item, pytest.Item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        """Listen for verdicts while a test runs."""
        listeners = (*run_context.current().listeners, self.relay.waiting.append)
        report_wanted = bool(self.config.getoption("riskguard_report"))
        with run_context.changed(listeners=listeners, report_wanted=report_wanted):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the new verdicts to the test's report, which xdist carries to the controller."""
        if self.relay.waiting and self.config.getini("riskguard_junit"):
            from pytest_riskguard.reports.junit import properties

            for verdict in self.relay.waiting:
                number = item.stash[_JUNIT_COUNT] = item.stash.get(_JUNIT_COUNT, 0) + 1
                with caught("writing the properties of a verdict for JUnit XML"):
                    item.user_properties.extend(properties(verdict, number))
        report = yield
        self.relay.attach(report)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather verdicts in the process that receives all test reports."""
        if not self.is_worker:
            self.relay.receive(report)
            self._broken |= report.failed and self.is_of_gate_file(report.nodeid)

    def is_of_gate_file(self, nodeid: str) -> bool:
        """Whether a test belongs to a gate file."""
        path = (self.config.rootpath / nodeid.split("::")[0]).resolve()
        return any(path == file.resolve() for file in self.mode.gate_files)

    @property
    def verdicts(self) -> list[Verdict]:
        """All verdicts so far, in an order that does not depend on workers."""
        return [verdict for _, verdict in self.relay.by_test()]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the reports, and fail a run that judged too few gates."""
        config = session.config
        self._session = session
        if self.is_worker or any(config.getoption(name, default=None) for name in _ONLY_SHOWING):
            return
        if exitstatus in _RAN:
            self.problems += self._too_few_gates()
        self.problems += self._written()
        if self.problems and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        self._fail_for_internal_errors()

    def _fail_for_internal_errors(self) -> list[str]:
        """Set the exit status if something of riskguard's own failed; return the lines that say what, each once."""
        failures = list(dict.fromkeys([*self.relay.failures, *self.relay.waiting_failures]))
        if failures and self._session is not None and self._session.exitstatus in _RAN:
            self._session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        return failures

    def _too_few_gates(self) -> list[str]:
        judged, required = len(self.verdicts), self.config.getoption("riskguard_require")
        if required is not None and judged < required:
            return [f"gates judged: {judged}, --riskguard-require={required} asks for more"]
        if judged == 0 and required is None and not (self._broken or selected(self.config)):
            return ["riskguard is on and no gate was judged: declare gates in riskguard.yaml or use the fixture"]
        return []

    def _written(self) -> list[str]:
        from pytest_riskguard.reports import files

        problems, charts = [], self.config.getoption("riskguard_charts")
        for path in self.config.getoption("riskguard_report"):
            try:
                with caught(f"writing the report {path}", but=(OSError,)):
                    files.write(self.config.invocation_params.dir / path, self.verdicts, charts=charts)
            except OSError as error:
                problems.append(f"could not write the report {path}: {error.strerror}")
        return problems

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List all gates, with ``-q`` those that did not pass. Problems of the run are always shown."""
        from pytest_riskguard.reports import gates_table
        from pytest_riskguard.reports.terminal import uncorrected
        from pytest_riskguard.text import clean

        failures = self._fail_for_internal_errors()
        quiet = self.config.get_verbosity() < 0
        shown = [(test, verdict) for test, verdict in self.relay.by_test() if not (quiet and verdict.passed)]
        if self.config.getoption("no_summary"):
            shown = []
        if not (shown or self.problems or failures):
            return
        terminalreporter.section("riskguard", "=")
        screen = run_context.current().screen
        # pytest knows what --color and NO_COLOR want.
        colour, lines = self.config.get_terminal_writer().hasmarkup, list[str]()
        with caught("listing the gates"):
            lines += gates_table.lines(shown, screen, colour=colour) if shown else []
            if not quiet and (remark := uncorrected([verdict for _, verdict in shown])):
                lines += textwrap.wrap(remark, width=max(screen.width, 40))
        for line in lines or [line for _, verdict in shown for line in plain(verdict).splitlines()]:
            terminalreporter.line(line)
        for problem in self.problems:
            terminalreporter.line(f"ERROR {clean(problem, limit=1000)}", red=True, bold=True)
        self.show_internal_errors(terminalreporter)

    def show_internal_errors(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the lines about failures of riskguard's own that were not shown yet, and set the exit status."""
        failures = self._fail_for_internal_errors()
        for line in failures[self._failures_shown :]:
            terminalreporter.line(line, red=True, bold=True)
        self._failures_shown = len(failures)


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
        with caught("writing for GitHub Actions"):
            self._write(terminalreporter)
        self._session.show_internal_errors(terminalreporter)

    def _write(self, terminalreporter: pytest.TerminalReporter) -> None:
        verdicts, summary = self._session.verdicts, github.summary_of()
        of_verdicts, of_others = self._annotations()
        of_others += [github.Annotation("riskguard", [problem]) for problem in self._session.problems]
        if summary is not None and (verdicts or of_others):
            try:
                github.append_summary(summary, verdicts, of_others)
            except OSError as error:
                terminalreporter.line(f"riskguard: could not write {github.SUMMARY}: {error.strerror}")
        if github.annotates():
            terminalreporter.ensure_newline()
            for command in github.commands([*of_verdicts, *of_others]):
                terminalreporter.line(command)

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
