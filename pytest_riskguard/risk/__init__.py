"""Risk measures: arrays in, numbers out; no files, no pytest."""

from pytest_riskguard.risk.agreement import Overlap, kendall_tau, rank_biased_overlap
from pytest_riskguard.risk.bias import EveryBaseline, correlations, every_baseline, ranks
from pytest_riskguard.risk.components import Components, principal_components
from pytest_riskguard.risk.concordance import RankTest, changing_pairs, durbin_test, friedman_test
from pytest_riskguard.risk.minus import alpha_hat, minus, minus_limits
from pytest_riskguard.risk.multiple import (
    expected_scores,
    georisk,
    georisk_curve,
    looks_like_percent,
    topic_contributions,
    z_scores,
    zrisk,
    zrisk_curve,
)
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
from pytest_riskguard.risk.reference import reference_scores
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
    "expected_scores",
    "freward",
    "friedman_test",
    "frisk",
    "georisk",
    "georisk_curve",
    "jackknife_standard_error",
    "jackknife_standardised",
    "kendall_tau",
    "linear",
    "looks_like_percent",
    "mean_test",
    "minus",
    "minus_limits",
    "principal_components",
    "rank_biased_overlap",
    "ranks",
    "reference_scores",
    "share_changed",
    "smooth",
    "standard_error",
    "standardised",
    "tgain",
    "topic_contributions",
    "tradeoff",
    "trisk",
    "ugain",
    "urisk",
    "yardstick_fit",
    "z_scores",
    "zrisk",
    "zrisk_curve",
]
