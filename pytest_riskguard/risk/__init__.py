"""Risk measures: arrays in, numbers out; no files, no pytest."""

from pytest_riskguard.risk.paired import (
    Counts,
    RiskTest,
    break_even,
    counts,
    freward,
    frisk,
    jackknife_standard_error,
    jackknife_standardised,
    share_changed,
    standard_error,
    standardised,
    tgain,
    trisk,
    ugain,
    urisk,
)
from pytest_riskguard.risk.tradeoff import linear

__all__ = [
    "Counts",
    "RiskTest",
    "break_even",
    "counts",
    "freward",
    "frisk",
    "jackknife_standard_error",
    "jackknife_standardised",
    "linear",
    "share_changed",
    "standard_error",
    "standardised",
    "tgain",
    "trisk",
    "ugain",
    "urisk",
]
