"""What a gate could have seen, and how many topics it would have taken."""

from __future__ import annotations

import math

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.verdict import Power
from pytest_riskguard.inference import cannot_fail, minimum_detectable_effect, topics_needed
from pytest_riskguard.risk import mean_test


def foresight(comparison: Comparison) -> Power:
    """The gate's power, as far as its kind has one; nothing of it decides, save where ``max_mde`` asks."""
    if comparison.n < 2:
        return Power()
    if comparison.gate.kind == "not_significantly_risky":
        return Power(minimum_detectable_effect=_detectable(comparison))
    if comparison.gate.kind == "not_inferior":
        return Power(topics_for_tolerance=_topics(comparison))
    return Power()


def _detectable(comparison: Comparison) -> float | None:
    """The loss beyond its tolerance that the gate would have failed for, 4 times of 5.

    Of URisk; of the mean difference where churn only warns, for then nothing less fails the gate. None where this few
    changed topics cannot fail it at all.
    """
    gate, n = comparison.gate, comparison.n
    if comparison.changed > 0 and cannot_fail(comparison.changed, n, level=gate.level):
        return None
    alpha = 0.0 if gate.on_churn == "warn" else gate.alpha
    error = mean_test(comparison.evidence.scores(alpha)).standard_error
    return gate.tolerance + minimum_detectable_effect((error or 0.0) * math.sqrt(n), n, level=gate.level)


def _topics(comparison: Comparison) -> int | None:
    """With how many topics such as these the lower limit would lie above the bound, 4 times of 5.

    None where the estimate itself does not.
    """
    gate, n = comparison.gate, comparison.n
    test = mean_test(comparison.evidence.scores(gate.alpha))
    room = test.estimate + gate.tolerance
    if room <= 0:
        return None
    return topics_needed((test.standard_error or 0.0) * math.sqrt(n), room, level=gate.level)
