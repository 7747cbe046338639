"""Who is told of a verdict as it is given: the plugin, while a test runs. Imports nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

#: Called with every verdict that an assertion or the fixture gives in this process.
listeners: list[Callable[[Verdict], None]] = []
#: Whether a report is to be written of what they hear: verdicts then hold what its charts draw.
report_wanted = False


def record(verdict: Verdict) -> Verdict:
    """Tell the listeners, and hand the verdict on."""
    for listener in listeners:
        listener(verdict)
    return verdict
