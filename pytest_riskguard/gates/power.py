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
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.findings import Power
from pytest_riskguard.gates.kinds import MIN_TOPICS, Gate
from pytest_riskguard.gates.ruling import Ruling, could_fail
from pytest_riskguard.inference.power import (
    minimum_detectable_effect,
    power_of,
    topics_for_equivalence,
    topics_needed,
)
from pytest_riskguard.risk.checks import mean
from pytest_riskguard.risk.urisk import mean_test

#: The power that verdicts speak of.
POWER = 0.8


def power_of_verdict(ruling: Ruling) -> Power:
    """What the judged gate could detect, if its kind reports that; this decides only if ``max_mde`` is given."""
    gate, evidence, basis = ruling.gate, ruling.evidence, Basis(ruling)
    if gate.is_tested:
        # replicates subtract churn already, the smooth trade-off has no closed form for it, and with weights or
        # clusters it depends on which topics move
        is_known = gate.tradeoff == "linear" and gate.alpha > 0 and evidence.counts_alike and not evidence.noisy
        return Power(basis.minimum_detectable_effect, churn_failure_rate=basis.churn_power if is_known else None)
    if not (gate.must_show and ruling.has_intervals):
        return Power()
    return Power(topics_for_tolerance=basis.in_topics(basis.units_to_show))


def is_strong_enough(gate: Gate, effect: float | None) -> bool:
    """Whether a gate that finds nothing may pass: its minimum detectable effect is no larger than ``max_mde``."""
    return gate.max_mde is None or (effect is not None and effect <= gate.max_mde)


class _Churn(NamedTuple):
    """Mean and standard deviation of trade-off scores where a win and a loss of each size are equally likely."""

    urisk: float
    deviation: float


class Basis:
    """Changes to plan from: those that a ruling is about, or normal ones of which there is only what churn does.

    An effect is a fall of URisk, or of the mean where churn only warns: then URisk and the mean alone must both fail.
    If the mean falls by f while topics move as far as they did, URisk is ``-(alpha/2) mean|d| - (1 + alpha/2) f``.
    """

    def __init__(self, ruling: Ruling, *, power: float = POWER, assumed: _Churn | None = None) -> None:
        self.ruling, self.power, self.assumed = ruling, power, assumed
        self.n = ruling.evidence.units
        self.urisk = ruling.estimate if assumed is None else assumed.urisk

    @property
    def deviation(self) -> float:
        """Standard deviation of the trade-off scores over topics, or clusters, divisor n - 1."""
        if self.assumed is not None:
            return self.assumed.deviation
        return (self.ruling.test.standard_error or 0.0) * math.sqrt(self.n)

    @property
    def churn(self) -> float:
        """How far URisk lies below 0 if topics move as far as they did and the mean stays: ``(alpha/2) mean|d|``."""
        if self.assumed is not None:
            return -self.assumed.urisk
        alpha, evidence = self.ruling.alpha, self.ruling.evidence
        return evidence.estimate(0.0) * (1 + alpha / 2) - evidence.estimate(alpha)

    @cached_property
    def of_mean(self) -> Basis | None:
        """The same for the mean alone, at alpha 0 and tolerance 0; None where the gate does not ask about it."""
        if self.ruling.gate.on_churn == "fail" or self.ruling.alpha == 0:
            return None
        assumed = None if self.assumed is None else _churn_of(self.ruling.evidence, 0.0)
        return Basis(self.ruling.plain, power=self.power, assumed=assumed)

    @property
    def _plan(self) -> dict[str, Any]:
        return {"level": self.ruling.gate.level, "power": self.power}

    @cached_property
    def minimum_detectable_effect(self) -> float | None:
        """The smallest effect, tolerance included, that fails the gate with this power; None where nothing can."""
        if not self.ruling.has_intervals or self.ruling.cannot_fail:
            return None
        if self.of_mean is None:
            return self._detectable
        if self.ruling.evidence.kind != "linear":  # its scores are in no unit of the measure
            return self.of_mean._detectable
        return max(self.of_mean._detectable, (self._detectable - self.churn) / (1 + self.ruling.alpha / 2))

    @property
    def _detectable(self) -> float:
        """The smallest fall of the estimate below 0 that fails the rule at this alpha."""
        critical = self.ruling.critical(side="upper")
        return self.ruling.gate.tolerance + minimum_detectable_effect(
            self.deviation, self.n, critical=critical, **self._plan
        )

    def _fall(self, effect: float) -> float:
        """How far URisk falls below 0 with this effect."""
        return effect if self.of_mean is None else (1 + self.ruling.alpha / 2) * effect + self.churn

    def power_for(self, effect: float) -> float:
        """The power to detect this effect."""
        if self.ruling.cannot_fail:
            return 0.0
        found = self._chance(self._fall(effect), self.deviation, self.ruling)
        return found if self.of_mean is None else min(found, self.of_mean.power_for(effect))

    @property
    def churn_power(self) -> float | None:
        """The power for differences of the same sizes, signs alternating from the largest to the smallest."""
        evidence, alpha = self.ruling.evidence, self.ruling.alpha
        if evidence.changed(alpha) == 0 or not (self.ruling.has_intervals and self.ruling.enough_topics):
            return None
        if self.ruling.cannot_fail:
            return 0.0
        deviation = (self.assumed or _churn_of(evidence, alpha)).deviation
        return self._chance(self.churn, deviation, Ruling(self.ruling.gate, _balanced(evidence)))

    def _chance(self, fall: float, deviation: float, ruling: Ruling) -> float:
        gate = self.ruling.gate
        critical = ruling.critical(side="upper")
        return power_of(fall - gate.tolerance, deviation, self.n, level=gate.level, critical=critical)

    def units_for(self, effect: float) -> int | None:
        """How many topics, or clusters, this effect needs."""
        fall, tolerance = self._fall(effect), self.ruling.gate.tolerance
        critical = self.ruling.critical(side="upper")
        n = None if critical is None else self.n
        needed = topics_needed(self.deviation, fall - tolerance, critical=critical, n=n, **self._plan)
        if needed is None or self.of_mean is None:
            return needed
        of_mean = self.of_mean.units_for(effect)
        return None if of_mean is None else max(needed, of_mean)

    @property
    def units_to_show(self) -> int | None:
        """With how many topics, or clusters, a gate that asks for a lower limit, or both, would pass."""
        gate = self.ruling.gate
        if gate.side == "both":
            far, near = ("lower", "upper") if self.urisk <= 0 else ("upper", "lower")
            criticals = self.ruling.critical(side=far), self.ruling.critical(side=near)
            return topics_for_equivalence(
                self.deviation, self.urisk, tolerance=gate.tolerance, criticals=criticals, n=self.n, **self._plan
            )
        critical = self.ruling.critical(side="lower")
        n = None if critical is None else self.n
        return topics_needed(self.deviation, self.urisk + gate.tolerance, critical=critical, n=n, **self._plan)

    def in_topics(self, units: int | None, least: int = 0) -> int | None:
        """So many units in topics, for clusters that are as large as these."""
        return None if units is None else math.ceil(max(units, least) * self.ruling.evidence.n / self.n)


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
    minimum_detectable_effect
        The smallest fall that fails the gate with this power; with `on_churn` warn of the mean, else of
        URisk.
    churn_power
        The probability that a change which moves topics as much and leaves the mean unchanged fails.
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
    cannot_fail: bool
    minimum_detectable_effect: float | None
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
    alpha, assumed = gate.alpha, None
    if candidate is None:
        if correlation is None or not -1 <= correlation <= 1:
            raise ValueError(f"correlation must be between -1 and 1, got {correlation!r}")
        nothing = replace(baseline, values=np.zeros_like(baseline.values))
        evidence = Evidence.between(align(gate, baseline, nothing, topics=topics), tradeoff="linear")
        n, error = evidence.units, mean_test(evidence.scores(0.0)).standard_error
        spread = (error or 0.0) * math.sqrt(n) * math.sqrt(2 * (1 - correlation))
        ruling = Ruling(gate, Evidence.of(spread * ndtri((np.arange(1, n + 1) - 0.5) / n)))
        assumed = _churn(alpha, mean_size=spread * math.sqrt(2 / math.pi), mean_square=spread**2)
        changed = None
        has_basis = spread > 0 and n > 1
    else:
        evidence = Evidence.between(align(gate, candidate, baseline, topics=topics), tradeoff="linear")
        ruling, n = Ruling(gate, evidence), evidence.units
        changed = evidence.changed(alpha)
        has_basis = changed > 0 and n > 1
    basis = Basis(ruling, power=power, assumed=assumed)
    decides = has_basis and ruling.enough_topics
    largest = ruling.evidence.largest_loss
    many = max(n, MIN_TOPICS)
    fewest = 1 + bisect_left(
        range(1, many + 1), True, key=lambda count: could_fail(gate, count, n, largest_loss=largest)
    )

    def topics_for(effect: float) -> int | None:
        """Enough topics must change, too, at the share seen here."""
        share = 1.0 if assumed is not None else evidence.stakes(alpha)[0].size / n
        needed = basis.units_for(effect) if has_basis else None
        if needed is None:
            return None
        units = max(needed, MIN_TOPICS, math.ceil((fewest if fewest <= many else 1) / share))
        return math.ceil(units * evidence.n / n)

    return Plan(
        measure=baseline.measure if candidate is None else candidate.measure or baseline.measure,
        alpha=alpha,
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
        clusters=None if evidence.clusters is None else n,
        changed=changed,
        changes_needed=fewest if fewest <= many else None,
        urisk=basis.urisk,
        standard_deviation=basis.deviation if n > 1 else None,
        cannot_fail=changed == 0 or (changed is not None and ruling.cannot_fail),
        minimum_detectable_effect=basis.minimum_detectable_effect if decides else None,
        churn_power=basis.churn_power if decides else None,
        effects=tuple(Effect(size, basis.power_for(size) if decides else None, topics_for(size)) for size in effects),
        topics_for_tolerance=basis.in_topics(basis.units_to_show, MIN_TOPICS) if changed and n > 1 else None,
    )
