"""What a failure tells its reader to type: the test again, or the same with a report."""

from __future__ import annotations

import shlex

from pytest_riskguard import run_context

#: What a failure says of the report where none is written.
REPORT_HINT = "add --riskguard-report=report.html"


def command(test: str, *, options: str = "") -> str:
    """The command that runs one test again, from the folder where pytest was called."""
    return " ".join(filter(None, ["pytest", options, shlex.quote(run_context.current().locate(test))]))
