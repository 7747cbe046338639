"""A pool of systems, each as the baseline of all the others: whether a single baseline is a fair yardstick."""

from pytest_riskguard.pool_study.agreement import (
    Overlap,
    RankTest,
    changing_pairs,
    durbin_test,
    friedman_test,
    kendall_tau,
    rank_biased_overlap,
)
from pytest_riskguard.pool_study.bias import (
    Components,
    EveryBaseline,
    correlations,
    every_baseline,
    principal_components,
    ranks,
)
from pytest_riskguard.pool_study.yardstick import YardstickFit, yardstick_fit

__all__ = [
    "Components",
    "EveryBaseline",
    "Overlap",
    "RankTest",
    "YardstickFit",
    "changing_pairs",
    "correlations",
    "durbin_test",
    "every_baseline",
    "friedman_test",
    "kendall_tau",
    "principal_components",
    "rank_biased_overlap",
    "ranks",
    "yardstick_fit",
]
