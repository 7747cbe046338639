"""From two systems' scores to a verdict."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.gates.align import align
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.explain import alpha_star, flip_set, responsible_topics
from pytest_riskguard.gates.notices import notices
from pytest_riskguard.gates.spec import Gate
from pytest_riskguard.gates.verdict import (
    Estimates,
    Inputs,
    Outcome,
    Power,
    ReportedInterval,
    TopicCounts,
    Verdict,
)
from pytest_riskguard.inference import cannot_fail, minimum_detectable_effect, sign_flip
from pytest_riskguard.risk import counts, freward, frisk, trisk
from pytest_riskguard.risk.checks import mean


def judge(gate: Gate, candidate: TopicScores, baseline: TopicScores, *, rescored: bool = False) -> Verdict:
    """Ask the gate's question of two systems' scores on the same topics.

    Data that cannot be compared give an ``incomparable`` verdict, never an exception: what a way in makes of it
    is its own affair. ``rescored`` says that a stored baseline was scored anew because judgements changed.

    Raises
    ------
    ValueError
        The two were scored with different measures: the question itself is wrong.
    """
    if candidate.measure != baseline.measure and None not in (candidate.measure, baseline.measure):
        raise ValueError(f"candidate was scored with {candidate.measure}, baseline with {baseline.measure}")
    try:
        comparison = Comparison(gate, align(gate, candidate, baseline))
    except DataError as error:
        return incomparable(
            gate,
            error,
            measure=candidate.measure or baseline.measure,
            candidate=candidate.name,
            baselines=(baseline.name,),
            inputs=_inputs(candidate, baseline),
        )
    return _verdict(comparison, rescored=rescored)


def incomparable(
    gate: Gate,
    error: DataError,
    *,
    measure: str | None,
    candidate: str,
    baselines: tuple[str, ...],
    inputs: Inputs | None = None,
) -> Verdict:
    """The verdict on data that cannot be compared."""
    return replace(
        _unanswered(gate, measure=measure, candidate=candidate, baselines=baselines, inputs=inputs),
        outcome="incomparable",
        reason=error.reason,
        problem=error.problem,
    )


def _unanswered(
    gate: Gate, *, measure: str | None, candidate: str, baselines: tuple[str, ...], inputs: Inputs | None
) -> Verdict:
    """The question as the verdict repeats it; the answer is still to come."""
    return Verdict(
        gate=gate.name,
        kind=gate.kind,
        outcome="inconclusive",
        reason=None,
        warnings=(),
        measure=measure,
        alpha=gate.alpha,
        tradeoff=gate.tradeoff,
        level=gate.level,
        method=gate.method,
        tolerance=gate.tolerance,
        on_churn=gate.on_churn,
        on_inconclusive=gate.on_inconclusive,
        missing=gate.missing,
        candidate=candidate,
        baselines=baselines,
        inputs=inputs,
    )


def _inputs(candidate: TopicScores, baseline: TopicScores) -> Inputs | None:
    digests = (candidate.digest, candidate.qrels_digest, baseline.digest, baseline.qrels_digest)
    if digests == (None,) * 4:
        return None
    return Inputs(
        qrels=candidate.qrels_digest or baseline.qrels_digest,
        candidate=candidate.digest,
        baselines={baseline.name: baseline.digest},
    )


def _verdict(comparison: Comparison, *, rescored: bool) -> Verdict:
    candidate, baseline = comparison.aligned.candidate, comparison.aligned.baseline
    power = _power(comparison)
    outcome, reason = _outcome(comparison, power)
    losers, winners = responsible_topics(comparison, failing=outcome == "fail")
    question = _unanswered(
        comparison.gate,
        measure=candidate.measure or baseline.measure,
        candidate=candidate.name,
        baselines=(baseline.name,),
        inputs=_inputs(candidate, baseline),
    )
    return replace(
        question,
        outcome=outcome,
        reason=reason,
        warnings=notices(comparison, outcome, rescored=rescored),
        topics=_topics(comparison),
        estimates=_estimates(comparison, judged=outcome != "inconclusive"),
        intervals=_intervals(comparison),
        responsible_topics=losers,
        flagged_wins=winners,
        power=power,
    )


def _outcome(comparison: Comparison, power: Power) -> tuple[Outcome, str | None]:
    if not comparison.enough_topics or comparison.decision is None or comparison.plain is None:
        return "inconclusive", "too_few_topics"
    if not comparison.decision.passes:
        if not comparison.plain.passes:
            return "fail", "loss"
        if comparison.gate.on_churn != "warn":
            return "fail", "churn"
    wanted, seen = comparison.gate.max_mde, power.minimum_detectable_effect
    if wanted is not None and not (seen is not None and seen <= wanted):
        return "inconclusive", "too_weak"
    return "pass", None


def _topics(comparison: Comparison) -> TopicCounts:
    aligned = comparison.aligned
    tally = counts(aligned.candidate.values, aligned.baseline.values)
    return TopicCounts(
        count=comparison.n,
        changed=comparison.changed,
        wins=tally.wins,
        losses=tally.losses,
        ties=tally.ties,
        losses_over_20_percent=tally.losses_over_20_percent,
        missing_in_candidate=aligned.missing_in_candidate,
        missing_in_baseline=aligned.missing_in_baseline,
        unknown_in_candidate=aligned.candidate.unknown,
        without_relevant=tuple(sorted({*aligned.candidate.without_relevant, *aligned.baseline.without_relevant})),
    )


def _estimates(comparison: Comparison, *, judged: bool) -> Estimates:
    gate, differences = comparison.gate, comparison.differences
    test = trisk(differences, alpha=gate.alpha)
    return Estimates(
        candidate_mean=mean(comparison.aligned.candidate.values),
        baseline_mean=mean(comparison.aligned.baseline.values),
        mean_difference=comparison.mean_difference,
        urisk=test.estimate,
        frisk=frisk(differences),
        freward=freward(differences),
        standard_error=test.standard_error,
        trisk=test.statistic,
        p_value=test.p_value,
        sign_flip_p_value=sign_flip(differences).p_value,
        mean_absolute_difference=mean(np.abs(differences)),
        alpha_star=alpha_star(gate, differences) if judged else None,
        flip_set=flip_set(gate, comparison.aligned.candidate.topics, differences) if judged else None,
    )


def _intervals(comparison: Comparison) -> tuple[ReportedInterval, ...]:
    if comparison.decision is None:
        return ()
    decisive = comparison.decision.decisive if comparison.enough_topics else None
    return tuple(
        ReportedInterval(i.method, i.level, i.lower, i.upper, decisive=i.method == decisive)
        for i in comparison.decision.intervals
    )


def _power(comparison: Comparison) -> Power:
    """What the gate could have seen: the loss beyond its tolerance that it would have failed for, 4 times of 5.

    Of URisk; of the mean difference where churn only warns, for then nothing less fails the gate. None where this few
    changed topics cannot fail it at all.
    """
    gate, n = comparison.gate, comparison.n
    if n < 2 or (comparison.changed > 0 and cannot_fail(comparison.changed, n, level=gate.level)):
        return Power()
    error = trisk(comparison.differences, alpha=0.0 if gate.on_churn == "warn" else gate.alpha).standard_error
    seen = minimum_detectable_effect((error or 0.0) * math.sqrt(n), n, level=gate.level)
    return Power(minimum_detectable_effect=gate.tolerance + seen)
