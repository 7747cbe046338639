"""From two systems' scores to a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.topics import Topics
from pytest_riskguard.gates.alignment import align
from pytest_riskguard.gates.chart_data import exhibits
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.estimates import diagnostics, paired_estimates, topic_counts
from pytest_riskguard.gates.findings import Estimates, Family, ReportedInterval
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.power import power_of_verdict
from pytest_riskguard.gates.responsible import explanation, responsible_topics, standardised_parts
from pytest_riskguard.gates.sensitivity import alpha_star, flip_set, without_each
from pytest_riskguard.gates.verdict import Deferred, Findings, Verdict, digests, refused, unanswered
from pytest_riskguard.gates.warnings import warnings


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

    Only the answer is computed here; what explains it is computed when it is first read from the verdict. Data that
    cannot be compared give an ``incomparable`` verdict, never an exception.

    Parameters
    ----------
    gate : Gate
    candidate, baseline : TopicScores
    replicates : sequence of TopicScores
        Other runs of the baseline: the gate then asks about the candidate's excess over the baseline's own noise.
    topics : Topics, optional
        Weights and tags of topics.
    rescored : bool
        Whether a stored baseline was scored anew because judgements changed.
    family : Family, optional
        The gates that this one is judged together with, and the level that they leave to it.
    report : bool
        Whether the verdict is to hold what charts draw, which costs more than the verdict.

    Raises
    ------
    ValueError
        The question itself is wrong: the two were scored with different measures, a protected topic that there is
        not, weights asked for where there are none.
    """
    if candidate.measure != baseline.measure and None not in (candidate.measure, baseline.measure):
        raise ValueError(f"candidate was scored with {candidate.measure}, baseline with {baseline.measure}")
    question = unanswered(
        gate,
        measure=candidate.measure or baseline.measure,
        candidate=candidate.name,
        baselines=(baseline.name,),
        inputs=digests(candidate, (baseline,), replicates),
    )
    question = replace(question, replicates=len(replicates), family=family)
    tested = gate if family is None else replace(gate, level=family.level)
    try:
        comparison = rule(tested, candidate, baseline, replicates=replicates, topics=topics)
    except DataError as error:
        return refused(question, error)
    outcome, reason = comparison.answer
    findings = Deferred(lambda: explain(comparison, rescored=rescored))
    verdict = replace(question, outcome=outcome, reason=reason, findings=findings)
    return replace(verdict, exhibits=exhibits(comparison)) if report else verdict


def rule(
    gate: Gate,
    candidate: TopicScores,
    baseline: TopicScores,
    *,
    replicates: Sequence[TopicScores] = (),
    topics: Topics | None = None,
) -> Comparison:
    """The gate's answer alone: outcome, reason and p-value; each is computed when it is first asked for.

    Raises
    ------
    DataError
        The systems cannot be compared.
    ValueError
        Weights are asked for where there are none.
    """
    return Comparison(gate, align(gate, candidate, baseline, replicates=replicates, topics=topics))


def explain(comparison: Comparison, *, rescored: bool = False) -> Findings:
    """All that is found out about an answer; ``rescored`` says that a stored baseline was scored anew."""
    outcome, _ = comparison.answer
    alone = without_each(comparison, outcome)
    losers, winners = responsible_topics(comparison, alone)
    return Findings(
        warnings=warnings(comparison, outcome, rescored=rescored),
        topics=topic_counts(comparison),
        estimates=_estimates(comparison, judged=outcome != "inconclusive"),
        intervals=_intervals(comparison),
        responsible_topics=losers,
        flagged_wins=winners,
        power=power_of_verdict(comparison.ruling),
        diagnostics=Deferred(lambda: diagnostics(comparison)),
        explanation=explanation(
            comparison,
            alone,
            parts=comparison.evidence.parts(comparison.gate.alpha),
            standard=standardised_parts(comparison.evidence, comparison.gate.alpha),
        ),
    )


def _estimates(comparison: Comparison, *, judged: bool) -> Estimates:
    gate = comparison.gate
    by_interval = judged and gate.kind != "no_topic_collapse"
    return replace(
        paired_estimates(comparison),
        decision_p_value=comparison.p_value,
        alpha_star=alpha_star(comparison.ruling) if by_interval else None,
        flip_set=_flip_set(comparison) if judged else None,
    )


def _flip_set(comparison: Comparison) -> tuple[str, ...] | None:
    topics = comparison.aligned.candidate.topics
    if comparison.gate.kind == "no_topic_collapse":
        return tuple(topics[i] for i in comparison.collapsed)
    return flip_set(comparison.ruling, topics)


def _intervals(comparison: Comparison) -> tuple[ReportedInterval, ...]:
    ruling = comparison.ruling
    decisive = ruling.decisive if ruling.enough_topics and ruling.has_intervals else None
    return tuple(
        ReportedInterval(i.method, i.level, i.lower, i.upper, decisive=i.method == decisive) for i in ruling.intervals
    )
