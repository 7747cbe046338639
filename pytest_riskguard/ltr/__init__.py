"""Learning to rank against stored baselines: risk-sensitive objectives, query weights, measures and comparisons.

Objectives need the extra ``ltr``; the rest needs nothing more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_riskguard.lazily import lazily

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

__getattr__ = lazily(
    __name__,
    {
        "ltr.objectives": "GeoRisk LambdaMART TFARO TSARO UCRO faro_weights",
        "ltr.queries": "JudgedQueries QueryBaselines",
        "ltr.risk_metrics": "RiskMetrics",
    },
)
