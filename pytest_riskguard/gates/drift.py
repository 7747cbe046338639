"""The slow slide: changes that were accepted one by one, each against the one before and all against the oldest.

Every gate asks about one change. Losses too small to be seen, one after the other, pass every gate; only against the
run that the chain began with do they show. Nothing here is corrected for the number of changes: these figures
describe, a gate decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.gates.alignment import align
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.decision import decide, interval_passes
from pytest_riskguard.gates.spec import Gate
from pytest_riskguard.inference import Interval
from pytest_riskguard.risk.checks import mean
from pytest_riskguard.risk.urisk import counts


@dataclass(frozen=True)
class Change:
    """One run against an earlier one, in units of the measure.

    Attributes
    ----------
    mean_difference, urisk : float
        Of the later run minus the earlier one.
    interval : Interval or None
        Of URisk: the one that decides ``not_significantly_risky`` with ``method: auto``, which is BCa unless topics
        or changes are few. None below 10 topics, where no interval is trusted.
    wins, losses, changed : int
        Topics.
    risky : bool or None
        Whether URisk is significantly below 0, as that gate would find. None without an interval.
    worse, better : bool or None
        Whether the mean itself is significantly down (that gate at alpha 0) or up (``not_inferior`` at alpha 0 and
        tolerance 0). None without an interval.
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


@dataclass(frozen=True)
class DriftStep:
    """A run of the chain after the first one: its mean, and what changed.

    ``against_oldest`` is cumulative: its mean difference is the sum of those ``against_previous`` up to here.
    """

    name: str
    mean: float
    against_previous: Change
    against_oldest: Change


@dataclass(frozen=True)
class Drift:
    """A chain of accepted runs, oldest first.

    Attributes
    ----------
    measure : str or None
    alpha, level : float
        The extra weight of a loss, and the confidence of the intervals.
    topics : int
    oldest : str
        The name of the run that the chain began with.
    oldest_mean : float
        In units of the measure.
    steps : tuple of DriftStep
        One for each run accepted after it, and last the candidate where there is one.
    """

    measure: str | None
    alpha: float
    level: float
    topics: int
    oldest: str
    oldest_mean: float
    steps: tuple[DriftStep, ...]

    @property
    def slow_slide(self) -> bool:
        """Whether the newest run is significantly risky against the oldest, though no step was against its last.

        At alpha above 0 churn adds up too: ``worse`` of the newest step says whether the mean itself slid.
        """
        return (
            bool(self.steps)
            and self.steps[-1].against_oldest.risky is True
            and not any(step.against_previous.risky for step in self.steps)
        )

    @property
    def better_since(self) -> DriftStep | None:
        """The step since which every run is significantly better in the mean than the oldest.

        None where the newest is not.
        """
        found = None
        for step in reversed(self.steps):
            if not step.against_oldest.better:
                break
            found = step
        return found


def drift(
    chain: Sequence[TopicScores],
    *,
    candidate: TopicScores | None = None,
    alpha: float = 1.0,
    level: float = 0.95,
) -> Drift:
    """Follow a chain of accepted runs.

    Parameters
    ----------
    chain : sequence of TopicScores
        Oldest first, at least one; all of one measure and the same topics.
    candidate : TopicScores, optional
        What may be accepted next.
    alpha : float
        Extra weight of a loss, at least 0.
    level : float
        Confidence of the two-sided intervals.

    Raises
    ------
    DataError
        ``topics_differ``, ``no_common_topic``, or ``inputs_changed``: two runs were scored with different qrels.
    ValueError
        No run, two measures, an alpha or a level that a gate cannot have.
    """
    if not chain:
        raise ValueError("expected at least one run, the oldest; found none")
    runs = [*chain, *([] if candidate is None else [candidate])]
    measures = list(dict.fromkeys(run.measure for run in runs))
    if len(measures) > 1:
        raise ValueError(f"expected one measure for the whole chain, found {', '.join(map(str, measures))}")
    gate = Gate(name="drift", alpha=alpha, level=level)
    oldest = runs[0]
    steps = []
    for previous, run in pairwise(runs):
        cumulative = _change(gate, run, oldest)
        step = cumulative if previous is oldest else _change(gate, run, previous)
        steps.append(DriftStep(run.name, mean(run.values), step, cumulative))
    return Drift(measures[0], alpha, level, len(oldest.topics), oldest.name, mean(oldest.values), tuple(steps))


def _change(gate: Gate, later: TopicScores, earlier: TopicScores) -> Change:
    aligned = align(gate, later, earlier)
    comparison = Comparison(gate, aligned)
    counted = counts(aligned.candidate.values, aligned.baseline.values)
    figures = (comparison.mean_difference, comparison.evidence.estimate(gate.alpha))
    topics = (counted.wins, counted.losses, comparison.changed)
    if not comparison.enough_topics:
        return Change(*figures, None, *topics, None, None, None)
    decision = decide(gate, comparison.evidence, alpha=gate.alpha)
    worse = not interval_passes(gate, comparison.evidence, alpha=0.0)
    up = Gate(name="better", kind="not_inferior", alpha=0.0, level=gate.level)
    better = interval_passes(up, comparison.evidence, alpha=0.0)
    return Change(*figures, decision.interval(decision.decisive), *topics, not decision.passes, worse, better)
