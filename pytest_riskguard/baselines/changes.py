"""How a baseline's scores change when it is replaced, for a person to review before anything depends on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_riskguard.baselines.entry import mean_score
from pytest_riskguard.baselines.manifest import Manifest
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.risk.checks import ROUNDING_ERROR


@dataclass(frozen=True)
class TopicFall:
    """A topic whose score falls by more than rounding."""

    topic: str
    before: float
    after: float


@dataclass(frozen=True)
class ScoreChange:
    """One measure of what a baseline holds: its means before and after, and the topics that differ.

    ``topics`` is how many have scores on both sides, ``fallen`` which of these fall, worst first; ``gone`` and
    ``added`` have scores on one side only.
    """

    measure: str
    before: float
    after: float
    topics: int
    fallen: tuple[TopicFall, ...]
    gone: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    @classmethod
    def between(cls, before: TopicScores, after: TopicScores) -> ScoreChange:
        """From one system's scores to another's, each mean over the topics that it is scored on."""
        old = dict(zip(before.topics, map(float, before.values), strict=True))
        new = dict(zip(after.topics, map(float, after.values), strict=True))
        both = [topic for topic in after.topics if topic in old]
        fallen = [TopicFall(t, old[t], new[t]) for t in both if not new[t] >= old[t] - ROUNDING_ERROR]
        return cls(
            measure=str(after.measure),
            before=mean_score(before),
            after=mean_score(after),
            topics=len(both),
            fallen=tuple(sorted(fallen, key=lambda fall: (fall.after - fall.before, fall.topic))),
            gone=tuple(topic for topic in before.topics if topic not in new),
            added=tuple(topic for topic in after.topics if topic not in old),
        )

    @property
    def falls(self) -> bool:
        """Whether the mean falls by more than rounding; NaN counts as a fall."""
        return not self.after >= self.before - ROUNDING_ERROR


def changes_between(before: Sequence[TopicScores], after: Sequence[TopicScores]) -> tuple[ScoreChange, ...]:
    """The change of each measure that both sides have, in the order of the latter."""
    old = {scores.measure: scores for scores in before}
    return tuple(ScoreChange.between(old[scores.measure], scores) for scores in after if scores.measure in old)


@dataclass(frozen=True)
class Replacement:
    """A baseline whose run was replaced, or would be: ``manifest`` is then None. ``run`` is its new digest.

    There is a change for each measure that the run before can still be scored with.
    """

    run: str
    manifest: Manifest | None
    changes: tuple[ScoreChange, ...]


@dataclass(frozen=True)
class Promotion:
    """What a baseline holds now; ``moved`` is false if it is ``best`` and stays because a mean falls.

    There is a change for each measure that the previous run can still be scored with.
    """

    manifest: Manifest
    moved: bool
    changes: tuple[ScoreChange, ...]
