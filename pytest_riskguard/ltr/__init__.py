"""Learning to rank against stored baselines: risk-sensitive objectives, query weights, measures and comparisons.

Objectives need the extra ``ltr``; the rest needs nothing more.
"""

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
