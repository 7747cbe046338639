"""Carries verdicts from the process that judges to the one that reports.

They travel on the reports of tests, which pytest-xdist carries from its workers to the controller, as JSON; in one
process they are what was judged.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_riskguard.frozen import frozen
from pytest_riskguard.serialization import decoded, to_plain

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

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
