"""The rule of judgement: which interval decides, where its limit lies, and whether it reaches the bound.

Whatever depends on a limit asks a ``Ruling``: the verdict itself, loss or churn (the ruling at alpha 0), alpha*, the
topics without which the verdict flips, slices, families (its p-value), charts and power. Nothing else computes one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from pytest_riskguard.gates.alignment import Aligned
from pytest_riskguard.gates.collapse import collapsed
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import MIN_TOPICS, Gate
from pytest_riskguard.inference import (
    Interval,
    Sample,
    cannot_fail,
    intervals,
    leave_one_out_upper,
    minimum_detectable_effect,
    observed_critical,
    upper_p_value,
)
from pytest_riskguard.risk import RiskTest, mean_test
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray
from pytest_riskguard.risk.urisk import mean_test_of

#: Below this many topics BCa and Student-t must both pass: no method covers well there.
FEW_TOPICS = 25
#: Intervals that every verdict reports, cheapest first; the studentized one only where it decides.
REPORTED = ("student_t", "basic", "percentile", "bca")


def min_changes(level: float) -> int:
    """How many changed topics a gate needs before its interval alone may fail it.

    With m changed topics the sign-flip law has 2^m outcomes, so with fewer than ``ceil(-log2((1 - level)/2))``
    changes even losses alone are not significant: 6 at 0.95, 11 at 0.999.
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


def rule_for(gate: Gate, *, n_topics: int, n_changed: int, uneven: bool = False, level: float | None = None) -> Rule:
    """The rule of judgement for a comparison of this size; ``level`` is the gate's own unless given.

    With few changes, or weights that leave few topics, no interval alone is evidence enough: the gate's method
    and Student-t must agree. Otherwise ``auto`` is BCa alone from 25 topics, with Student-t below.
    """
    agreeing = (own_method(gate), "student_t") if own_method(gate) != "student_t" else ("student_t",)
    if uneven or n_changed < min_changes(gate.level if level is None else level):
        return Rule(agreeing, "all" if gate.side == "lower" else "any")
    if gate.method == "auto" and n_topics < FEW_TOPICS:
        return Rule(agreeing, "all")
    return Rule((own_method(gate),), "all")


def own_method(gate: Gate) -> str:
    """The interval that the gate's ``method`` names: BCa for ``auto``."""
    return "bca" if gate.method == "auto" else gate.method


def limit_of(gate: Gate, interval: Interval) -> float:
    """The limit that the gate's question is about."""
    return interval.lower if gate.side == "lower" else interval.upper


def margin_of(gate: Gate, limit: float) -> float:
    """How far a limit is from the bound, in units of the measure: at least 0 exactly where it suffices.

    An upper limit must reach the bound, a lower one must lie above it. NaN for a limit that is not finite, so
    that it fails.
    """
    return float(margins_of(gate, np.array(limit)))


def margins_of(gate: Gate, limits: FloatArray) -> FloatArray:
    """``margin_of`` each of several limits."""
    margins = limits + gate.tolerance + (-ROUNDING_ERROR if gate.side == "lower" else ROUNDING_ERROR)
    return np.where(np.isfinite(limits), margins, math.nan)


def detects_max_mde(gate: Gate, effect: float | None) -> bool:
    """Whether a gate that finds nothing may pass: its minimum detectable effect is no larger than ``max_mde``."""
    return gate.max_mde is None or (effect is not None and effect <= gate.max_mde)


def p_by_rule(
    gate: Gate, p_of: Callable[[str], float], *, n_topics: int, n_changed: int, uneven: bool = False
) -> float:
    """The smallest ``1 - level`` at which the rule fails; ``p_of`` gives the p-value of one method.

    With m changed topics both witnesses must fail while ``1 - level`` is below 2^(1 - m); from there on the gate's
    own method is enough.
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


class Ruling:
    """What the rule says of the evidence at one alpha (the gate's own by default), at the gate's level.

    Each interval is computed once, when first needed.
    """

    def __init__(self, gate: Gate, evidence: Evidence, *, alpha: float | None = None) -> None:
        self.gate, self.evidence = gate, evidence
        self.alpha = gate.alpha if alpha is None else alpha
        self._intervals: dict[str, Interval] = {}

    def at(self, alpha: float) -> Ruling:
        """The ruling at another alpha."""
        return self if alpha == self.alpha else Ruling(self.gate, self.evidence, alpha=alpha)

    @cached_property
    def plain(self) -> Ruling:
        """The ruling at alpha 0, where a loss counts like a win: what fails here is a loss, not churn."""
        return self.at(0.0)

    def without(self, places: npt.NDArray[np.intp] | int) -> Ruling:
        """The ruling without these topics."""
        return Ruling(self.gate, self.evidence.without(places), alpha=self.alpha)

    def only(self, places: npt.NDArray[np.intp]) -> Ruling:
        """The ruling on these topics alone."""
        return Ruling(self.gate, self.evidence.only(places), alpha=self.alpha)

    @cached_property
    def scores(self) -> FloatArray:
        """The vector that every interval is computed from."""
        return self.evidence.scores(self.alpha)

    @cached_property
    def sample(self) -> Sample:
        """The same scores in ascending order, with what intervals compute from them; at least two topics."""
        return Sample.of(self.scores)

    @cached_property
    def test(self) -> RiskTest:
        """The estimate over its standard error."""
        if self.evidence.n < 2:
            return mean_test(self.scores)
        sample = self.sample
        return mean_test_of(sample.mean, None if sample.constant else sample.squares, n=sample.n)

    @property
    def estimate(self) -> float:
        """URisk at this alpha; see ``Evidence.estimate``."""
        return self.test.estimate if self.evidence.weights is None else self.evidence.estimate(self.alpha)

    @cached_property
    def changes(self) -> int:
        """The effective number of changed topics: with weights, how many of equal weight would count as much."""
        return self.evidence.effective_changes(self.alpha)

    @cached_property
    def rule(self) -> Rule:
        """Which intervals are witnesses, and whether all of them must reach the bound."""
        return rule_for(self.gate, n_topics=self.evidence.n, n_changed=self.changes, uneven=self.evidence.uneven)

    @property
    def has_intervals(self) -> bool:
        """Whether there is a mean with a limit: a single topic has none, nor has a question about single topics."""
        return self.evidence.n > 1 and not self.gate.by_topic

    def interval(self, method: str) -> Interval:
        """The interval of this method."""
        return self._computed((method,))[0]

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """All the intervals that a verdict reports."""
        if not self.has_intervals:
            return ()
        return self._computed(tuple(dict.fromkeys((*REPORTED, *self.rule.witnesses))))

    def _computed(self, methods: tuple[str, ...]) -> tuple[Interval, ...]:
        missing = [method for method in methods if method not in self._intervals]
        if missing:
            self._intervals |= {i.method: i for i in intervals(self.sample, methods=missing, level=self.gate.level)}
        return tuple(self._intervals[method] for method in methods)

    def deciding_by(self, rule: Rule) -> Interval:
        """The interval that decides by a rule, which need not be this ruling's own."""
        limits = {i.method: limit_of(self.gate, i) for i in self._computed(rule.witnesses)}
        return self._intervals[rule.decisive(limits)]

    @cached_property
    def deciding(self) -> Interval:
        """The interval whose limit decides."""
        return self.deciding_by(self.rule)

    def margin_by(self, method: str) -> float:
        """How far the limit of an interval is from the bound."""
        return margin_of(self.gate, limit_of(self.gate, self.interval(method)))

    @cached_property
    def margin(self) -> float:
        """How far the rule is from its bound: at least 0 exactly where it is met, in units of the measure.

        The cheapest witness is computed first, and no other if it settles the answer.
        """
        if not self.has_intervals:
            return math.nan
        margins = []
        for method in sorted(self.rule.witnesses, key=lambda m: m != "student_t"):
            margins.append(self.margin_by(method))
            if (margins[-1] >= 0) == (self.rule.demand == "any"):
                return margins[-1]
        return min(margins) if self.rule.demand == "all" else max(margins)

    @property
    def passes(self) -> bool:
        """Whether the rule is met at this alpha."""
        return self.margin >= 0

    @property
    def asks_at_zero_too(self) -> bool:
        """Whether the rule must be met at alpha 0 as well.

        A higher alpha can turn a failure into a pass only where the baseline's noise, which then counts more,
        is subtracted.
        """
        return self.evidence.noisy and self.alpha > 0

    @property
    def holds(self) -> bool:
        """Whether the rule is met at this alpha, and at alpha 0 where that is asked too."""
        return self.passes and (not self.asks_at_zero_too or self.plain.passes)

    @property
    def lets_through(self) -> bool:
        """Whether the gate lets these differences through, churn that only warns included."""
        if not self.enough_topics:
            return False
        if self.gate.on_churn == "fail":
            return (not self.asks_at_zero_too or self.plain.passes) and self.passes
        return (self.passes and not self.asks_at_zero_too) or self.plain.passes

    @property
    def enough_topics(self) -> bool:
        """Whether there are enough topics for any interval, their weights considered."""
        return self.evidence.effective >= MIN_TOPICS - ROUNDING_ERROR

    @property
    def few_changes(self) -> bool:
        """Whether so few topics changed, their weights considered, that no interval alone may answer."""
        return self.changes < min_changes(self.gate.level)

    @cached_property
    def cannot_fail(self) -> bool:
        """Whether no values of this many changed topics would fail the gate; never claimed of weighted topics."""
        changed = self.evidence.changed(self.alpha)
        if changed == 0 or self.evidence.n < 2 or self.evidence.weights is not None:
            return False
        return cannot_fail(changed, self.evidence.n, level=self.gate.level)

    @cached_property
    def p_value(self) -> float:
        """The smallest ``1 - level`` at which the gate fails, by the very rule that decides it.

        Where churn only warns, it must fail at alpha 0 too; where noise is subtracted, failing at either alpha is
        enough.
        """
        if self.asks_at_zero_too:
            plain = self.plain._p_value_here
            return min(self._p_value_here, plain) if self.gate.on_churn == "fail" else plain
        if self.gate.on_churn == "fail" or self.alpha == 0:
            return self._p_value_here
        return max(self._p_value_here, self.plain._p_value_here)

    @cached_property
    def _p_value_here(self) -> float:
        """The p-value of the rule at this alpha alone."""
        bound = -self.gate.tolerance - ROUNDING_ERROR
        return p_by_rule(
            self.gate,
            lambda method: upper_p_value(self.sample, method=method, bound=bound),
            n_topics=self.evidence.n,
            n_changed=self.changes,
            uneven=self.evidence.uneven,
        )

    def critical(self, *, side: str) -> float | None:
        """Standard errors from the mean to a limit of the deciding interval; None where scores do not vary."""
        return observed_critical(self.sample, self.deciding, side=side)

    @cached_property
    def deviation(self) -> float:
        """Standard deviation of the scores over topics, divisor n - 1."""
        return (self.test.standard_error or 0.0) * math.sqrt(self.evidence.n)

    @cached_property
    def minimum_detectable_effect(self) -> float | None:
        """The smallest loss, tolerance included, that fails the gate with 80 % power; None where nothing can.

        A loss of URisk, or of the mean where churn only warns.
        """
        tested = self.plain if self.gate.on_churn == "warn" else self
        if not self.has_intervals or self.cannot_fail:
            return None
        return self.gate.tolerance + minimum_detectable_effect(
            tested.deviation, self.evidence.n, level=self.gate.level, critical=tested.critical(side="upper")
        )

    @property
    def detects_max_mde(self) -> bool:
        """Whether a gate that finds nothing may pass."""
        return self.gate.max_mde is None or detects_max_mde(self.gate, self.minimum_detectable_effect)

    def limits_without_each(self, rule: Rule, places: npt.NDArray[np.intp]) -> FloatArray:
        """The limit that decides by a rule without each of these topics, one at a time; shape (n_places,)."""
        sign = -1.0 if self.gate.side == "lower" else 1.0
        limits = [
            sign * leave_one_out_upper(sign * self.scores, method=method, level=self.gate.level, indices=places)
            for method in rule.witnesses
        ]
        return np.asarray(np.min(limits, axis=0) if rule.demand == "all" else np.max(limits, axis=0))


Answer = tuple[Literal["pass", "fail", "inconclusive"], str | None]


class Comparison:
    """A gate applied to two systems: their ``evidence``, and the ``ruling`` on it.

    Of ``n`` topics, ``changed`` have a part in the estimate at the gate's alpha: without replicates of the
    baseline, those whose score changed. ``DataError`` (``bad_scores``): differences beyond the smooth trade-off.
    """

    def __init__(self, gate: Gate, aligned: Aligned) -> None:
        self.gate, self.aligned = gate, aligned
        self.evidence = Evidence.between(aligned, tradeoff=gate.tradeoff)
        self.ruling = Ruling(gate, self.evidence)
        self.n, self.changed = self.evidence.n, self.evidence.changed(gate.alpha)

    @property
    def differences(self) -> FloatArray:
        """Candidate minus baseline, shape (n_topics,), in units of the measure."""
        return self.evidence.differences

    @property
    def mean_difference(self) -> float:
        """In units of the measure, weighted where the gate is; the baseline's own noise is not subtracted."""
        return self.evidence.mean(self.differences)

    @cached_property
    def identical(self) -> bool:
        """Whether both are the same run, or the same table of scores: the same digest, and no score differs."""
        candidate, baseline = self.aligned.candidate, self.aligned.baseline
        is_same = candidate.digest is not None and candidate.digest == baseline.digest
        return is_same and not np.any(self.differences)

    @cached_property
    def collapsed(self) -> dict[int, tuple[str, ...]]:
        """The topics that lost more than they may, by index, each with the limits that it exceeds."""
        return collapsed(self.gate, self.aligned, self.differences)

    @cached_property
    def answer(self) -> Answer:
        """The outcome, and the reason if it is not a pass."""
        if self.gate.by_topic:
            return ("fail", "collapse") if self.collapsed else ("pass", None)
        if self.identical:  # what changes no ranking is harmless, however little evidence there is
            return "pass", None
        ruling = self.ruling
        if not ruling.enough_topics:
            return "inconclusive", "too_few_topics"
        if not ruling.holds:
            if self.gate.side == "lower":
                return "fail", "not_shown"
            if not ruling.plain.passes:
                return "fail", "loss"
            if self.gate.on_churn != "warn":
                return "fail", "churn"
        return ("pass", None) if ruling.detects_max_mde else ("inconclusive", "too_weak")

    @property
    def p_value(self) -> float | None:
        """The smallest ``1 - level`` at which the gate fails; None for kinds without p-values, and too few topics."""
        if not self.gate.is_tested or not self.ruling.enough_topics:
            return None
        return 1.0 if self.identical else self.ruling.p_value
