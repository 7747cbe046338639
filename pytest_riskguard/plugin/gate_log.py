"""What a run has judged, gathered in the process that reports: verdicts, and how every gate ended.

Verdicts travel on the reports of tests, which pytest-xdist carries from its workers to the controller, as JSON; in
one process they are what was judged.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_riskguard.config.load import load_config
from pytest_riskguard.errors import ConfigError
from pytest_riskguard.reports.comparisons import KnownGate
from pytest_riskguard.serialization import decoded, to_plain

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

#: ``when`` of a report that xdist makes for a test whose worker died.
_CRASHED = "???"
#: How an attempt ended that failed as ``pytest.mark.xfail`` expects.
XFAILED = "xfailed"


def declared(path: Path, *, root: Path) -> list[KnownGate]:
    """The gates of a file, one for each name; a file that cannot be read has its failing item."""
    file = Path(os.path.relpath(path, root)).as_posix()
    try:
        settings = load_config(path)
    except ConfigError as error:
        return [KnownGate(f"{file}::configuration", error.line, "broken", 0, ())]
    return [KnownGate(f"{file}::{gate.name}", settings.line_of(gate), "deselected", 0, ()) for gate in settings.gates]


class GateLog:
    """Gates by node id: as collection found them (``broken``, ``not_run``, ``deselected``), and how each ended.

    How many attempts before the last one failed is counted, too.
    """

    def __init__(self) -> None:
        self._roll: dict[str, KnownGate] = {}
        #: passed, failed, xfailed, skipped, crashed, lost, not_collected or not_run; None while it runs.
        self.ended: dict[str, str | None] = {}
        #: How a test failed, in one line.
        self.messages: dict[str, str] = {}
        #: The file, from the rootdir, and the line of each test.
        self.places: dict[str, tuple[str, int | None]] = {}
        self._failures: dict[str, int] = {}
        #: Attempts that ended with their worker, and those before them, which the next worker does not know.
        self._crashes: Counter[str] = Counter()
        self._roll_came = False

    def know(self, roll: Sequence[KnownGate]) -> None:
        """Record the gates that a process has collected."""
        self._roll_came = True
        self._roll |= {entry.id: entry for entry in roll}

    def know_uncollected(self, entries: Sequence[KnownGate]) -> None:
        """Record gates of files unless a process has collected them; several items may stand for one gate."""
        for entry in entries:
            if not any(id == entry.id or id.startswith(f"{entry.id}[") for id in self._roll):
                self._roll[entry.id] = entry
                self.ended[entry.id] = "not_collected" if self._roll_came else "not_run"

    def receive(self, report: pytest.TestReport, failures: int | None) -> None:
        """Record the next step of a test; ``failures`` came with its verdicts, None where these did not come."""
        id = report.nodeid
        if report.when == "setup":
            file, line, _ = report.location
            self.ended[id], self.places[id] = None, (file, None if line is None else line + 1)
            self.messages.pop(id, None)
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.messages.setdefault(id, getattr(crash, "message", "").partition("\n")[0])
        if failures is not None:
            self._failures[id] = failures
        if report.when == _CRASHED:
            self.ended[id] = "crashed"
            self._crashes[id] += 1 + self._failures.pop(id, 0)
        elif report.failed or str(report.outcome) == "rerun":  # the word of pytest-rerunfailures
            self.ended[id] = "failed"
        elif report.skipped:
            self.ended[id] = XFAILED if hasattr(report, "wasxfail") else "skipped"
        elif report.when == "call":
            self.ended[id] = "lost" if failures is None else "passed"

    def gates(self, verdicts: Mapping[str, Sequence[int]]) -> tuple[KnownGate, ...]:
        """All gates, sorted by id; ``verdicts`` are the places of the verdicts of each test."""
        ids = {*self._roll, *verdicts}
        if not self._roll_came:  # it is not known which tests are gates: a crashed one may be
            ids |= {id for id, ended in self.ended.items() if ended == "crashed"}
        return tuple(self._gate(id, tuple(verdicts.get(id, ()))) for id in sorted(ids))

    def _gate(self, id: str, verdicts: tuple[int, ...]) -> KnownGate:
        known, ended = self._roll.get(id, KnownGate(id, None, "not_run", 0, ())), self.ended.get(id)
        if ended not in ("crashed", "not_collected", "not_run"):
            if verdicts:
                ended = "judged"
            elif known.became == "broken" or id not in self.ended:
                ended = known.became
            elif ended is None:
                ended = "interrupted"
            else:
                ended = {"passed": "no_verdict", XFAILED: "failed"}.get(ended, ended)
        failures = self._crashes[id] + self._failures.get(id, 0) - (ended == "crashed")
        return replace(known, became=ended, failures=failures, verdicts=verdicts)


#: The attribute of a test report that holds a payload: plain types only, since xdist carries no others.
CARRIED = "riskguard"
#: What a verdict holds besides its JSON, and travels with it.
BESIDE = ("origins", "commands")


class Relay:
    """Verdicts by test; those of a test that runs again replace its earlier ones."""

    def __init__(self) -> None:
        #: Verdicts since the last report, in the process that judged.
        self.waiting: list[Verdict] = []
        #: What this process judged, by the JSON that is attached.
        self._judged: dict[str, Verdict] = {}
        self._by_test: dict[str, list[Verdict]] = {}

    def attach(self, report: pytest.TestReport, failures: int) -> None:
        """Attach the verdicts since the last report to this one, in ASCII, so that even lone surrogates survive."""
        texts = {json.dumps(_as_plain(verdict)): verdict for verdict in self.waiting}
        self._judged |= texts
        self.waiting.clear()
        setattr(report, CARRIED, {"verdicts": [*texts], "failures": failures})

    def receive(self, report: pytest.TestReport) -> int | None:
        """How many attempts failed, by a report whose verdicts are collected; None for one that carries nothing."""
        if report.when == "setup":
            self._by_test.pop(report.nodeid, None)
        carried = getattr(report, CARRIED, None)
        if carried is None:
            return None
        for text in carried["verdicts"]:
            verdict = self._judged.get(text) or _as_verdict(json.loads(text))
            self._by_test.setdefault(report.nodeid, []).append(verdict)
        failures: int = carried["failures"]
        return failures

    def by_test(self) -> list[tuple[str, Verdict]]:
        """Each verdict with the test that asked for it, sorted by test."""
        return [(test, verdict) for test in sorted(self._by_test) for verdict in self._by_test[test]]


def _as_plain(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON, with what that leaves out."""
    return verdict.to_dict() | {key: to_plain(getattr(verdict, key)) for key in BESIDE}


def _as_verdict(data: dict[str, Any]) -> Verdict:
    """The verdict that ``_as_plain`` wrote."""
    from pytest_riskguard.gates.origins import Origins
    from pytest_riskguard.gates.verdict import Commands, Verdict

    beside: dict[str, Any] = {
        key: decoded(kind, data[key], where=key)
        for key, kind in zip(BESIDE, (Origins, Commands), strict=True)
        if data.get(key) is not None
    }
    return replace(Verdict.from_dict(data), **beside)
