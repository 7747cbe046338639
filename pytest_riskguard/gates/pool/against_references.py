"""The rule for GeoRisk against one reference or several, on the scores of a pool alone: they need no names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.kinds import MEDIAN, MIN_TOPICS, Gate
from pytest_riskguard.gates.limits import witnesses
from pytest_riskguard.inference.families import effective_levels, holm
from pytest_riskguard.inference.georisk import GeoRiskDifference, georisk_differences, replicates_for
from pytest_riskguard.inference.intervals import Interval
from pytest_riskguard.risk import georisk
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, IntArray

#: Intervals that every verdict reports.
REPORTED = ("student_t", "percentile", "bca")
#: How many of several references are tried first, where only the answer is asked for.
CLEAREST = 3
#: Row of the candidate in every matrix.
CANDIDATE = 0


@frozen(eq=False)
class ReferenceRuling:
    """The rule for the difference in GeoRisk from one reference, at one alpha.

    The gate fails if its own interval and Student-t, by the jackknife, both fail.
    ``level`` is what Holm's method leaves this reference; the upper limit must reach
    ``bound``. P-values are the smallest ``1 - level`` at which the rule fails, for it alone and among all references.
    """

    gate: Gate
    difference: GeoRiskDifference
    level: float
    bound: float
    p_value: float
    adjusted_p_value: float

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
        return max((self._intervals[method] for method in witnesses(self.gate)), key=lambda i: i.upper)

    def margin_by(self, method: str) -> float:
        """How far the upper limit of an interval is from the bound: at least 0 where it reaches it."""
        return self._intervals[method].upper - self.bound

    def reaches(self, method: str) -> bool:
        """Whether the upper limit of an interval reaches the bound."""
        return self.margin_by(method) >= 0

    @property
    def margin(self) -> float:
        """How far the upper limit of the interval that decides is from the bound."""
        return self.margin_by(self.deciding.method)

    @property
    def passes(self) -> bool:
        """Whether the candidate is not significantly below this reference."""
        return self.margin >= 0


class PoolRulings:
    """The rule against each reference, at the gate's alpha (``rulings``), and at alpha 0 and tolerance 0 (``plain``).

    ``scores`` has shape (n_systems, n_topics), the candidate first. ``rows`` are the references: rows, or ``median``.
    ``level`` is what a family of gates leaves of the gate's own; ``together`` is how many gates are judged together,
    all of which must be able to fail. ``clusters`` (n_topics,) number the clusters that the jackknife leaves out,
    None where each topic stands for itself.
    """

    def __init__(
        self,
        gate: Gate,
        scores: FloatArray,
        rows: Sequence[int | str],
        *,
        level: float,
        together: int = 1,
        clusters: IntArray | None = None,
    ) -> None:
        self.gate, self.scores, self.rows, self.clusters = gate, scores, tuple(rows), clusters
        self.level, self.together = level, together
        self._passes_only = False
        self._found: dict[float, tuple[float, Sequence[GeoRiskDifference]]] = {}

    @property
    def n(self) -> int:
        """How many topics."""
        return int(self.scores.shape[1])

    @property
    def enough_topics(self) -> bool:
        """Whether there are enough topics, or clusters, for any interval."""
        return self.units >= MIN_TOPICS

    @property
    def units(self) -> int:
        """How many topics, or clusters where there are any."""
        return self.n if self.clusters is None else int(np.max(self.clusters)) + 1

    @cached_property
    def middle(self) -> list[int]:
        """The row of the baseline whose GeoRisk is the median, or the rows of the two in the middle."""
        values = georisk(self.scores, alpha=self.gate.alpha, kind=self.gate.tradeoff)[1:]
        order = 1 + np.argsort(np.round(values, 12), kind="stable")
        return [int(row) for row in order[(len(order) - 1) // 2 : len(order) // 2 + 1]]

    @cached_property
    def changed(self) -> tuple[int, ...]:
        """For each reference, how many topics differ between it and the candidate."""
        candidate = self.scores[CANDIDATE]
        against = [self.scores[self.middle if row == MEDIAN else [int(row)]].mean(axis=0) for row in self.rows]
        return tuple(int(np.count_nonzero(np.abs(candidate - row) > ROUNDING_ERROR)) for row in against)

    @cached_property
    def replicates(self) -> int:
        """How many to draw: by the gate's own level and the number of tests, so that a whole family draws alike."""
        return replicates_for(
            level=self.gate.level,
            n_systems=self.scores.shape[0],
            n_topics=self.n,
            n_differences=2 * len(self.rows),
            n_tests=self.together * len(self.rows),
        )

    @property
    def alphas(self) -> tuple[float, ...]:
        """The gate's alpha, and 0: a linear trade-off counts as rounding what is small beside GeoRisk at both."""
        return tuple(dict.fromkeys((self.gate.alpha, 0.0))) if self.gate.tradeoff == "linear" else (self.gate.alpha,)

    def _differences(self, alpha: float) -> tuple[float, Sequence[GeoRiskDifference]]:
        """The largest GeoRisk of the pool, and its differences from each reference in all replicates.

        One reference is resampled for one alpha at a time, which takes little; where all systems are resampled, one
        pass serves both alphas, if both may be asked for. At alpha 0 the trade-off is linear.
        """
        if alpha not in self._found:
            at = self.alphas if alpha in self.alphas else (alpha,)
            apart = self._passes_only or (len(self.rows) == 1 and self.rows[0] != MEDIAN)
            self._found |= self._against(self.rows, (alpha,) if apart else at)
        return self._found[alpha]

    def _against(
        self, rows: Sequence[int | str], alphas: Sequence[float]
    ) -> dict[float, tuple[float, Sequence[GeoRiskDifference]]]:
        """For each alpha the largest GeoRisk of the pool, and its differences from some of the references."""
        found = georisk_differences(
            self.scores,
            candidate=CANDIDATE,
            references=rows,
            alphas=alphas,
            tradeoff="linear" if alphas[0] == 0 else self.gate.tradeoff,
            replicates=self.replicates,
            clusters=self.clusters,
        )
        return {
            alpha: (float(np.max(found.georisk[place])), found.differences[place :: len(alphas)])
            for place, alpha in enumerate(alphas)
        }

    @cached_property
    def rulings(self) -> tuple[ReferenceRuling, ...]:
        """Against each reference, at the gate's alpha."""
        return self._rulings(self.gate.alpha, self.gate.tolerance)

    @cached_property
    def plain(self) -> tuple[ReferenceRuling, ...]:
        """Against each reference, at alpha 0 and tolerance 0."""
        return self._rulings(0.0, 0.0)

    def _rulings(self, alpha: float, tolerance: float) -> tuple[ReferenceRuling, ...]:
        """The rule against each reference at one alpha, corrected for several references by Holm's method.

        A limit may miss the bound by rounding, in proportion to the largest GeoRisk of the pool.
        """
        largest, differences = self._differences(alpha)
        bound = _bound(largest, tolerance)
        p_values = [self._p_value(difference, bound) for difference in differences]
        levels = np.array([self.level])
        if len(p_values) > 1:
            levels = 1 - effective_levels(p_values, level=self.level, correction="holm")
        rows = zip(differences, p_values, holm(p_values).tolist(), levels.tolist(), strict=True)
        return tuple(
            # no interval reaches further than the draws: at least two replicates must lie outside it
            ReferenceRuling(self.gate, difference, min(left, 1 - 2 / difference.replicates.size), bound, p, adjusted)
            for difference, p, adjusted, left in rows
        )

    @property
    def passes(self) -> bool:
        """Whether the candidate is let through, churn that only warns included."""
        if not self.enough_topics:
            return False
        if self._passes_only and len(self.rows) > 1:
            return not (self._clearest_fails or self._one_fails(*self._differences(self.gate.alpha)))
        return all(ruling.passes for ruling in self.rulings) or (self.gate.on_churn == "warn" and not self.loses)

    def _p_value(self, difference: GeoRiskDifference, bound: float, *, at_most: float = 1.0) -> float:
        """The smallest ``1 - level`` at which the rule fails against one reference alone; 1 if above ``at_most``."""
        asked = witnesses(self.gate)
        return max(difference.p_value(method=method, bound=bound, at_most=at_most) for method in asked)

    def _one_fails(self, largest: float, differences: Sequence[GeoRiskDifference]) -> bool:
        """Whether one of these among all references fails: by Holm's method one does if its p-value is this low."""
        k, bound = len(self.rows), _bound(largest, self.gate.tolerance)
        at_most = (1 - self.level) / k * (1 + 1e-9)  # the comparison below is the one that counts
        return any(
            k * self._p_value(difference, bound, at_most=at_most) <= 1 - self.level for difference in differences
        )

    @property
    def _clearest_fails(self) -> bool:
        """Whether the references that the candidate seems furthest below are enough to fail.

        Only these are resampled, which takes a small part of the time that all systems of a large pool take.
        """
        if MEDIAN in self.rows or len(self.rows) <= CLEAREST:
            return False
        alpha, rows = self.gate.alpha, [int(row) for row in self.rows]
        values = georisk(self.scores, alpha=alpha, kind=self.gate.tradeoff)
        spreads = np.std(self.scores[rows] - self.scores[CANDIDATE], axis=1)
        below = (values[rows] - values[CANDIDATE]) / np.maximum(spreads, np.finfo(np.float64).tiny)
        clearest = np.argsort(-below, kind="stable")[:CLEAREST].tolist()
        largest, differences = self._against([self.rows[place] for place in clearest], (alpha,))[alpha]
        return self._one_fails(largest, differences)

    @property
    def loses(self) -> bool:
        """Whether the same gate fails at alpha 0 and tolerance 0."""
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
        if len(self.rows) == 1:
            return 0

        def key(i: int) -> tuple[bool, bool, float, float]:
            ruling, plain = self.rulings[i], self.plain[i]
            return ruling.passes, plain.passes and not ruling.passes, ruling.p_value, ruling.margin

        return min(range(len(self.rows)), key=key)

    @property
    def ruling(self) -> ReferenceRuling:
        """The ruling against the reference that the verdict is about."""
        return self.rulings[self.deciding]

    def without(self, columns: npt.NDArray[np.intp]) -> PoolRulings:
        """The same question without these topics."""
        scores = np.delete(self.scores, columns, axis=1)
        left = None if self.clusters is None else np.unique(np.delete(self.clusters, columns), return_inverse=True)[1]
        context: Any = {"level": self.level, "together": self.together, "clusters": left}
        rest = PoolRulings(self.gate, scores, self.rows, **context)
        # whether one of several references decides, or the gate lets churn pass, is asked at alpha 0 too
        rest._passes_only = self.gate.on_churn == "fail" and (len(self.rows) == 1 or len(columns) > 1)
        return rest


def _bound(largest: float, tolerance: float) -> float:
    """What upper limits must reach, which they may miss by rounding beside the largest GeoRisk of the pool."""
    return -tolerance - ROUNDING_ERROR * min(largest, 1.0)
