"""The decisive rule for GeoRisk: which interval of the difference decides, against one reference or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_riskguard.gates.decision import rule_for
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.significance import p_by_rule
from pytest_riskguard.inference import Interval, effective_levels, holm
from pytest_riskguard.inference.georisk_difference import GeoRiskDifference
from pytest_riskguard.rounding import ROUNDING_ERROR

#: Intervals that every verdict reports.
REPORTED = ("student_t", "percentile", "bca")


@dataclass(frozen=True)
class Decision:
    """What the rule said of the difference from one reference at one alpha.

    ``margins`` say by method how far the upper limit is from the bound: at least 0 where it reaches it.
    """

    decisive: str
    margins: Mapping[str, float]
    intervals: tuple[Interval, ...]

    @property
    def margin(self) -> float:
        """That of the interval that decided."""
        return self.margins[self.decisive]

    @property
    def passes(self) -> bool:
        """Whether the limit reaches the bound; a limit that says nothing does not."""
        return self.margin >= 0

    def interval(self, method: str) -> Interval:
        """The interval of this name."""
        return next(interval for interval in self.intervals if interval.method == method)


@dataclass(frozen=True)
class Test:
    """The rule against one reference among several, at one alpha.

    Attributes
    ----------
    difference : GeoRiskDifference
    p_value, adjusted_p_value : float
        The smallest ``1 - level`` at which the rule fails, alone and among all references.
    level : float
        What Holm's method left for this reference.
    decision : Decision
        At that level.
    """

    difference: GeoRiskDifference
    p_value: float
    adjusted_p_value: float
    level: float
    decision: Decision

    @property
    def passes(self) -> bool:
        """Whether the candidate is not significantly below this reference."""
        return self.decision.passes


def decide(gate: Gate, difference: GeoRiskDifference, *, changed: int, level: float, scale: float = 1.0) -> Decision:
    """Apply the rule to one difference: that of ``gates.decision``, with GeoRisk for URisk.

    ``scale`` is the largest GeoRisk of the pool: a limit counts as having reached the bound by a share of it.
    """
    rule = rule_for(gate, n_topics=difference.left_out.size, n_changed=changed, level=level)
    intervals = tuple(difference.interval(method=method, level=level) for method in REPORTED)
    limits = {interval.method: interval.upper for interval in intervals}
    margins = {method: limit - _bound(gate, scale) for method, limit in limits.items()}
    return Decision(rule.decisive(limits), margins, intervals)


def tests_of(
    gate: Gate, differences: Sequence[GeoRiskDifference], *, changed: Sequence[int], level: float, scale: float
) -> tuple[Test, ...]:
    """The rule against each reference at one alpha, the errors kept together by Holm's method.

    Parameters
    ----------
    gate : Gate
    differences : sequence of GeoRiskDifference
        From each reference.
    changed : sequence of int
        Topics that differ between candidate and reference.
    level : float
        Of all references together.
    scale : float
        The largest GeoRisk of the pool.
    """
    p_values = [
        p_by_rule(
            gate,
            lambda method, found=found: found.p_value(method=method, bound=_bound(gate, scale)),  # type: ignore[misc]
            n_topics=found.left_out.size,
            n_changed=moved,
        )
        for found, moved in zip(differences, changed, strict=True)
    ]
    levels = np.array([level])
    if len(p_values) > 1:
        levels = 1 - effective_levels(p_values, level=level, correction="holm")
    found = []
    for difference, moved, p, adjusted, left in zip(
        differences, changed, p_values, holm(p_values), levels, strict=True
    ):
        # draws end somewhere, and no interval reaches further: two replicates at least lie beyond it
        reach = min(float(left), 1 - 2 / difference.law.size)
        decision = decide(gate, difference, changed=moved, level=reach, scale=scale)
        found.append(Test(difference, p, float(adjusted), reach, decision))
    return tuple(found)


def _bound(gate: Gate, scale: float) -> float:
    return -gate.tolerance - ROUNDING_ERROR * min(scale, 1.0)
