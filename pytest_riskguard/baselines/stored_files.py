"""What a comparison needs of a store without reading it: scores with their changes, and whether a path leads into it.

A candidate must not be a file of a stored baseline, under any name.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import field
from pathlib import Path

from pytest_riskguard.data.judged import JudgedRun
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.frozen import frozen
from pytest_riskguard.text import Names

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
    ``queries.ROLES``, another weight or cluster now. ``topics_changed``: the topics file is not the one that
    the baseline was stored with. ``run`` is what was kept of the run, if it was read for these scores.
    """

    scores: TopicScores
    rescored: bool = False
    stored_mean: float | None = None
    backed: bool = True
    gone: Names = ()
    emptied: Names = ()
    diluted: Mapping[str, float] = field(default_factory=dict)
    rephrased: Names = ()
    unasked: Names = ()
    reassigned: Mapping[str, Names] = field(default_factory=dict)
    topics_changed: bool = False
    run: JudgedRun | None = field(default=None, compare=False)


def stored_file(path: Path, store: Path, *, of: Collection[str]) -> str | None:
    """The place in the store, such as ``prod/run.gz``, of the file of these baselines that a path leads to.

    None if it is not such a file. Symbolic and hard links lead to the file itself; a copy is another file.
    """
    files = (Path(place, file) for name in sorted(of) for place, _, names in os.walk(store / name) for file in names)
    return next((file.relative_to(store).as_posix() for file in files if same_file(file, path)), None)


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file; not if one of them leads nowhere."""
    try:
        return one.samefile(other)
    except OSError:
        return False
