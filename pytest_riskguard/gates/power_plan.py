"""What a gate can detect and how many topics it needs: in a verdict, from two systems, or from a baseline alone."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.topics import Topics
from pytest_riskguard.gates.alignment import align
from pytest_riskguard.gates.chain.next_topics import of_one, refuse_smooth
from pytest_riskguard.gates.chain.policy_cost import PolicyCost, policy_cost
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.findings import Power
from pytest_riskguard.gates.kinds import MIN_TOPICS, Gate
from pytest_riskguard.gates.ruling import Comparison, Ruling, could_fail
from pytest_riskguard.inference import minimum_detectable_effect
from pytest_riskguard.inference.power_analysis import (
    power_of,
    topics_for_equivalence,
    topics_for_tolerance,
    topics_needed,
)
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, mean
from pytest_riskguard.risk.urisk import mean_test


def power_of_verdict(ruling: Ruling) -> Power:
    """What the judged gate could detect, if its kind reports that; this decides only if ``max_mde`` is given."""
    gate = ruling.gate
    if gate.is_tested:
        return Power(
            minimum_detectable_effect=ruling.minimum_detectable_effect, churn_failure_rate=_churn_failure_rate(ruling)
        )
    if not (gate.must_show and ruling.has_intervals):
        return Power()
    estimate, units = ruling.evidence.estimate(gate.alpha), ruling.evidence.units
    options: dict[str, Any] = {"tolerance": gate.tolerance, "level": gate.level}
    if gate.side == "both":
        far, near = ("lower", "upper") if estimate <= 0 else ("upper", "lower")
        criticals = ruling.critical(side=far), ruling.critical(side=near)
        needed = topics_for_equivalence(ruling.deviation, estimate, criticals=criticals, n=units, **options)
    else:
        critical = ruling.critical(side="lower")
        n = None if critical is None else units
        needed = topics_for_tolerance(ruling.deviation, estimate, critical=critical, n=n, **options)
    topics = None if needed is None else math.ceil(needed * ruling.evidence.n / units)  # clusters of this size
    return Power(topics_for_tolerance=topics)


def _churn_failure_rate(ruling: Ruling) -> float | None:
    """The ``churn_power`` of a plan from the same two systems; None where there is no churn, or none that is known.

    There is none at alpha 0. Replicates already subtract it, the smooth trade-off has no closed form for it, and
    with weights or clusters it would depend on which topics move.
    """
    gate, evidence = ruling.gate, ruling.evidence
    if gate.tradeoff != "linear" or gate.alpha == 0 or evidence.noisy or not evidence.counts_alike:
        return None
    return _Basis.observed(ruling, power=0.8).churn_power()


def _deviation(values: FloatArray) -> float | None:
    """Standard deviation over topics, divisor n - 1; None for a single topic."""
    error = mean_test(values).standard_error
    return None if error is None else error * math.sqrt(values.size)


@dataclass(frozen=True)
class Effect:
    """A fall below 0, the power to detect it now, and the topics needed for the power that is asked for.

    It is a fall of URisk, or of the mean where churn only warns: the gate must then fail for the mean alone, too.
    ``power`` is None without anything to plan from, ``topics_needed`` also where no number of topics is enough.
    """

    size: float
    power: float | None
    topics_needed: int | None


@dataclass(frozen=True)
class Plan:
    """What one gate can detect, in units of the measure; the reference of ``riskguard power`` has every field.

    ``churn`` is the URisk of a change that moves topics as much but does not move the mean.
    """

    measure: str | None
    alpha: float
    level: float
    method: str
    tolerance: float
    on_churn: str
    power: float
    candidate: str | None
    baseline: str
    slice: str | None
    correlation: float | None
    topics: int
    clusters: int | None
    changed: int | None
    changes_needed: int | None
    urisk: float
    standard_deviation: float | None
    decisive: str | None
    critical: float | None
    cannot_fail: bool
    minimum_detectable_effect: float | None
    churn: float
    churn_power: float | None
    effects: tuple[Effect, ...]
    topics_for_tolerance: int | None
    cost: PolicyCost | None


def plan_from_runs(
    gate: Gate,
    candidate: TopicScores,
    baseline: TopicScores,
    *,
    power: float,
    effects: Sequence[float],
    topics: Topics | None = None,
) -> Plan:
    """Plan for changes like the one between these two systems, whose topics may have clusters and strata.

    ``effects`` are sizes of falls as in ``Effect``: positive, in units of the measure. ``DataError`` if the two are
    not scored on the same topics; ``ValueError`` for the smooth trade-off, and a power or an effect out of range.
    """
    refuse_smooth(gate)
    comparison = Comparison(gate, align(gate, candidate, baseline, topics=topics))
    basis = _Basis.observed(comparison.ruling, power=power)
    names = {"measure": candidate.measure or baseline.measure, "candidate": candidate.name, "baseline": baseline.name}
    return basis.plan(effects, correlation=None, **names)


def plan_from_baseline(
    gate: Gate,
    baseline: TopicScores,
    *,
    correlation: float,
    power: float,
    effects: Sequence[float],
    topics: Topics | None = None,
) -> Plan:
    """Plan for a candidate that does not exist yet, from the ``correlation`` of its scores with the baseline's.

    Its scores are assumed to vary over topics as the baseline's do, so differences have ``2 (1 - correlation)``
    times the baseline's variance; they are assumed normal with mean 0, and the critical value is that of n normal
    quantiles. Clusters' differences hang together as the baseline's scores do. ``ValueError`` also for a correlation
    out of range.
    """
    refuse_smooth(gate)
    if not -1 <= correlation <= 1:
        raise ValueError(f"correlation must be between -1 and 1, got {correlation!r}")
    evidence = of_one(gate, baseline, topics)
    n = evidence.units
    spread = (_deviation(evidence.scores(0.0)) or 0.0) * math.sqrt(2 * (1 - correlation))
    quantiles = spread * ndtri((np.arange(1, n + 1) - 0.5) / n)
    churn = _churn(gate.alpha, mean_size=spread * math.sqrt(2 / math.pi), mean_square=spread**2)
    deviation = churn.deviation if n > 1 else None
    assumed = Evidence.of(quantiles)
    basis = _Basis(gate, power, assumed, churn.urisk, deviation, churn, changed=None, topics=evidence.n)
    basis = replace(basis, clusters=None if evidence.clusters is None else n, counts_alike=evidence.counts_alike)
    names = {"measure": baseline.measure, "candidate": None, "baseline": baseline.name}
    return basis.plan(effects, correlation=correlation, **names)


class _Churn(NamedTuple):
    """Mean and standard deviation of trade-off scores where a win and a loss of each size are equally likely."""

    urisk: float
    deviation: float


def _churn_of(evidence: Evidence, alpha: float) -> _Churn:
    """The same for what was observed: a cluster wins or loses as a whole, its topics in their direction or the other.

    The deviation is such that over the root of the number of units it is the standard error.
    """
    if evidence.counts_alike:
        d = evidence.differences
        return _churn(alpha, mean_size=mean(np.abs(d)), mean_square=mean(d**2))
    if evidence.strata is not None:
        parts = [(part.units, _churn_of(part, alpha)) for _, part in evidence.by_stratum]
        shares = evidence.strata.shares.tolist()
        urisk = math.fsum(share * of.urisk for share, (_, of) in zip(shares, parts, strict=True))
        terms = [(share * of.deviation) ** 2 / units for share, (units, of) in zip(shares, parts, strict=True)]
        return _Churn(urisk, math.sqrt(math.fsum(terms) * evidence.units))
    ways = [replace(evidence, differences=sign * evidence.differences) for sign in (1.0, -1.0)]
    urisk = math.fsum(way.estimate(alpha) for way in ways) / 2
    size = evidence.n / evidence.units
    weights = replace(evidence, differences=np.ones(evidence.n)).sums(0.0) / size
    squares = [mean((way.sums(alpha) / size - urisk * weights) ** 2) for way in ways]
    return _Churn(urisk, math.sqrt(math.fsum(squares) / 2))


def _churn(alpha: float, *, mean_size: float, mean_square: float) -> _Churn:
    """E x = -(alpha/2) E|d| and E x^2 = (1 + (1 + alpha)^2)/2 E d^2."""
    urisk = -alpha / 2 * mean_size
    return _Churn(urisk, math.sqrt((1 + (1 + alpha) ** 2) / 2 * mean_square - urisk**2))


def _balanced(evidence: Evidence) -> Evidence:
    """Differences of the same sizes, signs alternating from the largest unit to the smallest."""
    if evidence.counts_alike:
        sizes = np.sort(np.abs(evidence.differences))[::-1]
        return Evidence.of(np.where(np.arange(sizes.size) % 2 == 0, -sizes, sizes))
    sums = np.round(evidence.sums(0.0), 12)
    wanted = np.ones(sums.size)
    wanted[np.argsort(-np.abs(sums), kind="stable")[::2]] = -1.0
    turn = np.where(sums < 0, -wanted, wanted)
    of_topics = turn if evidence.clusters is None else turn[evidence.clusters]
    return replace(evidence, differences=evidence.differences * of_topics)


@dataclass(frozen=True)
class _Basis:
    """What a plan is made from: a gate, and evidence that is observed, or assumed (``changed`` is None).

    Assumed differences are those of units, of which there are fewer than ``topics`` where there are ``clusters``.
    """

    gate: Gate
    power: float
    evidence: Evidence
    urisk: float
    deviation: float | None
    churn: _Churn
    changed: int | None
    topics: int
    clusters: int | None = None
    counts_alike: bool = True

    @classmethod
    def observed(cls, ruling: Ruling, *, power: float) -> _Basis:
        """Two systems as they were compared, without weights or noise."""
        gate, evidence, scores = ruling.gate, ruling.evidence, ruling.scores
        return cls(
            gate,
            power,
            evidence,
            mean(scores) if evidence.counts_alike else ruling.estimate,
            _deviation(scores),
            _churn_of(evidence, gate.alpha),
            evidence.changed(gate.alpha),
            evidence.n,
            None if evidence.clusters is None else evidence.units,
            evidence.counts_alike,
        )

    def plan(self, effects: Sequence[float], **systems: Any) -> Plan:
        """The plan; ``systems`` are its fields that say what is compared."""
        gate = self.gate
        return Plan(
            **systems,
            alpha=gate.alpha,
            level=gate.level,
            method=gate.method,
            tolerance=gate.tolerance,
            on_churn=gate.on_churn,
            power=self.power,
            slice=gate.slice,
            topics=self.topics,
            clusters=self.clusters,
            changed=self.changed,
            changes_needed=self.changes_needed,
            urisk=self.urisk,
            standard_deviation=self.deviation,
            decisive=None if self.ruling is None else self.ruling.deciding.method,
            critical=self.critical("upper"),
            cannot_fail=self.cannot_fail,
            minimum_detectable_effect=self.minimum_detectable_effect(),
            churn=self.churn.urisk,
            churn_power=self.churn_power(),
            effects=tuple(Effect(size, self.power_for(size), self.topics_for(size)) for size in effects),
            topics_for_tolerance=None if self.changed is None else self.topics_for_tolerance(),
            cost=policy_cost(gate, self.evidence.differences, effects) if self.counts_alike else None,
        )

    @property
    def n(self) -> int:
        """How many topics, or clusters."""
        return self.evidence.units

    @cached_property
    def ruling(self) -> Ruling | None:
        """The rule applied to the differences; None for a single topic."""
        return Ruling(self.gate, self.evidence) if self.n > 1 else None

    @property
    def changed_units(self) -> int | None:
        """How many topics, or clusters, changed."""
        return None if self.changed is None else self.evidence.stakes(self.gate.alpha)[0].size

    def critical(self, side: str) -> float | None:
        """Standard errors from the mean to the limit that decides."""
        return None if self.ruling is None else self.ruling.critical(side=side)

    @cached_property
    def changes_needed(self) -> int | None:
        """The fewest changed topics, or clusters, with which the gate could fail; None where none suffice."""
        n = max(self.n, MIN_TOPICS)
        largest_loss = self.evidence.largest_loss

        def enough(changed: int) -> bool:
            return could_fail(self.gate, changed, n, largest_loss=largest_loss)

        fewest = bisect_left(range(1, n + 1), True, key=enough) + 1
        return fewest if fewest <= n else None

    @property
    def cannot_fail(self) -> bool:
        """Whether so few topics changed that the gate could not fail, whatever they lost."""
        changed, needed = self.changed_units, self.changes_needed
        return changed is not None and (needed is None or changed < needed)

    @property
    def known_deviation(self) -> float | None:
        """The deviation; None where there is nothing to plan from."""
        no_basis = self.changed == 0 or (self.changed is None and self.deviation == 0)
        return None if no_basis else self.deviation

    @property
    def decides(self) -> bool:
        """Whether there is something to plan from, and enough topics for a gate that is not inconclusive."""
        enough = self.evidence.effective >= MIN_TOPICS - ROUNDING_ERROR
        return self.known_deviation is not None and enough

    @cached_property
    def of_mean(self) -> _Basis | None:
        """The same for the mean alone, at alpha 0 and tolerance 0; None where the gate does not ask about it."""
        if not self.gate.is_tested or self.gate.on_churn == "fail" or self.gate.alpha == 0:
            return None
        plain: dict[str, Any] = {"alpha": 0.0, "tolerance": 0.0}
        gate = replace(self.gate, **plain)
        if self.changed is not None:
            return _Basis.observed(Ruling(gate, self.evidence), power=self.power)
        churn = _churn_of(self.evidence, 0.0)
        return replace(self, gate=gate, urisk=churn.urisk, deviation=churn.deviation, churn=churn)

    def minimum_detectable_effect(self) -> float | None:
        """The smallest fall, tolerance included, that has the power asked for: see ``Effect``."""
        of_urisk = self._detectable()
        if self.of_mean is None or of_urisk is None:
            return of_urisk
        of_mean = self.of_mean._detectable()
        return None if of_mean is None else max(of_mean, (of_urisk + self.churn.urisk) / (1 + self.gate.alpha / 2))

    def _fall_of_urisk(self, effect: float) -> float:
        """How far URisk falls below 0 with this effect: by churn too, where the effect is a fall of the mean."""
        return effect if self.of_mean is None else (1 + self.gate.alpha / 2) * effect - self.churn.urisk

    def _detectable(self) -> float | None:
        """The smallest fall of URisk at this alpha and tolerance."""
        gate, deviation = self.gate, self.known_deviation
        if deviation is None or not self.decides or self.cannot_fail:
            return None
        critical = self.critical("upper")
        return gate.tolerance + minimum_detectable_effect(
            deviation, self.n, level=gate.level, power=self.power, critical=critical
        )

    def power_for(self, effect: float) -> float | None:
        """The power to detect a fall of this size."""
        power = self._power(self._fall_of_urisk(effect), self.deviation, self.ruling)
        if self.of_mean is None or power is None:
            return power
        of_mean = self.of_mean.power_for(effect)
        return None if of_mean is None else min(power, of_mean)

    def churn_power(self) -> float | None:
        """The power for differences of the same sizes, signs alternating from the largest to the smallest."""
        return self._power(-self.churn.urisk, self.churn.deviation, Ruling(self.gate, _balanced(self.evidence)))

    def _power(self, effect: float, deviation: float | None, ruling: Ruling | None) -> float | None:
        if deviation is None or ruling is None or not self.decides:
            return None
        if self.cannot_fail:
            return 0.0
        gate, critical = self.gate, ruling.critical(side="upper")
        return power_of(effect - gate.tolerance, deviation, self.n, level=gate.level, critical=critical)

    def topics_for(self, effect: float) -> int | None:
        """How many topics a fall of this size needs; enough of them must change, too, at the share seen here."""
        gate, deviation = self.gate, self.known_deviation
        fall = self._fall_of_urisk(effect)
        if deviation is None or fall <= gate.tolerance:
            return None
        size = fall - gate.tolerance
        topics = topics_needed(deviation, size, level=gate.level, power=self.power, **self._observed("upper"))
        if topics is None:
            return None
        changed = self.changed_units
        share = 1.0 if changed is None else changed / self.n
        needed = self._in_topics(max(topics, MIN_TOPICS, math.ceil((self.changes_needed or 1) / share)))
        if self.of_mean is None:
            return needed
        for_mean = self.of_mean.topics_for(effect)
        return None if for_mean is None else max(needed, for_mean)

    def _in_topics(self, units: int) -> int:
        """So many units in topics, for clusters that are as large as these."""
        return math.ceil(units * self.topics / self.n)

    def topics_for_tolerance(self) -> int | None:
        """With how many topics ``not_inferior`` would pass such a candidate."""
        gate, deviation = self.gate, self.known_deviation
        if deviation is None:
            return None
        topics = topics_for_tolerance(
            deviation,
            self.urisk,
            tolerance=gate.tolerance,
            level=gate.level,
            power=self.power,
            **self._observed("lower"),
        )
        return None if topics is None else self._in_topics(max(topics, MIN_TOPICS))

    def _observed(self, side: str) -> dict[str, Any]:
        """The critical value with the number of topics that it was observed with, if there is one."""
        critical = self.critical(side)
        return {} if critical is None else {"critical": critical, "n": self.n}
