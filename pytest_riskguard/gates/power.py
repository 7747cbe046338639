"""What a gate can detect and how many topics it needs: in a verdict, from two systems, or from a baseline alone."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.distributions import ndtri
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.alignment import align
from pytest_riskguard.gates.could_fail import cannot_fail, could_fail
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.findings import Power
from pytest_riskguard.gates.kinds import MIN_TOPICS, Gate
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.power import (
    minimum_detectable_effect,
    power_of,
    topics_for_equivalence,
    topics_needed,
)
from pytest_riskguard.risk.checks import FloatArray, mean
from pytest_riskguard.risk.urisk import mean_test

#: The power that verdicts speak of.
POWER = 0.8


def power_of_verdict(ruling: Ruling) -> Power:
    """What the judged gate could detect, if its kind reports that; this decides only if ``max_mde`` is given."""
    basis = Basis(ruling)
    if ruling.gate.is_tested:
        return Power(basis.minimum_detectable_effect, churn_failure_rate=basis.churn_power if ruling.alpha else None)
    if not ruling.has_intervals:
        return Power()
    return Power(topics_for_tolerance=_in_topics(basis.units_to_show, ruling.evidence))


def _churn(alpha: float, *, mean_size: float, mean_square: float) -> tuple[float, float]:
    """Mean and standard deviation of trade-off scores where a win and a loss of each size are equally likely.

    E x = -(alpha/2) E|d| and E x^2 = (1 + (1 + alpha)^2)/2 E d^2.
    """
    urisk = -alpha / 2 * mean_size
    return urisk, math.sqrt((1 + (1 + alpha) ** 2) / 2 * mean_square - urisk**2)


def _churn_of(d: FloatArray, alpha: float) -> tuple[float, float]:
    return _churn(alpha, mean_size=mean(np.abs(d)), mean_square=mean(d**2))


class Basis:
    """Changes to plan from: those that a ruling is about, or normal ones of which there is only what churn does.

    An effect is a fall of URisk, or of the mean where churn only warns: then URisk and the mean alone must both fail.
    If the mean falls by f while topics move as far as they did, URisk is ``-(alpha/2) mean|d| - (1 + alpha/2) f``.
    ``churn`` is how far URisk then lies below 0 for f = 0; ``deviation`` the standard deviation of the trade-off
    scores over topics, or clusters, divisor n - 1.
    """

    def __init__(self, ruling: Ruling, *, power: float = POWER, assumed: tuple[float, float] | None = None) -> None:
        self.ruling, self.gate, self.alpha, self.assumed = ruling, ruling.gate, ruling.alpha, assumed
        self.evidence, self.n = ruling.evidence, ruling.evidence.units
        self.asked: dict[str, Any] = {"level": ruling.gate.level, "power": power}
        self.urisk, self.deviation = assumed or (
            ruling.estimate,
            (ruling.test.standard_error or 0.0) * math.sqrt(self.n),
        )
        self.churn = -self.urisk
        if assumed is None:
            self.churn = self.evidence.estimate(0.0) * (1 + self.alpha / 2) - self.urisk
        #: The same for the mean alone, at alpha 0 and tolerance 0; None where the gate does not ask about it.
        self.of_mean: Basis | None = None
        if self.gate.on_churn == "warn" and self.alpha > 0:
            of_sizes = assumed and _churn_of(self.evidence.differences, 0.0)
            self.of_mean = Basis(ruling.plain, power=power, assumed=of_sizes)

    @property
    def minimum_detectable_effect(self) -> float | None:
        """The smallest effect, tolerance included, that fails the gate with this power; None where nothing can."""
        if not self.ruling.has_intervals or cannot_fail(self.ruling):
            return None
        if self.of_mean is None:
            return self._detectable
        if self.evidence.kind != "linear":  # its scores are in no unit of the measure
            return self.of_mean._detectable
        return max(self.of_mean._detectable, (self._detectable - self.churn) / (1 + self.alpha / 2))

    @property
    def _detectable(self) -> float:
        """The smallest fall of the estimate below 0 that fails the rule at this alpha."""
        critical = self.ruling.critical(side="upper")
        effect = minimum_detectable_effect(self.deviation, self.n, critical=critical, **self.asked)
        return self.gate.tolerance + effect

    @property
    def churn_power(self) -> float | None:
        """The power for differences of the same sizes, signs alternating from the largest to the smallest.

        None where it is not known: replicates subtract churn already, the smooth trade-off has no closed form for
        it, and with weights or clusters it depends on which topics move.
        """
        evidence = self.evidence
        if evidence.kind != "linear" or evidence.noisy or not evidence.counts_alike:
            return None
        d = evidence.differences
        if not np.any(d) or not self.ruling.enough_topics:
            return None
        if cannot_fail(self.ruling):
            return 0.0
        signs = np.ones(self.n)
        signs[np.argsort(-np.abs(np.round(d, 12)), kind="stable")[::2]] = -1.0
        balanced = Ruling(self.gate, replace(evidence, differences=np.abs(d) * signs))
        return power_of(
            self.churn - self.gate.tolerance,
            (self.assumed or _churn_of(d, self.alpha))[1],
            self.n,
            level=self.gate.level,
            critical=balanced.critical(side="upper"),
        )

    def units_for(self, effect: float) -> int | None:
        """How many topics, or clusters, this effect needs."""
        fall = effect if self.of_mean is None else (1 + self.alpha / 2) * effect + self.churn
        needed = self._units(fall - self.gate.tolerance, "upper")
        if needed is None or self.of_mean is None:
            return needed
        of_mean = self.of_mean.units_for(effect)
        return None if of_mean is None else max(needed, of_mean)

    @property
    def units_to_show(self) -> int | None:
        """With how many topics, or clusters, a gate that asks for a lower limit, or both, would pass."""
        tolerance = self.gate.tolerance
        if self.gate.side != "both":
            return self._units(self.urisk + tolerance, "lower")
        far, near = ("lower", "upper") if self.urisk <= 0 else ("upper", "lower")
        criticals = self.ruling.critical(side=far), self.ruling.critical(side=near)
        return topics_for_equivalence(
            self.deviation, self.urisk, tolerance=tolerance, criticals=criticals, n=self.n, **self.asked
        )

    def _units(self, distance: float, side: str) -> int | None:
        critical = self.ruling.critical(side=side)
        return topics_needed(self.deviation, distance, critical=critical, n=self.n, **self.asked)


def _in_topics(units: int | None, evidence: Evidence, *, least: int = 0) -> int | None:
    """So many units in topics, for clusters that are as large as these."""
    return None if units is None else math.ceil(max(units, least) * evidence.n / evidence.units)


@frozen
class Effect:
    """A fall below 0, and the topics needed to detect it with the power that is asked for.

    It is a fall of URisk, or of the mean where churn only warns: the gate must then fail for the mean alone, too.
    ``topics_needed`` is None without anything to plan from, and where no number of topics is enough.
    """

    size: float
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
        The probability that a change which moves topics as much and leaves the mean unchanged fails; None for
        clusters, where it is not known.
    effects
        One for each effect that was asked about: `size`, `topics_needed`.
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
    ``effects`` are sizes of falls as in ``Effect``: positive, in units of the measure; the trade-off is the linear
    one, whose unit that is. ``DataError`` if the two are not scored on the same topics.
    """
    nothing = replace(baseline, values=np.zeros_like(baseline.values))
    systems = (baseline, nothing) if candidate is None else (candidate, baseline)
    evidence = Evidence.between(align(gate, *systems, topics=topics), tradeoff="linear")
    n, changed, assumed, ruling = evidence.units, evidence.changed(gate.alpha), None, Ruling(gate, evidence)
    share = evidence.stakes(gate.alpha)[0].size / n
    if candidate is None:
        assert correlation is not None
        error = mean_test(evidence.scores(0.0)).standard_error or 0.0
        spread = error * math.sqrt(n) * math.sqrt(2 * (1 - correlation))
        ruling = Ruling(gate, Evidence.of(spread * ndtri((np.arange(1, n + 1) - 0.5) / n)))
        assumed = _churn(gate.alpha, mean_size=spread * math.sqrt(2 / math.pi), mean_square=spread**2)
        changed, share = int(spread > 0) * n, 1.0
    basis, has_basis = Basis(ruling, power=power, assumed=assumed), changed > 0 and n > 1
    decides, observed = has_basis and ruling.enough_topics, candidate is not None
    largest, many = ruling.evidence.largest_loss, max(n, MIN_TOPICS)
    fewest = 1 + bisect_left(
        range(1, many + 1), True, key=lambda count: could_fail(gate, count, n, largest_loss=largest)
    )

    def topics_for(effect: float) -> int | None:
        """Enough topics must change, too, at the share seen here."""
        needed = basis.units_for(effect) if has_basis else None
        of_changes = math.ceil((fewest if fewest <= many else 1) / share) if has_basis else 0
        return _in_topics(needed, evidence, least=max(MIN_TOPICS, of_changes))

    shown = _in_topics(basis.units_to_show, evidence, least=MIN_TOPICS) if observed and has_basis else None
    settings: Any = {
        name: getattr(gate, name) for name in ("alpha", "level", "method", "tolerance", "on_churn", "slice")
    }
    return Plan(
        **settings,
        measure=baseline.measure,
        power=power,
        candidate=None if candidate is None else candidate.name,
        baseline=baseline.name,
        correlation=correlation,
        topics=evidence.n,
        clusters=None if evidence.clusters is None else n,
        changed=changed if observed else None,
        changes_needed=fewest if fewest <= many else None,
        urisk=basis.urisk,
        standard_deviation=basis.deviation if n > 1 else None,
        cannot_fail=observed and (changed == 0 or cannot_fail(ruling)),
        minimum_detectable_effect=basis.minimum_detectable_effect if decides else None,
        churn_power=basis.churn_power if decides else None,
        effects=tuple(Effect(size, topics_for(size)) for size in effects),
        topics_for_tolerance=shown,
    )
