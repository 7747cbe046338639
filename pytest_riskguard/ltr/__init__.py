"""Learning to rank against stored baselines: risk-sensitive objectives, query weights, measures and comparisons.

Objectives and callbacks need the extra ``ltr``; the rest needs nothing more.
"""

from pytest_riskguard.ltr.alpha_curve import AlphaPoint, alpha_curve
from pytest_riskguard.ltr.baselines import QueryBaselines, measure_name
from pytest_riskguard.ltr.judged_queries import JudgedQueries
from pytest_riskguard.ltr.model_comparison import ModelComparison, ModelFigures, ModelsAgainst, compare_models
from pytest_riskguard.ltr.objectives import TFARO, TSARO, UCRO, GeoRisk, LambdaMART
from pytest_riskguard.ltr.pareto import pareto_front
from pytest_riskguard.ltr.query_weights import faro_weights, row_weights
from pytest_riskguard.ltr.reweighting import faro_for_lightgbm, faro_for_xgboost
from pytest_riskguard.ltr.risk_levels import adaptive_alpha
from pytest_riskguard.ltr.risk_metrics import RiskMetrics

__all__ = [
    "TFARO",
    "TSARO",
    "UCRO",
    "AlphaPoint",
    "GeoRisk",
    "JudgedQueries",
    "LambdaMART",
    "ModelComparison",
    "ModelFigures",
    "ModelsAgainst",
    "QueryBaselines",
    "RiskMetrics",
    "adaptive_alpha",
    "alpha_curve",
    "compare_models",
    "faro_for_lightgbm",
    "faro_for_xgboost",
    "faro_weights",
    "measure_name",
    "pareto_front",
    "row_weights",
]
