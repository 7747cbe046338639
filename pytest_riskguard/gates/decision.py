"""The decisive rule: which interval decides, and whether its limit reaches the bound.

This is the whole of "does URisk's interval still allow no risk?" and of "does it rule out a loss beyond the
tolerance?", used for the verdict itself, for loss or churn (the same rule at alpha 0), for alpha* and for the topics
without which the verdict flips.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import MIN_TOPICS, Gate
from pytest_riskguard.inference import Interval, cannot_fail, interval, intervals
from pytest_riskguard.rounding import ROUNDING_ERROR

#: Below this many topics BCa and Student-t must both pass: no method covers well there.
FEW_TOPICS = 25

#: Intervals that every verdict reports, cheapest first; the studentized one only where it decides.
REPORTED = ("student_t", "basic", "percentile", "bca")


def fewest_changes(level: float) -> int:
    """How many changed topics a gate needs before its interval alone may fail it.

    With m changed topics the sign-flip law has 2^m outcomes, so below ``ceil(-log2((1 - level)/2))`` changes not
    even all of them lost would be significant: 6 at 0.95, 11 at 0.999.
    """
    return math.ceil(-math.log2((1 - level) / 2))


@dataclass(frozen=True)
class Rule:
    """How limits are combined for this many topics and changes: all of them must reach the bound, or any."""

    witnesses: tuple[str, ...]
    demand: str

    def decisive(self, limits: dict[str, float]) -> str:
        """The witness whose limit decides: the lowest where all must reach the bound, else the highest."""
        choose = min if self.demand == "all" else max
        return choose(self.witnesses, key=lambda method: limits[method])


def rule_of(gate: Gate, evidence: Evidence, *, alpha: float) -> Rule:
    """The rule of judgement for this evidence at this alpha."""
    changes = evidence.effective_changes(alpha)
    return rule_for(gate, n_topics=evidence.n, n_changed=changes, uneven=evidence.uneven)


def rule_for(gate: Gate, *, n_topics: int, n_changed: int, uneven: bool = False, level: float | None = None) -> Rule:
    """The rule of judgement for a comparison of this size.

    Few changes come first, and weights that leave few topics: no interval alone may then answer yes to "significantly
    risky?" or "shown to be not inferior?", so the gate's method and Student-t must agree. Then ``auto``: BCa alone
    from 25 topics, with Student-t below. ``level`` is the gate's own unless it is given.
    """
    both = (own_method(gate), "student_t") if own_method(gate) != "student_t" else ("student_t",)
    if uneven or n_changed < fewest_changes(gate.level if level is None else level):
        return Rule(both, "all" if gate.kind == "not_inferior" else "any")
    if gate.method == "auto" and n_topics < FEW_TOPICS:
        return Rule(both, "all")
    return Rule((own_method(gate),), "all")


def own_method(gate: Gate) -> str:
    """The interval that decides where nothing else is said: BCa for ``auto``."""
    return "bca" if gate.method == "auto" else gate.method


@dataclass(frozen=True)
class Decision:
    """What the rule said of one vector of trade-off scores."""

    passes: bool
    decisive: str
    intervals: tuple[Interval, ...]

    def interval(self, method: str) -> Interval:
        """The interval of this name."""
        return next(i for i in self.intervals if i.method == method)


def limit_of(gate: Gate, interval: Interval) -> float:
    """The limit that the gate's question is about."""
    return interval.lower if gate.kind == "not_inferior" else interval.upper


def margin(gate: Gate, limit: float) -> float:
    """How far a limit is from the bound: at least 0 exactly where it suffices, in units of the measure.

    An upper limit must reach the bound, a lower one must lie above it. NaN for a limit that says nothing, so that a
    condition written as what must hold fails.
    """
    if not math.isfinite(limit):
        return math.nan
    return limit + gate.tolerance + (-ROUNDING_ERROR if gate.kind == "not_inferior" else ROUNDING_ERROR)


def decide(gate: Gate, evidence: Evidence, *, alpha: float) -> Decision:
    """Apply the gate's rule at this alpha; all intervals are reported."""
    rule = rule_of(gate, evidence, alpha=alpha)
    methods = REPORTED + tuple(method for method in rule.witnesses if method not in REPORTED)
    computed = intervals(evidence.scores(alpha), methods=methods, level=gate.level)
    limits = {interval.method: limit_of(gate, interval) for interval in computed}
    decisive = rule.decisive(limits)
    return Decision(margin(gate, limits[decisive]) >= 0, decisive, computed)


def interval_margin(gate: Gate, evidence: Evidence, *, alpha: float) -> float:
    """How far the rule is from its bound: at least 0 exactly where ``decide`` passes, in units of the measure.

    The cheapest witness is looked at first, and no other where it settles the answer.
    """
    rule = rule_of(gate, evidence, alpha=alpha)
    x = evidence.scores(alpha)
    margins = []
    for method in sorted(rule.witnesses, key=lambda m: m != "student_t"):
        margins.append(margin(gate, limit_of(gate, interval(x, method=method, level=gate.level))))
        if (margins[-1] >= 0) == (rule.demand == "any"):
            return margins[-1]
    return min(margins) if rule.demand == "all" else max(margins)


def interval_passes(gate: Gate, evidence: Evidence, *, alpha: float) -> bool:
    """Whether ``decide`` would pass, computing no more than that takes."""
    return interval_margin(gate, evidence, alpha=alpha) >= 0


def enough_topics(evidence: Evidence) -> bool:
    """Whether there are topics enough for any interval, their weights considered."""
    return evidence.effective >= MIN_TOPICS - ROUNDING_ERROR


def cannot_fail_at_all(gate: Gate, evidence: Evidence) -> bool:
    """Whether no values of this many changed topics would fail the gate; never claimed of weighted topics."""
    changed = evidence.changed(gate.alpha)
    if changed == 0 or evidence.n < 2 or evidence.weights is not None:
        return False
    return cannot_fail(changed, evidence.n, level=gate.level)


def holds_at_zero_too(gate: Gate, evidence: Evidence) -> bool:
    """Whether the rule must hold at alpha 0 beside the gate's alpha.

    A loss that counts more cannot turn a failure into a pass, save where the baseline's noise, which counts more too,
    is taken off.
    """
    return evidence.noisy and gate.alpha > 0


def passes(gate: Gate, evidence: Evidence) -> bool:
    """Whether the gate as a whole lets these differences through, churn let through by ``on_churn`` included."""
    if not enough_topics(evidence):
        return False
    if gate.on_churn == "fail" and holds_at_zero_too(gate, evidence):
        return all(interval_passes(gate, evidence, alpha=alpha) for alpha in (0.0, gate.alpha))
    if gate.on_churn == "fail":
        return interval_passes(gate, evidence, alpha=gate.alpha)
    if holds_at_zero_too(gate, evidence):
        return interval_passes(gate, evidence, alpha=0.0)
    return any(interval_passes(gate, evidence, alpha=alpha) for alpha in (gate.alpha, 0.0))
