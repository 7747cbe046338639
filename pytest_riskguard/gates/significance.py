"""At which level would a gate begin to fail? Its p-value, by the very rule that decides it."""

from __future__ import annotations

import numpy as np

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.decision import FEW_TOPICS, REACHED, own_method
from pytest_riskguard.gates.evidence import FloatArray
from pytest_riskguard.inference import upper_p_value


def decision_p_value(comparison: Comparison) -> float | None:
    """The smallest ``1 - level`` at which the gate fails; None for questions without one, and for too few topics.

    The rule is followed through all levels. With m changed topics a gate needs both witnesses to fail as long as
    ``1 - level`` is below 2^(1 - m), and its own afterwards; where churn only warns, the same must hold at alpha 0,
    and where the baseline's noise is taken off it fails at alpha 0 or at its own.
    """
    gate = comparison.gate
    if gate.kind != "not_significantly_risky" or not comparison.enough_topics:
        return None
    p = _at(comparison, gate.alpha)
    if gate.alpha > 0 and comparison.evidence.noisy:
        plain = _at(comparison, 0.0)
        return min(p, plain) if gate.on_churn == "fail" else plain
    return p if gate.on_churn == "fail" or gate.alpha == 0 else max(p, _at(comparison, 0.0))


def _at(comparison: Comparison, alpha: float) -> float:
    gate, x = comparison.gate, comparison.evidence.scores(alpha)
    own = _p_value(x, own_method(gate), gate.tolerance)
    if gate.method == "student_t":
        return own
    if comparison.evidence.uneven:
        return max(own, _p_value(x, "student_t", gate.tolerance))
    either = gate.method == "auto" and comparison.n < FEW_TOPICS  # each of the two witnesses alone may fail the gate
    enough_changes = float(np.exp2(1.0 - comparison.evidence.effective_changes(alpha)))
    if not either and own >= enough_changes:
        return own
    student = _p_value(x, "student_t", gate.tolerance)
    alone = min(own, student) if either else own
    return min(max(alone, enough_changes), max(own, student))


def _p_value(x: FloatArray, method: str, tolerance: float) -> float:
    return upper_p_value(x, method=method, bound=-tolerance - REACHED)
