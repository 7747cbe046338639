"""Learning to rank against stored baselines: risk-sensitive objectives, query weights, measures and comparisons.

Objectives and callbacks need the extra ``ltr``; the rest needs nothing more.
"""

from pytest_riskguard.ltr.model_comparison import (
    AlphaPoint,
    ModelComparison,
    ModelFigures,
    ModelsAgainst,
    alpha_curve,
    compare_models,
    pareto_front,
)
from pytest_riskguard.ltr.objectives import TFARO, TSARO, UCRO, GeoRisk, LambdaMART
from pytest_riskguard.ltr.queries import JudgedQueries, QueryBaselines, measure_name
from pytest_riskguard.ltr.risk_metrics import RiskMetrics
from pytest_riskguard.ltr.weights import (
    adaptive_alpha,
    faro_for_lightgbm,
    faro_for_xgboost,
    faro_weights,
    row_weights,
)

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
