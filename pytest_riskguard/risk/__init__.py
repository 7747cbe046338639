"""Risk measures: arrays in, numbers out; no files, no pytest."""

from pytest_riskguard.risk.agreement import Overlap, kendall_tau, rank_biased_overlap
from pytest_riskguard.risk.bias import EveryBaseline, correlations, every_baseline, ranks
from pytest_riskguard.risk.components import Components, principal_components
from pytest_riskguard.risk.concordance import RankTest, changing_pairs, durbin_test, friedman_test
from pytest_riskguard.risk.minus import alpha_hat, minus, minus_limits
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
from pytest_riskguard.risk.yardstick import YardstickFit, yardstick_fit

__all__ = [
    "Components",
    "Counts",
    "EveryBaseline",
    "Overlap",
    "RankTest",
    "RiskTest",
    "YardstickFit",
    "alpha_hat",
    "break_even",
    "changing_pairs",
    "correlations",
    "counts",
    "durbin_test",
    "every_baseline",
    "freward",
    "friedman_test",
    "frisk",
    "jackknife_standard_error",
    "jackknife_standardised",
    "kendall_tau",
    "linear",
    "mean_test",
    "minus",
    "minus_limits",
    "principal_components",
    "rank_biased_overlap",
    "ranks",
    "share_changed",
    "smooth",
    "standard_error",
    "standardised",
    "tgain",
    "tradeoff",
    "trisk",
    "ugain",
    "urisk",
    "yardstick_fit",
]
