"""What a run has judged, gathered in the process that reports: verdicts, and how every gate ended.

Verdicts travel on the reports of tests, which pytest-xdist carries from its workers to the controller, as JSON.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.config.load import load_config
from pytest_riskguard.errors import ConfigError
from pytest_riskguard.gates.verdict import Commands, Origins, Verdict
from pytest_riskguard.reports.comparisons import KnownGate
from pytest_riskguard.serialization import decoded, to_plain
from pytest_riskguard.text import relative

#: ``when`` of a report that xdist makes for a test whose worker died.
_CRASHED = "???"
#: How an attempt ended that failed as ``pytest.mark.xfail`` expects.
XFAILED = "xfailed"


def declared(path: Path, *, root: Path) -> list[KnownGate]:
    """The gates of a file, one for each name; a file that cannot be read has its failing item."""
    file = relative(path, root)
    try:
        settings = load_config(path)
    except ConfigError as error:
        return [KnownGate(f"{file}::configuration", error.line, "broken", 0, ())]
    return [KnownGate(f"{file}::{gate.name}", settings.line_of(gate), "deselected", 0, ()) for gate in settings.gates]


class Test:
    """What is known of a test: how its last attempt ended, and what was judged in it."""

    def __init__(self) -> None:
        #: passed, failed, xfailed, skipped, crashed or lost; None while it runs.
        self.ended: str | None = None
        #: How it failed, in one line.
        self.message: str | None = None
        #: Its file, from the rootdir, and its line.
        self.place: tuple[str, int | None] | None = None
        self.verdicts: list[Verdict] = []
        #: Attempts that failed before, and those that ended with their worker, which the next one does not know.
        self.failures = self.crashes = 0


class GateLog:
    """Gates by node id, as collection found them (``broken``, ``not_run``, ``deselected``), and what became of them.

    The verdicts of a test that runs again replace its earlier ones.
    """

    def __init__(self) -> None:
        #: Verdicts since the last report, in the process that judged.
        self.waiting: list[Verdict] = []
        self.tests: dict[str, Test] = defaultdict(Test)
        self._roll: dict[str, KnownGate] = {}
        self._roll_came = False

    def know(self, roll: Sequence[KnownGate]) -> None:
        """Record the gates that a process has collected."""
        self._roll_came = True
        self._roll |= {entry.id: entry for entry in roll}

    def know_uncollected(self, entries: Sequence[KnownGate]) -> None:
        """Record gates of files unless a process has collected them; several items may stand for one gate."""
        for entry in entries:
            if not any(id == entry.id or id.startswith(f"{entry.id}[") for id in self._roll):
                became = "not_collected" if self._roll_came else "not_run"
                self._roll[entry.id] = replace(entry, became=became)

    def attach(self, report: pytest.TestReport, failures: int) -> None:
        """Attach the verdicts since the last report to this one, as JSON in ASCII: even lone surrogates survive."""
        verdicts = [
            json.dumps(one.to_dict() | {key: to_plain(getattr(one, key)) for key in BESIDE}) for one in self.waiting
        ]
        self.waiting.clear()
        setattr(report, CARRIED, {"verdicts": verdicts, "failures": failures})

    def receive(self, report: pytest.TestReport) -> None:
        """Record the next step of a test."""
        test, carried = self.tests[report.nodeid], getattr(report, CARRIED, None)
        if report.when == "setup":
            file, line, _ = report.location
            test.ended, test.message, test.verdicts = None, None, []
            test.place = file, None if line is None else line + 1
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            test.message = getattr(crash, "message", "").partition("\n")[0]
        if carried is not None:
            test.failures = carried["failures"]
            test.verdicts += map(_as_verdict, map(json.loads, carried["verdicts"]))
        if report.when == _CRASHED:
            test.ended = "crashed"
            test.crashes, test.failures = test.crashes + 1 + test.failures, 0
        elif report.failed:
            test.ended = "failed"
        elif report.skipped:
            test.ended = XFAILED if hasattr(report, "wasxfail") else "skipped"
        elif report.when == "call":
            test.ended = "lost" if carried is None else "passed"

    def by_test(self) -> list[tuple[str, Verdict]]:
        """Each verdict with the test that asked for it, sorted by test."""
        return [(id, verdict) for id in sorted(self.tests) for verdict in self.tests[id].verdicts]

    def gates(self) -> tuple[KnownGate, ...]:
        """All gates, sorted by id, each with the places of its verdicts in ``by_test``."""
        ids = {*self._roll, *(id for id, test in self.tests.items() if test.verdicts)}
        if not self._roll_came:  # it is not known which tests are gates: a crashed one may be
            ids |= {id for id, test in self.tests.items() if test.ended == "crashed"}
        found: list[KnownGate] = []
        place = 0
        for id in sorted(ids):
            known, test = self._roll.get(id, KnownGate(id, None, "not_run", 0, ())), self.tests.get(id)
            if test is not None:
                places = tuple(range(place, place + len(test.verdicts)))
                place += len(places)
                failures = test.crashes + test.failures - (test.ended == "crashed")
                known = replace(known, became=_became(known, test), failures=failures, verdicts=places)
            found.append(known)
        return tuple(found)


def _became(known: KnownGate, test: Test) -> str:
    if test.ended == "crashed":
        return "crashed"
    if test.verdicts:
        return "judged"
    if known.became == "broken":
        return "broken"
    if test.ended is None:
        return "interrupted"
    return {"passed": "no_verdict", XFAILED: "failed"}.get(test.ended, test.ended)


#: The attribute of a test report that holds a payload: plain types only, since xdist carries no others.
CARRIED = "riskguard"
#: What a verdict holds besides its JSON, and travels with it.
BESIDE = ("origins", "commands")


def _as_verdict(data: dict[str, Any]) -> Verdict:
    """The verdict that ``attach`` wrote."""
    beside: dict[str, Any] = {
        key: decoded(kind, data[key], where=key)
        for key, kind in zip(BESIDE, (Origins, Commands), strict=True)
        if data.get(key) is not None
    }
    return replace(Verdict.from_dict(data), **beside)
