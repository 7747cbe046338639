"""Learning to rank against stored baselines: risk-sensitive objectives, query weights, measures and comparisons.

Objectives need the extra ``ltr``; the rest needs nothing more.
"""

from __future__ import annotations

from importlib import import_module
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

#: The names, with spaces between them, by their modules.
_HOMES = {
    "objectives": "GeoRisk LambdaMART TFARO TSARO UCRO faro_weights",
    "queries": "JudgedQueries QueryBaselines",
    "risk_metrics": "RiskMetrics",
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
