"""The rule for GeoRisk, against one reference or several, and a gate applied to a pool."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.topics import Topics
from pytest_riskguard.gates.alignment import NO_TOPICS, Aligned, on_one_list
from pytest_riskguard.gates.kinds import ANY, MEDIAN, MIN_TOPICS, Gate, NotSignificantlyRisky
from pytest_riskguard.gates.ruling import Answer, Comparison, Rule, detects_max_mde, p_by_rule, rule_for
from pytest_riskguard.inference import (
    GeoRiskDifference,
    Interval,
    PoolInference,
    effective_levels,
    holm,
    minimum_detectable_effect,
    pool_inference,
    replicates_for,
)
from pytest_riskguard.risk import expected_scores, georisk
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray

#: Intervals that every verdict reports.
REPORTED = ("student_t", "percentile", "bca")


@dataclass(frozen=True, eq=False)
class ReferenceRuling:
    """The rule of ``gates.ruling`` applied to the difference in GeoRisk from one reference, at one alpha.

    ``changed`` topics differ; ``level`` is what Holm's method leaves this reference; the upper limit must reach
    ``bound``. P-values are the smallest ``1 - level`` at which the rule fails, for it alone and among all references.
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
        """All the intervals that a verdict reports."""
        return tuple(self._intervals.values())

    def interval(self, method: str) -> Interval:
        """The interval of this method."""
        return self._intervals[method]

    @cached_property
    def deciding(self) -> Interval:
        """The interval whose upper limit decides."""
        return self._intervals[self.rule.decisive({method: i.upper for method, i in self._intervals.items()})]

    def margin_by(self, method: str) -> float:
        """How far the upper limit of an interval is from the bound: at least 0 where it reaches it."""
        return self._intervals[method].upper - self.bound

    @property
    def margin(self) -> float:
        """How far the upper limit of the interval that decides is from the bound."""
        return self.margin_by(self.deciding.method)

    @property
    def passes(self) -> bool:
        """Whether the candidate is not significantly below this reference."""
        return self.margin >= 0


#: Row of the candidate in every matrix.
CANDIDATE = 0
#: Where the largest GeoRisk is less than this share of the largest at alpha 0, a pass says nothing.
LITTLE = 0.01


@dataclass(frozen=True)
class Reference:
    """What the candidate's GeoRisk is compared with: a ``row`` of the pool, or the ``median`` of its baselines.

    Scores of the median are the mean of the one or two baselines that have the middle values.
    """

    name: str
    row: int | str
    scores: TopicScores


class PoolComparison:
    """A ``georisk_not_worse`` gate applied to a pool.

    ``level`` is what a family of gates leaves of the gate's own; ``together`` is how many gates are judged
    together, all of which must be able to fail. ``DataError`` if the systems cannot be compared, or have scores
    that GeoRisk is not defined for; ``ValueError`` for a reference that is not a baseline, or two baselines
    of one name.
    """

    def __init__(
        self,
        gate: Gate,
        candidate: TopicScores,
        baselines: Sequence[TopicScores],
        *,
        level: float | None = None,
        together: int = 1,
        topics: Topics | None = None,
    ) -> None:
        self.topics = topics or NO_TOPICS
        self.gate, self.level, self.together = gate, gate.level if level is None else level, together
        systems, self.missing = on_one_list(gate, (candidate, *baselines))
        self.candidate, self.baselines = systems[0], systems[1:]
        self.scores: FloatArray = np.array([system.values for system in systems])
        self.names = _distinct([system.name for system in systems])
        self._refuse_scores()
        self.references = self._references()

    def _refuse_scores(self) -> None:
        smooth = self.gate.tradeoff == "smooth"
        wrong = (self.scores < 0) | (self.scores > 1 if smooth else False)
        if smooth and not np.any(wrong):
            wrong = np.abs(self.scores - expected_scores(self.scores)) > 1
        if not np.any(wrong):
            return
        row, column = (int(place) for place in np.argwhere(wrong)[0])
        expected = (
            "from 0 to 1, and within 1 of what the pool leads to expect (tradeoff: smooth)"
            if smooth
            else "that are not negative"
        )
        raise DataError(
            f"{self.names[row]}: the score of topic {self.candidate.topics[column]!r} is "
            f"{self.scores[row, column]:g}, expected scores {expected} for GeoRisk",
            reason="bad_scores",
        )

    @cached_property
    def vanished(self) -> bool:
        """Whether losses weigh so much that too little GeoRisk is left to compare."""
        return self.largest(self.gate.alpha) < LITTLE * self.largest(0.0)

    def largest(self, alpha: float) -> float:
        """The largest GeoRisk of the pool."""
        kind = self.gate.tradeoff if alpha == self.gate.alpha else "linear"
        return float(np.max(georisk(self.scores, alpha=alpha, kind=kind)))

    def _references(self) -> tuple[Reference, ...]:
        """The references that the gate names; a baseline called ``any`` or ``median`` comes before these words."""
        asked, names = self.gate.reference, self.names[1:]
        rows = {name: row for row, name in enumerate(names, start=1)}
        baselines = tuple(Reference(name, row, self.baselines[row - 1]) for name, row in rows.items())
        if asked is None or asked in rows:
            return (baselines[0 if asked is None else rows[asked] - 1],)
        if asked == ANY:
            return baselines
        if asked == MEDIAN:
            name = " and ".join(self.names[row] for row in self._middle)
            middle = replace(
                self.baselines[self._middle[0] - 1], name=name, values=np.mean(self.scores[self._middle], axis=0)
            )
            return (Reference(MEDIAN, MEDIAN, middle),)
        raise ValueError(
            f"reference: {asked!r} is not a baseline of this gate; expected {', '.join(names)}, any or median"
        )

    @cached_property
    def _middle(self) -> list[int]:
        """The row of the baseline whose GeoRisk is the median, or the rows of the two in the middle."""
        values = georisk(self.scores, alpha=self.gate.alpha, kind=self.gate.tradeoff)[1:]
        order = 1 + np.argsort(np.round(values, 12), kind="stable")
        return [int(row) for row in order[(len(order) - 1) // 2 : len(order) // 2 + 1]]

    @property
    def n(self) -> int:
        """How many topics."""
        return int(self.scores.shape[1])

    @property
    def enough_topics(self) -> bool:
        """Whether there are enough topics for any interval."""
        return self.n >= MIN_TOPICS

    def pair(self, reference: Reference, *, asked: bool = False) -> Comparison:
        """Candidate and reference as two systems: what changed between them, wins and losses.

        With ``asked``, the gate's interval, trade-off and ``on_churn`` apply too, but not its tolerance, which is
        in units of GeoRisk.
        """
        own = self.gate
        gate = NotSignificantlyRisky(own.name, alpha=own.alpha, level=own.level)
        if asked:
            gate = replace(gate, method=own.method, tradeoff=own.tradeoff, on_churn=own.on_churn)
        aligned = Aligned(self.candidate, reference.scores, self.missing[CANDIDATE], tags=self.topics.tags)
        return Comparison(gate, aligned)

    @cached_property
    def changed(self) -> tuple[int, ...]:
        """For each reference, how many topics differ between it and the candidate."""
        return tuple(self.pair(reference).changed for reference in self.references)

    @cached_property
    def replicates(self) -> int:
        """How many to draw: by the gate's own level and the number of tests, so that a whole family draws alike."""
        return replicates_for(
            level=self.gate.level,
            n_systems=self.scores.shape[0],
            n_topics=self.n,
            n_differences=2 * len(self.references),
            n_tests=self.together * len(self.references),
        )

    def _inferred(self, *alphas: float) -> PoolInference:
        """The pool in all replicates; at alpha 0 the trade-off is linear."""
        return pool_inference(
            self.scores,
            candidate=CANDIDATE,
            references=[reference.row for reference in self.references],
            alphas=alphas,
            tradeoff="linear" if alphas == (0.0,) else self.gate.tradeoff,
            replicates=self.replicates,
        )

    @cached_property
    def _inferences(self) -> tuple[PoolInference, PoolInference]:
        """At the gate's alpha and at alpha 0, from the same draws."""
        if self.gate.tradeoff == "linear":
            at_both_alphas = self._inferred(*dict.fromkeys((self.gate.alpha, 0.0)))
            return at_both_alphas, at_both_alphas
        return self._inferred(self.gate.alpha), self._inferred(0.0)

    @property
    def inference(self) -> PoolInference:
        """At the gate's alpha."""
        return self._inferences[0]

    @cached_property
    def rulings(self) -> tuple[ReferenceRuling, ...]:
        """Against each reference, at the gate's alpha."""
        return self._rulings(self._inferences[0], self.gate.alpha)

    @cached_property
    def plain(self) -> tuple[ReferenceRuling, ...]:
        """Against each reference, at alpha 0."""
        return self._rulings(self._inferences[1], 0.0)

    def _rulings(self, inference: PoolInference, alpha: float) -> tuple[ReferenceRuling, ...]:
        """The rule against each reference at one alpha, corrected for several references by Holm's method.

        A limit may miss the bound by rounding, in proportion to the largest GeoRisk of the pool.
        """
        scale = float(np.max(inference.georisk[inference.alphas.index(alpha)]))
        bound = -self.gate.tolerance - ROUNDING_ERROR * min(scale, 1.0)
        differences = [inference.difference(reference=reference.row, alpha=alpha) for reference in self.references]
        p_values = [
            p_by_rule(
                self.gate,
                lambda method, difference=difference: difference.p_value(method=method, bound=bound),  # type: ignore[misc]
                n_topics=self.n,
                n_changed=moved,
            )
            for difference, moved in zip(differences, self.changed, strict=True)
        ]
        levels = np.array([self.level])
        if len(p_values) > 1:
            levels = 1 - effective_levels(p_values, level=self.level, correction="holm")
        rows = zip(differences, self.changed, p_values, holm(p_values).tolist(), levels.tolist(), strict=True)
        return tuple(
            # no interval reaches further than the draws: at least two replicates must lie outside it
            ReferenceRuling(self.gate, difference, moved, min(left, 1 - 2 / difference.law.size), bound, p, adjusted)
            for difference, moved, p, adjusted, left in rows
        )

    @property
    def passes(self) -> bool:
        """Whether the candidate is let through: at its alpha, or at alpha 0 where churn only warns."""
        if not self.enough_topics:
            return False
        return all(ruling.passes for ruling in self.rulings) or (self.gate.on_churn == "warn" and not self.loses)

    @property
    def loses(self) -> bool:
        """Whether the same gate fails at alpha 0."""
        return not all(ruling.passes for ruling in self.plain)

    @property
    def p_value(self) -> float | None:
        """The smallest ``1 - level`` at which the gate fails; None for too few topics."""
        if not self.enough_topics:
            return None
        p = min(ruling.adjusted_p_value for ruling in self.rulings)
        if self.gate.on_churn == "fail":
            return p
        return max(p, min(ruling.adjusted_p_value for ruling in self.plain))

    @cached_property
    def deciding(self) -> int:
        """Which reference the verdict is about: the clearest failure, if possible one that fails at alpha 0 too."""

        def key(i: int) -> tuple[bool, bool, float, float]:
            ruling, plain = self.rulings[i], self.plain[i]
            return ruling.passes, plain.passes and not ruling.passes, ruling.p_value, ruling.margin

        return min(range(len(self.references)), key=key)

    @property
    def ruling(self) -> ReferenceRuling:
        """The ruling against the reference that the verdict is about."""
        return self.rulings[self.deciding]

    @cached_property
    def minimum_detectable_effect(self) -> float | None:
        """The smallest fall of GeoRisk, tolerance included, that fails the gate with 80 % power, by the jackknife.

        At alpha 0 where churn is let through. None for too few topics.
        """
        if not self.enough_topics:
            return None
        ruling = (self.plain if self.gate.on_churn == "warn" else self.rulings)[self.deciding]
        error = ruling.difference.standard_error
        if error == 0:
            return self.gate.tolerance
        critical = max((ruling.deciding.upper - ruling.difference.estimate) / error, 0.0)
        return self.gate.tolerance + minimum_detectable_effect(
            error * math.sqrt(self.n), self.n, level=ruling.level, critical=critical
        )

    @cached_property
    def identical(self) -> bool:
        """Whether the candidate is the same run as every reference, none of which is a median."""
        singles = [reference for reference in self.references if not isinstance(reference.row, str)]
        return len(singles) == len(self.references) and all(self.pair(single).identical for single in singles)

    @cached_property
    def answer(self) -> Answer:
        """The outcome, and the reason if it is not a pass."""
        if self.identical:
            return "pass", None
        if not self.enough_topics:
            return "inconclusive", "too_few_topics"
        if not self.passes:
            return "fail", "loss" if self.loses else "churn"
        if self.vanished or not detects_max_mde(self.gate, self.minimum_detectable_effect):
            return "inconclusive", "too_weak"
        return "pass", None

    @property
    def reference(self) -> Reference:
        """The reference that the verdict is about; the first where there are too few topics to decide."""
        return self.references[self.deciding if self.enough_topics else 0]

    @cached_property
    def decided(self) -> Comparison:
        """The candidate and the reference that the verdict is about, as two systems."""
        return self.pair(self.reference)

    @property
    def reference_rows(self) -> list[int]:
        """The rows of the scores of this reference: for the median, of the one or two baselines in the middle."""
        return self._middle if isinstance(self.reference.row, str) else [self.reference.row]

    def without(self, columns: npt.NDArray[np.intp]) -> PoolComparison:
        """The same question without these topics."""
        systems = [_without(system, columns) for system in (self.candidate, *self.baselines)]
        return PoolComparison(self.gate, systems[0], systems[1:], level=self.level, together=self.together)


def _without(scores: TopicScores, columns: npt.NDArray[np.intp]) -> TopicScores:
    keep = np.setdiff1d(np.arange(len(scores.topics)), columns)
    return replace(scores, topics=tuple(scores.topics[i] for i in keep), values=scores.values[keep])


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names of the pool's systems; a candidate with the name of a baseline has ``(candidate)`` added."""
    candidate, *baselines = names
    for place, name in enumerate(baselines):
        if name in baselines[:place]:
            raise ValueError(f"two baselines of a pool are called {name!r}; give each its own name")
    return (f"{candidate} (candidate)" if candidate in baselines else candidate, *baselines)
