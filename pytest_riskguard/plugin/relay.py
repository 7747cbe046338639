"""Carries verdicts and attempts from the process that judges to the one that reports.

They travel on the reports of tests, which pytest-xdist carries from its workers to the controller, as text in ASCII.
Where one process judges and reports, only a reference to the verdicts travels.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_riskguard import run_context
from pytest_riskguard.formats.limits import PAYLOAD_BYTES
from pytest_riskguard.formats.serialization import as_read, decoded, to_plain
from pytest_riskguard.reports.internal_errors import bare, caught
from pytest_riskguard.text import clean

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

#: The attribute of a test report that holds a payload: plain types only, since xdist carries no others.
CARRIED = "riskguard"
#: What a verdict holds besides its JSON, and travels with it.
BESIDE = ("rankings", "origins", "commands")
#: What the text begins with that stands for verdicts which their process still holds.
_HELD = "held:"
_ATTEMPTS = pytest.StashKey["Attempts"]()


class PayloadError(ValueError):
    """Verdicts are too large to send, the message has the figures; or another process holds them."""


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
class Held:
    """A verdict that was judged in the process that reports: as its JSON has it, except for what is long.

    Terminal and annotations show no figure of single topics, so those are neither written as JSON nor read again.
    """

    short: Verdict
    whole: Verdict

    @classmethod
    def of(cls, verdict: Verdict) -> Held | None:
        """The verdict to be held; None if one of its findings cannot be computed."""
        from pytest_riskguard.gates.verdict import Deferred

        with caught("computing the findings of a verdict"):
            findings = replace(verdict.findings.value, responsible_topics=(), flagged_wins=())
            judgements = None if verdict.judgements is None else replace(verdict.judgements, topics=())
            short = replace(
                verdict, findings=Deferred.of(findings), judgements=judgements, documents=None, rankings=None
            )
            return cls(_as_carried(short), verdict)
        return None

    def verdict(self) -> Verdict:
        """The verdict as it would come from a worker, but for the last digits of figures of single topics."""
        from pytest_riskguard.gates.verdict import Deferred

        short, whole = self.short, self.whole
        topics = {name: getattr(whole, name) for name in ("responsible_topics", "flagged_wins")}
        judgements = short.judgements
        if judgements is not None and whole.judgements is not None:
            judgements = replace(judgements, topics=whole.judgements.topics)
        return replace(
            short,
            findings=Deferred.of(replace(short.findings.value, **topics)),
            judgements=judgements,
            documents=whole.documents,
            rankings=whole.rankings,
        )


#: A verdict as JSON, or in the process that judged it.
Carried = dict[str, Any] | Held


@dataclass(frozen=True)
class Payload:
    """What a report of a test carries: the verdicts since the last report, and the attempts so far."""

    verdicts: Sequence[Carried]
    attempts: int
    failures: int
    #: The gates that a process collected, with its first report.
    roll: str | None


class Relay:
    """Verdicts by test; those of a test that runs again replace its earlier ones.

    ``writes`` says that a report will be written, which has the same figures whatever process judged.
    """

    def __init__(self, *, is_worker: bool, writes: bool = True) -> None:
        #: Verdicts since the last report, in the process that judged, and lines about failures of riskguard's own.
        self.waiting: list[Verdict] = []
        self.waiting_failures: list[str] = []
        #: All such lines that have been received.
        self.failures: list[str] = []
        self._is_worker, self._writes, self._limit = is_worker, writes, PAYLOAD_BYTES.value
        self._by_test: dict[str, list[Carried]] = {}
        #: Verdicts that stay in this process, and which process that is: a plugin may run tests in children of it.
        self._held: dict[str, list[Held]] = {}
        self._process = os.getpid()
        self._read: list[tuple[str, Verdict]] | None = None

    def attach(self, report: pytest.TestReport, attempts: Attempts, roll: str | None) -> None:
        """Attach the verdicts since the last report to this one; a worker's that are too large fail the test."""
        verdicts = self.waiting[:]
        self.waiting.clear()
        if not run_context.current().report_wanted:
            verdicts = [verdict.without_diagnostics() for verdict in verdicts]
        stay = bool(verdicts) and not (self._is_worker or self._writes) and os.getpid() == self._process
        carried: dict[str, Any] = {"attempts": attempts.count, "failures": attempts.failures, "roll": roll}
        try:
            carried["verdicts"] = (self._hold(verdicts) if stay else None) or self._packed(verdicts)
        except PayloadError as error:
            report.outcome, report.longrepr = "failed", str(error)
        carried["internal"] = self.waiting_failures[:]
        self.waiting_failures.clear()
        setattr(report, CARRIED, carried)

    def _hold(self, verdicts: list[Verdict]) -> str | None:
        """Keep the verdicts, and return what stands for them; None if a finding of one cannot be computed."""
        held = [Held.of(verdict) for verdict in verdicts]
        complete = [one for one in held if one is not None]
        if len(complete) < len(held):
            return None
        reference = f"{_HELD}{self._process}:{len(self._held)}"
        self._held[reference] = complete
        return reference

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

    def _unpacked(self, text: str) -> Sequence[Carried]:
        if text.startswith(_HELD):
            if text not in self._held:
                raise PayloadError(f"riskguard: expected verdicts of this process, found those of another ({text})")
            return self._held[text]
        if not text.startswith("["):
            content = zlib.decompressobj().decompress(base64.b85decode(text), self._limit + 1)
            if len(content) > self._limit:
                raise PayloadError(f"riskguard: {PAYLOAD_BYTES.problem(len(content))}")
            text = content.decode("ascii")
        verdicts: list[Carried] = json.loads(text)
        return verdicts

    def by_test(self) -> list[tuple[str, Verdict]]:
        """Each verdict with the test that asked for it, sorted by test."""
        if self._read is None:
            self._read = []
            carried = [(test, data) for test in sorted(self._by_test) for data in self._by_test[test]]
            for test, data in carried:
                with caught("reading a verdict that a test carried"):
                    self._read.append((test, data.verdict() if isinstance(data, Held) else _as_verdict(data)))
        return self._read


def _as_plain(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON, with what that leaves out; if one of its findings cannot be computed, the bare answer."""
    with caught("computing the findings of a verdict"):
        return verdict.to_dict() | {key: to_plain(getattr(verdict, key)) for key in BESIDE}
    return bare(verdict).to_dict()


def _as_carried(verdict: Verdict) -> Verdict:
    """The verdict as it would come from a worker; ``as_read`` makes most of them."""
    from pytest_riskguard.gates.verdict import JSON_TYPES, Verdict

    try:
        short = Verdict.of(**{key: as_read(getattr(verdict, key)) for key in JSON_TYPES})
        return replace(short, origins=as_read(verdict.origins), commands=verdict.commands)
    except ValueError:
        return _as_verdict(_as_plain(verdict))


def _as_verdict(data: dict[str, Any]) -> Verdict:
    """The verdict that ``_as_plain`` wrote."""
    from pytest_riskguard.gates.origins import Origins
    from pytest_riskguard.gates.rankings import Rankings
    from pytest_riskguard.gates.verdict import Commands, Verdict

    beside: dict[str, Any] = {
        key: decoded(kind, data[key], where=key)
        for key, kind in zip(BESIDE, (Rankings, Origins, Commands), strict=True)
        if data.get(key) is not None
    }
    return replace(Verdict.from_dict(data), **beside)
