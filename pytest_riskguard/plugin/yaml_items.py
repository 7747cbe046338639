"""Gates declared in YAML as test items: a failing gate is an ordinary failing item at its line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_riskguard.config.items import GateItem, family_of, items_of
from pytest_riskguard.config.load import load_gates
from pytest_riskguard.errors import ConfigError, RiskguardError, RiskyError, UsageError
from pytest_riskguard.plugin.session import engine_for

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import ComputedBaseline, DescribedRun, Retrieve
    from pytest_riskguard.engine.sources import Computed, LiveRun, Question, RunFile, Stored
    from pytest_riskguard.gates.verdict import Verdict


class RiskguardFile(pytest.File):
    """A riskguard.yaml; its gates share what was read and scored."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._live: dict[Retrieve, LiveRun] = {}
        self._of_families: dict[str, Verdict] = {}
        self._looked_up = False

    def collect(self) -> Iterable[pytest.Item]:
        """One item for each gate, measure, alpha and slice; a file that cannot be read is one failing item."""
        try:
            self.settings = load_gates(self.path)
        except ConfigError as error:
            yield BrokenConfiguration.from_parent(self, name="configuration", error=error)
            return
        for gate in self.settings.gates:
            for item in items_of(self.settings, gate):
                # The id as text equals what --lf reads from its cache, where "[AP-5]" is a part of its own.
                nodeid = f"{self.nodeid}::{item.id}"
                yield GateTest.from_parent(self, name=item.id, nodeid=nodeid, item=item, file=self)

    def verdict(self, item: GateItem) -> Verdict:
        """The verdict on one item; its family is judged whole, once, even if only some items are selected."""
        engine = engine_for(self.config, self.settings)
        correction, family = family_of(self.settings, item)
        if not family:
            return engine.verdict(self._question(item))
        if item.id not in self._of_families:
            verdicts = engine.verdicts([self._question(member) for member in family], correction=correction)
            self._of_families |= {member.id: verdict for member, verdict in zip(family, verdicts, strict=True)}
        return self._of_families[item.id]

    def missing(self) -> list[ConfigError]:
        """Everything that the file names and nothing has; empty after the first call, so that it is said once."""
        from pytest_riskguard.config.lookups import all_errors
        from pytest_riskguard.reports.internal_errors import caught

        if not self._looked_up:
            self._looked_up = True
            with caught(f"looking up what {self.path.name} names"):
                return all_errors(self.settings)
        return []

    def _question(self, item: GateItem) -> Question:
        from pytest_riskguard.engine.sources import Question, Stored

        first, *pool = (_baseline_source(baseline) for baseline in item.baselines)
        others = tuple(source for source in pool if isinstance(source, Stored))
        own, shared = item.settings.candidate, self.settings.candidate
        where = ("candidate", "retrieve")
        line = self.settings.line_of(item.settings, *where) if own else self.settings.line(*where)
        candidate = self._candidate_source(own or shared, line)
        return Question(item.gate, candidate, first, item.measure, pool=others, alphas=item.settings.alpha)

    def _candidate_source(self, candidate: Path | DescribedRun | Retrieve | None, line: int) -> RunFile | LiveRun:
        from pytest_riskguard.config.schema import DescribedRun
        from pytest_riskguard.engine.sources import RunFile
        from pytest_riskguard.live_systems.candidates import live_candidate, project_of
        from pytest_riskguard.plugin.live_console import PytestConsole

        if candidate is None:
            raise UsageError(f"{self.settings.path}: no candidate: name a run file, or a function to retrieve with")
        if isinstance(candidate, Path):
            return RunFile(candidate)
        if isinstance(candidate, DescribedRun):
            return RunFile(candidate.run, metadata=dict(candidate.metadata))
        if candidate not in self._live:
            engine = engine_for(self.config, self.settings)
            root, console = project_of(self.settings, self.config.rootpath), PytestConsole(self.config)
            self._live[candidate] = live_candidate(
                engine, candidate, settings=self.settings, line=line, root=root, console=console
            )
        return self._live[candidate]


def _baseline_source(baseline: str | ComputedBaseline) -> Stored | Computed:
    from pytest_riskguard.engine.sources import Computed, Stored

    if isinstance(baseline, str):
        return Stored(baseline)
    return Computed(baseline.kind, tuple(map(Stored, baseline.systems)), baseline.candidate_inside)


class _Reported(pytest.Item):
    """An item whose failures are messages at a line of the YAML file, without a traceback."""

    line: int

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.line - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if not isinstance(excinfo.value, RiskguardError | RiskyError):
            return super().repr_failure(excinfo, style)
        shown = excinfo.getrepr(style="value")
        if shown.reprcrash is not None:
            shown.reprcrash.path, shown.reprcrash.lineno = os.fspath(self.path), self.line
            # Without the exception's module the message fits on the line of the short summary.
            shown.reprcrash.message = f"{type(excinfo.value).__name__}: {_short(excinfo.value)}"
        return shown


def _short(error: BaseException) -> str:
    """An error in one line for the short summary, where -vv and CI would repeat each line of a longer one."""
    if isinstance(error, RiskyError) and error.verdict.outcome == "incomparable":
        from pytest_riskguard.reports.terminal.failure import one_line

        return one_line(error.verdict)
    text = f"line {error.line}: {error.problem}" if isinstance(error, ConfigError) else str(error)
    return text.partition("\n")[0]


class BrokenConfiguration(_Reported):
    """Takes the place of the gates of a file that cannot be read."""

    def __init__(self, *, error: ConfigError, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.error, self.line = error, error.line

    def runtest(self) -> None:
        """Fail with what is wrong with the file."""
        raise self.error


class GateTest(_Reported):
    """One gate for one measure and alpha."""

    def __init__(self, *, item: GateItem, file: RiskguardFile, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.item, self.file, self.line = item, file, file.settings.line_of(item.settings)

    def runtest(self) -> None:
        """Judge, and fail unless the verdict passes."""
        from pytest_riskguard.assertions import REPORT_HINT, command
        from pytest_riskguard.plugin.user_errors import from_here, whose
        from pytest_riskguard.reports.internal_errors import shown_or_plain
        from pytest_riskguard.reports.terminal.failure import explain
        from pytest_riskguard.run_context import current, record

        try:
            verdict = record(self.file.verdict(self.item))
        except UsageError as error:
            raise (ConfigError.of(missing) if (missing := self.file.missing()) else error) from None
        if not verdict.passed:
            problem = verdict.problem_with_paths
            if problem is not None:
                problem = from_here(whose(problem, self.file.settings, self.item.settings), self.config)
            reproduce = command(self.nodeid, options="--riskguard")
            screen = current().screen
            report = None if current().report_wanted else REPORT_HINT
            text = shown_or_plain(
                verdict,
                lambda: explain(verdict, screen, problem=problem, reproduce=reproduce, report=report),
            )
            if verdict.outcome == "incomparable" and len(missing := self.file.missing()) > 1:
                name = self.path.name
                text += f"\n  {name} names {len(missing)} things that are missing or unusable:"
                text += "".join(f"\n    {name}:{error.line}: {error.problem}" for error in missing)
            raise RiskyError(text, verdict)
