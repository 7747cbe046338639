"""Studies, which judge nothing: a pool in which each system is the baseline of the others, and past releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_riskguard.studies.pool_statistics import every_baseline
    from pytest_riskguard.studies.pool_study import pool_report

__all__ = ["every_baseline", "pool_report"]

_HOME = {"every_baseline": "pool_statistics", "pool_report": "pool_study"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
