"""What a gate can detect and how many topics it needs: in a verdict, from two systems, or from a baseline alone."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.distributions import ndtri
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.alignment import align
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.findings import Power
from pytest_riskguard.gates.kinds import MIN_TOPICS, Gate
from pytest_riskguard.gates.ruling import Ruling, could_fail
from pytest_riskguard.inference.power import (
    minimum_detectable_effect,
    power_of,
    topics_for_equivalence,
    topics_for_tolerance,
    topics_needed,
)
from pytest_riskguard.risk.checks import mean
from pytest_riskguard.risk.urisk import mean_test


def power_of_verdict(ruling: Ruling) -> Power:
    """What the judged gate could detect, if its kind reports that; this decides only if ``max_mde`` is given."""
    gate, evidence = ruling.gate, ruling.evidence
    if gate.is_tested:
        # replicates subtract churn already, the smooth trade-off has no closed form for it, and with weights or
        # clusters it depends on which topics move
        is_known = gate.tradeoff == "linear" and gate.alpha > 0 and evidence.counts_alike and not evidence.noisy
        return Power(
            ruling.minimum_detectable_effect,
            churn_failure_rate=_Basis.observed(ruling, power=0.8).churn_power() if is_known else None,
        )
    if not (gate.must_show and ruling.has_intervals):
        return Power()
    estimate, units = evidence.estimate(gate.alpha), evidence.units
    options: dict[str, Any] = {"tolerance": gate.tolerance, "level": gate.level}
    if gate.side == "both":
        far, near = ("lower", "upper") if estimate <= 0 else ("upper", "lower")
        criticals = ruling.critical(side=far), ruling.critical(side=near)
        needed = topics_for_equivalence(ruling.deviation, estimate, criticals=criticals, n=units, **options)
    else:
        critical = ruling.critical(side="lower")
        n = None if critical is None else units
        needed = topics_for_tolerance(ruling.deviation, estimate, critical=critical, n=n, **options)
    topics = None if needed is None else math.ceil(needed * evidence.n / units)  # clusters of this size
    return Power(topics_for_tolerance=topics)


@frozen
class Effect:
    """A fall below 0, the power to detect it now, and the topics needed for the power that is asked for.

    It is a fall of URisk, or of the mean where churn only warns: the gate must then fail for the mean alone, too.
    ``power`` is None without anything to plan from, ``topics_needed`` also where no number of topics is enough.
    """

    size: float
    power: float | None
    topics_needed: int | None


@frozen
class Plan:
    """What one gate can detect, in units of the measure.

    Attributes
    ----------
    measure, alpha, level, method, tolerance, on_churn, power
        The settings.
    candidate, baseline, slice, correlation
        Names; None if there is none.
    topics, clusters, changed
        Their numbers; None where there are none.
    changes_needed, cannot_fail
        With how many changed topics the gate could fail, and whether there are fewer.
    urisk, standard_deviation
        Of the trade-off scores, observed or assumed.
    decisive, critical
        The interval that decides, and the distance of its upper limit from the mean, in standard errors.
    minimum_detectable_effect
        The smallest fall that fails the gate with this power; with `on_churn` warn of the mean, else of
        URisk.
    churn, churn_power
        URisk of a change that moves topics as much and leaves the mean unchanged, and its probability of
        failing.
    effects
        One for each effect that was asked about: `size`, `power` with these topics, `topics_needed`.
    topics_for_tolerance
        Topics needed to show with this power that the observed URisk is above minus the tolerance; None where
        no number is enough.
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


def plan_of(
    gate: Gate,
    candidate: TopicScores | None,
    baseline: TopicScores,
    *,
    power: float,
    effects: Sequence[float],
    correlation: float | None = None,
    topics: Topics | None = None,
) -> Plan:
    """Plan for changes like the one between two systems, or for a candidate that does not exist yet.

    Its scores have this ``correlation`` with the baseline's and are assumed to vary over topics as those do, so
    differences have ``2 (1 - correlation)`` times the baseline's variance; they are assumed normal with mean 0, and
    the critical value is that of n normal quantiles. Clusters' differences hang together as the baseline's scores do.
    ``effects`` are sizes of falls as in ``Effect``: positive, in units of the measure. ``DataError`` if the two are
    not scored on the same topics; ``ValueError`` for the smooth trade-off, and numbers out of range.
    """
    if gate.tradeoff != "linear":
        raise ValueError(f"plans need the linear trade-off, whose unit is that of the measure, got {gate.tradeoff!r}")
    if candidate is None:
        if correlation is None or not -1 <= correlation <= 1:
            raise ValueError(f"correlation must be between -1 and 1, got {correlation!r}")
        nothing = replace(baseline, values=np.zeros_like(baseline.values))
        evidence = Evidence.between(align(gate, baseline, nothing, topics=topics), tradeoff="linear")
        basis = _Basis.assumed(gate, evidence, correlation, power=power)
    else:
        evidence = Comparison(gate, align(gate, candidate, baseline, topics=topics)).evidence
        basis = _Basis.observed(Ruling(gate, evidence), power=power)
    return Plan(
        measure=baseline.measure if candidate is None else candidate.measure or baseline.measure,
        alpha=gate.alpha,
        level=gate.level,
        method=gate.method,
        tolerance=gate.tolerance,
        on_churn=gate.on_churn,
        power=power,
        candidate=None if candidate is None else candidate.name,
        baseline=baseline.name,
        slice=gate.slice,
        correlation=correlation,
        topics=evidence.n,
        clusters=None if evidence.clusters is None else evidence.units,
        changed=basis.changed,
        changes_needed=basis.changes_needed,
        urisk=basis.urisk,
        standard_deviation=basis.deviation,
        decisive=basis.ruling.deciding.method if evidence.units > 1 else None,
        critical=basis.critical("upper"),
        cannot_fail=basis.cannot_fail,
        minimum_detectable_effect=basis.minimum_detectable_effect(),
        churn=basis.churn.urisk,
        churn_power=basis.churn_power(),
        effects=tuple(Effect(size, basis.power_for(size), basis.topics_for(size)) for size in effects),
        topics_for_tolerance=None if candidate is None else basis.topics_for_tolerance(),
    )


class _Churn(NamedTuple):
    """Mean and standard deviation of trade-off scores where a win and a loss of each size are equally likely."""

    urisk: float
    deviation: float


def _churn(alpha: float, *, mean_size: float, mean_square: float) -> _Churn:
    """E x = -(alpha/2) E|d| and E x^2 = (1 + (1 + alpha)^2)/2 E d^2."""
    urisk = -alpha / 2 * mean_size
    return _Churn(urisk, math.sqrt((1 + (1 + alpha) ** 2) / 2 * mean_square - urisk**2))


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


def _balanced(evidence: Evidence) -> Evidence:
    """Differences of the same sizes, signs alternating from the largest unit to the smallest."""
    sums = np.round(evidence.sums(0.0), 12)
    wanted = np.ones(sums.size)
    wanted[np.argsort(-np.abs(sums), kind="stable")[::2]] = -1.0
    turn = np.where(sums < 0, -wanted, wanted)
    of_topics = turn if evidence.clusters is None else turn[evidence.clusters]
    return replace(evidence, differences=evidence.differences * of_topics)


@frozen
class _Basis:
    """What a plan is made from: the rule on differences that were observed, or are assumed (``changed`` is None).

    Assumed differences are those of units, of which there may be fewer than ``topics``.
    """

    power: float
    ruling: Ruling
    urisk: float
    deviation: float | None
    churn: _Churn
    changed: int | None
    topics: int

    @classmethod
    def observed(cls, ruling: Ruling, *, power: float) -> _Basis:
        """Two systems as they were compared, without weights or noise."""
        evidence, alpha = ruling.evidence, ruling.gate.alpha
        deviation = ruling.deviation if evidence.units > 1 else None
        churn = _churn_of(evidence, alpha)
        return cls(power, ruling, ruling.estimate, deviation, churn, evidence.changed(alpha), evidence.n)

    @classmethod
    def assumed(cls, gate: Gate, evidence: Evidence, correlation: float, *, power: float) -> _Basis:
        """Normal differences from a system whose own scores are this evidence."""
        n, error = evidence.units, mean_test(evidence.scores(0.0)).standard_error
        spread = (error or 0.0) * math.sqrt(n) * math.sqrt(2 * (1 - correlation))
        ruling = Ruling(gate, Evidence.of(spread * ndtri((np.arange(1, n + 1) - 0.5) / n)))
        churn = _churn(gate.alpha, mean_size=spread * math.sqrt(2 / math.pi), mean_square=spread**2)
        return cls(power, ruling, churn.urisk, churn.deviation if n > 1 else None, churn, None, evidence.n)

    @property
    def gate(self) -> Gate:
        """The gate that is planned."""
        return self.ruling.gate

    @property
    def n(self) -> int:
        """How many topics, or clusters."""
        return self.ruling.evidence.units

    def critical(self, side: str) -> float | None:
        """Standard errors from the mean to the limit that decides."""
        return self.ruling.critical(side=side) if self.n > 1 else None

    @property
    def changed_units(self) -> int | None:
        """How many topics, or clusters, changed."""
        return None if self.changed is None else self.ruling.evidence.stakes(self.gate.alpha)[0].size

    @cached_property
    def changes_needed(self) -> int | None:
        """The fewest changed topics, or clusters, with which the gate could fail; None where none suffice."""
        n = max(self.n, MIN_TOPICS)
        fewest = bisect_left(range(1, n + 1), True, key=self._could_fail) + 1
        return fewest if fewest <= n else None

    def _could_fail(self, changed: int) -> bool:
        """Whether the gate could fail if so many topics, or clusters, changed; if it could, it could with more."""
        return could_fail(self.gate, changed, self.n, largest_loss=self.ruling.evidence.largest_loss)

    @property
    def cannot_fail(self) -> bool:
        """Whether so few topics changed that the gate could not fail, whatever they lost."""
        changed = self.changed_units
        return changed is not None and (changed == 0 or not self._could_fail(changed))

    @property
    def known_deviation(self) -> float | None:
        """The deviation; None where there is nothing to plan from."""
        no_basis = self.changed == 0 or (self.changed is None and self.deviation == 0)
        return None if no_basis else self.deviation

    @property
    def decides(self) -> bool:
        """Whether there is something to plan from, and enough topics for a gate that is not inconclusive."""
        return self.known_deviation is not None and self.ruling.enough_topics

    @cached_property
    def of_mean(self) -> _Basis | None:
        """The same for the mean alone, at alpha 0 and tolerance 0; None where the gate does not ask about it."""
        if not self.gate.is_tested or self.gate.on_churn == "fail" or self.gate.alpha == 0:
            return None
        plain: dict[str, Any] = {"alpha": 0.0, "tolerance": 0.0}
        ruling = Ruling(replace(self.gate, **plain), self.ruling.evidence)
        if self.changed is not None:
            return _Basis.observed(ruling, power=self.power)
        churn = _churn_of(ruling.evidence, 0.0)
        return replace(self, ruling=ruling, urisk=churn.urisk, deviation=churn.deviation, churn=churn)

    def minimum_detectable_effect(self) -> float | None:
        """The smallest fall, tolerance included, that has the power asked for: see ``Effect``."""
        of_urisk = self._detectable()
        if self.of_mean is None or of_urisk is None:
            return of_urisk
        of_mean = self.of_mean._detectable()
        return None if of_mean is None else max(of_mean, (of_urisk + self.churn.urisk) / (1 + self.gate.alpha / 2))

    def _detectable(self) -> float | None:
        """The smallest fall of URisk at this alpha and tolerance."""
        gate, deviation = self.gate, self.known_deviation
        if deviation is None or not self.decides or self.cannot_fail:
            return None
        asked: dict[str, Any] = {"level": gate.level, "power": self.power, "critical": self.critical("upper")}
        return gate.tolerance + minimum_detectable_effect(deviation, self.n, **asked)

    def _fall_of_urisk(self, effect: float) -> float:
        """How far URisk falls below 0 with this effect: by churn too, where the effect is a fall of the mean."""
        return effect if self.of_mean is None else (1 + self.gate.alpha / 2) * effect - self.churn.urisk

    def power_for(self, effect: float) -> float | None:
        """The power to detect a fall of this size."""
        power = self._power(self._fall_of_urisk(effect), self.deviation, self.ruling)
        if self.of_mean is None or power is None:
            return power
        of_mean = self.of_mean.power_for(effect)
        return None if of_mean is None else min(power, of_mean)

    def churn_power(self) -> float | None:
        """The power for differences of the same sizes, signs alternating from the largest to the smallest."""
        return self._power(
            -self.churn.urisk, self.churn.deviation, Ruling(self.gate, _balanced(self.ruling.evidence))
        )

    def _power(self, effect: float, deviation: float | None, ruling: Ruling) -> float | None:
        if deviation is None or self.n < 2 or not self.decides:
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
        asked: dict[str, Any] = {"level": gate.level, "power": self.power, **self._observed("upper")}
        units = topics_needed(deviation, fall - gate.tolerance, **asked)
        if units is None:
            return None
        share = 1.0 if self.changed_units is None else self.changed_units / self.n
        needed = self._in_topics(max(units, MIN_TOPICS, math.ceil((self.changes_needed or 1) / share)))
        if self.of_mean is None:
            return needed
        for_mean = self.of_mean.topics_for(effect)
        return None if for_mean is None else max(needed, for_mean)

    def topics_for_tolerance(self) -> int | None:
        """With how many topics ``not_inferior`` would pass such a candidate."""
        if self.known_deviation is None:
            return None
        asked: dict[str, Any] = {"tolerance": self.gate.tolerance, "level": self.gate.level, "power": self.power}
        units = topics_for_tolerance(self.known_deviation, self.urisk, **asked, **self._observed("lower"))
        return None if units is None else self._in_topics(max(units, MIN_TOPICS))

    def _in_topics(self, units: int) -> int:
        """So many units in topics, for clusters that are as large as these."""
        return math.ceil(units * self.topics / self.n)

    def _observed(self, side: str) -> dict[str, Any]:
        """The critical value with the number of topics that it was observed with, if there is one."""
        critical = self.critical(side)
        return {} if critical is None else {"critical": critical, "n": self.n}
