"""From files, stored baselines and live results to verdicts: the one engine behind fixture, YAML and command line.

The engine loads on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_riskguard.engine.judging import Engine

__all__ = ["Engine"]


def __getattr__(name: str) -> Any:
    if name != "Engine":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pytest_riskguard.engine.judging import Engine

    return Engine
