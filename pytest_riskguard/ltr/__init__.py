"""Learning to rank against stored baselines: risk-sensitive objectives, query weights, measures and comparisons.

Objectives and callbacks need the extra ``ltr``; the rest needs nothing more.
"""

from pytest_riskguard.ltr.baselines import QueryBaselines, measure_name
from pytest_riskguard.ltr.judged_queries import JudgedQueries
from pytest_riskguard.ltr.objectives import TFARO, TSARO, UCRO, GeoRisk, LambdaMART
from pytest_riskguard.ltr.risk_levels import adaptive_alpha

__all__ = [
    "TFARO",
    "TSARO",
    "UCRO",
    "GeoRisk",
    "JudgedQueries",
    "LambdaMART",
    "QueryBaselines",
    "adaptive_alpha",
    "measure_name",
]
