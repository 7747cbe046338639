"""At which level would a gate begin to fail? Its p-value, by the very rule that decides it."""

from __future__ import annotations

from collections.abc import Callable

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.decision import FEW_TOPICS, own_method
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.inference import upper_p_value
from pytest_riskguard.rounding import ROUNDING_ERROR


def decision_p_value(comparison: Comparison) -> float | None:
    """The smallest ``1 - level`` at which the gate fails; None for questions without one, and for too few topics.

    The rule is followed through all levels. With m changed topics a gate needs both witnesses to fail as long as
    ``1 - level`` is below 2^(1 - m), and its own afterwards; where churn only warns, the same must hold at alpha 0,
    and where the baseline's noise is taken off it fails at alpha 0 or at its own.
    """
    gate = comparison.gate
    if gate.kind != "not_significantly_risky" or not comparison.enough_topics:
        return None
    return p_value_of(gate, comparison.evidence)


def p_value_of(gate: Gate, evidence: Evidence) -> float:
    """The same for the evidence itself, of which there must be enough."""
    p = _at(gate, evidence, gate.alpha)
    if gate.alpha > 0 and evidence.noisy:
        plain = _at(gate, evidence, 0.0)
        return min(p, plain) if gate.on_churn == "fail" else plain
    return p if gate.on_churn == "fail" or gate.alpha == 0 else max(p, _at(gate, evidence, 0.0))


def p_by_rule(
    gate: Gate, p_of: Callable[[str], float], *, n_topics: int, n_changed: int, uneven: bool = False
) -> float:
    """The smallest ``1 - level`` at which the rule fails, from the p-values of the intervals it looks at.

    ``p_of`` gives that of one method; the others are as ``rule_for`` takes them.
    """
    own = p_of(own_method(gate))
    if gate.method == "student_t":
        return own
    if uneven:
        return max(own, p_of("student_t"))
    either = gate.method == "auto" and n_topics < FEW_TOPICS  # each of the two witnesses alone may fail the gate
    enough_changes = 2.0 ** (1 - n_changed)
    if not either and own >= enough_changes:
        return own
    student = p_of("student_t")
    alone = min(own, student) if either else own
    return min(max(alone, enough_changes), max(own, student))


def _at(gate: Gate, evidence: Evidence, alpha: float) -> float:
    x, bound = evidence.scores(alpha), -gate.tolerance - ROUNDING_ERROR
    return p_by_rule(
        gate,
        lambda method: upper_p_value(x, method=method, bound=bound),
        n_topics=evidence.n,
        n_changed=evidence.effective_changes(alpha),
        uneven=evidence.uneven,
    )
