"""What a gate could see with these topics, and how many it needs: from two systems, or from a baseline alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.gates.alignment import align
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.decision import Decision, decide, fewest_changes
from pytest_riskguard.gates.evidence import Evidence, FloatArray
from pytest_riskguard.gates.spec import FEWEST_TOPICS, Gate
from pytest_riskguard.inference import (
    Interval,
    cannot_fail,
    minimum_detectable_effect,
    observed_critical,
    power_of,
    topics_for_tolerance,
    topics_needed,
)
from pytest_riskguard.risk import linear
from pytest_riskguard.risk.checks import mean


@dataclass(frozen=True)
class Effect:
    """A fall of URisk, and what it takes to see it.

    Attributes
    ----------
    size : float
        How far URisk falls below 0, in units of the measure.
    power : float or None
        The chance that the gate fails for it with the topics at hand; None where there is nothing to plan from.
    topics_needed : int or None
        From so many topics on the chance is the one asked for; None where no number of topics is enough.
    """

    size: float
    power: float | None
    topics_needed: int | None


@dataclass(frozen=True)
class Plan:
    """What one gate can see.

    Attributes
    ----------
    measure, alpha, level, method, tolerance
        As the gate asks.
    power : float
        The chance of seeing an effect that is asked for.
    candidate : str or None
        None where differences were assumed.
    baseline : str
        The system planned against.
    slice : str or None
        ``TAG=VALUE``: the topics that the gate is about; None for all.
    correlation : float or None
        Assumed between scores of candidate and baseline over topics; None where differences were observed.
    topics : int
        At hand.
    changed, changes_needed : int or None
        Topics that changed, and the fewest changed topics with which the gate could fail, whatever their values.
    urisk, standard_deviation : float, float or None
        Of the trade-off scores, in units of the measure; the deviation is None for a single topic.
    decisive : str or None
        The interval that decides.
    critical : float or None
        How many standard errors its upper limit lies above the mean; None where scores do not vary.
    cannot_fail : bool
        Whether no values at all of this many changed topics would fail the gate.
    minimum_detectable_effect : float or None
        The smallest fall of URisk below 0 that is seen with this power, the tolerance included; None where the gate
        cannot fail, has too few topics, or nothing changed.
    churn, churn_power : float, float or None
        URisk of a change that moves topics as much and leaves the mean alone, and the chance that the gate fails for
        it.
    effects : tuple of Effect
        Those asked for.
    topics_for_tolerance : int or None
        From so many topics on a URisk like this one would be shown not to be below ``-tolerance``; None where no
        number of topics would, or differences were assumed.
    """

    measure: str | None
    alpha: float
    level: float
    method: str
    tolerance: float
    power: float
    candidate: str | None
    baseline: str
    slice: str | None
    correlation: float | None
    topics: int
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


def plan_from_runs(
    gate: Gate, candidate: TopicScores, baseline: TopicScores, *, power: float, effects: Sequence[float]
) -> Plan:
    """Plan for changes like the one between these two systems.

    Parameters
    ----------
    gate : Gate
        The question to plan for.
    candidate, baseline : TopicScores
        Scores with the same measure.
    power : float
        In (0, 1).
    effects : sequence of float
        Falls of URisk below 0, above 0 each, in units of the measure.

    Raises
    ------
    DataError
        The two are not scored on the same topics.
    ValueError
        A power or an effect out of range.
    """
    comparison = Comparison(gate, align(gate, candidate, baseline))
    return _plan(
        gate,
        comparison.differences,
        comparison.decision,
        moments=_Moments(
            urisk=mean(comparison.evidence.scores(gate.alpha)),
            deviation=_deviation(comparison.evidence.scores(gate.alpha)),
            mean_size=mean(np.abs(comparison.differences)),
            mean_square=mean(comparison.differences**2),
        ),
        changed=comparison.changed,
        measure=candidate.measure or baseline.measure,
        names=(candidate.name, baseline.name),
        correlation=None,
        power=power,
        effects=effects,
    )


def plan_from_baseline(
    gate: Gate, baseline: TopicScores, *, correlation: float, power: float, effects: Sequence[float]
) -> Plan:
    """Plan for a candidate that does not exist yet.

    It is assumed to vary over topics as the baseline does and to be correlated with it, so that differences have
    variance ``2 (1 - correlation)`` times the baseline's; and differences are taken as normal with mean 0. The
    critical value is that of the interval on the n normal quantiles that stand for such differences.

    Parameters
    ----------
    gate, power, effects
        As for ``plan_from_runs``.
    baseline : TopicScores
        Whose scores vary as those to come.
    correlation : float
        Between scores of candidate and baseline over topics, from -1 to 1.

    Raises
    ------
    ValueError
        A power, an effect or a correlation out of range.
    """
    if not -1 <= correlation <= 1:
        raise ValueError(f"correlation must be between -1 and 1, got {correlation!r}")
    n = len(baseline.topics)
    spread = (_deviation(baseline.values) or 0.0) * math.sqrt(2 * (1 - correlation))
    d = spread * ndtri((np.arange(1, n + 1) - 0.5) / n)
    moments = _Moments(0.0, None, mean_size=spread * math.sqrt(2 / math.pi), mean_square=spread**2)
    churn, deviation = moments.of_churn(gate.alpha)
    return _plan(
        gate,
        d,
        decide(gate, Evidence.of(d), alpha=gate.alpha) if n > 1 else None,
        moments=replace(moments, urisk=churn, deviation=deviation if n > 1 else None),
        changed=None,
        measure=baseline.measure,
        names=(None, baseline.name),
        correlation=correlation,
        power=power,
        effects=effects,
    )


def _deviation(values: FloatArray) -> float | None:
    """Divisor n - 1; None for a single topic."""
    if values.size < 2:
        return None
    return math.sqrt(math.fsum((values - mean(values)) ** 2) / (values.size - 1))


@dataclass(frozen=True)
class _Moments:
    """URisk and deviation of the trade-off scores; mean size and mean square of the differences behind them."""

    urisk: float
    deviation: float | None
    mean_size: float
    mean_square: float

    def of_churn(self, alpha: float) -> tuple[float, float]:
        """Mean and deviation of the trade-off scores if a win and a loss of each size were equally likely.

        E x = -(alpha/2) E|d| and E x^2 = (1 + (1 + alpha)^2)/2 E d^2.
        """
        churn = -alpha / 2 * self.mean_size
        return churn, math.sqrt((1 + (1 + alpha) ** 2) / 2 * self.mean_square - churn**2)


def _decisive(decision: Decision) -> Interval:
    return next(interval for interval in decision.intervals if interval.method == decision.decisive)


def _balanced(differences: FloatArray) -> FloatArray:
    """The same sizes, signs alternating from the largest to the smallest: a change that leaves the mean alone."""
    sizes = np.sort(np.abs(differences))[::-1]
    return np.where(np.arange(sizes.size) % 2 == 0, -sizes, sizes)


def _plan(
    gate: Gate,
    differences: FloatArray,
    decision: Decision | None,
    *,
    moments: _Moments,
    changed: int | None,
    measure: str | None,
    names: tuple[str | None, str],
    correlation: float | None,
    power: float,
    effects: Sequence[float],
) -> Plan:
    if gate.tradeoff != "linear":
        raise ValueError(
            f"planning is for the linear trade-off, whose effects are in units of the measure, got {gate.tradeoff!r}"
        )
    x, deviation = linear(differences, alpha=gate.alpha), moments.deviation
    n, tolerance = x.size, gate.tolerance
    decisive = None if decision is None else _decisive(decision)
    upper = None if decisive is None else observed_critical(x, decisive, side="upper")
    lower = None if decisive is None else observed_critical(x, decisive, side="lower")
    needed = _changes_needed(gate, n) if n > 1 else None
    stuck = changed is not None and needed is not None and changed < needed
    nothing = deviation is None or changed == 0 or (changed is None and deviation == 0)

    def chance(effect: float) -> float | None:
        if deviation is None or nothing or n < FEWEST_TOPICS:
            return None
        if stuck:
            return 0.0
        return power_of(effect - tolerance, deviation, n, level=gate.level, critical=upper)

    def churn_chance() -> float | None:
        if nothing or n < FEWEST_TOPICS:
            return None
        if stuck:
            return 0.0
        balanced = _balanced(differences)
        interval = _decisive(decide(gate, Evidence.of(balanced), alpha=gate.alpha))
        critical = observed_critical(linear(balanced, alpha=gate.alpha), interval)
        mean_x, deviation_x = moments.of_churn(gate.alpha)
        return power_of(-mean_x - tolerance, deviation_x, n, level=gate.level, critical=critical)

    def enough(effect: float) -> int | None:
        if deviation is None or nothing or effect <= tolerance:
            return None
        found = topics_needed(
            deviation,
            effect - tolerance,
            level=gate.level,
            power=power,
            critical=upper,
            n=None if upper is None else n,
        )
        if found is None:
            return None
        # the same share of topics changed must be changes enough
        share = 1.0 if changed is None else changed / n
        return max(found, FEWEST_TOPICS, math.ceil((needed or 1) / share))

    seen = None
    if deviation is not None and not nothing and not stuck and n >= FEWEST_TOPICS:
        seen = tolerance + minimum_detectable_effect(deviation, n, level=gate.level, power=power, critical=upper)
    shown = None
    if deviation is not None and not nothing and correlation is None:
        shown = topics_for_tolerance(
            deviation,
            moments.urisk,
            tolerance=tolerance,
            level=gate.level,
            power=power,
            critical=lower,
            n=None if lower is None else n,
        )
    return Plan(
        measure=measure,
        alpha=gate.alpha,
        level=gate.level,
        method=gate.method,
        tolerance=tolerance,
        power=power,
        candidate=names[0],
        baseline=names[1],
        slice=gate.slice,
        correlation=correlation,
        topics=n,
        changed=changed,
        changes_needed=needed,
        urisk=moments.urisk,
        standard_deviation=deviation,
        decisive=None if decisive is None else decisive.method,
        critical=upper,
        cannot_fail=stuck,
        minimum_detectable_effect=seen,
        churn=moments.of_churn(gate.alpha)[0],
        churn_power=churn_chance(),
        effects=tuple(Effect(effect, chance(effect), enough(effect)) for effect in effects),
        topics_for_tolerance=None if shown is None else max(shown, FEWEST_TOPICS),
    )


def _changes_needed(gate: Gate, n: int) -> int | None:
    """The fewest changed topics with which this gate could fail; None where not even all of them are enough.

    With fewer than ``fewest_changes`` the interval must agree with Student-t; from there on it decides alone.
    """
    student = next((m for m in range(1, n + 1) if not cannot_fail(m, n, level=gate.level)), None)
    if gate.method == "student_t":
        return student
    alone = fewest_changes(gate.level)
    found = [m for m in (student, alone) if m is not None and m <= n]
    return min(found, default=None)
