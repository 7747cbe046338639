"""The history of a baseline: each accepted run against the oldest, beside a verdict.

Losses too small to detect can pass every gate and add up: the slow slide, visible only against the oldest run. These
figures describe, so they are not corrected for the number of changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.alignment import align
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.findings import ChainedRun, Lineage
from pytest_riskguard.gates.verdict import Verdict, warning


def with_lineage(
    verdict: Verdict, accepted: Sequence[TopicScores], candidate: TopicScores, *, topics: Topics | None = None
) -> Verdict:
    """The verdict with its baseline's chain, at least two accepted runs, and a warning if there is a slow slide.

    That is: by this gate the mean is significantly down against the oldest run, but the candidate passes, and
    every change of the chain would have passed. A pool's gate compares two runs here, too. Raises like ``align``.
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
    verdict = replace(verdict, lineage=Lineage(figures, limits.lower, limits.upper))
    slid = verdict.outcome == "pass" and not ruling.holds and not ruling.plain.passes
    if slid and all(pair(later, earlier).ruling.holds for earlier, later in pairwise(accepted)):
        return verdict.warned(warning("slow_slide"))
    return verdict
