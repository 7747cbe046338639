"""The command ``riskguard``: the same gates outside pytest."""

from __future__ import annotations

import sys

try:
    from pytest_riskguard.cli.main import main
except KeyboardInterrupt:  # the same ending while modules load as later
    sys.stderr.write("interrupted\n")
    raise SystemExit(130) from None

__all__ = ["main"]
