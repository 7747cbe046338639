"""Learning to rank against stored baselines: risk-sensitive objectives, query weights, measures and comparisons.

Objectives need the extra ``ltr``; the rest needs nothing more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_riskguard.ltr.objectives import TFARO, TSARO, UCRO, GeoRisk, LambdaMART, faro_weights
    from pytest_riskguard.ltr.queries import JudgedQueries, QueryBaselines
    from pytest_riskguard.ltr.risk_metrics import RiskMetrics

__all__ = [
    "TFARO",
    "TSARO",
    "UCRO",
    "GeoRisk",
    "JudgedQueries",
    "LambdaMART",
    "QueryBaselines",
    "RiskMetrics",
    "faro_weights",
]

_HOME = {
    "GeoRisk": "objectives",
    "JudgedQueries": "queries",
    "LambdaMART": "objectives",
    "QueryBaselines": "queries",
    "RiskMetrics": "risk_metrics",
    "TFARO": "objectives",
    "TSARO": "objectives",
    "UCRO": "objectives",
    "faro_weights": "objectives",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
