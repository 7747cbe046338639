"""Intervals and p-values: arrays in, numbers or small frozen results out; no files, no pytest."""

from pytest_riskguard.inference._bootstrap.choice import mean_law, studentized_law
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.inference.allocation import neyman, stratified_error
from pytest_riskguard.inference.break_even import (
    BreakEven,
    break_even,
    break_even_above,
    break_even_quantile,
    break_even_without_each,
    largest_ratio,
)
from pytest_riskguard.inference.effect_sizes import EffectSize, share, standardised_mean
from pytest_riskguard.inference.georisk_pool import GeoRiskDifference, PoolInference, pool_inference, replicates_for
from pytest_riskguard.inference.intervals import (
    Interval,
    IntervalBatch,
    critical_value,
    interval,
    intervals,
    upper_p_value,
)
from pytest_riskguard.inference.jackknife import leave_one_out_upper
from pytest_riskguard.inference.many_looks import (
    always_valid_e_value,
    always_valid_upper_limit,
    share_left,
    share_of_next_look,
)
from pytest_riskguard.inference.multiplicity import (
    benjamini_hochberg,
    effective_levels,
    holm,
    joint_flips,
    pooled_draws,
)
from pytest_riskguard.inference.normality import QQPoints, ShapiroWilk, qq_points, shapiro_wilk, skewness
from pytest_riskguard.inference.power_analysis import (
    minimum_detectable_effect,
    observed_critical,
    power_of,
    topics_for_equivalence,
    topics_for_tolerance,
    topics_needed,
)
from pytest_riskguard.inference.sign_flip import SignFlip, sign_flip

__all__ = [
    "BreakEven",
    "EffectSize",
    "GeoRiskDifference",
    "Interval",
    "IntervalBatch",
    "PoolInference",
    "QQPoints",
    "Sample",
    "ShapiroWilk",
    "SignFlip",
    "always_valid_e_value",
    "always_valid_upper_limit",
    "benjamini_hochberg",
    "break_even",
    "break_even_above",
    "break_even_quantile",
    "break_even_without_each",
    "critical_value",
    "effective_levels",
    "holm",
    "interval",
    "intervals",
    "joint_flips",
    "largest_ratio",
    "leave_one_out_upper",
    "mean_law",
    "minimum_detectable_effect",
    "neyman",
    "observed_critical",
    "pool_inference",
    "pooled_draws",
    "power_of",
    "qq_points",
    "replicates_for",
    "shapiro_wilk",
    "share",
    "share_left",
    "share_of_next_look",
    "sign_flip",
    "skewness",
    "standardised_mean",
    "stratified_error",
    "studentized_law",
    "topics_for_equivalence",
    "topics_for_tolerance",
    "topics_needed",
    "upper_p_value",
]
