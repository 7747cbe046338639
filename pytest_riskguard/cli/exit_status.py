"""The exit status of a command, and what each one means."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

from pytest_riskguard.errors import RiskguardError

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

#: Errors of the system when output cannot be stored (a full disk) or nobody reads it.
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE)


class OutputError(RiskguardError):
    """What a command found out could not be written, such as to a full disk; its exit status is 3."""


class ExitStatus(IntEnum):
    """How a command ended; with several gates INCOMPARABLE wins over FAILED, and FAILED over PASSED."""

    PASSED = 0
    FAILED = 1
    USAGE = 2
    INCOMPARABLE = 3
    INTERNAL = 70
    INTERRUPTED = 130


#: What each one means, as ``riskguard --help`` says it.
MEANINGS = {
    ExitStatus.PASSED: "every gate passed",
    ExitStatus.FAILED: "a gate failed or is inconclusive",
    ExitStatus.USAGE: "wrong usage or configuration",
    ExitStatus.INCOMPARABLE: "data that cannot be compared, or output that cannot be written",
    ExitStatus.INTERNAL: "internal error",
    ExitStatus.INTERRUPTED: "interrupted",
}


def status_of(verdicts: Iterable[Verdict]) -> ExitStatus:
    """The status of a command that gave these verdicts."""
    verdicts = list(verdicts)
    if any(verdict.outcome == "incomparable" for verdict in verdicts):
        return ExitStatus.INCOMPARABLE
    return ExitStatus.PASSED if all(verdict.passed for verdict in verdicts) else ExitStatus.FAILED
