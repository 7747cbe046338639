"""Gates declared in YAML as test items: a failing gate is an ordinary failing item at its line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_riskguard.config.load import load_gates
from pytest_riskguard.errors import ConfigError, RiskguardError, RiskyError
from pytest_riskguard.live import declared_gates
from pytest_riskguard.live.importing import importable_from
from pytest_riskguard.plugin import typed_again
from pytest_riskguard.plugin.session import engine_for, reader_for
from pytest_riskguard.run_context import record

if TYPE_CHECKING:
    from pytest_riskguard.engine.declared_gates import DeclaredGates


class RiskguardFile(pytest.File):
    """A riskguard.yaml; its gates share what was read and scored."""

    def collect(self) -> Iterable[pytest.Item]:
        """One item for each gate, measure, alpha and slice; a file that cannot be read is one failing item."""
        try:
            self.settings = load_gates(self.path)
        except ConfigError as error:
            yield BrokenConfiguration.from_parent(self, name="configuration", line=error.line or 1, about=error)
            return
        from pytest_riskguard.config.items import all_items

        for item in all_items(self.settings):
            # The id as text equals what --lf reads from its cache, where "[AP-5]" is a part of its own.
            nodeid = f"{self.nodeid}::{item.id}"
            line = self.settings.line_of(item.settings)
            yield GateTest.from_parent(self, name=item.id, nodeid=nodeid, line=line, about=item)

    @cached_property
    def declared(self) -> DeclaredGates:
        """What the gates are asked about; made when the first of them is judged."""
        return declared_gates(self.settings, engine_for(self.config, self.settings))


class _Reported(pytest.Item):
    """An item whose failures are messages at a line of the YAML file, without a traceback."""

    #: What becomes of it if it is not judged; no other item has this attribute.
    became = "not_run"

    def __init__(self, *, line: int, about: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.line, self.about = line, about
        self.add_marker("riskguard")

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
        from pytest_riskguard.reports.terminal import one_line

        return one_line(error.verdict)
    text = f"line {error.line}: {error.fault}" if isinstance(error, ConfigError) else str(error)
    return text.partition("\n")[0]


class BrokenConfiguration(_Reported):
    """Takes the place of the gates of a file that cannot be read."""

    became = "broken"

    def runtest(self) -> None:
        """Fail with what is wrong with the file."""
        raise self.about


class GateTest(_Reported):
    """One gate for one measure and alpha."""

    def runtest(self) -> None:
        """Judge, and fail unless the verdict passes."""
        from pytest_riskguard.assertions import demand

        assert isinstance(self.parent, RiskguardFile)
        declared = self.parent.declared
        with importable_from(self.path.parent):
            verdict = declared.verdict(self.about)
        if not verdict.passed or verdict.advises:
            # tests may have judged other candidates
            verdict = declared.advised(verdict, self.about, reader_for(self.config, self.path), accept=self.name)
        demand(record(verdict), options=typed_again(self.config), indent=0)
