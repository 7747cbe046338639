"""Learning to rank against stored baselines: risk-sensitive objectives, query weights, measures and comparisons.

Objectives and callbacks need the extra ``ltr``; the rest needs nothing more.
"""

from pytest_riskguard.ltr.baselines import QueryBaselines, measure_name
from pytest_riskguard.ltr.judged_queries import JudgedQueries
from pytest_riskguard.ltr.objectives import TFARO, TSARO, UCRO, GeoRisk, LambdaMART
from pytest_riskguard.ltr.query_weights import faro_weights, row_weights
from pytest_riskguard.ltr.reweighting import faro_for_lightgbm, faro_for_xgboost
from pytest_riskguard.ltr.risk_levels import adaptive_alpha
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
    "adaptive_alpha",
    "faro_for_lightgbm",
    "faro_for_xgboost",
    "faro_weights",
    "measure_name",
    "row_weights",
]
