"""The command ``riskguard``: the same gates outside pytest."""

from __future__ import annotations

import sys

try:
    from pytest_riskguard.cli.main import main
except KeyboardInterrupt:  # while modules load: the same end as later on
    sys.stderr.write("interrupted\n")
    raise SystemExit(130) from None

__all__ = ["main"]
