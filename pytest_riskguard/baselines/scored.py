"""Scores of a system, and for those of a stored baseline what has changed since it was stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from pytest_riskguard.data.judged import JudgedRun
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.frozen import frozen

#: So many topics are diluted by honest changes of judgements, however few topics there are.
MOST_DILUTED = 3


@frozen
class Scored:
    """Scores of a system; ``rescored`` says that they differ from those that a baseline was stored with.

    ``stored_mean`` is then the mean of those, if the measure was stored.
    ``backed`` is false for stored scores without a run to compare them with. ``gone`` are topics that a baseline
    was scored on and that no longer have a relevant document, ``emptied`` those for which its run retrieved relevant
    documents and now retrieves none. ``diluted`` are others in which it scores less than half of what it did, with
    the ratio of the old score to the new one, 0 where nothing is left. ``rephrased`` have another query text now;
    ``unasked`` are topics that it was not scored on and that its run does not answer; ``reassigned`` have, by
    ``queries.ROLES``, another weight, cluster or stratum now. ``topics_changed``: the topics file is not the one that
    the baseline was stored with. ``run`` is what was kept of the run, if it was read for these scores.
    """

    scores: TopicScores
    rescored: bool = False
    stored_mean: float | None = None
    backed: bool = True
    gone: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    diluted: Mapping[str, float] = field(default_factory=dict)
    rephrased: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()
    reassigned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    topics_changed: bool = False
    run: JudgedRun | None = field(default=None, compare=False)

    @property
    def much_diluted(self) -> tuple[str, ...]:
        """The diluted topics, if they are more than honest changes of judgements leave (docs/reference/store.md)."""
        return tuple(self.diluted) if len(self.diluted) > max(MOST_DILUTED, self.scores.a_few) else ()
