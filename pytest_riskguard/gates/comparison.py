"""A gate applied to two systems or to a pool: what they differ by, the ruling on it, and the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pytest_riskguard.gates.alignment import Aligned
from pytest_riskguard.gates.collapse import beyond_allowed, collapsed
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import MAX_LEVEL, Gate, limit_of
from pytest_riskguard.gates.power import Basis
from pytest_riskguard.gates.ruling import Ruling, witnesses
from pytest_riskguard.gates.verdict import Family
from pytest_riskguard.inference.intervals import Interval, critical_value
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, IntArray, exact_sum

Answer = tuple[Literal["pass", "fail", "inconclusive"], str | None]


class Comparison:
    """A gate applied to two systems: their ``evidence``, and the ``ruling`` on it.

    A ``family`` leaves the gate its level, or its draws may overrule what the gate says alone. Of ``n`` ``topics``,
    ``changed`` have a part in the estimate at the gate's alpha: without replicates of the baseline, those whose score
    changed. ``differences`` (n_topics,) are candidate minus baseline, in units of the measure. ``DataError``
    (``bad_scores``): differences beyond the smooth trade-off.
    """

    #: Whether too little is left to compare.
    vanished = False

    def __init__(self, gate: Gate, aligned: Aligned, *, family: Family | None = None, together: int = 1) -> None:
        self.own_level, self.family, self.aligned, self.together = gate.level, family, aligned, together
        self.gate = gate if family is None else replace(gate, level=family.level)
        self.evidence = Evidence.between(aligned, tradeoff=gate.tradeoff)
        self.ruling = Ruling(self.gate, self.evidence)
        self.topics, self.differences = aligned.candidate.topics, self.evidence.differences
        self.n, self.changed = self.evidence.n, self.evidence.changed(gate.alpha)

    @property
    def pair(self) -> Comparison:
        """The two systems that figures of two systems are about."""
        return self

    @property
    def mean_difference(self) -> float:
        """In units of the measure, weighted where the gate is; the baseline's own noise is not subtracted."""
        mean = self.evidence.mean(self.differences)
        return mean if abs(mean) > ROUNDING_ERROR else 0.0  # what rounding leaves is not a change

    @cached_property
    def parts(self) -> FloatArray:
        """Each topic's part in the estimate, times the number of topics."""
        return self.evidence.parts(self.gate.alpha)

    @cached_property
    def standardised(self) -> FloatArray:
        """TR_i: each topic's part in standard deviations of the trade-off scores (SIGIR'14 Eq. 21)."""
        error = self.ruling.test.standard_error
        return self.parts / (error * np.sqrt(self.n)) if error else np.zeros(self.n)

    @cached_property
    def identical(self) -> bool:
        """Whether both are the same run, or the same table of scores: the same digest, and no score differs."""
        candidate, baseline = self.aligned.candidate, self.aligned.baseline
        is_same = candidate.digest is not None and candidate.digest == baseline.digest
        return is_same and not np.any(self.differences)

    @cached_property
    def collapsed(self) -> dict[int, tuple[str, ...]]:
        """The topics that lost more than they may, by index, each with the limits that it exceeds."""
        return collapsed(self.gate, self.aligned, self.differences) if self.gate.by_topic else {}

    @cached_property
    def too_many(self) -> tuple[int, ...]:
        """Of these the topics without which the gate passes: the worst first, as few as needed, by index."""
        return beyond_allowed(self.gate, self.collapsed, self.differences)

    # ---- the answer

    @cached_property
    def alone(self) -> Answer:
        """The answer by the gate's own rule, whatever a family draws."""
        if self.gate.by_topic:
            return ("fail", "collapse") if self.too_many else ("pass", None)
        if self.identical:  # what changes no ranking is harmless, however little evidence there is
            return "pass", None
        ruling = self.ruling
        if not ruling.enough_topics:
            return "inconclusive", "too_few_topics"
        if not ruling.holds:
            if self.gate.must_show:
                shown = all(map(ruling.reaches, witnesses(self.gate)))
                if shown and ruling.too_few_changes:
                    return "inconclusive", "too_few_changes"
                return "fail", "not_shown"
            if not ruling.plain.passes:
                return "fail", "loss"
            if self.gate.on_churn != "warn":
                return "fail", "churn"
        return self._passed(ruling)

    def _passed(self, ruling: Any) -> Answer:
        if self.could_see(ruling):
            return "pass", None
        return "inconclusive", "too_weak"

    def could_see(self, ruling: Any) -> bool:
        """Whether a ruling that finds nothing says something: a loss of ``max_mde`` would be seen."""
        most = self.gate.max_mde
        if most is None or self.vanished:
            return not self.vanished
        effect = self.detectable(ruling)
        return effect is not None and effect <= most

    def detectable(self, ruling: Any) -> float | None:
        """The minimum detectable effect."""
        return Basis(ruling).minimum_detectable_effect

    @cached_property
    def answer(self) -> Answer:
        """The outcome, and the reason if it is not a pass; a family that draws may let pass what fails alone."""
        outcome, reason = self.alone
        if self.family is None or not self.family.draws or self.identical:
            return outcome, reason
        if outcome == "fail" and self.family.adjusted_p_value <= 1 - self.own_level:
            return outcome, reason
        return self._passed(self.detecting)

    @property
    def detecting(self) -> Ruling:
        """The ruling that tells what could be detected: where a family draws, at the level of Holm's first step."""
        if self.family is None or not self.family.draws:
            return self.ruling
        level = min(1 - (1 - self.own_level) / self.family.size, MAX_LEVEL)
        return Ruling(replace(self.gate, level=level), self.evidence)

    @property
    def p_value(self) -> float | None:
        """The smallest ``1 - level`` at which the gate fails; None for kinds without p-values, and too few topics."""
        if not self.gate.is_tested or not self.ruling.enough_topics:
            return None
        return 1.0 if self.identical else self.ruling.p_value

    def within(self, family: Family | None) -> Comparison:
        """The same comparison at what a family leaves the gate."""
        return self if family is None else self._like(self.gate, self.aligned, family)

    def fails(self, gate: Gate | None = None, *, aligned: Aligned | None = None) -> bool:
        """Whether this gate, or another, fails alone for these systems, or others."""
        family = self.family if self.gate.is_pool else None  # a pair's gate has the level of its family already
        return self._like(gate or self.gate, aligned or self.aligned, family).alone[0] == "fail"

    def _like(self, gate: Gate, aligned: Aligned, family: Family | None) -> Comparison:
        return type(self)(gate, aligned, family=family, together=self.together)

    @property
    def deciding(self) -> Interval | None:
        """The interval whose limit decided, if one did."""
        return self.ruling.deciding if self.ruling.enough_topics and self.ruling.has_intervals else None

    # ---- what flips asks

    @property
    def order(self) -> IntArray:
        """Topics in the order in which leaving them out brings the gate nearer to a pass."""
        order = np.argsort(
            np.round(self.parts, 12), kind="stable"
        )  # equal losses go by topic, whatever their rounding
        if self.gate.side != "both":
            return order
        # of those left the lowest while their sum is below 0, else the highest
        removed, low, high, total = np.empty_like(order), 0, order.size - 1, exact_sum(self.parts)
        for step in range(order.size):
            if total < 0:
                place, low = order[low], low + 1
            else:
                place, high = order[high], high - 1
            removed[step] = place
            total -= float(self.parts[place])
        return removed

    def without(self, places: IntArray) -> tuple[bool, Callable[[], float]]:
        """Whether the gate passes without these topics, and the limit that decides then."""
        rest = self.ruling.without(places)
        passes = rest.lets_through and (self.alone[0] != "fail" or self.could_see(rest))
        return passes, lambda: limit_of(rest.gate, rest.deciding) if rest.enough_topics else np.nan

    def reached(self, order: IntArray, most: int) -> FloatArray:
        """How far Student-t's limit lies above the bound without the first 1, 2, ... of these topics."""
        left = self.n - np.arange(1, most + 1)
        # critical values of fewer topics by their first term
        critical = critical_value(self.n, level=self.gate.level)
        half = critical * (1 + (critical**2 + 1) / 4 * (1 / left - 1 / self.n)) * (-1 if self.gate.must_show else 1)
        reached = np.full(most, -np.inf)
        for ruling in self.ruling.conditions:
            # clusters have fewer scores than topics: which sizes are tried first then goes by parts
            alike = ruling.evidence.clusters is None
            scores = (ruling.scores if alike else ruling.evidence.parts(ruling.alpha))[order]
            means = np.cumsum(scores[::-1])[::-1][1 : most + 1] / left
            squares = np.cumsum(scores[::-1] ** 2)[::-1][1 : most + 1] / left
            errors = np.sqrt(np.maximum(squares - means**2, 0) / (left - 1))
            means = -np.abs(means) if self.gate.side == "both" else means
            reached = np.maximum(reached, means + half * errors + ruling.gate.tolerance)
        return reached
