"""Runs as a measure ranks them: the ranks of judged documents, and the first documents of each topic."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.ids import Ids, IntArray
from pytest_riskguard.data.judged_runs import JudgedRun, kept_depth
from pytest_riskguard.data.measures import provider_of
from pytest_riskguard.data.order import Order, order_of
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.scoring import labels_for

if TYPE_CHECKING:
    from ir_measures import Measure

#: How many bits of a document's number are those of its hash; the others are those of its topic.
_HASH_BITS = np.uint64(40)


def rank_order(measure: Measure) -> Order:
    """The order by which a measure's provider ranks documents with equal scores."""
    return order_of(str(provider_of(measure).NAME))


@dataclass(frozen=True, eq=False)
class RankedDocuments:
    """Some documents of a run: row, place of the topic in the columns of the judgements, id and rank of each."""

    rows: IntArray
    topics: IntArray
    documents: Ids
    ranks: IntArray

    def __len__(self) -> int:
        return len(self.topics)

    def at(self, places: IntArray) -> RankedDocuments:
        """Some of the documents."""
        return RankedDocuments(self.rows[places], self.topics[places], self.documents.at(places), self.ranks[places])

    @property
    def keys(self) -> npt.NDArray[np.uint64]:
        """A number for each document of a topic, which two rarely share; those of a topic lie close together."""
        return self.topics.astype(np.uint64) << _HASH_BITS | self.documents.hashes >> (np.uint64(64) - _HASH_BITS)

    def named(self) -> Iterator[tuple[int, str]]:
        """Topic's place and id of each."""
        return zip(self.topics.tolist(), self.documents.strings(), strict=True)


class RankedRun:
    """A run as the provider of one measure ranks it.

    Judged documents have a rank wherever they stand, others in the first ``depth`` ranks: below, they count as not
    retrieved.
    """

    def __init__(self, run: JudgedRun, qrels: Qrels, measure: Measure) -> None:
        self.run, self.qrels, self.measure = run, qrels, measure
        self.depth = min(run.depth, kept_depth(measure, qrels))
        self.order = rank_order(measure)
        self._ranks = run.ranks[self.order]
        self._by_topic: dict[str, Mapping[str, int]] = {}

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {topic: place for place, topic in enumerate(self.run.topics)}

    @cached_property
    def topic_of_place(self) -> IntArray:
        """For each topic of the judgements' columns its place in the run; -1 if the run does not answer it."""
        topics = np.full(len(self.qrels.arrays.topics), -1, dtype=np.int64)
        topics[self._topic_places] = np.arange(len(self.run.topics))
        return topics

    @cached_property
    def _topic_places(self) -> IntArray:
        """The place of each topic of the run in the judgements' columns."""
        return self.qrels.arrays.places_of(self.run.topics)

    @cached_property
    def judged_ranks(self) -> IntArray:
        """The rank of each judged document, in the order of the judgements' columns; 0 if it is not retrieved."""
        ranks = np.zeros(len(self.qrels.arrays.grades), dtype=np.int64)
        is_judged = self.run.judgements >= 0
        ranks[self.run.judgements[is_judged]] = self._ranks[is_judged]
        return ranks

    def unjudged(self, *, above: int = 0, depth: int, span: range) -> RankedDocuments:
        """The unjudged documents from rank ``above + 1`` to ``depth`` of topics at successive places."""
        first, last = np.searchsorted(self._topic_places, (span.start, span.stop)).tolist()
        start, stop = self.run.offsets[[first, last]].tolist()
        ranks = self._ranks[start:stop]
        rows = np.flatnonzero((self.run.judgements[start:stop] < 0) & (ranks > above) & (ranks <= depth)) + start
        topics = self._topic_places[np.searchsorted(self.run.offsets, rows, side="right") - 1]
        ids = self.run.ids_of_unjudged(rows)
        return RankedDocuments(rows, topics, ids, self.ranks_of(rows))

    def ranks_of(self, rows: IntArray) -> IntArray:
        """The ranks of some rows of the run; 0 for row -1."""
        return np.where(rows >= 0, self._ranks[rows], 0).astype(np.int64)

    def first(self, topics: Collection[str], depth: int) -> set[str]:
        """The documents in the first ranks of these topics."""
        of_topics = np.array([topic in topics for topic in self.run.topics], dtype=np.bool_)
        rows = np.flatnonzero(of_topics[self.run.topic_of_row] & (self._ranks <= depth))
        return set(self.ids(rows))

    def grades(self, topic: str) -> Mapping[str, float]:
        """The judgements of a scored topic as the measure takes them: document -> grade."""
        return labels_for(self.measure, {topic: self.qrels.grades[topic]}, self.qrels.rules)[topic]

    def retrieved(self, topic: str) -> int:
        """How many documents the run has for a topic."""
        place = self._places.get(topic)
        return 0 if place is None else int(self.run.retrieved[place])

    def ranks(self, topic: str) -> Mapping[str, int]:
        """Document -> rank, from 1, by rank."""
        if topic not in self._by_topic:
            self._by_topic[topic] = self._ranks_in(topic)
        return self._by_topic[topic]

    def _ranks_in(self, topic: str) -> dict[str, int]:
        place = self._places.get(topic)
        if place is None:
            return {}
        rows = np.arange(self.run.offsets[place], self.run.offsets[place + 1])
        known = rows[(self.run.judgements[rows] >= 0) | (self._ranks[rows] <= self.depth)]
        by_rank = known[np.argsort(self._ranks[known])]
        return dict(zip(self.ids(by_rank), self._ranks[by_rank].tolist(), strict=True))

    def ids(self, rows: IntArray) -> list[str]:
        """The documents of some rows."""
        judgements = self.run.judgements[rows]
        is_judged = judgements >= 0
        ids = np.empty(len(rows), dtype=object)
        ids[is_judged] = self.qrels.arrays.documents.at(judgements[is_judged]).strings()
        ids[~is_judged] = self.run.ids_of_unjudged(rows[~is_judged]).strings()
        names: list[str] = ids.tolist()
        return names
