"""The decisive rule for GeoRisk: which interval of the difference decides, against one reference or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_riskguard.gates.decision import REACHED, margin, rule_for
from pytest_riskguard.gates.significance import p_by_rule
from pytest_riskguard.gates.spec import Gate
from pytest_riskguard.inference import Interval, effective_levels, holm
from pytest_riskguard.inference.georisk_difference import GeoRiskDifference

#: Intervals that every verdict reports.
REPORTED = ("student_t", "percentile", "bca")


@dataclass(frozen=True)
class Decision:
    """What the rule said of the difference from one reference at one alpha.

    ``margin`` is how far the decisive limit is from the bound: at least 0 exactly where the rule passes.
    """

    decisive: str
    margin: float
    intervals: tuple[Interval, ...]

    @property
    def passes(self) -> bool:
        """Whether the limit reaches the bound; a limit that says nothing does not."""
        return self.margin >= 0

    def interval(self, method: str) -> Interval:
        """The interval of this name."""
        return next(interval for interval in self.intervals if interval.method == method)


@dataclass(frozen=True)
class Answer:
    """What the gate says against one reference.

    Attributes
    ----------
    difference, plain_difference : GeoRiskDifference
        At the gate's alpha, and at alpha 0.
    level : float
        What Holm's method left for this reference.
    p_value, adjusted_p_value : float
        The smallest ``1 - level`` at which the rule fails, alone and among all references.
    decision, plain : Decision
        At the gate's alpha, and at alpha 0.
    passes : bool
        Whether the candidate is let through, churn included where it only warns.
    """

    difference: GeoRiskDifference
    plain_difference: GeoRiskDifference
    level: float
    p_value: float
    adjusted_p_value: float
    decision: Decision
    plain: Decision
    passes: bool


def decide(gate: Gate, difference: GeoRiskDifference, changed: int, level: float) -> Decision:
    """Apply the rule to one difference: that of ``gates.decision``, with GeoRisk for URisk."""
    rule = rule_for(gate, n_topics=difference.left_out.size, n_changed=changed, level=level)
    intervals = tuple(difference.interval(method=method, level=level) for method in REPORTED)
    limits = {interval.method: interval.upper for interval in intervals}
    decisive = rule.decisive(limits)
    return Decision(decisive, margin(gate, limits[decisive]), intervals)


def answers(
    gate: Gate,
    differences: Sequence[GeoRiskDifference],
    plain: Sequence[GeoRiskDifference],
    *,
    changed: Sequence[int],
    level: float,
) -> tuple[Answer, ...]:
    """The gate against each reference, whose errors are kept together by Holm's method.

    Parameters
    ----------
    gate : Gate
    differences, plain : sequence of GeoRiskDifference
        From each reference: at the gate's alpha, and at alpha 0.
    changed : sequence of int
        Topics that differ between candidate and reference.
    level : float
        Of all references together.
    """
    p_values = [
        _p_value(gate, difference, zero, moved)
        for difference, zero, moved in zip(differences, plain, changed, strict=True)
    ]
    adjusted = holm(p_values)
    if len(p_values) == 1:
        levels = np.array([level])
    else:
        levels = 1 - effective_levels(p_values, level=level, correction="holm")
    found = []
    for i, moved in enumerate(changed):
        # draws end somewhere, and no interval reaches further: two replicates at least lie beyond it
        left = min(float(levels[i]), 1 - 2 / differences[i].law.size)
        decision = decide(gate, differences[i], moved, left)
        at_zero = decide(gate, plain[i], moved, left)
        passes = decision.passes or (gate.on_churn == "warn" and at_zero.passes)
        adjusted_p = float(adjusted[i])
        found.append(Answer(differences[i], plain[i], left, p_values[i], adjusted_p, decision, at_zero, passes))
    return tuple(found)


def _p_value(gate: Gate, difference: GeoRiskDifference, plain: GeoRiskDifference, changed: int) -> float:
    bound = -gate.tolerance - REACHED

    def at(found: GeoRiskDifference) -> float:
        return p_by_rule(
            gate,
            lambda method: found.p_value(method=method, bound=bound),
            n_topics=found.left_out.size,
            n_changed=changed,
        )

    p = at(difference)
    return p if gate.on_churn == "fail" or gate.alpha == 0 else max(p, at(plain))
