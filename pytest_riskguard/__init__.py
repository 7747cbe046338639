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
    from pytest_riskguard.errors import RiskguardError, RiskyError
    from pytest_riskguard.evaluation import MemoryRun, read_qrels, read_scores, read_topics, run, score_run
    from pytest_riskguard.evaluation.scores import TopicScores
    from pytest_riskguard.gates.verdict import Verdict

__all__ = [
    "MemoryRun",
    "RiskguardError",
    "RiskyError",
    "TopicScores",
    "Verdict",
    "__version__",
    "assert_equivalent",
    "assert_georisk_not_worse",
    "assert_no_drift",
    "assert_no_topic_collapse",
    "assert_not_inferior",
    "assert_not_significantly_risky",
    "check",
    "read_qrels",
    "read_scores",
    "read_topics",
    "run",
    "score_run",
]

_HOME = {
    "MemoryRun": "evaluation",
    "RiskguardError": "errors",
    "RiskyError": "errors",
    "TopicScores": "evaluation.scores",
    "Verdict": "gates.verdict",
    "assert_georisk_not_worse": "assertions",
    "assert_equivalent": "assertions",
    "assert_no_drift": "assertions",
    "assert_no_topic_collapse": "assertions",
    "assert_not_inferior": "assertions",
    "assert_not_significantly_risky": "assertions",
    "check": "assertions",
    "read_qrels": "evaluation",
    "read_scores": "evaluation",
    "read_topics": "evaluation",
    "run": "evaluation",
    "score_run": "evaluation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
