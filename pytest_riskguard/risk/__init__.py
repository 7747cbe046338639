"""Risk measures: arrays in, numbers out; no files, no pytest."""

from pytest_riskguard.risk import checks
from pytest_riskguard.risk.georisk import expected_scores, georisk, topic_contributions, zrisk
from pytest_riskguard.risk.tradeoff import SMOOTH, SmoothTradeoff, fitted_tradeoff, linear
from pytest_riskguard.risk.urisk import counts, standardised, trisk, urisk

__all__ = [
    "SMOOTH",
    "SmoothTradeoff",
    "checks",
    "counts",
    "expected_scores",
    "fitted_tradeoff",
    "georisk",
    "linear",
    "standardised",
    "topic_contributions",
    "trisk",
    "urisk",
    "zrisk",
]
