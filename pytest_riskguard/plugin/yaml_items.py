"""Gates declared in YAML as test items: a failing gate is an ordinary failing item at its line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_riskguard.config.items import items_of, with_slices
from pytest_riskguard.config.load import load_config
from pytest_riskguard.errors import ConfigError, RiskguardError, RiskyError

if TYPE_CHECKING:
    from pytest_riskguard.config.items import GateItem
    from pytest_riskguard.config.schema import Config


class RiskguardFile(pytest.File):
    """A riskguard.yaml; its gates share what was read and scored."""

    def collect(self) -> Iterable[pytest.Item]:
        """One item for each gate, measure, alpha and slice; a file that cannot be read is one failing item."""
        try:
            self.settings = with_slices(load_config(self.path))
        except ConfigError as error:
            yield BrokenConfiguration.from_parent(self, name="configuration", error=error)
            return
        for gate in self.settings.gates:
            for item in items_of(self.settings, gate):
                # The id as text equals what --lf reads from its cache, where "[AP-5]" is a part of its own.
                nodeid = f"{self.nodeid}::{item.id}"
                yield GateTest.from_parent(self, name=item.id, nodeid=nodeid, item=item, settings=self.settings)


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

    def __init__(self, *, item: GateItem, settings: Config, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.item, self.settings, self.line = item, settings, settings.line_of(item.settings)

    def runtest(self) -> None:
        """Judge, and fail unless the verdict passes."""
        from pytest_riskguard.assertions import command
        from pytest_riskguard.plugin.engines import verdict_on
        from pytest_riskguard.plugin.user_errors import from_here, whose
        from pytest_riskguard.reports.terminal import explain
        from pytest_riskguard.run_context import current, record

        verdict = record(verdict_on(self.config, self.settings, self.item))
        if not verdict.passed:
            problem = verdict.problem_with_paths
            if problem is not None:
                problem = from_here(whose(problem, self.settings, self.item.settings), self.config)
            reproduce = command(self.nodeid, options="--riskguard")
            raise RiskyError(explain(verdict, current().screen, problem=problem, reproduce=reproduce), verdict)
