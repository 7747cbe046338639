"""Intervals and p-values: arrays in, numbers or small frozen results out; no files, no pytest.

Names load on first use, except those of functions that are called like their modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_riskguard.inference.break_even import break_even
from pytest_riskguard.lazily import lazily

if TYPE_CHECKING:
    from pytest_riskguard.inference.families import holm
    from pytest_riskguard.inference.intervals import Interval, critical_value, interval
    from pytest_riskguard.inference.power import minimum_detectable_effect

__all__ = [
    "Interval",
    "break_even",
    "critical_value",
    "holm",
    "interval",
    "minimum_detectable_effect",
]

__getattr__ = lazily(
    __name__,
    {
        "inference.families": "holm",
        "inference.intervals": "Interval critical_value interval",
        "inference.power": "minimum_detectable_effect",
    },
)
