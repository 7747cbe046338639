"""Whether a run is the judgements themselves: one file given as both, or a table whose numbers may be either.

Such a run is ideal, so a gate would pass. No system returns exactly the judged documents with their grades as scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

#: From fewer topics with two documents or more, nothing is concluded: a few answers may be ideal.
MIN_TOPICS = 10


@dataclass
class GradesAsScores:
    """Counts topics whose documents and scores are those of the judgements."""

    same: int = 0
    several: int = 0
    other: int = 0

    def add(self, documents: Mapping[str, float], judged: Mapping[str, float]) -> None:
        """Count one topic: the scores of its documents, and its grades."""
        if documents == judged:
            self.same += 1
            self.several += len(judged) > 1
        else:
            self.other += 1

    @property
    def is_certain(self) -> bool:
        """Whether that is so in every topic, and half of them, enough to conclude it, have two documents or more."""
        return not self.other and self.several >= MIN_TOPICS and 2 * self.several >= self.same


def same_file(source: str, qrels: str) -> str:
    """What to say of such a run."""
    return (
        f"{source}: expected what a system returned, found the documents of {qrels} with their grades as scores: one "
        "file was given as both, or judgements as a run; name the run and the judgements"
    )
