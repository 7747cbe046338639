"""Judgements as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pytest_riskguard.evaluation.runs.identifiers import Identifiers, IntArray, Places


@dataclass(frozen=True, eq=False)
class JudgementArrays:
    """Grades by row, grouped by topic.

    Attributes
    ----------
    topics : tuple of str
        In ``Qrels.arrays`` the scored topics, sorted as text.
    offsets : array, shape (n_topics + 1,)
        The judgements of topic i are the rows ``offsets[i]:offsets[i + 1]``.
    documents : Identifiers, shape (n_rows,)
    grades : array of float64, shape (n_rows,)
        As the file gives them, by document where its ids name passages.
    """

    topics: tuple[str, ...]
    offsets: IntArray
    documents: Identifiers
    grades: npt.NDArray[np.float64]

    @classmethod
    def of(cls, grades: Mapping[str, Mapping[str, float]], topics: Sequence[str]) -> JudgementArrays:
        """The judgements of some topics."""
        judged = [grades[topic] for topic in topics]
        return cls(
            tuple(topics),
            np.cumsum([0, *map(len, judged)], dtype=np.int64),
            Identifiers.of([document for of_topic in judged for document in of_topic]),
            np.array([grade for of_topic in judged for grade in of_topic.values()], dtype=np.float64),
        )

    def of_topics(self, topics: Sequence[str]) -> JudgementArrays:
        """The judgements of some topics, in this order."""
        if tuple(topics) == self.topics:
            return self
        places = self.places_of(topics)
        sizes = np.diff(self.offsets)[places]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[places] - offsets[:-1], sizes)
        return JudgementArrays(tuple(topics), offsets, self.documents.at(rows), self.grades[rows])

    @property
    def topic_of_row(self) -> IntArray:
        """The place of each row's topic; made anew each time."""
        return np.repeat(np.arange(len(self.topics), dtype=np.int64), np.diff(self.offsets))

    @cached_property
    def best_first(self) -> Places:
        """The rows by topic, those with the highest grades first."""
        rows = np.lexsort((-self.grades, self.topic_of_row))
        return rows.astype(np.int32) if len(rows) < 2**31 else rows

    @cached_property
    def highest(self) -> npt.NDArray[np.float64]:
        """The highest grade of each topic."""
        return self.grades[self.best_first[self.offsets[:-1]]]

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Topic -> its place."""
        return {topic: place for place, topic in enumerate(self.topics)}

    def places_of(self, topics: Sequence[str]) -> IntArray:
        """The place of each of these topics, which must have judgements."""
        if tuple(topics) == self.topics:
            return np.arange(len(topics), dtype=np.int64)
        return np.fromiter(map(self.places.__getitem__, topics), dtype=np.int64, count=len(topics))
