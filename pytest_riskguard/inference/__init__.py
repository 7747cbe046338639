"""Intervals and p-values: arrays in, numbers or small frozen results out; no files, no pytest."""

from pytest_riskguard.inference.break_even import break_even
from pytest_riskguard.inference.intervals import Interval, interval
from pytest_riskguard.inference.many_looks import always_valid_upper_limit
from pytest_riskguard.inference.multiplicity import benjamini_hochberg, holm
from pytest_riskguard.inference.power_analysis import minimum_detectable_effect
from pytest_riskguard.inference.sign_flip import sign_flip

__all__ = [
    "Interval",
    "always_valid_upper_limit",
    "benjamini_hochberg",
    "break_even",
    "holm",
    "interval",
    "minimum_detectable_effect",
    "sign_flip",
]
