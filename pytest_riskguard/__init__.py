"""Fail a ranking change that is significantly risky, and name the topics responsible.

The public names load on first use, so that installing the plugin costs other test suites nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_riskguard.lazily import lazily

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pytest_riskguard.assertions import Assertion, check
    from pytest_riskguard.data.memory import run
    from pytest_riskguard.data.run_scores import score_run
    from pytest_riskguard.errors import RiskguardError, RiskyError
    from pytest_riskguard.gates.verdict import Verdict

    assert_equivalent: Assertion
    assert_georisk_not_worse: Assertion
    assert_no_drift: Assertion
    assert_no_topic_collapse: Assertion
    assert_not_inferior: Assertion
    assert_not_significantly_risky: Assertion

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

__getattr__ = lazily(
    __name__,
    {
        "assertions": "assert_equivalent assert_georisk_not_worse assert_no_drift assert_no_topic_collapse "
        "assert_not_inferior assert_not_significantly_risky check",
        "data.memory": "run",
        "data.run_scores": "score_run",
        "errors": "RiskguardError RiskyError",
        "gates.verdict": "Verdict",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
