"""Intervals and p-values: arrays in, numbers or small frozen results out; no files, no pytest."""

from pytest_riskguard.inference.exact import mean_law
from pytest_riskguard.inference.intervals import Interval, critical_value, interval, intervals
from pytest_riskguard.inference.leave_one_out import leave_one_out_upper
from pytest_riskguard.inference.power import cannot_fail, minimum_detectable_effect, topics_needed
from pytest_riskguard.inference.signflip import SignFlip, sign_flip
from pytest_riskguard.inference.studentized import studentized_law

__all__ = [
    "Interval",
    "SignFlip",
    "cannot_fail",
    "critical_value",
    "interval",
    "intervals",
    "leave_one_out_upper",
    "mean_law",
    "minimum_detectable_effect",
    "sign_flip",
    "studentized_law",
    "topics_needed",
]
