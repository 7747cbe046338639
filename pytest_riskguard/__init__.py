"""Fail a ranking change that is significantly risky, and name the topics responsible.

The public names load on first use, so that installing the plugin costs other test suites nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pytest_riskguard.assertions import (
        assert_equivalent,
        assert_georisk_not_worse,
        assert_no_drift,
        assert_no_topic_collapse,
        assert_not_inferior,
        assert_not_significantly_risky,
        check,
    )
    from pytest_riskguard.data.memory import run
    from pytest_riskguard.data.run_scores import score_run
    from pytest_riskguard.errors import RiskguardError, RiskyError
    from pytest_riskguard.gates.verdict import Verdict

__all__ = [
    "RiskguardError",
    "RiskyError",
    "Verdict",
    "assert_equivalent",
    "assert_georisk_not_worse",
    "assert_no_drift",
    "assert_no_topic_collapse",
    "assert_not_inferior",
    "assert_not_significantly_risky",
    "check",
    "run",
    "score_run",
]

_HOME = {
    "RiskguardError": "errors",
    "RiskyError": "errors",
    "Verdict": "gates.verdict",
    "assert_georisk_not_worse": "assertions",
    "assert_equivalent": "assertions",
    "assert_no_drift": "assertions",
    "assert_no_topic_collapse": "assertions",
    "assert_not_inferior": "assertions",
    "assert_not_significantly_risky": "assertions",
    "check": "assertions",
    "run": "data.memory",
    "score_run": "data.run_scores",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
