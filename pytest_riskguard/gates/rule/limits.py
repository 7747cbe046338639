"""Which limit a gate asks about, which intervals have one, and how far a limit lies from the bound."""

from __future__ import annotations

import math

import numpy as np

from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.inference import Interval
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray

#: How far a p-value may lie above the threshold by rounding, as a share of it.
ROUNDED = 1e-9


def own_method(gate: Gate) -> str:
    """The interval that the gate's ``method`` names: BCa for ``auto``."""
    return "bca" if gate.method == "auto" else gate.method


def witnesses(gate: Gate) -> tuple[str, ...]:
    """The intervals that the rule asks: the gate's own, and Student-t."""
    return tuple(dict.fromkeys((own_method(gate), "student_t")))


def limit_of(gate: Gate, interval: Interval) -> float:
    """The limit that the gate's question is about; of both, the one that shows less."""
    if gate.side == "both":
        return float(least_shown(gate, np.array(interval.lower), np.array(interval.upper)))
    return interval.lower if gate.side == "lower" else interval.upper


def least_shown(gate: Gate, one: FloatArray, other: FloatArray) -> FloatArray:
    """The limit that shows less, of two in each place: the lower, or the one further from 0; NaN if either is."""
    first = np.abs(one) >= np.abs(other) if gate.side == "both" else one <= other
    return np.where(np.isnan(one) | first, one, other)


def margin_of(gate: Gate, limit: float) -> float:
    """How far a limit is from the bound, in units of the measure: at least 0 exactly where it suffices.

    An upper limit must reach the bound, a lower one must lie above it, and where both are asked for either must lie
    between the two bounds. NaN for a limit that is not finite, so that it fails.
    """
    return float(margins_of(gate, np.array(limit)))


def margins_of(gate: Gate, limits: FloatArray) -> FloatArray:
    """``margin_of`` each of several limits."""
    margins = gate.tolerance + (-np.abs(limits) if gate.side == "both" else limits)
    margins = margins + (-ROUNDING_ERROR if gate.must_show else ROUNDING_ERROR)
    return np.where(np.isfinite(limits), margins, math.nan)


def highest_p(gate: Gate) -> float:
    """The highest one-sided p-value with which a test fails at the gate's level, half of ``1 - level``."""
    return (1 - gate.level) / 2 * (1 + ROUNDED)


def detects_max_mde(gate: Gate, effect: float | None) -> bool:
    """Whether a gate that finds nothing may pass: its minimum detectable effect is no larger than ``max_mde``."""
    return gate.max_mde is None or (effect is not None and effect <= gate.max_mde)
