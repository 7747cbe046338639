"""What a run has judged, gathered in the process that reports: verdicts, and how every gate ended.

Verdicts travel on the reports of tests, which pytest-xdist carries from its workers to the controller, as JSON; in
one process they are what was judged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_riskguard.config.load import load_config
from pytest_riskguard.errors import ConfigError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.reports.comparisons import KnownGate
from pytest_riskguard.serialization import decoded, to_plain

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

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


#: The attribute of a test report that holds a payload: plain types only, since xdist carries no others.
CARRIED = "riskguard"
#: What a verdict holds besides its JSON, and travels with it.
BESIDE = ("rankings", "origins", "commands")


@frozen
class Payload:
    """What a report of a test carries: the verdicts since the last report, and earlier attempts that failed."""

    verdicts: list[dict[str, Any]]
    failures: int


class Relay:
    """Verdicts by test; those of a test that runs again replace its earlier ones."""

    def __init__(self) -> None:
        #: Verdicts since the last report, in the process that judged.
        self.waiting: list[Verdict] = []
        self._by_test: dict[str, list[dict[str, Any] | Verdict]] = {}
        #: What this process judged, by the JSON that is attached.
        self._judged: dict[str, list[Verdict]] = {}
        self._read: list[tuple[str, Verdict]] | None = None

    def attach(self, report: pytest.TestReport, failures: int) -> None:
        """Attach the verdicts since the last report to this one."""
        verdicts = self.waiting[:]
        self.waiting.clear()
        # in ASCII, so that even lone surrogates survive
        text = json.dumps([_as_plain(verdict) for verdict in verdicts])
        self._judged[text] = verdicts
        setattr(report, CARRIED, {"verdicts": text, "failures": failures})

    def receive(self, report: pytest.TestReport) -> Payload | None:
        """What a report carries, whose verdicts are collected; None for a report that carries nothing."""
        self._read = None
        if report.when == "setup":
            self._by_test.pop(report.nodeid, None)
        carried = getattr(report, CARRIED, None)
        if carried is None:
            return None
        payload = Payload(json.loads(carried["verdicts"]), carried["failures"])
        if payload.verdicts:
            judged = self._judged.get(carried["verdicts"], payload.verdicts)
            self._by_test.setdefault(report.nodeid, []).extend(judged)
        return payload

    def by_test(self) -> list[tuple[str, Verdict]]:
        """Each verdict with the test that asked for it, sorted by test."""
        if self._read is None:
            self._read = []
            carried = [(test, data) for test in sorted(self._by_test) for data in self._by_test[test]]
            self._read += [(test, _as_verdict(data) if isinstance(data, dict) else data) for test, data in carried]
        return self._read


def _as_plain(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON, with what that leaves out."""
    groups = () if verdict.explanation is None else verdict.explanation.groups
    return verdict.to_dict() | {key: to_plain(getattr(verdict, key)) for key in BESIDE} | {"groups": to_plain(groups)}


def _as_verdict(data: dict[str, Any]) -> Verdict:
    """The verdict that ``_as_plain`` wrote."""
    from pytest_riskguard.gates.findings import TopicGroup
    from pytest_riskguard.gates.origins import Origins
    from pytest_riskguard.gates.rankings import Rankings, of_systems
    from pytest_riskguard.gates.verdict import Commands, Verdict

    beside: dict[str, Any] = {
        key: decoded(kind, data[key], where=key)
        for key, kind in zip(BESIDE, (Rankings, Origins, Commands), strict=True)
        if data.get(key) is not None
    }
    verdict = Verdict.from_dict(data)
    if "rankings" in beside:
        beside["rankings"] = of_systems(beside["rankings"], verdict)
    return replace(verdict, **beside).with_groups(decoded(tuple[TopicGroup, ...], data["groups"], where="groups"))
