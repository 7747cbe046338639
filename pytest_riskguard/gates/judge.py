"""From two systems' scores to a verdict."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.gates.decision import (
    FEW_TOPICS,
    FEWEST_TOPICS,
    Decision,
    FloatArray,
    changed_topics,
    decide,
    fewest_changes,
    reaches,
)
from pytest_riskguard.gates.explain import alpha_star, flip_set, responsible_topics
from pytest_riskguard.gates.spec import Gate
from pytest_riskguard.gates.verdict import (
    Estimates,
    Inputs,
    Notice,
    Power,
    ReportedInterval,
    TopicCounts,
    Verdict,
)
from pytest_riskguard.inference import cannot_fail, minimum_detectable_effect, sign_flip, topics_needed
from pytest_riskguard.risk import counts, freward, frisk, linear, trisk
from pytest_riskguard.risk.paired import CHANGED


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
        candidate, baseline, filled = _on_the_same_topics(gate, candidate, baseline)
    except DataError as error:
        return incomparable(
            gate,
            error,
            measure=candidate.measure,
            candidate=candidate.name,
            baselines=(baseline.name,),
            inputs=_inputs(candidate, baseline),
        )
    return _Comparison(gate, candidate, baseline, filled, rescored).verdict()


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
    return _blank(
        gate,
        outcome="incomparable",
        reason=error.reason,
        measure=measure,
        candidate=candidate,
        baselines=baselines,
        inputs=inputs,
        problem=error.problem,
    )


def _blank(gate: Gate, **known: object) -> Verdict:
    return Verdict(
        gate=gate.name,
        kind=gate.kind,
        alpha=gate.alpha,
        tradeoff=gate.tradeoff,
        level=gate.level,
        method=gate.method,
        tolerance=gate.tolerance,
        on_churn=gate.on_churn,
        on_inconclusive=gate.on_inconclusive,
        missing=gate.missing,
        warnings=(),
        **known,  # type: ignore[arg-type]
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


def _on_the_same_topics(
    gate: Gate, candidate: TopicScores, baseline: TopicScores
) -> tuple[TopicScores, TopicScores, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Both sides on one list of topics, and the topics that each lacked (scored 0 where the gate says so)."""
    digests = {candidate.qrels_digest, baseline.qrels_digest} - {None}
    if len(digests) > 1:
        raise DataError(
            f"{candidate.name} and {baseline.name} were scored with different qrels; score both with the same file",
            reason="inputs_changed",
        )
    ours, theirs = set(candidate.topics), set(baseline.topics)
    if not ours & theirs:
        raise DataError(
            f"{candidate.name} ({len(ours)} topics{_such_as(candidate.topics)}) and {baseline.name} "
            f"({len(theirs)} topics{_such_as(baseline.topics)}) have no topic in common",
            reason="no_common_topic",
        )
    lacking = tuple(sorted(theirs - ours)), tuple(sorted(ours - theirs))
    if not any(lacking):
        return candidate, baseline, lacking
    if gate.missing == "refuse":
        parts = [
            f"{name} lacks {len(topics)} topics: {', '.join(topics)}"
            for name, topics in zip((candidate.name, baseline.name), lacking, strict=True)
            if topics
        ]
        raise DataError(
            f"the topics differ: {'; '.join(parts)}; score both on the same topics, or let missing topics "
            "score 0 (missing: zero)",
            reason="topics_differ",
        )
    topics = tuple(sorted(ours | theirs))
    return _spread(candidate, topics), _spread(baseline, topics), lacking


def _such_as(topics: tuple[str, ...]) -> str:
    return f", such as {topics[0]!r}" if topics else ""


def _spread(scores: TopicScores, topics: tuple[str, ...]) -> TopicScores:
    values = dict(zip(scores.topics, scores.values, strict=True))
    return replace(scores, topics=topics, values=np.array([values.get(topic, 0.0) for topic in topics]))


class _Comparison:
    """One judgement in the making: everything computed once, then put into a verdict."""

    def __init__(
        self,
        gate: Gate,
        candidate: TopicScores,
        baseline: TopicScores,
        filled: tuple[tuple[str, ...], tuple[str, ...]],
        rescored: bool,
    ) -> None:
        self.gate, self.candidate, self.baseline, self.rescored = gate, candidate, baseline, rescored
        self.differences: FloatArray = candidate.values - baseline.values
        self.n = self.differences.size
        self.changed = changed_topics(self.differences)
        self.x = linear(self.differences, alpha=gate.alpha)
        self.missing_in_candidate = tuple(sorted({*candidate.unanswered, *filled[0]}))
        self.missing_in_baseline = tuple(sorted({*baseline.unanswered, *filled[1]}))
        self.decision: Decision | None = None
        self.plain: Decision | None = None
        if self.n >= 2:
            self.decision = decide(gate, self.differences, alpha=gate.alpha)
            self.plain = decide(gate, self.differences, alpha=0.0)

    def verdict(self) -> Verdict:
        gate = self.gate
        power = self._power()
        outcome, reason = self._outcome(power)
        failing = outcome == "fail"
        judged = outcome != "inconclusive"
        losers, winners = responsible_topics(gate, self.candidate, self.baseline, failing=failing)
        test = trisk(self.differences, alpha=gate.alpha)
        tally = counts(self.candidate.values, self.baseline.values)
        return replace(
            _blank(
                gate,
                outcome=outcome,
                reason=reason,
                measure=self.candidate.measure or self.baseline.measure,
                candidate=self.candidate.name,
                baselines=(self.baseline.name,),
                inputs=_inputs(self.candidate, self.baseline),
            ),
            warnings=tuple(self._warnings(outcome)),
            topics=TopicCounts(
                count=self.n,
                changed=self.changed,
                wins=tally.wins,
                losses=tally.losses,
                ties=tally.ties,
                losses_over_20_percent=tally.losses_over_20_percent,
                missing_in_candidate=self.missing_in_candidate,
                missing_in_baseline=self.missing_in_baseline,
                unknown_in_candidate=self.candidate.unknown,
                without_relevant=tuple(sorted({*self.candidate.without_relevant, *self.baseline.without_relevant})),
            ),
            estimates=Estimates(
                candidate_mean=_mean(self.candidate.values),
                baseline_mean=_mean(self.baseline.values),
                mean_difference=_mean(self.differences),
                urisk=test.estimate,
                frisk=frisk(self.differences),
                freward=freward(self.differences),
                standard_error=test.standard_error,
                trisk=test.statistic,
                p_value=test.p_value,
                sign_flip_p_value=sign_flip(self.differences).p_value,
                mean_absolute_difference=_mean(np.abs(self.differences)),
                alpha_star=alpha_star(gate, self.differences) if judged else None,
                flip_set=flip_set(gate, self.candidate.topics, self.differences) if judged else None,
            ),
            intervals=self._intervals(),
            responsible_topics=losers,
            flagged_wins=winners,
            power=power,
        )

    def _outcome(self, power: Power) -> tuple[str, str | None]:
        if self.n < FEWEST_TOPICS:
            return "inconclusive", "too_few_topics"
        assert self.decision is not None
        assert self.plain is not None
        if not self.decision.passes:
            if not self.plain.passes:
                return "fail", "loss"
            if self.gate.on_churn != "warn":
                return "fail", "churn"
        seen = power.minimum_detectable_effect
        if self.gate.max_mde is not None and not (seen is not None and seen <= self.gate.max_mde):
            return "inconclusive", "too_weak"
        return "pass", None

    def _power(self) -> Power:
        if self.n < 2:
            return Power()
        deviation = float(np.std(np.sort(self.x), ddof=1))
        level, tolerance = self.gate.level, self.gate.tolerance
        return Power(
            minimum_detectable_effect=minimum_detectable_effect(deviation, self.n, level=level),
            topics_for_tolerance=(
                topics_needed(deviation, tolerance, level=level) if tolerance > 0 and deviation > 0 else None
            ),
        )

    def _intervals(self) -> tuple[ReportedInterval, ...]:
        if self.decision is None:
            return ()
        decisive = self.decision.decisive if self.n >= FEWEST_TOPICS else None
        return tuple(
            ReportedInterval(i.method, i.level, i.lower, i.upper, decisive=i.method == decisive)
            for i in self.decision.intervals
        )

    def _warnings(self, outcome: str) -> list[Notice]:
        notices: list[Notice] = []

        def say(code: str, message: str) -> None:
            notices.append(Notice(code, message))

        if self.missing_in_candidate:
            say(
                "missing_topics",
                _named("the candidate did not answer", self.missing_in_candidate, scored=True),
            )
        if self.missing_in_baseline:
            say("missing_topics", _named("the baseline did not answer", self.missing_in_baseline, scored=True))
        if self.candidate.unknown:
            say(
                "unknown_topics",
                _named("the candidate answers topics nobody judged:", self.candidate.unknown),
            )
        if self.rescored:
            say(
                "rescored",
                "judgements or scoring library changed since the baseline was stored: it was scored anew from its run",
            )
        if self.n < FEWEST_TOPICS or self.decision is None or self.plain is None:
            return notices
        if self.changed == 0:
            say("no_variation", "no topic changed: both systems score the same everywhere")
        elif self.decision.intervals[0].lower == self.decision.intervals[0].upper:
            say("no_variation", "every topic changed by the same amount: the mean alone decides")
        if 0 < self.changed < fewest_changes(self.gate.level):
            say("few_changed_topics", self._few_changes())
        if self.n < FEW_TOPICS:
            say(
                "few_topics",
                f"only {self.n} topics: below {FEW_TOPICS} every interval covers less than it says, so BCa and "
                "Student-t must both pass",
            )
        if outcome == "pass" and not self.decision.passes:
            say(
                "churn",
                "fails at this alpha only because losses weigh more than wins; on_churn: warn lets it through",
            )
        if disagreement := self._disagreement(self.decision):
            say("methods_disagree", disagreement)
        better = next(i.lower for i in self.plain.intervals if i.method == self.plain.decisive)
        if self.decision.passes and better > 0 and self.changed >= fewest_changes(self.gate.level):
            say(
                "refresh_baseline",
                f"the candidate is significantly better (mean {_mean(self.differences):+.4f}): once it is released, "
                "store it as the baseline",
            )
        return notices

    def _disagreement(self, decision: Decision) -> str | None:
        """What Student-t says where the gate's own method says the opposite."""
        own = "bca" if self.gate.method == "auto" else self.gate.method
        upper = {i.method: i.upper for i in decision.intervals}
        if reaches(upper["student_t"], self.gate.tolerance) == reaches(upper[own], self.gate.tolerance):
            return None
        said = {True: "passes", False: "fails"}
        return (
            f"by Student-t it {said[reaches(upper['student_t'], self.gate.tolerance)]} (upper limit "
            f"{upper['student_t']:+.4f}), by {own} it {said[reaches(upper[own], self.gate.tolerance)]} "
            f"({upper[own]:+.4f}); {decision.decisive} decided"
        )

    def _few_changes(self) -> str:
        moved = [
            topic
            for topic, difference in zip(self.candidate.topics, self.differences, strict=True)
            if abs(difference) > CHANGED
        ]
        text = (
            f"only {self.changed} of {self.n} topics changed ({', '.join(moved)}): the gate fails only if Student-t "
            "agrees"
        )
        if cannot_fail(self.changed, self.n, level=self.gate.level):
            text += f"; with {self.changed} changed topics it cannot fail"
        return text


def _named(what: str, topics: tuple[str, ...], *, scored: bool = False) -> str:
    zero = " (they score 0)" if scored else ""
    return f"{what} {len(topics)} {'topic' if len(topics) == 1 else 'topics'}{zero}: {', '.join(topics)}"


def _mean(values: FloatArray) -> float:
    return math.fsum(values) / values.size
