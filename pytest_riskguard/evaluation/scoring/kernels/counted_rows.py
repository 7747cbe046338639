"""What a kernel sees of a run and of its judgements: numbers by row, no ids.

Sums go through ``numpy.bincount``, which adds the rows of a topic one after the other as providers do; ``numpy.sum``
adds in pairs, and its last bits differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CountedRows:
    """The retrieved documents that a measure counts, grouped by topic and by rank within a topic.

    Attributes
    ----------
    topic : array of int64, shape (n_rows,)
        The place of the row's topic, from 0.
    rank : array of int64, shape (n_rows,)
        From 1, among all documents that the run has for the topic.
    value : array of float64, shape (n_rows,)
        What the document counts: ``Kernel.values`` of its grade.
    retrieved : array of int64, shape (n_topics,)
        How many documents the run has for each topic, judged or not.
    """

    topic: IntArray
    rank: IntArray
    value: FloatArray
    retrieved: IntArray

    def sums(self, of_row: FloatArray) -> FloatArray:
        """The sum of each topic's rows, from the first rank on."""
        sums = np.bincount(self.topic, weights=of_row, minlength=len(self.retrieved))
        return sums.astype(np.float64, copy=False)  # without rows it counts

    def counts(self) -> IntArray:
        """How many rows each topic has."""
        return np.bincount(self.topic, minlength=len(self.retrieved)).astype(np.int64, copy=False)

    def places(self) -> IntArray:
        """The place of each row in its topic, from 0."""
        return places_within(self.topic)

    def where(self, chosen: BoolArray) -> CountedRows:
        """Some of the rows, of the same topics."""
        return CountedRows(self.topic[chosen], self.rank[chosen], self.value[chosen], self.retrieved)


def places_within(groups: IntArray) -> IntArray:
    """The place of each row in its group, from 0; rows of a group stand together."""
    rows = np.arange(len(groups), dtype=np.int64)
    begins = np.ones(len(groups), dtype=np.bool_)
    np.not_equal(groups[1:], groups[:-1], out=begins[1:])
    return rows - np.maximum.accumulate(np.where(begins, rows, 0))


class Kernel(Protocol):
    """One measure with its parameters, on judgements under their rules."""

    def values(self, grades: FloatArray) -> FloatArray:
        """What a document of each grade counts: a gain, or a label (1 relevant, 0 not, -1 as if not judged)."""

    def sees(self, values: FloatArray, ranks: IntArray) -> BoolArray:
        """Which of the judged documents at these ranks can change the measure; the others are left out."""

    @property
    def ideal_ranks(self) -> int | None:
        """How many of a topic's judgements ``totals`` needs, those with the highest grades first; None for all."""

    def totals(self, topic: IntArray, values: FloatArray, count: int) -> FloatArray:
        """What each topic's judgements say whatever was retrieved, shape (count, ...), such as the ideal gain.

        Judgements are given by topic, those with the highest grades first.
        """

    def scores(self, rows: CountedRows, totals: FloatArray) -> FloatArray:
        """The measure of each topic, shape (n_topics,)."""
