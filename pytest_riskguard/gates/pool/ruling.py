"""The rule for GeoRisk: which interval of the difference decides, against one reference or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.ruling import Rule, p_by_rule, rule_for
from pytest_riskguard.inference import GeoRiskDifference, Interval, effective_levels, holm
from pytest_riskguard.rounding import ROUNDING_ERROR

#: Intervals that every verdict reports.
REPORTED = ("student_t", "percentile", "bca")


@dataclass(frozen=True, eq=False)
class ReferenceRuling:
    """What the rule says of the difference from one reference at one alpha: that of ``gates.ruling``, with GeoRisk.

    Attributes
    ----------
    gate : Gate
    difference : GeoRiskDifference
    changed : int
        Topics that differ between candidate and reference.
    level : float
        What Holm's method leaves for this reference.
    bound : float
        What the upper limit must reach.
    p_value, adjusted_p_value : float
        The smallest ``1 - level`` at which the rule fails, alone and among all references.
    """

    gate: Gate
    difference: GeoRiskDifference
    changed: int
    level: float
    bound: float
    p_value: float
    adjusted_p_value: float

    @cached_property
    def rule(self) -> Rule:
        """Which intervals are witnesses, and whether all of them must reach the bound."""
        n = self.difference.left_out.size
        return rule_for(self.gate, n_topics=n, n_changed=self.changed, level=self.level)

    @cached_property
    def _intervals(self) -> Mapping[str, Interval]:
        return {method: self.difference.interval(method=method, level=self.level) for method in REPORTED}

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """All that a verdict reports."""
        return tuple(self._intervals.values())

    def interval(self, method: str) -> Interval:
        """The interval of this method."""
        return self._intervals[method]

    @cached_property
    def deciding(self) -> Interval:
        """The interval whose upper limit decides."""
        return self._intervals[self.rule.decisive({method: i.upper for method, i in self._intervals.items()})]

    @property
    def decisive(self) -> str:
        """The method of that interval."""
        return self.deciding.method

    def margin_by(self, method: str) -> float:
        """How far the upper limit of an interval is from the bound: at least 0 where it reaches it."""
        return self._intervals[method].upper - self.bound

    @property
    def margin(self) -> float:
        """That of the interval that decides."""
        return self.deciding.upper - self.bound

    @property
    def passes(self) -> bool:
        """Whether the candidate is not significantly below this reference."""
        return self.margin >= 0


def rulings_of(
    gate: Gate, differences: Sequence[GeoRiskDifference], *, changed: Sequence[int], level: float, scale: float
) -> tuple[ReferenceRuling, ...]:
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
        The largest GeoRisk of the pool: a limit counts as having reached the bound by a share of it.
    """
    bound = -gate.tolerance - ROUNDING_ERROR * min(scale, 1.0)
    p_values = [
        p_by_rule(
            gate,
            lambda method, difference=difference: difference.p_value(method=method, bound=bound),  # type: ignore[misc]
            n_topics=difference.left_out.size,
            n_changed=moved,
        )
        for difference, moved in zip(differences, changed, strict=True)
    ]
    levels = np.array([level])
    if len(p_values) > 1:
        levels = 1 - effective_levels(p_values, level=level, correction="holm")
    rows = zip(differences, changed, p_values, holm(p_values).tolist(), levels.tolist(), strict=True)
    return tuple(
        # draws end somewhere, and no interval reaches further: two replicates at least lie beyond it
        ReferenceRuling(gate, difference, moved, min(left, 1 - 2 / difference.law.size), bound, p, adjusted)
        for difference, moved, p, adjusted, left in rows
    )
