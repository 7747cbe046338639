"""Intervals and p-values: arrays in, numbers or small frozen results out; no files, no pytest.

Names load on first use, except those of functions that are called like their modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_riskguard.inference.break_even import break_even, sign_flip

if TYPE_CHECKING:
    from pytest_riskguard.inference.families import benjamini_hochberg, holm
    from pytest_riskguard.inference.intervals import Interval, interval
    from pytest_riskguard.inference.many_looks import always_valid_upper_limit
    from pytest_riskguard.inference.power import minimum_detectable_effect

_HOME = {
    "Interval": "intervals",
    "always_valid_upper_limit": "many_looks",
    "benjamini_hochberg": "families",
    "holm": "families",
    "interval": "intervals",
    "minimum_detectable_effect": "power",
}
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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
