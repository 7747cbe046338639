"""The history of a baseline: each accepted run against the one before and against the oldest.

Losses too small to detect can pass every gate and add up: the slow slide, visible only against the oldest run. These
figures describe, so they are not corrected for the number of changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.alignment import align
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.findings import ChainedRun, Lineage
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.verdict import Verdict, warning


class Chain:
    """Runs, oldest first, under a gate; answers are computed when they are first asked for.

    ``topics`` may have clusters, which count as they do in gates. Raises like ``align``.
    """

    def __init__(self, gate: Gate, runs: Sequence[TopicScores], topics: Topics | None = None) -> None:
        self.gate, self.runs, self.topics = gate, runs, topics
        #: Each run against the oldest, itself included.
        self.against_oldest = [self._pair(run, runs[0]) for run in runs]

    @cached_property
    def steps(self) -> list[Comparison]:
        """Each run but the oldest against the one before."""
        return [self._pair(later, earlier) for earlier, later in pairwise(self.runs)]

    def _pair(self, later: TopicScores, earlier: TopicScores) -> Comparison:
        """Two of the runs, for a pool's gate too."""
        return Comparison(self.gate, align(self.gate, later, earlier, topics=self.topics))

    @cached_property
    def figures(self) -> tuple[ChainedRun, ...]:
        """Mean and URisk of each run."""
        return tuple(
            ChainedRun(
                run.name,
                one.evidence.mean(one.aligned.candidate.values),
                one.evidence.estimate(self.gate.alpha),
            )
            for run, one in zip(self.runs, self.against_oldest, strict=True)
        )


def is_risky(comparison: Comparison) -> bool:
    """Whether a run fails the gate against another; not known, and so not claimed, of too few topics."""
    return comparison.ruling.enough_topics and not comparison.ruling.holds


def with_lineage(
    verdict: Verdict, accepted: Sequence[TopicScores], candidate: TopicScores, *, topics: Topics | None = None
) -> Verdict:
    """The verdict with its baseline's chain, at least two accepted runs, and a warning if there is a slow slide.

    That is: by this gate the mean is significantly down against the oldest run, but the candidate passes, and
    every change of the chain would have passed. Raises like ``align``.
    """
    chain = Chain(verdict.asked, (*accepted, candidate), topics)
    ruling = chain.against_oldest[-1].ruling
    if not ruling.enough_topics:
        return replace(verdict, lineage=Lineage(chain.figures))
    risky, limits = not ruling.holds, ruling.deciding
    verdict = replace(verdict, lineage=Lineage(chain.figures, limits.lower, limits.upper, risky))
    if risky and verdict.outcome == "pass" and not ruling.plain.passes and not any(map(is_risky, chain.steps[:-1])):
        return verdict.warned(warning("slow_slide"))
    return verdict
