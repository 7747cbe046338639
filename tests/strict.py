"""Gates and assertions as the papers have them: nothing is tolerated, and churn fails.

For tests of what an interval, a p-value or alpha* is; the defaults have tests of their own.
"""

from typing import Any

import pytest_riskguard
from pytest_riskguard.gates import kinds

STRICT: dict[str, Any] = {"tolerance": 0.0, "on_churn": "fail"}
#: The same for ``riskguard compare``, which asks several gates unless it is given one.
STRICT_LINE = "--gate not_significantly_risky --set tolerance=0 --set on_churn=fail"


def NotSignificantlyRisky(name: str = "", **options: Any) -> kinds.NotSignificantlyRisky:  # noqa: N802 - as the class
    """As ``kinds.NotSignificantlyRisky``."""
    return kinds.NotSignificantlyRisky(name, **{**STRICT, **options})


def gate_of(name: str, /, kind: str = kinds.NotSignificantlyRisky.kind, **options: Any) -> kinds.Gate:
    """As ``kinds.gate_of``."""
    strict = STRICT if kind == kinds.NotSignificantlyRisky.kind else {}
    return kinds.gate_of(name, kind, **{**strict, **options})


def check(kind: str, *systems: Any, **options: Any) -> pytest_riskguard.Verdict:
    """As ``pytest_riskguard.check``."""
    strict = STRICT if kind == kinds.NotSignificantlyRisky.kind else {}
    return pytest_riskguard.check(kind, *systems, **{**strict, **options})


def assert_not_significantly_risky(*systems: Any, **options: Any) -> pytest_riskguard.Verdict:
    """As ``pytest_riskguard.assert_not_significantly_risky``."""
    return pytest_riskguard.assert_not_significantly_risky(*systems, **{**STRICT, **options})
