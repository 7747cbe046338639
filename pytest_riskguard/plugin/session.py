"""A pytest run that judges gates: collects gate files, gathers verdicts (over xdist too), and writes reports."""

from __future__ import annotations

import textwrap
from collections.abc import Generator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_riskguard import run_context
from pytest_riskguard.plugin.gate_log import XFAILED, GateLog, declared
from pytest_riskguard.plugin.mode import FILES, Mode, asks_for_single_tests, is_selection_typed
from pytest_riskguard.reports import comparisons
from pytest_riskguard.reports.comparisons import KnownGate

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.engine import Engine
    from pytest_riskguard.engine.advice import Reader
    from pytest_riskguard.gates.verdict import Verdict
    from pytest_riskguard.plugin.yaml_items import RiskguardFile

#: Options with which pytest runs no tests.
_ONLY_SHOWING = ("collectonly", "showfixtures", "show_fixtures_per_test", "setuponly", "setupplan", "cacheshow")
_COMPLETE = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
#: Which attempts at a test failed in this process, in order.
_ATTEMPTS = pytest.StashKey[list[bool]]()
_ENGINES = pytest.StashKey[dict[Path, "Engine"]]()
#: The key under which a worker leaves the gates that it has collected.
ROLL = "riskguard_roll"


def engine_for(config: pytest.Config, settings: Config) -> Engine:
    """The engine over a riskguard.yaml's collection, the same one for all its gates and for the fixture."""
    from pytest_riskguard.engine.declared_gates import engine_of

    engines = config.stash.setdefault(_ENGINES, {})
    if settings.path not in engines:
        from pytest_riskguard.reports.kept_runs import folders

        reports = config.getoption("riskguard_report", default=())
        keep_in = folders([config.invocation_params.dir / path for path in reports])
        engines[settings.path] = engine_of(settings, report=bool(reports), keep_in=keep_in)
    return engines[settings.path]


def reader_for(config: pytest.Config, path: Path) -> Reader:
    """Who reads verdicts about a riskguard.yaml, and in the first JSON report that is written, as it was typed."""
    from pytest_riskguard.engine.advice import Reader

    report = next((path for path in config.getoption("riskguard_report") if path.lower().endswith(".json")), None)
    return Reader.of_config(path, config.invocation_params.dir, config.rootpath, report=report)


class RiskguardSession:
    """Registered as a plugin of its own when riskguard is on."""

    def __init__(self, config: pytest.Config, mode: Mode) -> None:
        self.config, self.mode = config, mode
        self.is_worker = hasattr(config, "workerinput")
        self._gate_files = {path.resolve() for path in mode.files}
        self.log = GateLog()
        self.problems: list[str] = []
        #: Every known gate and how it ended, once the run is over.
        self.gates: tuple[KnownGate, ...] = ()
        #: The gates that this process has collected, before anything was deselected.
        self._items: list[pytest.Item] = []
        for path in () if self.is_worker else config.getoption("riskguard_report"):
            from pytest_riskguard.errors import UsageError
            from pytest_riskguard.reports.files import check, withdraw

            target = config.invocation_params.dir / path
            try:
                check(target)
                withdraw(target)  # whatever ends this run, none of an earlier one stands for it
            except (UsageError, OSError) as error:
                raise pytest.UsageError(f"--riskguard-report={path}: {error}") from None

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> RiskguardFile | None:
        """Gate files become collectors of gates."""
        if self.config.getoption("riskguard_no_yaml") or file_path.resolve() not in self._gate_files:
            return None
        from pytest_riskguard.plugin.yaml_items import RiskguardFile

        collector: RiskguardFile = RiskguardFile.from_parent(parent, path=file_path)
        return collector

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> Generator[None, object, object]:
        """Collect gate files wherever they are, unless single tests are asked for, and note which gates there are."""
        known = {item.path.resolve() for item in items if hasattr(item, "became")}
        for path in () if asks_for_single_tests(self.config) else self.mode.files:
            if path.resolve() in known:
                continue
            if session.config.hook.pytest_ignore_collect(collection_path=path, config=session.config):
                continue  # the user excluded it
            collector = self.pytest_collect_file(path, session)
            if collector is not None:
                items.extend(item for item in session.genitems(collector) if isinstance(item, pytest.Item))
        self._items = [item for item in items if _is_gate(item)]
        return (yield)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Record which gates are left."""
        selected = {item.nodeid for item in session.items}
        roll = list[KnownGate]()
        for item in self._items:
            line, became = item.location[1], getattr(item, "became", "not_run")
            if became != "broken" and item.nodeid not in selected:
                became = "deselected"
            roll.append(KnownGate(item.nodeid, None if line is None else line + 1, became, 0, ()))
        if self.is_worker:
            self.config.workeroutput[ROLL] = [asdict(entry) for entry in roll]  # type: ignore[attr-defined]
        else:
            self.log.know(roll)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker which gate files there are."""
        node.workerinput[FILES] = list(map(str, self.mode.files))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Record the gates of a worker that has ended; one that crashed left nothing."""
        if (roll := getattr(node, "workeroutput", {}).get(ROLL)) is not None:
            self.log.know([KnownGate(**entry) for entry in roll])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        """Listen for verdicts while a test runs."""
        report_wanted = bool(self.config.getoption("riskguard_report"))
        with run_context.changed(listeners=(self.log.waiting.append,), report_wanted=report_wanted):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the new verdicts to the test's report, which xdist carries to the controller."""
        report = yield
        attempts = item.stash.setdefault(_ATTEMPTS, [])
        if call.when == "setup" or not attempts:
            attempts.append(False)
        attempts[-1] |= report.failed
        if self.log.waiting or _is_gate(item):
            self.log.attach(report, sum(attempts[:-1]))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather verdicts in the process that receives all test reports."""
        if not self.is_worker:
            self.log.receive(report)

    @cached_property
    def policy_changes(self) -> tuple[str, ...]:
        """What the judged commit changed about how it is judged, in every process the same."""
        from pytest_riskguard.config.base_commit import policy_changes
        from pytest_riskguard.config.load import find_config

        root = self.config.rootpath
        tests = {*(item.path for item in self._items), *(root / gate.file for gate in self.gates)}
        nearest = (find_config(test.parent, stop=root) for test in sorted(tests) if test.suffix == ".py")
        return policy_changes([*self.mode.files, *filter(None, nearest)])

    @property
    def verdicts(self) -> list[Verdict]:
        """All verdicts so far, in an order that does not depend on workers."""
        return [verdict for _, verdict in self.log.by_test()]

    @property
    def report(self) -> comparisons.Report:
        """What the run has judged so far, as reports take it."""
        return comparisons.Report(self.verdicts, self.gates, policy_changes=self.policy_changes)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the reports, and fail a run that judged too few gates."""
        if self.is_worker or any(self.config.getoption(name, default=None) for name in _ONLY_SHOWING):
            return
        for path in self.mode.files:
            self.log.know_uncollected(declared(path, root=self.config.rootpath))
        self.gates = self.log.gates()
        if exitstatus in _COMPLETE:
            self.problems += self._unjudged()
            lost = (gate.id for gate in self.gates if gate.became == "lost")
            self.problems += [f"no verdict came from the worker that ran {id}" for id in lost]
        self.problems += self._written()
        if self.problems and exitstatus in _COMPLETE:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _unjudged(self) -> list[str]:
        """Gates that were not judged in a run that is green so far, or not as strictly as was asked for."""
        if not self.config.getoption("riskguard_strict"):
            if self.log.by_test() or is_selection_typed(self.config):
                return []
            advice = "declare one in riskguard.yaml or use the fixture; `pytest --riskguard .` judges all below"
            known = f"{len(self.gates)} known" if self.gates else advice
            return [f"riskguard is on and no gate was judged ({known})"]
        judged = [gate for gate in self.gates if gate.became == "judged"]
        strict, lenient = "--riskguard-strict", []
        if not judged or len(judged) < len(self.gates):
            lenient.append(f"gates judged: {len(judged)} of {len(self.gates)}, {strict} asks for all")
        for gate in judged:
            if self.log.tests[gate.id].ended == XFAILED:
                lenient.append(f"{gate.id} failed as expected (xfail), which {strict} does not accept")
            elif gate.failures:
                lenient.append(f"{gate.id} passed{comparisons.after(gate.failures)}, which {strict} does not accept")
        return lenient

    def _written(self) -> list[str]:
        problems: list[str] = []
        paths = self.config.getoption("riskguard_report")
        if paths:
            from pytest_riskguard.reports import files
            from pytest_riskguard.reports.provenance import dated

            report = dated(self.report, self.config.rootpath)
        for path in paths:
            try:
                files.write(self.config.invocation_params.dir / path, report)
            except OSError as error:
                problems.append(f"could not write the report {path}: {error.strerror}")
        return problems

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        """List the gates, and tell GitHub Actions of those that failed, each on a line of its own."""
        if run_context.agent_reads(terminal=terminalreporter.isatty()) and self.config.get_verbosity() == 0:
            self._summarise_briefly(terminalreporter, exitstatus)
        else:
            self._summarise(terminalreporter)
        if run_context.github_reads():
            for line in self._annotations():
                terminalreporter.ensure_newline()
                terminalreporter.line(line)

    def _annotations(self) -> list[str]:
        """For verdicts that failed their test, for gate files that could not be judged, and for the whole run."""
        from pytest_riskguard.reports.ci.github import Annotation, annotation, place, told

        root, tests = self.config.rootpath, self.log.tests

        def at(test: str) -> tuple[str | None, int | None]:
            file, line = tests[test].place or (None, None)
            return None if file is None else place(root / file), line

        failed = [
            (test, verdict)
            for test, verdict in self.log.by_test()
            if tests[test].message is not None and not verdict.passed
        ]
        told_of = {test for test, _ in failed}
        others = [
            Annotation("riskguard", [test.message], *at(id))
            for id, test in tests.items()
            if test.message is not None
            and id not in told_of
            and (root / id.partition("::")[0]).resolve() in self._gate_files
        ]
        return told(
            self.report,
            [annotation(verdict, *at(test)) for test, verdict in failed],
            [*others, *(Annotation("riskguard", [problem]) for problem in self.problems)],
        )

    def _summarise(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List all gates, with ``-q`` those that want attention. Problems of the run are always shown."""
        quiet = self.config.get_verbosity() < 0
        named = comparisons.by_service(self.verdicts, self.gates)
        shown = [
            (test, verdict)
            for (test, _), verdict in zip(self.log.by_test(), named, strict=True)
            if not (quiet and _is_fine(verdict))
        ]
        if len(shown) == 1 and self.config.getoption("tbstyle") != "no":
            failed = {report.nodeid for report in terminalreporter.stats.get("failed", ())}
            # what failed alone is on the screen already
            shown = [(test, verdict) for test, verdict in shown if verdict.passed or test not in failed]
        left_out = set() if self.problems else self._left_out()
        unjudged = comparisons.summary([gate for gate in self.gates if gate.became not in left_out])
        changes = self.policy_changes if self.log.by_test() else ()
        if not (shown or unjudged or self.problems or changes):
            return
        from pytest_riskguard.reports.terminal import gates_table, remarks
        from pytest_riskguard.text import clean

        terminalreporter.section("riskguard", "=")
        screen = run_context.current().screen

        def write(*texts: str, **markup: bool) -> None:
            for text in texts:
                for line in textwrap.wrap(text, width=max(screen.width, 40)):
                    terminalreporter.line(line, **markup)

        if shown:
            colour = self.config.get_terminal_writer().hasmarkup  # pytest knows what --color and NO_COLOR want
            attempts, complete = {gate.id: gate.failures for gate in self.gates}, not comparisons.missing(self.gates)
            for line in gates_table(shown, screen, colour=colour, failures=attempts, complete=complete):
                terminalreporter.line(line)
        if not quiet:
            write(*remarks([verdict for _, verdict in shown]))
        if len(shown) > 1 and not quiet:
            terminalreporter.line(comparisons.answer(self.verdicts, self.gates).title)
        write(*unjudged)
        write(*changes, yellow=True)
        for problem in self.problems:
            terminalreporter.line(f"ERROR {clean(problem, limit=1000)}", red=True, bold=True)

    def _summarise_briefly(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        """The same as JSON, for an agent."""
        from pytest_riskguard.reports.brief import brief

        if self.verdicts or self.gates or self.problems:
            terminalreporter.section("riskguard", "=")
            terminalreporter.write(brief(self.report, exitstatus, notes=self.problems))

    def _left_out(self) -> set[str]:
        """How gates ended that the command line leaves out, as the user knows."""
        if is_selection_typed(self.config):
            return {"deselected", "not_collected"}
        return {"not_collected"} if self.config.getoption("riskguard_no_yaml") else set()


def _is_fine(verdict: Verdict) -> bool:
    """Whether a verdict lets the change go without care, and rests on nothing that has changed."""
    from pytest_riskguard.reports.card import Card

    return verdict.passed and Card(verdict).tone == "go" and not verdict.first_warnings


def _is_gate(item: pytest.Item) -> bool:
    """Whether a test is a gate: one of a gate file, or one that uses the fixture."""
    return "riskguard" in getattr(item, "fixturenames", ()) or hasattr(item, "became")
