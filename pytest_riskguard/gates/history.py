"""The history of a baseline: each accepted run against the one before and against the oldest.

Losses too small to detect can pass every gate and add up: the slow slide, visible only against the oldest run. These
figures describe, so they are not corrected for the number of changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import ChainedRun, Lineage
from pytest_riskguard.gates.judge import compare
from pytest_riskguard.gates.kinds import Gate, NotInferior, NotSignificantlyRisky
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.gates.verdict import Verdict, warning
from pytest_riskguard.inference.intervals import Interval
from pytest_riskguard.risk.urisk import counts


@frozen
class Change:
    """One run against an earlier one, in units of the measure; below 10 topics, interval and answers are None.

    ``interval`` and ``risky`` are those of ``not_significantly_risky`` with ``method: auto`` and no tolerance,
    ``worse`` is the same at alpha 0, ``better`` ``not_inferior`` at alpha 0 and tolerance 0.
    """

    mean_difference: float
    urisk: float
    interval: Interval | None
    wins: int
    losses: int
    changed: int
    risky: bool | None
    worse: bool | None
    better: bool | None


@frozen
class DriftStep:
    """A run after the oldest; differences ``against_previous`` add up to those ``against_oldest``."""

    name: str
    mean: float
    against_previous: Change
    against_oldest: Change


@frozen
class Drift:
    """A chain of accepted runs: the oldest, and a step for each after it, last the candidate if there is one."""

    measure: str | None
    alpha: float
    level: float
    topics: int
    oldest: str
    oldest_mean: float
    steps: tuple[DriftStep, ...]

    @property
    def slow_slide(self) -> bool:
        """Whether the newest run is significantly risky against the oldest, but no step was against the one before.

        At an alpha above 0 churn adds up too: ``worse`` of the newest step tells whether the mean itself fell.
        """
        return (
            bool(self.steps)
            and self.steps[-1].against_oldest.risky is True
            and not any(step.against_previous.risky for step in self.steps)
        )

    @property
    def better_since(self) -> DriftStep | None:
        """The first of the newest steps that are all significantly better in the mean than the oldest run, if any."""
        better = list(takewhile(lambda step: bool(step.against_oldest.better), reversed(self.steps)))
        return better[-1] if better else None


def drift(
    chain: Sequence[TopicScores], *, alpha: float = 1.0, level: float = 0.95, topics: Topics | None = None
) -> Drift:
    """Compare each run of a chain, oldest first, with the run before it and with the oldest.

    ``topics`` may have clusters and strata, which count as they do in gates.
    Raises like ``align``, and ``ValueError`` for no run, two measures, an alpha or a level that no gate can have.
    """
    if not chain:
        raise ValueError("expected at least one run, the oldest; found none")
    measures = list(dict.fromkeys(run.measure for run in chain))
    if len(measures) > 1:
        raise ValueError(f"expected one measure for the whole chain, found {', '.join(map(str, measures))}")
    gate = NotSignificantlyRisky(alpha=alpha, level=level, tolerance=0.0)
    oldest = chain[0]
    evidence = compare(gate, oldest, oldest, topics=topics).evidence
    steps = []
    for previous, run in pairwise(chain):
        cumulative = _change(gate, run, oldest, topics)
        step = cumulative if previous is oldest else _change(gate, run, previous, topics)
        steps.append(DriftStep(run.name, evidence.mean(run.values), step, cumulative))
    of_oldest = evidence.mean(oldest.values)
    return Drift(measures[0], alpha, level, len(oldest.topics), oldest.name, of_oldest, tuple(steps))


def _change(gate: Gate, later: TopicScores, earlier: TopicScores, topics: Topics | None) -> Change:
    comparison = compare(gate, later, earlier, topics=topics)
    aligned, ruling = comparison.aligned, comparison.ruling
    decided = ruling.enough_topics
    not_inferior = Ruling(NotInferior(alpha=0.0, level=gate.level), comparison.evidence)
    moved = counts(aligned.candidate.values, aligned.baseline.values)
    return Change(
        mean_difference=comparison.mean_difference,
        urisk=comparison.evidence.estimate(gate.alpha),
        interval=ruling.deciding if decided else None,
        wins=moved.wins,
        losses=moved.losses,
        changed=comparison.changed,
        risky=not ruling.passes if decided else None,
        worse=not ruling.plain.passes if decided else None,
        better=not_inferior.passes if decided else None,
    )


def with_lineage(
    verdict: Verdict, chain: Sequence[TopicScores], candidate: TopicScores, *, topics: Topics | None = None
) -> Verdict:
    """The verdict with its baseline's chain, at least two accepted runs, and a warning if there is a slow slide.

    That is: by this gate the mean is significantly down against the oldest run, but the candidate passes, and
    every change of the chain would have passed. Raises like ``align``.
    """
    gate, runs = verdict.asked, []
    for run in (*chain, candidate):
        comparison = compare(gate, run, chain[0], topics=topics)
        mean = comparison.evidence.mean(comparison.aligned.candidate.values)
        runs.append(ChainedRun(run.name, mean, comparison.evidence.estimate(gate.alpha)))
    ruling = comparison.ruling
    if not ruling.enough_topics:
        return replace(verdict, lineage=Lineage(tuple(runs)))
    risky = not ruling.holds
    verdict = replace(verdict, lineage=Lineage(tuple(runs), ruling.deciding.lower, ruling.deciding.upper, risky))
    steps = (compare(gate, run, before, topics=topics) for before, run in pairwise(chain))
    slid = risky and verdict.outcome == "pass" and not ruling.plain.passes and all(s.ruling.holds for s in steps)
    return verdict.warned(warning("slow_slide")) if slid else verdict
