"""Carries verdicts and attempts from the process that judges to the one that reports.

They travel on the reports of tests, which pytest-xdist carries from its workers to the controller, as text in ASCII.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_riskguard import run_context
from pytest_riskguard.formats.input_files import PAYLOAD_BYTES
from pytest_riskguard.formats.serialization import decoded, to_plain
from pytest_riskguard.reports.internal_errors import bare, caught
from pytest_riskguard.text import clean

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

#: The attribute of a test report that holds a payload: plain types only, since xdist carries no others.
CARRIED = "riskguard"
#: What a verdict holds besides its JSON, and travels with it.
BESIDE = ("rankings", "origins")
_ATTEMPTS = pytest.StashKey["Attempts"]()


class PayloadError(ValueError):
    """Verdicts are too large to send; the message has the figures."""


@dataclass
class Attempts:
    """How often a test was started in this process, and which of these attempts failed."""

    count: int = 0
    failed: set[int] = field(default_factory=set)

    def note(self, *, started: bool, failed: bool) -> None:
        """Count a report of the test."""
        self.count += started
        if failed:
            self.failed.add(self.count)

    @property
    def failures(self) -> int:
        """Attempts before the last one that failed."""
        return len(self.failed - {self.count})


def attempts_of(item: pytest.Item) -> Attempts:
    """The attempts of a test, to be counted."""
    return item.stash.setdefault(_ATTEMPTS, Attempts())


@dataclass(frozen=True)
class Payload:
    """What a report of a test carries: the verdicts since the last report, and the attempts so far."""

    verdicts: list[dict[str, Any]]
    attempts: int
    failures: int
    #: The gates that a process collected, with its first report.
    roll: str | None


class Relay:
    """Verdicts by test; those of a test that runs again replace its earlier ones."""

    def __init__(self, *, is_worker: bool) -> None:
        #: Verdicts since the last report, in the process that judged, and lines about failures of riskguard's own.
        self.waiting: list[Verdict] = []
        self.waiting_failures: list[str] = []
        #: All such lines that have been received.
        self.failures: list[str] = []
        self._is_worker, self._limit = is_worker, PAYLOAD_BYTES.value
        self._by_test: dict[str, list[dict[str, Any]]] = {}
        self._read: list[tuple[str, Verdict]] | None = None

    def attach(self, report: pytest.TestReport, attempts: Attempts, roll: str | None) -> None:
        """Attach the verdicts since the last report to this one; a worker's that are too large fail the test."""
        verdicts = self.waiting[:]
        self.waiting.clear()
        if not run_context.current().report_wanted:
            verdicts = [verdict.without_diagnostics() for verdict in verdicts]
        carried: dict[str, Any] = {"attempts": attempts.count, "failures": attempts.failures, "roll": roll}
        try:
            carried["verdicts"] = self._packed(verdicts)
        except PayloadError as error:
            report.outcome, report.longrepr = "failed", str(error)
        carried["internal"] = self.waiting_failures[:]
        self.waiting_failures.clear()
        setattr(report, CARRIED, carried)

    def _packed(self, verdicts: list[Verdict]) -> str:
        """JSON in ASCII, so that even lone surrogates survive; a worker compresses it."""
        text = json.dumps([_as_plain(verdict) for verdict in verdicts])
        if not self._is_worker or not verdicts:
            return text
        if len(text) > self._limit:
            names = ", ".join(clean(verdict.gate, limit=60) for verdict in verdicts[:3])
            raise PayloadError(f"riskguard: {names}: {PAYLOAD_BYTES.problem(len(text))}")
        return base64.b85encode(zlib.compress(text.encode("ascii"), 1)).decode("ascii")

    def receive(self, report: pytest.TestReport) -> Payload | None:
        """What a report carries, whose verdicts are collected; None for a report that carries nothing."""
        self._read = None
        if report.when == "setup":
            self._by_test.pop(report.nodeid, None)
        carried = getattr(report, CARRIED, None)
        if not isinstance(carried, dict) or "verdicts" not in carried:
            return None
        self.failures += carried["internal"]
        payload = Payload(
            self._unpacked(carried["verdicts"]), carried["attempts"], carried["failures"], carried["roll"]
        )
        if payload.verdicts:
            self._by_test.setdefault(report.nodeid, []).extend(payload.verdicts)
        return payload

    def _unpacked(self, text: str) -> list[dict[str, Any]]:
        if not text.startswith("["):
            content = zlib.decompressobj().decompress(base64.b85decode(text), self._limit + 1)
            if len(content) > self._limit:
                raise PayloadError(f"riskguard: {PAYLOAD_BYTES.problem(len(content))}")
            text = content.decode("ascii")
        verdicts: list[dict[str, Any]] = json.loads(text)
        return verdicts

    def by_test(self) -> list[tuple[str, Verdict]]:
        """Each verdict with the test that asked for it, sorted by test."""
        if self._read is None:
            self._read = []
            carried = [(test, data) for test in sorted(self._by_test) for data in self._by_test[test]]
            for test, data in carried:
                with caught("reading a verdict that a test carried"):
                    self._read.append((test, _as_verdict(data)))
        return self._read


def _as_plain(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON, with what that leaves out; if one of its findings cannot be computed, the bare answer."""
    with caught("computing the findings of a verdict"):
        return verdict.to_dict() | {key: to_plain(getattr(verdict, key)) for key in BESIDE}
    return bare(verdict).to_dict()


def _as_verdict(data: dict[str, Any]) -> Verdict:
    """The verdict that ``_as_plain`` wrote."""
    from pytest_riskguard.gates.origins import Origins
    from pytest_riskguard.gates.rankings import Rankings
    from pytest_riskguard.gates.verdict import Verdict

    beside: dict[str, Any] = {
        key: decoded(kind, data[key], where=key)
        for key, kind in zip(BESIDE, (Rankings, Origins), strict=True)
        if data.get(key) is not None
    }
    return replace(Verdict.from_dict(data), **beside)
