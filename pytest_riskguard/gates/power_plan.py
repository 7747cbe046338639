"""What a gate can detect and how many topics it needs: in a verdict, from two systems, or from a baseline alone."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.distributions import ndtri
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.alignment import align
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.findings import Power
from pytest_riskguard.gates.kinds import MIN_TOPICS, Gate
from pytest_riskguard.gates.ruling import Comparison, Ruling, could_fail
from pytest_riskguard.inference.break_even import break_even_quantile
from pytest_riskguard.inference.intervals import critical_value
from pytest_riskguard.inference.power import (
    minimum_detectable_effect,
    neyman,
    power_of,
    stratified_error,
    topics_for_equivalence,
    topics_for_tolerance,
    topics_needed,
)
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, mean
from pytest_riskguard.risk.urisk import mean_test


def refuse_smooth(gate: Gate) -> None:
    """``ValueError`` for the smooth trade-off."""
    if gate.tradeoff != "linear":
        raise ValueError(f"plans need the linear trade-off, whose unit is that of the measure, got {gate.tradeoff!r}")


def of_one(gate: Gate, system: TopicScores, topics: Topics | None) -> Evidence:
    """The evidence that a system's scores would be, against one that scores 0 everywhere."""
    nothing = replace(system, values=np.zeros_like(system.values))
    return Evidence.between(align(gate, system, nothing, topics=topics), tradeoff="linear")


@frozen
class StratumDraw:
    """How many topics of a stratum are judged, how much they vary, and how many to judge next."""

    stratum: str
    share: float
    topics: int
    standard_deviation: float
    next: int


@frozen
class NextTopics:
    """How the next topics are best divided among strata, and what that does for URisk's standard error."""

    measure: str | None
    alpha: float
    candidate: str | None
    baseline: str
    strata: tuple[StratumDraw, ...]
    standard_error: float
    standard_error_after: float


#: With fewer topics, or clusters, a stratum is taken to vary as all strata do.
ENOUGH_TO_VARY = 5


def next_topics(
    gate: Gate, candidate: TopicScores | None, baseline: TopicScores, more: int, *, topics: Topics | None
) -> NextTopics:
    """Divide ``more`` topics among strata by Neyman's rule.

    Deviations are those of trade-off scores, or without a candidate of the baseline's scores: for any correlation
    between the two they have the same ratios. Clusters are taken to stay as large as they are. ``ValueError`` where
    the topics have no strata; else raises like ``align``.
    """
    refuse_smooth(gate)
    if candidate is None:
        evidence, alpha = of_one(gate, baseline, topics), 0.0
    else:
        evidence, alpha = Comparison(gate, align(gate, candidate, baseline, topics=topics)).evidence, gate.alpha
    if evidence.strata is None:
        raise ValueError(
            "--next: the topics have no strata; declare their shares (`strata` of `collection` in a riskguard.yaml), "
            "and ask about no slice"
        )
    parts = [part for _, part in evidence.by_stratum]
    counts, shares = np.array([part.n for part in parts]), evidence.strata.shares
    units = np.array([part.units for part in parts])
    variances = np.array([float(np.var(part.scores(alpha), ddof=1)) / part.units for part in parts]) * counts
    known = units >= ENOUGH_TO_VARY
    pooled = float(np.sum((units - 1) * variances) / np.sum(units - 1))
    deviations = np.sqrt(np.where(known, variances, pooled))
    given = neyman(counts, shares, deviations, more=more)
    columns = (array.tolist() for array in (shares, counts, deviations, given))
    rows = zip(evidence.strata.names, *columns, strict=True)
    return NextTopics(
        baseline.measure,
        alpha,
        None if candidate is None else candidate.name,
        baseline.name,
        tuple(StratumDraw(*row) for row in rows),
        stratified_error(counts, shares, deviations),
        stratified_error(counts + given, shares, deviations),
    )


#: Pull requests that are drawn, signs of topics that are held for them, and the fewest that say anything.
DRAWS, MAX_SIGNS, MIN_DRAWS = 4000, 4_000_000, 400
#: How many of the draws that may fail are judged by the whole rule.
JUDGED = 20
#: The seed of the fixed generator.
SEED = 20140706
#: How far beyond the threshold of the break-even test, which is known to a hundredth of its spread, a draw may fail.
_BEYOND = 0.02


@frozen
class Chances:
    """How many of 100 pull requests fail as a ``loss``, and as ``churn``, if the mean falls by ``size``."""

    size: float
    loss: float
    churn: float


@frozen
class PolicyCost:
    """False alarms of 100 ``harmless`` pull requests, and failures of 100 ``harmful`` ones for each size of harm."""

    harmless: Chances
    harmful: tuple[Chances, ...]


def policy_cost(gate: Gate, differences: FloatArray, sizes: Sequence[float]) -> PolicyCost | None:
    """What a gate costs and sees, if pull requests move topics as these ``differences`` do.

    Each topic moves that far, up or down by chance. A harmless pull request leaves the mean alone: wins and losses
    have equal chances. In a harmful one losses are so much more likely that the mean falls by a stated size; where
    even losses alone are too little, all are larger. All draws, from a fixed generator, are judged by Student-t and
    the break-even test, which for sizes that stay the same are two thresholds. Where neither finds a loss the gate
    passes. Of the others, in the order of Student-t's statistic, so many equally spaced ones are judged by the whole
    rule.

    ``sizes`` are falls of the mean in units of the measure. None below 10 topics, where nothing changed, and for so
    many topics that too few pull requests could be drawn. ``ValueError`` for a gate without an upper limit, and for
    a size that is not above 0.
    """
    if not gate.is_tested or gate.is_pool:
        raise ValueError(f"expected a gate that asks about the upper limit of URisk, got {gate.kind}")
    if any(not (math.isfinite(size) and size > 0) for size in sizes):
        raise ValueError(f"sizes of harm must be finite and above 0, got {list(sizes)}")
    moved = np.abs(differences[np.abs(differences) > ROUNDING_ERROR])
    draws = min(DRAWS, MAX_SIGNS // max(moved.size, 1))
    if differences.size < MIN_TOPICS or moved.size == 0 or draws < MIN_DRAWS:
        return None
    uniform = np.random.default_rng(SEED).random((draws, moved.size), dtype=np.float32)
    moved = np.sort(moved)[::-1]
    chances = [_chances(gate, moved, differences.size, uniform, size) for size in (0.0, *sizes)]
    return PolicyCost(chances[0], tuple(chances[1:]))


def _chances(gate: Gate, moved: FloatArray, n: int, uniform: npt.NDArray[np.float32], size: float) -> Chances:
    """For one size of harm; ``uniform``, shape (draws, changed), decides which topics lose."""
    fall = size * n / float(np.sum(moved))  # as a share of all movement
    signs = np.where(uniform < (1 + min(fall, 1.0)) / 2, -1.0, 1.0).astype(np.float64)
    drawn = Drawn(gate, moved * max(fall, 1.0), signs, n)
    failing = drawn.share_of(lambda ruling: not ruling.holds, at=gate.alpha, tolerance=gate.tolerance)
    loss = failing
    if gate.alpha:
        loss = drawn.share_of(lambda ruling: not (ruling.plain.passes or ruling.holds), at=0.0, tolerance=0.0)
    loss = min(loss, failing)
    return Chances(size, 100 * loss, 100 * (failing - loss))


@frozen
class Drawn:
    """Draws of pull requests: sizes of the changes, their signs (draws, changed), and the number of topics."""

    gate: Gate
    moved: FloatArray
    signs: FloatArray
    n: int

    def share_of(self, fails: Callable[[Ruling], bool], *, at: float, tolerance: float) -> float:
        """The share of draws that fail; those that can fail at this alpha and tolerance are judged in part."""
        statistics, may_fail = self.screened(at, tolerance)
        places = np.flatnonzero(may_fail)
        if not places.size:
            return 0.0
        places = places[np.argsort(statistics[places], kind="stable")]
        if places.size > JUDGED:
            places = places[((np.arange(JUDGED) + 0.5) * places.size / JUDGED).astype(np.intp)]
        failed = [fails(Ruling(self.gate, Evidence.of(self.differences(int(place))))) for place in places]
        return float(np.mean(failed) * np.count_nonzero(may_fail) / self.signs.shape[0])

    def differences(self, place: int) -> FloatArray:
        """One of the draws, shape (n_topics,)."""
        values = np.zeros(self.n)
        values[: self.moved.size] = self.signs[place] * self.moved
        return values

    def screened(self, alpha: float, tolerance: float) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Student-t's statistic at this alpha and tolerance, and whether it or the break-even test finds a loss."""
        weights = np.where(self.signs < 0, -(1 + alpha), 1.0)
        sums, squares = weights @ self.moved, (weights**2) @ (self.moved**2)
        variances = np.maximum(squares - sums**2 / self.n, 0.0) / (self.n - 1)
        tolerated = tolerance * self.n
        with np.errstate(divide="ignore", invalid="ignore"):
            statistics = (sums + tolerated) / np.sqrt(variances * self.n)
        statistics = np.where(variances > 0, statistics, np.where(sums + tolerated < 0, -np.inf, np.inf))
        by_student_t = statistics <= -critical_value(self.n, level=self.gate.level) * (1 - 1e-9)
        if self.gate.method == "student_t":
            return statistics, by_student_t
        p = (1 - self.gate.level) / 2
        lowest = break_even_quantile(self.moved, (1 + alpha) * self.moved, p, tolerated=tolerated)
        spread = float(np.sqrt(np.mean(self.moved**2) * self.moved.size * (1 + alpha)))
        return statistics, by_student_t | (sums <= lowest + _BEYOND * spread)


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


@frozen
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
        fewest = bisect_left(range(1, n + 1), True, key=self._could_fail) + 1
        return fewest if fewest <= n else None

    def _could_fail(self, changed: int) -> bool:
        """Whether the gate could fail if so many topics, or clusters, changed; if it could, it could with more."""
        return could_fail(self.gate, changed, max(self.n, MIN_TOPICS), largest_loss=self.evidence.largest_loss)

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
