"""All judgements of a file as columns, which are also a mapping topic -> document -> grade."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pytest_riskguard.evaluation.judgements.judgement_arrays import JudgementArrays
from pytest_riskguard.formats.columns import whole


class JudgedTopics(Mapping[str, Mapping[str, float]]):
    """Judgements by topic; the dict of a topic is made when it is asked for, and only the last one is kept.

    As a dict of dicts, judgements of 100,000 topics take several times the memory of their file.
    """

    def __init__(self, arrays: JudgementArrays) -> None:
        """Take judgements in the order of their file: topics as they first appear, all with documents."""
        self.arrays = arrays
        self._last: tuple[str, dict[str, float]] | None = None

    def __getitem__(self, topic: str) -> Mapping[str, float]:
        last = self._last
        if last is not None and last[0] == topic:
            return last[1]
        place = self.arrays.places[topic]
        rows = slice(int(self.arrays.offsets[place]), int(self.arrays.offsets[place + 1]))
        grades = map(whole, self.arrays.grades[rows].tolist())
        judged = dict(zip(self.arrays.documents.at(rows).strings(), grades, strict=True))
        self._last = topic, judged
        return judged

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays.topics)

    def __len__(self) -> int:
        return len(self.arrays.topics)

    def __contains__(self, topic: object) -> bool:
        return topic in self.arrays.places

    @property
    def is_real(self) -> bool:
        """Whether a grade is not a whole number."""
        return not np.array_equal(np.trunc(self.arrays.grades), self.arrays.grades)

    def highest(self) -> dict[str, float]:
        """The highest grade of each topic."""
        highest = np.maximum.reduceat(self.arrays.grades, self.arrays.offsets[:-1])
        return dict(zip(self.arrays.topics, highest.tolist(), strict=True))

    def columns(self, topics: Sequence[str]) -> JudgementArrays:
        """The judgements of some topics, in this order."""
        return self.arrays.of_topics(topics)
