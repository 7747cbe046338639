"""The decisive rule: which interval decides, and whether its upper limit reaches the bound.

This is the whole of "does URisk's interval still allow no risk?", used for the verdict itself, for loss or churn
(the same rule at alpha 0), for alpha* and for the topics without which the verdict flips.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.gates.spec import FEWEST_TOPICS, Gate
from pytest_riskguard.inference import Interval, interval, intervals, leave_one_out_upper
from pytest_riskguard.risk import linear
from pytest_riskguard.risk.paired import CHANGED

FloatArray = npt.NDArray[np.float64]

#: Below this many topics BCa and Student-t must both pass: no method covers well there.
FEW_TOPICS = 25
#: A limit this close to the bound counts as having reached it.
REACHED = 1e-12

#: How many times further than the mean a limit may move when a topic is left out.
NEAR = 10.0

REPORTED = ("student_t", "percentile", "bca")


def fewest_changes(level: float) -> int:
    """How many changed topics a gate needs before its interval alone may fail it.

    With m changed topics the sign-flip law has 2^m outcomes, so below ``ceil(-log2((1 - level)/2))`` changes not
    even all of them lost would be significant: 6 at 0.95, 11 at 0.999.
    """
    return math.ceil(-math.log2((1 - level) / 2))


def changed_topics(differences: FloatArray) -> int:
    """How many differences are more than rounding."""
    return int(np.count_nonzero(np.abs(differences) > CHANGED))


@dataclass(frozen=True)
class Rule:
    """How limits are combined for this many topics and changes: all of them must reach the bound, or any."""

    witnesses: tuple[str, ...]
    demand: str

    def decisive(self, upper: dict[str, float]) -> str:
        """The witness whose limit decides: the lowest where all must reach the bound, else the highest."""
        choose = min if self.demand == "all" else max
        return choose(self.witnesses, key=lambda method: upper[method])


def rule_for(gate: Gate, *, n_topics: int, n_changed: int) -> Rule:
    """The rule of judgement for a comparison of this size.

    Few changes come first: such a gate fails only if its interval and Student-t agree, so one witness that
    reaches the bound is enough to pass. Then ``auto``: BCa alone from 25 topics, with Student-t below.
    """
    method = "bca" if gate.method == "auto" else gate.method
    both = (method,) if method == "student_t" else (method, "student_t")
    if n_changed < fewest_changes(gate.level):
        return Rule(both, "any")
    if gate.method == "auto" and n_topics < FEW_TOPICS:
        return Rule(both, "all")
    return Rule((method,), "all")


@dataclass(frozen=True)
class Decision:
    """What the rule said of one vector of differences at one alpha."""

    passes: bool
    decisive: str
    intervals: tuple[Interval, ...]

    @property
    def upper(self) -> float:
        """The limit that decided."""
        return next(i.upper for i in self.intervals if i.method == self.decisive)


def reaches(upper: float, tolerance: float) -> bool:
    """Whether a limit reaches the bound; written so that NaN does not, nor a limit that says nothing."""
    return math.isfinite(upper) and upper + tolerance + REACHED >= 0


def decide(gate: Gate, differences: FloatArray, *, alpha: float) -> Decision:
    """Apply the gate's rule to differences (candidate minus baseline) at this alpha; all intervals are reported."""
    rule = rule_for(gate, n_topics=differences.size, n_changed=changed_topics(differences))
    computed = intervals(linear(differences, alpha=alpha), methods=REPORTED, level=gate.level)
    upper = {interval.method: interval.upper for interval in computed}
    decisive = rule.decisive(upper)
    return Decision(reaches(upper[decisive], gate.tolerance), decisive, computed)


def interval_margin(gate: Gate, differences: FloatArray, *, alpha: float) -> float:
    """How far the rule is from its bound: at least 0 exactly where ``decide`` passes, in units of the measure.

    The cheapest witness is looked at first, and no other where it settles the answer.
    """
    rule = rule_for(gate, n_topics=differences.size, n_changed=changed_topics(differences))
    x = linear(differences, alpha=alpha)
    margins = []
    for method in sorted(rule.witnesses, key=REPORTED.index):
        margins.append(interval(x, method=method, level=gate.level).upper + gate.tolerance + REACHED)
        if (margins[-1] >= 0) == (rule.demand == "any"):
            return margins[-1]
    return min(margins) if rule.demand == "all" else max(margins)


def interval_passes(gate: Gate, differences: FloatArray, *, alpha: float) -> bool:
    """Whether ``decide`` would pass, computing no more than that takes."""
    return interval_margin(gate, differences, alpha=alpha) >= 0


def passes(gate: Gate, differences: FloatArray) -> bool:
    """Whether the gate as a whole lets these differences through, churn let through by ``on_churn`` included."""
    if differences.size < FEWEST_TOPICS:
        return False
    if interval_passes(gate, differences, alpha=gate.alpha):
        return True
    return gate.on_churn == "warn" and interval_passes(gate, differences, alpha=0.0)


def passes_without_each(gate: Gate, differences: FloatArray, indices: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """For each index: whether the gate passes when that topic alone is left out.

    The same rule for n - 1 topics, computed for all of them at once where the inference can.
    """
    if differences.size - 1 < FEWEST_TOPICS or indices.size == 0:
        return np.zeros(indices.size, dtype=np.bool_)
    result = _passes_without_each(gate, differences, indices, alpha=gate.alpha)
    if gate.on_churn == "warn" and not np.all(result):
        result |= _passes_without_each(gate, differences, indices, alpha=0.0)
    return result


def _passes_without_each(
    gate: Gate, differences: FloatArray, indices: npt.NDArray[np.intp], *, alpha: float
) -> npt.NDArray[np.bool_]:
    x = linear(differences, alpha=alpha)
    changed = np.abs(differences) > CHANGED
    n_changed = int(np.count_nonzero(changed))
    result = np.zeros(indices.size, dtype=np.bool_)
    for moved in (True, False):  # leaving out a changed topic leaves one change fewer
        members = np.flatnonzero(changed[indices] == moved)
        if members.size == 0:
            continue
        rule = rule_for(gate, n_topics=x.size - 1, n_changed=n_changed - moved)
        near = _near(gate, x, indices[members], rule)
        if not np.any(near):
            continue
        members = members[near]
        reached = [
            leave_one_out_upper(x, method=method, level=gate.level, indices=indices[members])
            + gate.tolerance
            + REACHED
            >= 0
            for method in rule.witnesses
        ]
        result[members] = np.all(reached, axis=0) if rule.demand == "all" else np.any(reached, axis=0)
    return result


def _near(gate: Gate, x: FloatArray, indices: npt.NDArray[np.intp], rule: Rule) -> npt.NDArray[np.bool_]:
    """Which topics could carry the verdict at all.

    Exact limits are asked for only where ten times the shift of the mean would take the limit to the bound.
    """
    lowest = min(interval(x, method=method, level=gate.level).upper for method in rule.witnesses)
    shifts = np.abs(x[indices] - math.fsum(x) / x.size) / (x.size - 1)
    return np.asarray(lowest + NEAR * shifts + gate.tolerance >= 0)
