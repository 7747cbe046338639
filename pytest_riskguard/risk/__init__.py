"""Risk measures: arrays in, numbers out; no files, no pytest."""

from pytest_riskguard.risk.minus import alpha_hat, minus, minus_limits
from pytest_riskguard.risk.multiple import georisk, looks_like_percent, topic_contributions, z_scores, zrisk
from pytest_riskguard.risk.paired import (
    Counts,
    RiskTest,
    break_even,
    counts,
    freward,
    frisk,
    jackknife_standard_error,
    jackknife_standardised,
    mean_test,
    share_changed,
    standard_error,
    standardised,
    tgain,
    trisk,
    ugain,
    urisk,
)
from pytest_riskguard.risk.tradeoff import linear, smooth, tradeoff

__all__ = [
    "Counts",
    "RiskTest",
    "alpha_hat",
    "break_even",
    "counts",
    "freward",
    "frisk",
    "jackknife_standard_error",
    "jackknife_standardised",
    "linear",
    "mean_test",
    "minus",
    "minus_limits",
    "share_changed",
    "smooth",
    "standard_error",
    "standardised",
    "tgain",
    "tradeoff",
    "trisk",
    "ugain",
    "urisk",
]
