"""From the scores of two systems to a verdict and its explanation; the levels of the gates of a family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.measures import least_and_greatest
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.alignment import Aligned, align, refuse_if_unanswered_decide, refuse_other_order
from pytest_riskguard.gates.figures import exhibits, paired_estimates, reported, topic_counts
from pytest_riskguard.gates.findings import (
    Estimates,
)
from pytest_riskguard.gates.flips import alpha_star, flip_set, without_each
from pytest_riskguard.gates.kinds import (
    MAX_LEVEL,
    OPTIONS,
    POLICY,
    Gate,
    NotInferior,
    NotSignificantlyRisky,
    options_of,
)
from pytest_riskguard.gates.power import power_of_verdict
from pytest_riskguard.gates.responsible import bounded, explanation, responsible_topics, standardised_parts
from pytest_riskguard.gates.ruling import Answer, Comparison, Ruling
from pytest_riskguard.gates.verdict import (
    Deferred,
    Family,
    Findings,
    Verdict,
    VerdictWarning,
    refused,
    unanswered,
    warning,
)
from pytest_riskguard.gates.warnings import warnings
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, exact_sum
from pytest_riskguard.text import counted

#: A loss of topics with less than this share of all weight is refused if it would fail the gate without weights ...
MIN_SHARE = 0.01
#: ... and with less than this, it is named.
LITTLE_SHARE = 0.1
#: Topics that lost less than this share of the average loser are not counted among the topics that lost.
NEXT_TO_NOTHING = 0.1
#: Intervals whose upper limit lies below 0 as soon as enough topics lose and none wins.
_EDGED = ("auto", "bca", "percentile")


def judge(
    gate: Gate,
    candidate: TopicScores,
    baseline: TopicScores,
    *,
    replicates: Sequence[TopicScores] = (),
    topics: Topics | None = None,
    rescored: bool = False,
    family: Family | None = None,
    report: bool = False,
) -> Verdict:
    """Ask the gate's question of two systems' scores on the same topics.

    Only the answer is computed; what explains it follows when it is first read. Data that cannot be compared give
    an ``incomparable`` verdict. ``replicates`` are other runs of the baseline, whose noise is subtracted;
    ``rescored`` says that a stored baseline was scored again; ``family`` holds the level left to the gate;
    ``report`` adds the data of charts. ``ValueError`` for two measures, unknown protected topics, missing weights.
    """
    question = unanswered(gate, candidate, (baseline,), replicates=replicates, family=family)
    asked = _Asked(
        gate if family is None else replace(gate, level=family.level),
        gate.level,
        candidate,
        baseline,
        tuple(replicates),
        topics,
        rescored,
        report,
        family if family is not None and family.draws else None,
    )
    try:
        return asked.answered(question)
    except DataError as error:
        return refused(question, error)


@frozen
class _Asked:
    """All that an answer depends on.

    ``own_level`` is the gate's level before any correction for several gates; ``family`` is given where it draws; the
    rest is as in ``judge``.
    """

    gate: Gate
    own_level: float
    candidate: TopicScores
    baseline: TopicScores
    replicates: tuple[TopicScores, ...]
    topics: Topics | None
    rescored: bool
    report: bool
    family: Family | None

    def answered(self, question: Verdict) -> Verdict:
        """The question with its answer; ``DataError`` for data that cannot be compared."""
        comparison = rule(self.gate, self.candidate, self.baseline, replicates=self.replicates, topics=self.topics)
        outcome, reason = self.answer(comparison)
        refuse_other_order(
            self.gate,
            self.candidate,
            (self.baseline, *self.replicates),
            outcome,
            lambda one, others: self.answer(
                rule(self.gate, one, others[0], replicates=others[1:], topics=self.topics)
            )[0],
        )
        if outcome == "pass":
            refuse_if_unanswered_decide(self.gate, self.candidate, (self.baseline,), self._passes)
        doubts = [_excused(comparison)]
        if outcome != "fail":
            doubts += [_outweighed(comparison), _unfailing(comparison, own_level=self.own_level)]
        raised = tuple(filter(None, doubts))

        def findings() -> Findings:
            explained = explain(
                comparison,
                rescored=self.rescored,
                overruled=outcome != comparison.answer[0],
                detecting=self.detecting(comparison),
            )
            return replace(explained, warnings=(*explained.warnings, *raised))

        drawn = exhibits(comparison) if self.report else None
        return replace(question, outcome=outcome, reason=reason, findings=Deferred(findings), exhibits=drawn)

    def _passes(self, baselines: Sequence[TopicScores]) -> bool:
        ruled = rule(self.gate, self.candidate, baselines[0], replicates=self.replicates, topics=self.topics)
        return self.answer(ruled)[0] == "pass"

    def answer(self, comparison: Comparison) -> Answer:
        """The outcome, and the reason if it is not a pass; a family that draws may let pass what fails alone."""
        outcome, reason = comparison.answer
        if self.family is None or outcome == "inconclusive" or comparison.identical:
            return outcome, reason
        if outcome == "fail" and self.family.adjusted_p_value <= 1 - self.own_level:
            return outcome, reason
        return ("pass", None) if self.detecting(comparison).detects_max_mde else ("inconclusive", "too_weak")

    def detecting(self, comparison: Comparison) -> Ruling:
        """The ruling that tells what could be detected: where a family draws, at the level of Holm's first step."""
        ruling = comparison.ruling
        if self.family is None:
            return ruling
        level = min(1 - (1 - self.own_level) / self.family.size, MAX_LEVEL)
        return Ruling(replace(ruling.gate, level=level), ruling.evidence)


def rule(
    gate: Gate,
    candidate: TopicScores,
    baseline: TopicScores,
    *,
    replicates: Sequence[TopicScores] = (),
    topics: Topics | None = None,
) -> Comparison:
    """The gate's answer alone: outcome, reason and p-value, each computed when first read; raises like ``align``."""
    return Comparison(gate, align(gate, candidate, baseline, replicates=replicates, topics=topics))


def _outweighed(comparison: Comparison) -> VerdictWarning | None:
    """The warning that weights hide a loss because its topics weigh next to nothing; None if they do not.

    Without weights the candidate would be significantly risky. ``DataError`` (``cannot_fail``) where the topics that
    lost have less than ``MIN_SHARE`` of all weight.
    """
    gate, aligned, weights = comparison.gate, comparison.aligned, comparison.aligned.weights
    if weights is None or gate.by_topic or comparison.identical:
        return None
    lost = _lost(comparison.differences)
    share = float(np.sum(weights[lost] / np.max(weights)) / np.sum(weights / np.max(weights)))
    unweighted = replace(gate.as_kind(NotSignificantlyRisky), weighted=False)
    if share >= LITTLE_SHARE or not _fails(unweighted, replace(aligned, weights=None)):
        return None
    topics = tuple(topic for topic, loses in zip(aligned.candidate.topics, lost, strict=True) if loses)
    if share < MIN_SHARE:
        raise DataError(
            f"weights: without them the candidate is significantly risky, but the {counted(len(topics), 'topic')} "
            f"that lost ({', '.join(topics[:5])}{', ...' * (len(topics) > 5)}) have {100 * share:.2g}% of the "
            f"weight, so their loss does not count; give them a larger weight (at least {100 * MIN_SHARE:g}% in "
            "all), or leave them out of the judgements",
            reason="cannot_fail",
        )
    return warning("outweighed", topics=topics, share=share)


def _lost(differences: FloatArray) -> npt.NDArray[np.bool_]:
    """Which topics lost, except those that lost next to nothing: their weights say nothing about the loss."""
    losses = np.maximum(0.0, -differences)
    mean_of_losers = exact_sum(losses) / max(int(np.count_nonzero(losses)), 1)
    lost: npt.NDArray[np.bool_] = losses > NEXT_TO_NOTHING * mean_of_losers
    return lost


def _excused(comparison: Comparison) -> VerdictWarning | None:
    """The warning that replicates excuse a loss of the mean; None if they do not.

    Runs of one system have the same mean except by chance: replicates are there to excuse churn. ``DataError``
    (``bad_baseline``) where the gate would fail without replicates and one of them is the candidate's own run.
    """
    aligned = comparison.aligned
    candidate, baseline, replicates = aligned.candidate, aligned.baseline, aligned.replicates
    alone = replace(aligned, replicates=())
    if not replicates or comparison.identical or not _fails(comparison.gate, alone):
        return None
    for replicate in replicates:
        same_run = candidate.digest is not None and candidate.digest == replicate.digest
        if same_run or np.all(np.abs(candidate.values - replicate.values) <= ROUNDING_ERROR):
            number = replicate.name.rpartition("/")[2]
            raise DataError(
                f"{candidate.name} is the run stored as replicate {number} of {baseline.name}, or scores the same "
                f"on every topic, so its whole loss would count as noise of {baseline.name}; if that replicate "
                f"is not another run of the same system, run "
                f"`riskguard baseline remove {baseline.name} --replicate {number}`",
                reason="bad_baseline",
            )
    fails = comparison.answer[0] == "fail"
    if fails or not _fails(
        replace(comparison.gate.as_kind(NotSignificantlyRisky), alpha=0.0, tradeoff="linear"), alone
    ):
        return None
    lowest = min(replicates, key=lambda replicate: replicate.mean)
    return warning("loss_excused", replicate=lowest.name, mean=lowest.mean, baseline_mean=baseline.mean)


def _unfailing(comparison: Comparison, *, own_level: float) -> VerdictWarning | None:
    """The warning that not even a candidate that scores 0 everywhere would fail the gate; None if it would.

    ``DataError`` (``cannot_fail``) if an option is the reason, larger than any default and than in the default
    policy, or every score is 0 already; ``own_level`` is the gate's level before any correction for several gates.
    Only for measures whose least score is 0.
    """
    aligned = comparison.aligned
    gate = comparison.gate if comparison.gate.side != "both" else comparison.gate.as_kind(NotInferior)
    baseline = aligned.baseline
    if baseline.measure is None or least_and_greatest(baseline.measure)[0] != 0:
        return None
    refuse_without_scores(baseline.measure, aligned.candidate.values, baseline.values)
    if _has_an_edge(comparison) or not (gate.by_topic or comparison.ruling.enough_topics):
        return None
    silent = replace(aligned, candidate=replace(aligned.candidate, values=np.zeros_like(baseline.values)))
    if _fails(gate, silent):
        return None
    mean, most = comparison.evidence.mean(baseline.values), float(np.max(baseline.values))
    options = (
        ("max_loss", "allowed")
        if gate.by_topic
        else ("tolerance",)
        if gate.level != own_level
        else ("tolerance", "level")
    )
    defaults = {name: options_of(type(gate))[name].default for name in options}
    usual = [defaults, *(own for _, kind, own in POLICY if kind == gate.kind)]
    most_usual = {name: max(known[name] for known in usual if name in known) for name in options}
    larger = [name for name in options if (getattr(gate, name) or 0) > most_usual[name] and gate.slice is None]
    for names in [*([name] for name in larger), *([larger] if len(larger) > 1 else [])]:
        if _fails(replace(gate, **{name: defaults[name] for name in names}), silent):
            asked = " and ".join(f"{name} {getattr(gate, name):g}" for name in names)
            raise DataError(
                f"{asked}: even a candidate that scores 0 on every topic would pass, since {baseline.name} scores "
                f"{mean:.4f} on average and {most:.4f} at most; choose a smaller {' and '.join(names)}",
                reason="cannot_fail",
            )
    return warning("cannot_fail", mean=mean, most=most, above=int(np.count_nonzero(baseline.values > 0)))


def refuse_without_scores(measure: str | None, *values: FloatArray) -> None:
    """``DataError`` (``cannot_fail``) where every score of every system is 0: nothing can be lost."""
    if not any(np.any(scores) for scores in values):
        raise DataError(
            f"every score of every system is 0, so {measure} says nothing about these runs and no gate could fail; "
            "choose a measure that the judgements support",
            reason="cannot_fail",
        )


def _has_an_edge(comparison: Comparison) -> bool:
    """Whether a gate can certainly fail, without another interval: nothing is tolerated, and many topics can lose."""
    gate, evidence = comparison.gate, comparison.evidence
    is_plain = gate.tolerance == 0 and gate.level <= OPTIONS["level"].default
    is_own = evidence.counts_alike and not (gate.by_topic or evidence.noisy)
    can_lose = int(np.count_nonzero(comparison.aligned.baseline.values > 0))
    # the break-even test fails if all of these lose: at alpha 0 with 2^-m on one side, at higher alphas with less
    return is_plain and is_own and gate.method in _EDGED and 2.0 ** (1 - can_lose) <= 1 - gate.level


def _fails(gate: Gate, aligned: Aligned) -> bool:
    return Comparison(gate, aligned).answer[0] == "fail"


def explain(
    comparison: Comparison, *, rescored: bool = False, overruled: bool = False, detecting: Ruling | None = None
) -> Findings:
    """All findings about an answer; ``rescored`` says that a stored baseline was scored again.

    Where a family that draws has ``overruled`` the gate's own answer no topic carries the verdict; ``detecting`` is
    then the ruling that tells what could be detected.
    """
    ruling, (outcome, _) = comparison.ruling, comparison.answer
    decides = ruling.enough_topics and ruling.has_intervals
    p_value = comparison.p_value  # before the many other laws, which are kept in the place of this one
    alone = without_each(comparison, "inconclusive" if overruled else outcome)
    found = responsible_topics(comparison)
    findings = Findings(
        warnings=warnings(comparison, outcome, rescored=rescored),
        topics=topic_counts(comparison),
        estimates=_estimates(comparison, p_value=p_value, judged=outcome != "inconclusive" and not overruled),
        intervals=reported(ruling.intervals, decisive=ruling.deciding.method if decides else None),
        responsible_topics=found.losers,
        flagged_wins=found.winners,
        power=power_of_verdict(detecting or ruling),
        explanation=explanation(
            comparison,
            alone,
            parts=comparison.evidence.parts(comparison.gate.alpha),
            standard=standardised_parts(comparison.evidence, comparison.gate.alpha),
        ),
    )
    return bounded(findings, found)


def _estimates(comparison: Comparison, *, p_value: float | None, judged: bool) -> Estimates:
    topics, ruling = comparison.aligned.candidate.topics, comparison.ruling
    flips: tuple[str, ...] | None = None
    star: float | Literal["any"] | None = None
    if comparison.gate.by_topic:
        flips = tuple(topics[i] for i in comparison.too_many)
    elif comparison.identical:
        any_alpha = comparison.gate.tradeoff == "linear" and comparison.gate.side != "both"
        flips, star = (), "any" if any_alpha else None
    elif judged:
        flips, star = flip_set(ruling, topics), alpha_star(ruling)
    return replace(
        paired_estimates(comparison),
        decision_p_value=p_value,
        alpha_star=star,
        flip_set=flips,
    )
