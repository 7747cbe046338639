"""What a gate could have seen, and how many topics it would have taken."""

from __future__ import annotations

import math

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.decision import Decision, cannot_fail_at_all, decide
from pytest_riskguard.gates.evidence import Evidence, FloatArray
from pytest_riskguard.gates.findings import Power
from pytest_riskguard.gates.spec import Gate
from pytest_riskguard.inference import (
    minimum_detectable_effect,
    observed_critical,
    topics_for_tolerance,
)
from pytest_riskguard.risk import mean_test


def foresight(comparison: Comparison) -> Power:
    """The gate's power, as far as its kind has one; nothing of it decides, save where ``max_mde`` asks."""
    if comparison.gate.kind == "not_significantly_risky":
        plain = comparison.gate.on_churn == "warn"
        decision = comparison.plain if plain else comparison.decision
        return Power(minimum_detectable_effect=_detectable(comparison.gate, comparison.evidence, decision))
    if comparison.gate.kind == "not_inferior":
        return Power(topics_for_tolerance=_topics(comparison))
    return Power()


def sees_enough(gate: Gate, evidence: Evidence) -> bool:
    """Whether the gate, where it finds nothing, may say so: it could have seen a loss of ``max_mde``."""
    if gate.max_mde is None:
        return True
    seen = _detectable(gate, evidence, decide(gate, evidence, alpha=0.0 if gate.on_churn == "warn" else gate.alpha))
    return seen is not None and seen <= gate.max_mde


def _detectable(gate: Gate, evidence: Evidence, decision: Decision | None) -> float | None:
    """The loss beyond its tolerance that the gate would have failed for, 4 times of 5.

    Of URisk; of the mean difference where churn only warns, for then nothing less fails the gate. None where this few
    changed topics cannot fail it at all.
    """
    if decision is None or cannot_fail_at_all(gate, evidence):
        return None
    scores = evidence.scores(0.0 if gate.on_churn == "warn" else gate.alpha)
    critical = _critical(scores, decision, side="upper")
    seen = minimum_detectable_effect(_deviation(scores), evidence.n, level=gate.level, critical=critical)
    return gate.tolerance + seen


def _topics(comparison: Comparison) -> int | None:
    """With how many topics such as these the lower limit would lie above the bound, 4 times of 5.

    None where the estimate itself does not.
    """
    gate, decision = comparison.gate, comparison.decision
    if decision is None:
        return None
    scores = comparison.evidence.scores(gate.alpha)
    critical = _critical(scores, decision, side="lower")
    return topics_for_tolerance(
        _deviation(scores),
        comparison.evidence.estimate(gate.alpha),
        tolerance=gate.tolerance,
        level=gate.level,
        critical=critical,
        n=None if critical is None else comparison.n,
    )


def _critical(scores: FloatArray, decision: Decision, *, side: str) -> float | None:
    """How many standard errors from the mean the limit lies that decided."""
    return observed_critical(scores, decision.interval(decision.decisive), side=side)


def _deviation(scores: FloatArray) -> float:
    """Over topics, divisor n - 1."""
    return (mean_test(scores).standard_error or 0.0) * math.sqrt(scores.size)
