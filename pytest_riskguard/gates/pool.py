"""A gate applied to a pool of systems: GeoRisk of a candidate against references among its baselines."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.distributions import ndtr
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.alignment import Aligned
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.kinds import ANY, MEDIAN, MIN_TOPICS, Gate, NotSignificantlyRisky
from pytest_riskguard.gates.ruling import witnesses
from pytest_riskguard.gates.verdict import Family
from pytest_riskguard.inference.intervals import Interval
from pytest_riskguard.inference.power import minimum_detectable_effect
from pytest_riskguard.risk import expected_scores, georisk, topic_contributions
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, IntArray
from pytest_riskguard.risk.urisk import standardised

if TYPE_CHECKING:  # a gate on two systems does not load it
    from pytest_riskguard.inference.georisk import GeoRiskDifference

#: Intervals that every verdict reports.
REPORTED = ("student_t", "percentile", "bca")
#: Row of the candidate in every matrix.
CANDIDATE = 0
#: Where the largest GeoRisk is less than this share of the largest at alpha 0, a pass says nothing.
LITTLE = 0.01
#: Between ZRisks per topic this close, the slope of Phi is taken at their middle.
CLOSE = 1e-4
#: Instead of a sum of roots that is 0, where what it divides is 0 as well.
TINY = 1e-300


@frozen(eq=False)
class ReferenceRuling:
    """The rule for the difference in GeoRisk from one reference, at one alpha.

    The gate fails if its own interval and Student-t, by the jackknife, both fail. ``level`` is what Holm's method
    leaves this reference; the upper limit must reach ``bound``. P-values are the smallest ``1 - level`` at which the
    rule fails, for it alone and among all references.
    """

    gate: Gate
    difference: GeoRiskDifference
    level: float
    bound: float
    p_value: float
    adjusted_p_value: float

    def interval(self, method: str) -> Interval:
        """The interval of this method."""
        return self.difference.interval(method=method, level=self.level)

    @cached_property
    def deciding(self) -> Interval:
        """The interval whose upper limit decides."""
        return max(map(self.interval, witnesses(self.gate)), key=lambda interval: interval.upper)

    def reaches(self, method: str) -> bool:
        """Whether the upper limit of an interval reaches the bound."""
        return self.interval(method).upper >= self.bound

    @property
    def margin(self) -> float:
        """How far the upper limit of the interval that decides is from the bound."""
        return self.deciding.upper - self.bound

    @property
    def passes(self) -> bool:
        """Whether the candidate is not significantly below this reference."""
        return self.margin >= 0

    @property
    def detectable(self) -> float:
        """The smallest fall below the bound that fails with 80 % power, by the jackknife."""
        error, units = self.difference.standard_error, self.difference.left_out.size
        if error == 0:
            return 0.0
        critical = max((self.deciding.upper - self.difference.estimate) / error, 0.0)
        return minimum_detectable_effect(error * math.sqrt(units), units, level=self.level, critical=critical)


@frozen(eq=False)
class PoolRuling:
    """What the rule says of a pool: ``against`` each of its references, as ``Ruling`` says it of two systems.

    ``scores`` has shape (n_systems, n_topics), the candidate first. ``rows`` are the references: rows, or ``median``.
    ``level`` is what a family of gates leaves of the gate's own; ``together`` is how many gates are judged together,
    all of which must be able to fail. ``clusters`` (n_topics,) number the clusters that the jackknife leaves out,
    None where each topic stands for itself.
    """

    gate: Gate
    scores: FloatArray
    rows: tuple[int | str, ...]
    level: float
    together: int
    clusters: IntArray | None

    @cached_property
    def plain(self) -> PoolRuling:
        """The ruling at alpha 0 and tolerance 0."""
        strict: dict[str, Any] = {"alpha": 0.0, "tolerance": 0.0, "tradeoff": "linear"}
        return replace(self, gate=replace(self.gate, **strict))

    @property
    def conditions(self) -> tuple[PoolRuling, ...]:
        """The rulings that must all fail: where churn only warns, that on the mean alone too."""
        return (self, self.plain) if self.gate.on_churn == "warn" else (self,)

    def without(self, places: IntArray) -> PoolRuling:
        """The ruling without these topics."""
        left = None if self.clusters is None else np.unique(np.delete(self.clusters, places), return_inverse=True)[1]
        return replace(self, scores=np.delete(self.scores, places, axis=1), clusters=left)

    @property
    def units(self) -> int:
        """How many topics there are, or clusters."""
        return int(self.scores.shape[1] if self.clusters is None else np.max(self.clusters) + 1)

    @property
    def enough_topics(self) -> bool:
        """Whether there are enough topics, or clusters, for any interval."""
        return self.units >= MIN_TOPICS

    @cached_property
    def against(self) -> tuple[ReferenceRuling, ...]:
        """The rule against each reference, corrected for several of them by Holm's method.

        A limit may miss the bound by rounding, in proportion to the largest GeoRisk of the pool. How many replicates
        are drawn depends on the gate's own level and the number of tests, so that a whole family draws alike.
        """
        from pytest_riskguard.inference.families import effective_levels, holm
        from pytest_riskguard.inference.georisk import georisk_differences, replicates_for

        gate, count = self.gate, len(self.rows)
        n_systems, n_topics = self.scores.shape
        replicates = replicates_for(
            level=gate.level,
            n_systems=n_systems,
            n_topics=n_topics,
            n_differences=2 * count,
            n_tests=self.together * count,
        )
        found = georisk_differences(
            self.scores,
            candidate=CANDIDATE,
            references=self.rows,
            alphas=(gate.alpha,),
            tradeoff=gate.tradeoff,
            replicates=replicates,
            clusters=self.clusters,
        )
        bound = -gate.tolerance - ROUNDING_ERROR * min(float(np.max(found.georisk)), 1.0)
        p_values = [
            max(difference.p_value(method=method, bound=bound) for method in witnesses(gate))
            for difference in found.differences
        ]
        levels = np.array([self.level])
        if count > 1:
            levels = 1 - effective_levels(p_values, level=self.level)
        # no interval reaches further than the draws: at least two replicates must lie outside it
        levels = np.minimum(levels, 1 - 2 / replicates)
        rows = zip(found.differences, levels.tolist(), p_values, holm(p_values).tolist(), strict=True)
        return tuple(
            ReferenceRuling(gate, difference, level, bound, p, adjusted) for difference, level, p, adjusted in rows
        )

    @property
    def passes(self) -> bool:
        """Whether the candidate is not significantly below any reference."""
        return all(one.passes for one in self.against)

    holds = passes

    @property
    def lets_through(self) -> bool:
        """Whether the gate lets the candidate through, churn that only warns included."""
        return self.enough_topics and any(ruling.passes for ruling in self.conditions)

    @property
    def p_value(self) -> float:
        """The smallest ``1 - level`` at which the gate fails."""
        return max(min(one.adjusted_p_value for one in ruling.against) for ruling in self.conditions)

    @cached_property
    def place(self) -> int:
        """Which reference the verdict is about: the clearest failure, if possible one that fails at alpha 0 too.

        The first where there are too few topics to decide.
        """
        if len(self.rows) == 1 or not self.enough_topics:
            return 0

        def key(i: int) -> tuple[bool, bool, float, float]:
            one, plain = self.against[i], self.plain.against[i]
            return one.passes, plain.passes and not one.passes, one.p_value, one.margin

        return min(range(len(self.rows)), key=key)

    @property
    def decisive(self) -> ReferenceRuling:
        """The rule against the reference that the verdict is about."""
        return self.against[self.place]

    @property
    def has_intervals(self) -> bool:
        """Always: GeoRisk is about all topics together."""
        return True

    @property
    def deciding(self) -> Interval:
        """The interval whose limit decided."""
        return self.decisive.deciding

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """All the intervals that a verdict reports."""
        return tuple(map(self.decisive.interval, REPORTED)) if self.enough_topics else ()

    @cached_property
    def minimum_detectable_effect(self) -> float | None:
        """The smallest fall of GeoRisk, tolerance included, that fails the gate with 80 % power, by the jackknife.

        Where churn is let through, the larger of this and of what is seen at alpha 0 and tolerance 0. None for too
        few topics.
        """
        if not self.enough_topics:
            return None
        return max(ruling.gate.tolerance + ruling.against[self.place].detectable for ruling in self.conditions)


@frozen
class Reference:
    """What the candidate's GeoRisk is compared with: a ``row`` of the pool, or the ``median`` of its baselines.

    Scores of the median are the mean of the one or two baselines that have the middle values.
    """

    name: str
    row: int | str
    scores: TopicScores


class PoolComparison(Comparison):
    """A ``georisk_not_worse`` gate applied to a pool: the ruling on it, and whose scores they are of.

    ``family`` and ``together`` are as in ``PoolRuling``. ``DataError`` if the systems have scores that GeoRisk is not
    defined for; ``ValueError`` for no baseline, a reference that is not a baseline, and two baselines of one name.
    """

    ruling: PoolRuling  # type: ignore[assignment]

    def __init__(self, gate: Gate, aligned: Aligned, *, family: Family | None = None, together: int = 1) -> None:
        self.gate, self.own_level, self.family, self.aligned = gate, gate.level, family, aligned
        systems = aligned.systems
        self.scores = np.array([system.values for system in systems])
        self.topics, self.n = systems[CANDIDATE].topics, int(self.scores.shape[1])
        self.names = _distinct([system.name for system in systems])
        self._refuse_scores()
        self.references = self._references()
        rows = tuple(reference.row for reference in self.references)
        level = gate.level if family is None else family.level
        self.ruling = PoolRuling(gate, self.scores, rows, level, together, aligned.clusters)

    def _refuse_scores(self) -> None:
        smooth = self.gate.tradeoff == "smooth"
        wrong = (self.scores < 0) | (self.scores > 1 if smooth else False)
        if smooth and not np.any(wrong):
            wrong = np.abs(self.scores - expected_scores(self.scores)) > 1
        if not np.any(wrong):
            return
        row, column = np.argwhere(wrong)[0].tolist()
        expected = "that are not negative"
        if smooth:
            expected = "from 0 to 1, and within 1 of what the pool leads to expect (tradeoff: smooth)"
        raise DataError(
            f"{self.names[row]}: the score of topic {self.topics[column]!r} is {self.scores[row, column]:g}, "
            f"expected scores {expected} for GeoRisk",
            reason="bad_scores",
        )

    @cached_property
    def georisk(self) -> FloatArray:
        """Of each system at the gate's alpha."""
        return georisk(self.scores, alpha=self.gate.alpha, kind=self.gate.tradeoff)

    @property
    def largest(self) -> tuple[float, float]:
        """The largest GeoRisk of the pool, and that at alpha 0."""
        return float(np.max(self.georisk)), float(np.max(georisk(self.scores, alpha=0.0)))

    @cached_property
    def vanished(self) -> bool:
        """Whether losses weigh so much that too little GeoRisk is left to compare."""
        largest, at_0 = self.largest
        return largest < LITTLE * at_0

    @cached_property
    def middle(self) -> list[int]:
        """The row of the baseline whose GeoRisk is the median, or the rows of the two in the middle."""
        order = 1 + np.argsort(np.round(self.georisk[1:], 12), kind="stable")
        return [int(row) for row in order[(len(order) - 1) // 2 : len(order) // 2 + 1]]

    def _references(self) -> tuple[Reference, ...]:
        """The references that the gate names; a baseline called ``any`` or ``median`` comes before these words."""
        baselines = {
            name: Reference(name, row, scores)
            for row, (name, scores) in enumerate(zip(self.names, self.aligned.systems, strict=True))
            if row != CANDIDATE
        }
        asked = self.gate.reference or next(iter(baselines))
        if asked in baselines:
            return (baselines[asked],)
        if asked == ANY:
            return tuple(baselines.values())
        if asked == MEDIAN:
            name, values = " and ".join(self.names[row] for row in self.middle), self.scores[self.middle]
            scores = replace(self.aligned.systems[self.middle[0]], name=name, values=np.mean(values, axis=0))
            return (Reference(MEDIAN, MEDIAN, scores),)
        raise ValueError(
            f"reference: {asked!r} is not a baseline of this gate; expected {', '.join(baselines)}, any or median"
        )

    @cached_property
    def identical(self) -> bool:
        """Whether the candidate is the same run as every reference, none of which is a median."""
        return all(one.row != MEDIAN and self.against(one).identical for one in self.references)

    def could_see(self, ruling: PoolRuling) -> bool:
        """Whether a pass says something: enough GeoRisk is left, and a loss of ``max_mde`` would be seen."""
        return not self.vanished and super().could_see(ruling)

    def detectable(self, ruling: PoolRuling) -> float | None:
        """The minimum detectable effect."""
        return ruling.minimum_detectable_effect

    def _like(self, gate: Gate, aligned: Aligned, family: Family | None = None) -> PoolComparison:
        return PoolComparison(gate, aligned, family=family or self.family, together=self.ruling.together)

    @property
    def reference(self) -> Reference:
        """The reference that the verdict is about."""
        return self.references[self.ruling.place]

    def against(self, reference: Reference, *, asked: bool = False) -> Comparison:
        """Candidate and reference as two systems: what changed between them, wins and losses.

        With ``asked``, the gate's interval, trade-off and ``on_churn`` apply too, but not its tolerance, which is
        in units of GeoRisk.
        """
        own, aligned = self.gate, self.aligned
        gate = NotSignificantlyRisky(own.name, alpha=own.alpha, level=own.level, tolerance=0.0, on_churn="fail")
        if asked:
            gate = replace(gate, method=own.method, tradeoff=own.tradeoff, on_churn=own.on_churn)
        two = (aligned.candidate, reference.scores)
        return Comparison(gate, replace(aligned, systems=two, missing=(aligned.missing[CANDIDATE], ())))

    @cached_property
    def pair(self) -> Comparison:
        """The candidate and the reference that the verdict is about, as two systems."""
        return self.against(self.reference)

    @cached_property
    def contributions(self) -> FloatArray:
        """Each topic's part in GeoRisk(candidate) - GeoRisk(reference): shape (n_topics,), they add up to it.

        GeoRisk is sqrt(m) sqrt(P), m the mean score and P = Phi(ZRisk/c). The difference of two products is split
        exactly: (sqrt(m1) - sqrt(m2)) times the mean sqrt(P), plus (sqrt(P1) - sqrt(P2)) times the mean sqrt(m). A
        difference of roots is the difference of their radicands over the sum of the roots, a difference of Phi its
        slope times the difference of ZRisk/c: both are sums over topics. For the median of an even number of
        baselines it is the mean over the two in the middle.
        """
        x, row = self.scores, self.reference.row
        parts = topic_contributions(x, alpha=self.gate.alpha, kind=self.gate.tradeoff)
        rows = self.middle if isinstance(row, str) else [row]
        split = [_split(x[[CANDIDATE, row]], parts[[CANDIDATE, row]]) for row in rows]
        return np.asarray(np.sum(split, axis=0) / len(split))

    @property
    def parts(self) -> FloatArray:
        """The contributions, times the number of topics."""
        return self.contributions * self.n

    @cached_property
    def standardised(self) -> FloatArray:
        """The contributions in standard deviations."""
        return standardised(self.contributions)

    # ---- what flips asks

    def without(self, places: IntArray) -> tuple[bool, Callable[[], float]]:
        """Whether the gate passes without these topics, whatever it could see, and the limit that decides then."""
        rest = self.ruling.without(places)
        return rest.lets_through, lambda: rest.deciding.upper if rest.enough_topics else math.nan

    def reached(self, order: IntArray, most: int) -> FloatArray:
        """How far limits lie above the bound without the first 1, 2, ... of these topics, by contributions alone."""
        margin = min(one.margin for one in self.ruling.against)
        return np.asarray(margin - 1.02 * np.cumsum(self.contributions[order[:most]]))


def _split(x: FloatArray, parts: FloatArray) -> FloatArray:
    """The contributions for one pair of systems: rows are candidate and reference."""
    n = x.shape[1]
    roots = np.sqrt([math.fsum(row) / n for row in x])
    a, b = (math.fsum(row) / n for row in parts)
    shapes, middle = np.sqrt(ndtr(np.array([a, b]))), (a + b) / 2
    slope = math.exp(-middle * middle / 2) / math.sqrt(2 * math.pi)
    if abs(a - b) > CLOSE:  # else rounding would show
        slope = float((ndtr(a) - ndtr(b)) / (a - b))
    by_score = (x[0] - x[1]) / n * (np.mean(shapes) / max(np.sum(roots), TINY))
    by_z = (parts[0] - parts[1]) / n * slope * (np.mean(roots) / max(np.sum(shapes), TINY))
    return np.asarray(by_score + by_z)


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names of the pool's systems; a candidate with the name of a baseline has ``(candidate)`` added."""
    candidate, *baselines = names
    if not baselines:
        raise ValueError("georisk_not_worse needs at least one baseline, got none")
    for place, name in enumerate(baselines):
        if name in baselines[:place]:
            raise ValueError(f"two baselines of a pool are called {name!r}; give each its own name")
    return (f"{candidate} (candidate)" if candidate in baselines else candidate, *baselines)
