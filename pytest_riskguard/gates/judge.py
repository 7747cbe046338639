"""From scores to a verdict and its explanation, of two systems or of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

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


def compare(
    gate: Gate, candidate: TopicScores, *others: TopicScores, topics: Topics | None = None, together: int = 1
) -> Comparison:
    """The gate's answer alone, computed when first read; raises like ``align``.

    ``others`` are the baselines of a pool, or a baseline and its replicates; ``together`` is how many gates are
    judged together, this one included, which decides how far into the tail draws of a pool must reach.
    """
    aligned = align(gate, candidate, *others, topics=topics)
    return (PoolComparison if gate.is_pool else Comparison)(gate, aligned, together=together)


def judge(
    gate: Gate,
    candidate: TopicScores,
    *baselines: TopicScores,
    replicates: Sequence[TopicScores] = (),
    family: Family | None = None,
    report: bool = False,
    known: Comparison | None = None,
    **context: Any,
) -> Verdict:
    """Ask the gate's question of the scores of a candidate and its baseline, or of a pool, on the same topics.

    Only the answer is computed; what explains it follows when it is first read. Data that cannot be compared give
    an ``incomparable`` verdict. ``replicates`` are other runs of the baseline, whose noise is subtracted; ``family``
    holds the level left to the gate; ``report`` adds the data of charts; ``known`` is what ``compare`` gives, with
    the context given there. ``ValueError`` for two measures, unknown protected topics, missing weights, and for a
    pool as ``PoolComparison``.
    """
    question = unanswered(gate, candidate, baselines, replicates=replicates, family=family)
    systems = (candidate, *baselines, *replicates)

    def outcome_of(others: Sequence[TopicScores]) -> str:
        return compare(gate, *others, **context).within(family).answer[0]

    try:
        comparison = (known or compare(gate, *systems, **context)).within(family)
        outcome, reason = comparison.answer
        refuse_other_order(gate, systems, outcome, outcome_of)
        if outcome == "pass":
            refuse_if_unanswered_decide(gate, systems, outcome_of)
        raised = tuple(doubts(comparison))
    except DataError as error:
        return refused(question, error)

    def found() -> Findings:
        explained = explain(comparison)
        return replace(explained, warnings=(*explained.warnings, *raised))

    drawn = exhibits(comparison) if report else None
    return replace(question, outcome=outcome, reason=reason, findings=Deferred(found), exhibits=drawn)
