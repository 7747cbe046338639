"""Judgements as columns, and the judgement of each document of a run, for many topics at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.ids import Ids, IntArray, Places, Words, rows_of

#: Odd numbers without a pattern in their bits, which spread pairs of topic and document over all values.
_TOPIC, _PAIR = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xA0761D6478BD642F)
#: A table of places that judgements take has this many bits for each: few of the unjudged documents look taken.
_BITS_FOR_EACH = 4
_LEAST_BITS = 10


@dataclass(frozen=True, eq=False)
class JudgementArrays:
    """Grades by row, grouped by topic.

    Attributes
    ----------
    topics : tuple of str
        In ``Qrels.arrays`` the scored topics, sorted as text.
    offsets : array, shape (n_topics + 1,)
        The judgements of topic i are the rows ``offsets[i]:offsets[i + 1]``.
    documents : Ids, shape (n_rows,)
    grades : array of float64, shape (n_rows,)
        As the file gives them, by document where its ids name passages.
    """

    topics: tuple[str, ...]
    offsets: IntArray
    documents: Ids
    grades: npt.NDArray[np.float64]

    @classmethod
    def of(cls, grades: Mapping[str, Mapping[str, float]], topics: Sequence[str]) -> JudgementArrays:
        """The judgements of some topics."""
        judged = [grades[topic] for topic in topics]
        return cls(
            tuple(topics),
            np.cumsum([0, *map(len, judged)], dtype=np.int64),
            Ids.of([document for of_topic in judged for document in of_topic]),
            np.array([grade for of_topic in judged for grade in of_topic.values()], dtype=np.float64),
        )

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


def judgement_rows(arrays: JudgementArrays, places: IntArray, offsets: IntArray, documents: Ids) -> IntArray:
    """The judgement of each document.

    Pairs of topic and document are compared by a hash first, and byte by byte where the hashes are equal.

    Parameters
    ----------
    arrays : JudgementArrays
    places : array of int64, shape (n_topics,)
        Scored topics, each once: their places in ``arrays.topics``.
    offsets : array of int64, shape (n_topics + 1,)
        The documents of topic i are the rows ``offsets[i]:offsets[i + 1]``.
    documents : Ids, shape (n_rows,)

    Returns
    -------
    array of int64, shape (n_rows,)
        The row of its judgement in ``arrays``; -1 if a document is not judged.
    """
    found = np.full(len(documents), -1, dtype=np.int64)
    judged = rows_of(arrays.offsets, places)
    pairs = _pairs(arrays.documents.at(judged), places, np.diff(arrays.offsets)[places])
    order = np.argsort(pairs)
    judged, pairs = judged[order], pairs[order]
    wanted = _pairs(documents, places, np.diff(offsets))
    rows = _maybe_among(wanted, pairs)
    first = np.searchsorted(pairs, wanted[rows])
    while len(rows):
        inside = first < len(pairs)
        rows, first = rows[inside], first[inside]
        equal = pairs[first] == wanted[rows]
        rows, first = rows[equal], first[equal]
        candidates = judged[first]
        topics = places[np.searchsorted(offsets, rows, side="right") - 1]
        same = (candidates >= arrays.offsets[topics]) & (candidates < arrays.offsets[topics + 1])
        same[same] = documents.same(rows[same], arrays.documents, candidates[same])
        found[rows[same]] = candidates[same]
        rows, first = rows[~same], first[~same] + 1  # another pair with the same hash
    return found


def _pairs(documents: Ids, topics: IntArray, lengths: IntArray) -> Words:
    """A hash of each document together with its topic, whose high bits differ most."""
    salts = (topics.astype(np.uint64) + np.uint64(1)) * _TOPIC
    pairs: Words = (documents.hashes ^ np.repeat(salts, lengths)) * _PAIR
    return pairs


def _maybe_among(wanted: Words, pairs: Words) -> IntArray:
    """The places of hashes that may be among ``pairs``: all that are, and some that are not."""
    bits = max(_LEAST_BITS, len(pairs).bit_length() + _BITS_FOR_EACH)
    shift = np.uint64(64 - bits)
    taken: npt.NDArray[np.bool_] = np.zeros(2**bits, dtype=bool)
    taken[pairs >> shift] = True
    return np.flatnonzero(taken[wanted >> shift])
