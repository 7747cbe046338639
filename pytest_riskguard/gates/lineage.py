"""Where a candidate stands on the chain of changes that its baseline went through, told beside the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.topics import Topics
from pytest_riskguard.gates.alignment import align
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.findings import ChainedRun, Lineage
from pytest_riskguard.gates.spec import Gate
from pytest_riskguard.gates.verdict import Notice, Verdict


def lineage_of(
    gate: Gate, chain: Sequence[TopicScores], candidate: TopicScores, *, topics: Topics | None = None
) -> Lineage:
    """The accepted runs and the candidate, each against the run that the chain began with, as the gate asks.

    Cheaper than ``drift``: only the candidate's URisk gets an interval, the one that decides.

    Parameters
    ----------
    gate : Gate
        Its alpha, level, method, trade-off, tolerance and weights.
    chain : sequence of TopicScores
        Oldest first; two at least, the last is the baseline.
    candidate : TopicScores
    topics : Topics, optional
        Weights of topics.

    Raises
    ------
    DataError
        The runs are not scored on the same topics.
    """
    oldest, runs, before = chain[0], [], None
    for run in (*chain, candidate):
        comparison = Comparison(gate, align(gate, run, oldest, topics=topics))
        average = comparison.evidence.mean(comparison.aligned.candidate.values)
        runs.append(
            ChainedRun(
                run=run.name,
                mean=average,
                mean_difference=None if before is None else average - before,
                cumulative_mean_difference=comparison.mean_difference,
                urisk=comparison.evidence.estimate(gate.alpha),
            )
        )
        before = average
    if not comparison.enough_topics or comparison.decision is None:
        return Lineage(len(chain) - 1, tuple(runs), None, None, None)
    decisive = comparison.decision.interval(comparison.decision.decisive)
    return Lineage(len(chain) - 1, tuple(runs), decisive.lower, decisive.upper, not comparison.holds)


def with_lineage(
    verdict: Verdict,
    gate: Gate,
    chain: Sequence[TopicScores],
    candidate: TopicScores,
    *,
    topics: Topics | None = None,
) -> Verdict:
    """The verdict with its baseline's chain, and a warning of a slow slide.

    That is: the mean itself is significantly down against the oldest run, as this gate asks, and yet the gate lets
    the candidate pass, and would have passed every change of the chain.

    Raises
    ------
    DataError
        As ``lineage_of``.
    """
    lineage = lineage_of(gate, chain, candidate, topics=topics)
    warnings = verdict.warnings
    if lineage.risky and verdict.outcome == "pass" and _slid(gate, chain, candidate, topics):
        oldest, newest = lineage.runs[0], lineage.runs[-1]
        changes = f"{lineage.accepted} accepted {'change' if lineage.accepted == 1 else 'changes'}"
        text = (
            f"passes against {verdict.baselines[0]}, but the mean is significantly down against {oldest.run}, "
            f"{changes} before: {newest.cumulative_mean_difference:+.4f} in all, URisk {newest.urisk:+.4f}; store "
            "that run as a baseline of its own and ask against both (baselines: [...])"
        )
        warnings = (*warnings, Notice("slow_slide", text))
    return replace(verdict, lineage=lineage, warnings=warnings)


def _slid(gate: Gate, chain: Sequence[TopicScores], candidate: TopicScores, topics: Topics | None) -> bool:
    plain = Comparison(gate, align(gate, candidate, chain[0], topics=topics)).plain
    if plain is None or plain.passes:
        return False
    steps = (Comparison(gate, align(gate, run, before, topics=topics)) for before, run in pairwise(chain))
    return all(step.holds for step in steps)
