"""The command ``riskguard``: the same gates outside pytest."""

from __future__ import annotations

import sys

from pytest_riskguard.cli.exit_status import ExitStatus

try:
    from pytest_riskguard.cli.main import main
except KeyboardInterrupt:  # the same ending while modules load as later
    sys.stderr.write("interrupted\n")
    raise SystemExit(ExitStatus.INTERRUPTED) from None

__all__ = ["main"]
