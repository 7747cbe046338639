"""From scores to a verdict and its explanation, of two systems or of a pool, and beside it the baseline's history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.alignment import align, refuse_if_unanswered_decide, refuse_other_order
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.could_fail import doubts
from pytest_riskguard.gates.explain import exhibits, explain
from pytest_riskguard.gates.findings import ChainedRun, Lineage
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.pool import PoolComparison
from pytest_riskguard.gates.verdict import Deferred, Family, Findings, Verdict, refused, unanswered, warning


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


def with_lineage(
    verdict: Verdict, accepted: Sequence[TopicScores], candidate: TopicScores, *, topics: Topics | None = None
) -> Verdict:
    """The verdict with its baseline's chain, at least two accepted runs, and a warning if there is a slow slide.

    Losses too small to detect can pass every gate and add up, visible only against the oldest run. The figures
    describe, so they are not corrected for the number of changes. A slow slide: by this gate the mean is
    significantly down against the oldest run, but the candidate passes, and every change of the chain would have
    passed. A pool's gate compares two runs here, too. Raises like ``align``.
    """
    gate, runs = verdict.asked, (*accepted, candidate)

    def pair(later: TopicScores, earlier: TopicScores) -> Comparison:
        return Comparison(gate, align(gate, later, earlier, topics=topics))

    against_oldest = [pair(run, runs[0]) for run in runs]
    figures = tuple(
        ChainedRun(run.name, one.evidence.mean(one.aligned.candidate.values), one.evidence.estimate(gate.alpha))
        for run, one in zip(runs, against_oldest, strict=True)
    )
    ruling = against_oldest[-1].ruling
    if not ruling.enough_topics:
        return replace(verdict, lineage=Lineage(figures))
    limits = ruling.deciding
    verdict = replace(verdict, lineage=Lineage(figures, limits.lower, limits.upper, risky=not ruling.holds))
    slid = verdict.outcome == "pass" and not ruling.holds and not ruling.plain.passes
    if slid and all(pair(later, earlier).ruling.holds for earlier, later in pairwise(accepted)):
        return verdict.warned(warning("slow_slide"))
    return verdict
