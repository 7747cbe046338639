"""Exit statuses of the command: a contract."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from pytest_riskguard.gates.verdict import Verdict


class ExitStatus(IntEnum):
    """How a command ended."""

    PASSED = 0
    FAILED = 1
    USAGE = 2
    INCOMPARABLE = 3
    INTERNAL = 70
    INTERRUPTED = 130


def status_of(verdicts: Iterable[Verdict]) -> ExitStatus:
    """The status that a set of verdicts asks for: incomparable wins over failed."""
    verdicts = list(verdicts)
    if any(verdict.outcome == "incomparable" for verdict in verdicts):
        return ExitStatus.INCOMPARABLE
    return ExitStatus.PASSED if all(verdict.passed for verdict in verdicts) else ExitStatus.FAILED
