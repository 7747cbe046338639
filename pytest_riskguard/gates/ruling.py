"""The rule of judgement: which interval decides, where its limit lies, and whether it reaches the bound.

Whatever depends on a limit asks a ``Ruling``: the verdict itself, loss or churn (the ruling at alpha 0), alpha*, the
topics without which the verdict flips, slices, families (its p-value), charts and power. Nothing else computes one.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from pytest_riskguard.gates.evidence import Bets, Evidence
from pytest_riskguard.gates.kinds import MIN_TOPICS, Gate, limit_of
from pytest_riskguard.inference.break_even import break_even, break_even_above, break_even_quantile
from pytest_riskguard.inference.intervals import Interval, interval, upper_p_value
from pytest_riskguard.inference.sample import Sample
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, IntArray, exact_sum
from pytest_riskguard.risk.urisk import RiskTest, mean_test

#: With fewer changes no gate may show that a candidate is good enough: at alpha 0, and at alpha 1 and above.
CHANGES_TO_SHOW = 10, 25
#: Intervals that every verdict reports, cheapest first; the studentized one only where it decides.
REPORTED = ("student_t", "basic", "percentile", "bca")
#: How far a p-value may lie above the threshold by rounding, as a share of it.
ROUNDED = 1e-9


def own_method(gate: Gate) -> str:
    """The interval that the gate's ``method`` names: BCa for ``auto``."""
    return "bca" if gate.method == "auto" else gate.method


def witnesses(gate: Gate) -> tuple[str, ...]:
    """The intervals that the rule asks: the gate's own, and Student-t."""
    return tuple(dict.fromkeys((own_method(gate), "student_t")))


def margin_of(gate: Gate, limit: float) -> float:
    """How far a limit is from the bound, in units of the measure: at least 0 exactly where it suffices.

    An upper limit must reach the bound, a lower one must lie above it, and where both are asked for either must lie
    between the two bounds. NaN for a limit that is not finite, so that it fails.
    """
    if not math.isfinite(limit):
        return math.nan
    margin = gate.tolerance + (-abs(limit) if gate.side == "both" else limit)
    return margin - ROUNDING_ERROR if gate.must_show else margin + ROUNDING_ERROR


class Ruling:
    """What the rule says of the evidence at one alpha (the gate's own by default), at the gate's level.

    A gate that asks for an upper limit fails if its own interval fails **and** Student-t or the break-even test does.
    A gate that asks for a lower limit passes if its own interval, Student-t **and** the break-even test, asked from
    the other side, all show it. A gate that asks for both limits passes if it would on these differences and on their
    negatives; its alpha is 0. Each interval is computed once, when first needed.
    """

    def __init__(self, gate: Gate, evidence: Evidence, *, alpha: float | None = None) -> None:
        self.gate, self.evidence = gate, evidence
        self.alpha, self.own = gate.alpha if alpha is None else alpha, own_method(gate)
        #: The tolerance, in units of the sum over topics.
        self.tolerated = evidence.n * gate.tolerance
        #: The highest one-sided p-value with which a test fails at the gate's level, half of ``1 - level``.
        self.highest_p = (1 - gate.level) / 2 * (1 + ROUNDED)
        self._intervals: dict[str, Interval] = {}
        self._others: dict[float, Ruling] = {}

    def at(self, alpha: float) -> Ruling:
        """The ruling at another alpha."""
        if alpha == self.alpha:
            return self
        return self._others.setdefault(alpha, Ruling(self.gate, self.evidence, alpha=alpha))

    @cached_property
    def plain(self) -> Ruling:
        """The ruling on the mean alone, at alpha 0 and tolerance 0: what fails here too is a loss, not churn.

        A gate for which the candidate bears the burden of proof keeps its tolerance: it knows no churn.
        """
        if not self.gate.is_tested or self.gate.tolerance == 0:
            return self.at(0.0)
        return Ruling(self.gate.with_options(tolerance=0.0), self.evidence, alpha=0.0)

    @property
    def conditions(self) -> tuple[Ruling, ...]:
        """The rulings that must all fail: where churn only warns, that on the mean alone too."""
        return (self, self.plain) if self.gate.on_churn == "warn" else (self,)

    def without(self, places: IntArray) -> Ruling:
        """The ruling without these topics."""
        return Ruling(self.gate, self.evidence.without(places), alpha=self.alpha)

    @cached_property
    def scores(self) -> FloatArray:
        """The vector that every interval is computed from."""
        return self.evidence.scores(self.alpha)

    @cached_property
    def sample(self) -> Sample:
        """The same scores in ascending order, with what intervals compute from them; at least two."""
        return Sample.of(self.scores)

    @cached_property
    def test(self) -> RiskTest:
        """The estimate over its standard error."""
        return mean_test(self.scores)

    @property
    def estimate(self) -> float:
        """URisk at this alpha; see ``Evidence.estimate``."""
        return self.evidence.estimate(self.alpha)

    @cached_property
    def bets(self) -> Bets:
        """What each unit that moved wins or loses, and whether it lost; see ``Evidence.stakes``."""
        return self.evidence.stakes(self.alpha)

    # ---- limits

    @property
    def enough_topics(self) -> bool:
        """Whether there are enough topics for any interval, their weights and clusters considered."""
        return self.evidence.effective >= MIN_TOPICS - ROUNDING_ERROR

    @property
    def has_intervals(self) -> bool:
        """Whether there is a mean with a limit: a single topic has none, nor has a question about single topics."""
        return self.evidence.units > 1 and not self.gate.by_topic

    def interval(self, method: str) -> Interval:
        """The interval of this method."""
        if method not in self._intervals:
            self._intervals[method] = interval(self.sample, method=method, level=self.gate.level)
        return self._intervals[method]

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """All the intervals that a verdict reports."""
        if not self.has_intervals:
            return ()
        return tuple(map(self.interval, dict.fromkeys((*REPORTED, *witnesses(self.gate)))))

    def margin_by(self, method: str) -> float:
        """How far the limit of an interval is from the bound."""
        return margin_of(self.gate, limit_of(self.gate, self.interval(method)))

    def reaches(self, method: str) -> bool:
        """Whether the limit of an interval reaches the bound."""
        return self.margin_by(method) >= 0

    @cached_property
    def deciding(self) -> Interval:
        """The interval whose limit decides: it reaches the bound where the rule is met, an upper one only there.

        Where both must show it, the one that shows less, though the break-even test may still not. Otherwise the
        gate's own, unless it fails and the gate does not: then Student-t's, which the break-even test confirms.
        """
        if self.gate.must_show:
            return self.interval(min(self.own, "student_t", key=self.margin_by))
        return self.interval("student_t" if self.passes and not self.reaches(self.own) else self.own)

    @property
    def sense(self) -> float:
        """1 where what lost is in the way of a pass; -1 where both limits are asked for and the upper one decides."""
        upper = self.gate.side == "both" and self.has_intervals and limit_of(self.gate, self.deciding) > 0
        return -1.0 if upper else 1.0

    # ---- the break-even test

    @cached_property
    def break_even(self) -> float:
        """How likely a URisk this low is if every change is a fair bet: the one-sided p-value of that test.

        How likely one this high is, where a lower limit is asked for; where both are, the larger of this and of how
        likely one this low is if URisk is the tolerance.
        """
        gains, losses, lost = self.bets
        if not self.gate.must_show:
            return break_even(gains, losses, lost, tolerated=self.tolerated)
        above = break_even_above(gains, losses, lost, tolerated=self.tolerated)
        if self.gate.side == "lower":
            return above
        return max(above, break_even_above(losses, gains, ~lost, tolerated=self.tolerated))

    @property
    def breaks_even(self) -> bool:
        """Whether the break-even test finds nothing at the gate's level."""
        return self.break_even > self.highest_p

    @cached_property
    def is_tolerable(self) -> bool:
        """Whether all changes together are within the tolerance, even if every one had been a loss.

        Where both limits are asked for, or a win: at alpha 0 that is the same.
        """
        return exact_sum(self.bets[1]) <= self.tolerated

    @cached_property
    def too_few_changes(self) -> bool:
        """Whether too few topics changed to show a limit, however well they did; at alpha 0 the same for either."""
        gains, losses, lost = self.bets
        if not self.gate.must_show or self.is_tolerable:
            return False
        least, most = CHANGES_TO_SHOW
        if lost.size < least + (most - least) * min(self.alpha, 1.0):
            return True
        every_win = break_even_above(gains, losses, np.zeros_like(lost), tolerated=self.tolerated)
        return every_win > self.highest_p

    # ---- the answer

    @cached_property
    def passes(self) -> bool:
        """Whether the rule is met at this alpha; what takes longest is asked last."""
        if not self.has_intervals:
            return False
        by_student_t = self.reaches("student_t")
        if self.gate.must_show:
            if not (by_student_t and self.reaches(self.own)):
                return False
            return self.is_tolerable or not (self.too_few_changes or self.breaks_even)
        if self.own == "student_t":
            return by_student_t
        return self.reaches(self.own) or (by_student_t and self.breaks_even)

    @property
    def all_asked(self) -> tuple[Ruling, ...]:
        """The rulings that must all be met: at alpha 0 too where the baseline's noise is subtracted.

        Since that noise counts more the higher alpha is, a higher alpha could turn a failure into a pass.
        """
        return (self, self.at(0.0)) if self.evidence.noisy and self.alpha > 0 else (self,)

    @property
    def holds(self) -> bool:
        """Whether the rule is met at this alpha, and at alpha 0 where that is asked too."""
        return all(ruling.passes for ruling in self.all_asked)

    @property
    def lets_through(self) -> bool:
        """Whether the gate lets these differences through, churn that only warns included."""
        return self.enough_topics and any(ruling.holds for ruling in self.conditions)

    # ---- p-values

    @cached_property
    def p_value(self) -> float:
        """The smallest ``1 - level`` at which the gate fails, by the very rule that decides it.

        Where noise is subtracted, failing at alpha 0 is enough. Where churn only warns, the mean alone must fail
        too, at alpha 0 and tolerance 0.
        """
        return max(min(one._p_value_here for one in ruling.all_asked) for ruling in self.conditions)

    @cached_property
    def _p_value_here(self) -> float:
        """The p-value of the rule at this alpha alone."""
        bound = -self.gate.tolerance - ROUNDING_ERROR
        own, student_t = (upper_p_value(self.sample, method=name, bound=bound) for name in (self.own, "student_t"))
        # the break-even test matters only where Student-t alone would let the gate pass at a level where it fails
        return own if student_t <= own else max(own, min(student_t, 2 * self.break_even))

    # ---- how near the answer is

    @property
    def safety(self) -> float:
        """How far Student-t and the break-even test are from finding a loss, where below 0 one of them does.

        In standard errors and as a logarithm of the p-value, whichever is less.
        """
        by_student_t = self.margin_by("student_t") / (self.test.standard_error or 1.0)
        if by_student_t < 0:
            return by_student_t
        return min(by_student_t, math.log(self.break_even / self.highest_p))

    @property
    def room(self) -> float:
        """At least 0 where the rule is met, and near 0 about where that changes, for an upper limit."""
        if self.gate.must_show:
            return 1.0 if self.passes else -1.0
        own = self.margin_by(self.own) / (self.test.standard_error or 1.0)
        return own if own >= 0 or self.own == "student_t" else max(own, self.safety)

    def critical(self, *, side: str) -> float | None:
        """Standard errors from the mean to where the rule changes its answer; None where scores do not vary.

        Below, and where both limits are asked for, that is the one that shows less. Else, above, both the gate's own
        interval and one of the others must fail: Student-t, or the break-even test.
        """
        sample = self.sample
        if sample.constant:
            return None
        own, student_t = (
            (limits.upper - sample.mean if side == "upper" else sample.mean - limits.lower) / sample.standard_error
            for limits in map(self.interval, (self.own, "student_t"))
        )
        if side == "lower" or self.gate.side == "both":
            return max(own, student_t)
        if student_t <= own:
            return own
        # below the bound, where the break-even test finds a loss; infinitely far if it never does
        gains, losses, _ = self.bets
        lowest = break_even_quantile(gains, losses, (1 - self.gate.level) / 2, tolerated=self.tolerated)
        by_bets = -(lowest + self.tolerated) / self.evidence.n / sample.standard_error
        return max(own, min(student_t, by_bets))

    def unseen_losses(self, *, plausible: float) -> tuple[float, float] | None:
        """Losses that the topics may have missed: the share that may have them, and the least size that matters.

        If none of n topics has such a loss, shares up to ``1 - q^(1/n)`` cannot be excluded, where q is half of 1
        less the level: the exact rule of three (J. A. Hanley, A. Lippman-Hand, "If Nothing Goes Wrong, Is Everything
        All Right?", JAMA 249, 1983). With losses of that size on so many topics, the others as observed, the estimate
        would lie on the bound. Where both limits are asked for, these are wins if the nearer bound is above. None if
        the size is more than ``plausible``, or a topic has such a loss.
        """
        share = 1 - ((1 - self.gate.level) / 2) ** (1 / self.evidence.effective)
        sign = -1.0 if self.gate.side == "both" and self.estimate > 0 else 1.0
        size = (self.gate.tolerance + (1 - share) * sign * self.estimate) / (share * (1 + self.alpha))
        largest = float(np.max(-sign * self.evidence.differences, initial=0.0))
        return (share, size) if largest < size <= plausible else None
