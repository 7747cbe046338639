"""A gate applied to a pool of systems: GeoRisk of a candidate against one of its baselines, the reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pytest_riskguard.distributions import ndtr
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.alignment import Aligned
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.kinds import MIN_TOPICS, Gate, NotSignificantlyRisky
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
class PoolRuling:
    """What the rule says of a pool, as ``Ruling`` says it of two systems.

    The gate fails if its own interval and Student-t, by the jackknife, both fail. ``scores`` has shape (n_systems,
    n_topics), the candidate first; the reference is the row ``reference``. ``level`` is what a family of gates leaves
    of the gate's own; ``together`` is how many gates are judged together, all of which must be able to fail.
    ``clusters`` (n_topics,) number the clusters that the jackknife leaves out, None where each topic stands for
    itself.
    """

    #: GeoRisk is about all topics together.
    has_intervals: ClassVar[bool] = True

    gate: Gate
    scores: FloatArray
    reference: int
    level: float
    together: int
    clusters: IntArray | None

    @cached_property
    def plain(self) -> PoolRuling:
        """The ruling at alpha 0 and tolerance 0."""
        return replace(self, gate=self.gate.with_options(alpha=0.0, tolerance=0.0, tradeoff="linear"))

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
    def difference(self) -> GeoRiskDifference:
        """GeoRisk of the candidate less that of the reference, with its draws.

        How many are drawn depends on the gate's own level and the number of gates, so that a whole family draws
        alike.
        """
        from pytest_riskguard.inference.georisk import georisk_difference, replicates_for

        n_systems, n_topics = self.scores.shape
        drawn = replicates_for(level=self.gate.level, n_systems=n_systems, n_topics=n_topics, n_tests=self.together)
        return georisk_difference(
            self.scores,
            candidate=CANDIDATE,
            reference=self.reference,
            alpha=self.gate.alpha,
            tradeoff=self.gate.tradeoff,
            replicates=drawn,
            clusters=self.clusters,
        )

    @cached_property
    def georisk(self) -> FloatArray:
        """Of each system at the gate's alpha."""
        return georisk(self.scores, alpha=self.gate.alpha, kind=self.gate.tradeoff)

    @cached_property
    def bound(self) -> float:
        """What an upper limit must reach; rounding is in proportion to the largest GeoRisk of the pool."""
        return -self.gate.tolerance - ROUNDING_ERROR * min(float(np.max(self.georisk)), 1.0)

    def interval(self, method: str) -> Interval:
        """The interval of this method; at least two draws must lie outside it."""
        level = min(self.level, 1 - 2 / self.difference.replicates.size)
        return self.difference.interval(method=method, level=level)

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """All the intervals that a verdict reports."""
        return tuple(map(self.interval, REPORTED)) if self.enough_topics else ()

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
        """Whether the candidate is not significantly below the reference."""
        return self.margin >= 0

    holds = passes

    @property
    def lets_through(self) -> bool:
        """Whether the gate lets the candidate through, churn that only warns included."""
        return self.enough_topics and any(ruling.passes for ruling in self.conditions)

    @property
    def p_value(self) -> float:
        """The smallest ``1 - level`` at which the gate fails."""
        return max(
            ruling.difference.p_value(method=method, bound=ruling.bound)
            for ruling in self.conditions
            for method in witnesses(self.gate)
        )

    @cached_property
    def minimum_detectable_effect(self) -> float | None:
        """The smallest fall of GeoRisk, tolerance included, that fails the gate with 80 % power, by the jackknife.

        Where churn is let through, the larger of this and of what is seen at alpha 0 and tolerance 0. None for too
        few topics.
        """
        if not self.enough_topics:
            return None
        return max(ruling.gate.tolerance + ruling._detectable for ruling in self.conditions)

    @property
    def _detectable(self) -> float:
        """The smallest fall below the bound that fails at this alpha."""
        error, units = self.difference.standard_error, self.difference.left_out.size
        if error == 0:
            return 0.0
        critical = max((self.deciding.upper - self.difference.estimate) / error, 0.0)
        return minimum_detectable_effect(
            error * math.sqrt(units), units, level=self.deciding.level, critical=critical
        )


class PoolComparison(Comparison):
    """A ``georisk_not_worse`` gate applied to a pool: the ruling on it, and whose scores they are of.

    ``family`` and ``together`` are as in ``PoolRuling``. ``DataError`` if the systems have scores that GeoRisk is not
    defined for; ``ValueError`` for no baseline, a reference that is not a baseline, and two baselines of one name.
    """

    ruling: PoolRuling  # type: ignore[assignment]

    def __init__(self, gate: Gate, aligned: Aligned, *, family: Family | None = None, together: int = 1) -> None:
        self.gate, self.own_level, self.family = gate, gate.level, family
        self.aligned, self.together = aligned, together
        systems = aligned.systems
        self.scores = np.array([system.values for system in systems])
        self.topics, self.n = systems[CANDIDATE].topics, int(self.scores.shape[1])
        self.names = _distinct([system.name for system in systems])
        self._refuse_scores()
        #: The baseline that GeoRisk is compared with: the first, unless the gate names another.
        self.reference = gate.reference or self.names[1]
        if self.reference not in self.names[1:]:
            known = ", ".join(self.names[1:])
            raise ValueError(f"reference: {self.reference!r} is not a baseline of this gate; expected {known}")
        self.row = self.names.index(self.reference)
        level = gate.level if family is None else family.level
        self.ruling = PoolRuling(gate, self.scores, self.row, level, together, aligned.clusters)

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

    @property
    def largest(self) -> tuple[float, float]:
        """The largest GeoRisk of the pool, and that at alpha 0."""
        return float(np.max(self.ruling.georisk)), float(np.max(georisk(self.scores, alpha=0.0)))

    @cached_property
    def vanished(self) -> bool:  # type: ignore[override]
        """Whether losses weigh so much that too little GeoRisk is left to compare."""
        largest, at_0 = self.largest
        return largest < LITTLE * at_0

    @property
    def identical(self) -> bool:
        """Whether the candidate is the same run as the reference."""
        return self.pair.identical

    def detectable(self, ruling: PoolRuling) -> float | None:
        """The minimum detectable effect."""
        return ruling.minimum_detectable_effect

    @cached_property
    def pair(self) -> Comparison:
        """Candidate and reference as two systems: what changed between them, wins and losses.

        Its tolerance is none, since the gate's own is in units of GeoRisk.
        """
        aligned, gate = self.aligned, self.gate.as_kind(NotSignificantlyRisky)
        gate = replace(gate, tolerance=0.0, tradeoff="linear", max_mde=None)
        two = (aligned.candidate, aligned.systems[self.row])
        return Comparison(gate, replace(aligned, systems=two, missing=(aligned.missing[CANDIDATE], ())))

    @cached_property
    def contributions(self) -> FloatArray:
        """Each topic's part in GeoRisk(candidate) - GeoRisk(reference): shape (n_topics,), they add up to it.

        GeoRisk is sqrt(m) sqrt(P), m the mean score and P = Phi(ZRisk/c). The difference of two products is split
        exactly: (sqrt(m1) - sqrt(m2)) times the mean sqrt(P), plus (sqrt(P1) - sqrt(P2)) times the mean sqrt(m). A
        difference of roots is the difference of their radicands over the sum of the roots, a difference of Phi its
        slope times the difference of ZRisk/c: both are sums over topics.
        """
        rows = [CANDIDATE, self.row]
        x, parts = self.scores[rows], topic_contributions(self.scores, alpha=self.gate.alpha, kind=self.gate.tradeoff)
        roots = np.sqrt([math.fsum(row) / self.n for row in x])
        a, b = (math.fsum(row) / self.n for row in parts[rows])
        shapes, middle = np.sqrt(ndtr(np.array([a, b]))), (a + b) / 2
        slope = math.exp(-middle * middle / 2) / math.sqrt(2 * math.pi)
        if abs(a - b) > CLOSE:  # else rounding would show
            slope = float((ndtr(a) - ndtr(b)) / (a - b))
        by_score = (x[0] - x[1]) / self.n * (np.mean(shapes) / max(np.sum(roots), TINY))
        by_z = (parts[CANDIDATE] - parts[self.row]) / self.n * slope * (np.mean(roots) / max(np.sum(shapes), TINY))
        return np.asarray(by_score + by_z)

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
        return np.asarray(self.ruling.margin - 1.02 * np.cumsum(self.contributions[order[:most]]))


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names of the pool's systems; a candidate with the name of a baseline has ``(candidate)`` added."""
    candidate, *baselines = names
    if not baselines:
        raise ValueError("georisk_not_worse needs at least one baseline, got none")
    for place, name in enumerate(baselines):
        if name in baselines[:place]:
            raise ValueError(f"two baselines of a pool are called {name!r}; give each its own name")
    return (f"{candidate} (candidate)" if candidate in baselines else candidate, *baselines)
