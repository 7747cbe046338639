"""The command ``riskguard``: the same gates outside pytest."""

from __future__ import annotations

import sys

from pytest_riskguard.cli.exit_status import ExitStatus

try:
    from pytest_riskguard.cli.main import LazyCommand, main
except KeyboardInterrupt:  # Ctrl-C while modules load ends the command as it does later
    sys.stderr.write("interrupted\n")
    raise SystemExit(ExitStatus.INTERRUPTED) from None

__all__ = ["LazyCommand", "main"]
