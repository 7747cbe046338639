"""Where a candidate stands on the chain of changes that its baseline went through, told beside the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.gates.align import align
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.spec import Gate
from pytest_riskguard.gates.verdict import ChainedRun, Lineage, Notice, Verdict
from pytest_riskguard.risk.checks import mean


def lineage_of(chain: Sequence[TopicScores], candidate: TopicScores, *, alpha: float, level: float) -> Lineage:
    """The accepted runs and the candidate, each against the run that the chain began with.

    Cheaper than ``drift``: only the candidate's URisk gets an interval, the one that ``method: auto`` decides by.

    Parameters
    ----------
    chain : sequence of TopicScores
        Oldest first; two at least, the last is the baseline.
    candidate : TopicScores
    alpha : float
        Extra weight of a loss.
    level : float
        Confidence of the interval.

    Raises
    ------
    DataError
        The runs are not scored on the same topics.
    """
    gate = Gate(name="lineage", alpha=alpha, level=level)
    oldest, runs, before = chain[0], [], None
    for run in (*chain, candidate):
        comparison = Comparison(gate, align(gate, run, oldest))
        average = mean(run.values)
        runs.append(
            ChainedRun(
                run=run.name,
                mean=average,
                mean_difference=None if before is None else average - before,
                cumulative_mean_difference=comparison.mean_difference,
                urisk=comparison.evidence.estimate(alpha),
            )
        )
        before = average
    if not comparison.enough_topics or comparison.decision is None:
        return Lineage(len(chain) - 1, tuple(runs), None, None, None)
    decisive = comparison.decision.interval(comparison.decision.decisive)
    return Lineage(len(chain) - 1, tuple(runs), decisive.lower, decisive.upper, not comparison.decision.passes)


def with_lineage(verdict: Verdict, chain: Sequence[TopicScores], candidate: TopicScores) -> Verdict:
    """The verdict with its baseline's chain, and a warning where only the whole chain is risky.

    Raises
    ------
    DataError
        As ``lineage_of``.
    """
    lineage = lineage_of(chain, candidate, alpha=verdict.alpha, level=verdict.level)
    warnings = verdict.warnings
    if lineage.risky and verdict.outcome == "pass":
        oldest, newest = lineage.runs[0], lineage.runs[-1]
        changes = f"{lineage.accepted} accepted {'change' if lineage.accepted == 1 else 'changes'}"
        text = (
            f"passes against {verdict.baselines[0]}, but is significantly risky against {oldest.run}, {changes} "
            f"before: URisk {newest.urisk:+.4f}, mean {newest.cumulative_mean_difference:+.4f} in all; store that "
            "run as a baseline of its own and ask against both (baselines: [...])"
        )
        warnings = (*warnings, Notice("slow_slide", text))
    return replace(verdict, lineage=lineage, warnings=warnings)
