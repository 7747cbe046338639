"""From scores to a verdict and its explanation, of two systems or of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.alignment import align, refuse_if_unanswered_decide, refuse_other_order
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.could_fail import doubts
from pytest_riskguard.gates.explain import exhibits, explain
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.pool import PoolComparison
from pytest_riskguard.gates.verdict import Deferred, Family, Findings, Verdict, refused, unanswered


def judge(
    gate: Gate,
    candidate: TopicScores,
    *baselines: TopicScores,
    replicates: Sequence[TopicScores] = (),
    topics: Topics | None = None,
    family: Family | None = None,
    together: int = 1,
    report: bool = False,
) -> Verdict:
    """Ask the gate's question of the scores of a candidate and its baseline, or of a pool, on the same topics.

    Only the answer is computed; what explains it follows when it is first read. Data that cannot be compared give
    an ``incomparable`` verdict. ``replicates`` are other runs of the baseline, whose noise is subtracted;
    ``family`` holds the level left to the gate;
    ``together`` is how many gates are judged together, this one included: it decides how far into the tail draws of
    a pool must reach. ``report`` adds the data of charts. ``ValueError`` for two measures, unknown protected topics,
    missing weights, and for a pool as ``PoolComparison``.
    """
    question = unanswered(gate, candidate, baselines, replicates=replicates, family=family)

    def compared(one: TopicScores, others: Sequence[TopicScores]) -> Comparison:
        return compare(gate, one, others, topics=topics, family=family, together=together)

    others = (*baselines, *replicates)
    try:
        comparison = compared(candidate, others)
        outcome, reason = comparison.answer
        refuse_other_order(gate, candidate, others, outcome, lambda one, rest: compared(one, rest).answer[0])
        if outcome == "pass":
            refuse_if_unanswered_decide(
                gate,
                candidate,
                baselines,
                lambda changed: compared(candidate, (*changed, *replicates)).answer[0] == "pass",
            )
        raised = tuple(doubts(comparison))
    except DataError as error:
        return refused(question, error)

    def found() -> Findings:
        explained = explain(comparison)
        return replace(explained, warnings=(*explained.warnings, *raised))

    drawn = exhibits(comparison) if report else None
    return replace(question, outcome=outcome, reason=reason, findings=Deferred(found), exhibits=drawn)


def compare(
    gate: Gate,
    candidate: TopicScores,
    others: Sequence[TopicScores],
    *,
    topics: Topics | None = None,
    family: Family | None = None,
    together: int = 1,
) -> Comparison:
    """The gate's answer alone, computed when first read; raises like ``align``.

    ``others`` are the baselines of a pool, or a baseline and its replicates.
    """
    if gate.is_pool:
        level = None if family is None else family.level
        return PoolComparison(gate, candidate, others, level=level, together=together, topics=topics)
    baseline, *replicates = others
    aligned = align(gate, candidate, baseline, replicates=replicates, topics=topics)
    return Comparison(gate, aligned, family=family)


def rule(
    gate: Gate,
    candidate: TopicScores,
    baseline: TopicScores,
    *,
    replicates: Sequence[TopicScores] = (),
    topics: Topics | None = None,
) -> Comparison:
    """The same for two systems."""
    return Comparison(gate, align(gate, candidate, baseline, replicates=replicates, topics=topics))
