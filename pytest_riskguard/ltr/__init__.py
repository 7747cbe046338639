"""Learning to rank against stored baselines: risk-sensitive objectives, query weights, measures and comparisons.

Objectives and callbacks need the extra ``ltr``; the rest needs nothing more.
"""

from pytest_riskguard.ltr.model_comparison import alpha_curve
from pytest_riskguard.ltr.objectives import TFARO, TSARO, UCRO, GeoRisk, LambdaMART
from pytest_riskguard.ltr.queries import JudgedQueries, QueryBaselines
from pytest_riskguard.ltr.risk_metrics import RiskMetrics
from pytest_riskguard.ltr.weights import faro_for_lightgbm, faro_for_xgboost, faro_weights, row_weights

__all__ = [
    "TFARO",
    "TSARO",
    "UCRO",
    "GeoRisk",
    "JudgedQueries",
    "LambdaMART",
    "QueryBaselines",
    "RiskMetrics",
    "alpha_curve",
    "faro_for_lightgbm",
    "faro_for_xgboost",
    "faro_weights",
    "row_weights",
]
