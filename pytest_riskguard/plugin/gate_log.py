"""How every gate of a run ended, recorded in the process that reports: judged, or why not."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_riskguard.config.load import load_config
from pytest_riskguard.errors import ConfigError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.plugin.relay import Payload
from pytest_riskguard.reports.comparisons import KnownGate

#: ``when`` of a report that xdist makes for a test whose worker died.
_CRASHED = "???"
#: How an attempt ended that failed as ``pytest.mark.xfail`` expects.
XFAILED = "xfailed"


@frozen
class RollEntry:
    """A gate as collection found it; a broken one stands for the gates of a file that cannot be read."""

    id: str
    line: int | None
    broken: bool = False
    selected: bool = True


def declared(path: Path, *, root: Path) -> list[RollEntry]:
    """The gates of a file, one entry for each name; one that cannot be read has the name of its failing item."""
    file = Path(os.path.relpath(path, root)).as_posix()
    try:
        settings = load_config(path)
    except ConfigError as error:
        return [RollEntry(f"{file}::configuration", error.line, broken=True, selected=False)]
    return [RollEntry(f"{file}::{gate.name}", settings.line_of(gate), selected=False) for gate in settings.gates]


@dataclass
class _State:
    """What is known about a test so far."""

    started: bool = False
    #: How the last attempt ended: passed, failed, xfailed, skipped, crashed or lost; None while it runs.
    last: str | None = None
    #: Attempts before this one that failed, in the process that runs it now, and in processes that crashed.
    failures: int = 0
    in_crashed: int = 0


class GateLog:
    """Gates by node id."""

    def __init__(self) -> None:
        self._roll: dict[str, RollEntry] = {}
        self._states: dict[str, _State] = {}
        self._roll_came = False

    def know(self, roll: Sequence[RollEntry]) -> None:
        """Record the gates that a process has collected."""
        self._roll_came = True
        self._roll |= {entry.id: entry for entry in roll}

    def know_uncollected(self, entries: Sequence[RollEntry]) -> None:
        """Record gates of files unless a process has collected them; several items may stand for one gate."""
        for entry in entries:
            if not any(id == entry.id or id.startswith(f"{entry.id}[") for id in self._roll):
                self._roll[entry.id] = entry
                self._states[entry.id] = _State(last="not_collected" if self._roll_came else "not_run")

    def receive(self, report: pytest.TestReport, payload: Payload | None) -> None:
        """Record the next step of a test."""
        state = self._states.setdefault(report.nodeid, _State())
        if report.when == "setup":
            state.started, state.last = True, None
        if payload is not None:
            state.failures = payload.failures
        if (last := _last(report, payload)) is not None:
            state.last = last
        if last == "crashed":
            state.in_crashed += state.failures + 1
            state.failures = 0

    def gates(self, verdicts: Mapping[str, Sequence[int]]) -> tuple[KnownGate, ...]:
        """All gates, sorted by id; ``verdicts`` are the places of the verdicts of each test."""
        ids = {*self._roll, *verdicts}
        if not self._roll_came:  # it is not known which tests are gates: a crashed one may be
            ids |= {id for id, state in self._states.items() if state.last == "crashed"}
        return tuple(self._gate(id, tuple(verdicts.get(id, ()))) for id in sorted(ids))

    def _gate(self, id: str, verdicts: tuple[int, ...]) -> KnownGate:
        entry, state = self._roll.get(id, RollEntry(id, None)), self._states.get(id, _State())
        return KnownGate(
            id,
            line=entry.line,
            became=_became(entry, state, judged=bool(verdicts)),
            failures=state.in_crashed + state.failures - (state.last == "crashed"),
            verdicts=verdicts,
        )

    def ended(self, gate: KnownGate) -> str | None:
        """How the last attempt of a gate ended."""
        return self._states[gate.id].last if gate.id in self._states else None


def _last(report: pytest.TestReport, payload: Payload | None) -> str | None:
    """How an attempt ended, by a report of it; None if that says nothing new."""
    if report.when == _CRASHED:
        return "crashed"
    if report.failed or str(report.outcome) == "rerun":  # the word of pytest-rerunfailures
        return "failed"
    if report.skipped:
        return XFAILED if hasattr(report, "wasxfail") else "skipped"
    if report.when == "call":
        return "lost" if payload is None else "passed"
    return None


def _became(entry: RollEntry, state: _State, *, judged: bool) -> str:
    if state.last in ("crashed", "not_collected", "not_run"):
        return state.last
    if judged:
        return "judged"
    if entry.broken and state.started:
        return "broken"
    if state.last is not None:
        return {"passed": "no_verdict", XFAILED: "failed"}.get(state.last, state.last)
    if state.started:
        return "interrupted"
    return "not_run" if entry.selected else "deselected"
