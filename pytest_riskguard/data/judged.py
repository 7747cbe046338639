"""A run beside its judgements: the ranks of judged documents, and the first documents of each topic.

Every measure, every what-if over unjudged documents and every ranking that a report shows comes from here; the run
is not read again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.given_file import LabelRules
from pytest_riskguard.data.ids import BoolArray, Ids, IntArray
from pytest_riskguard.data.measure_names import DEFAULT_DEPTH, MAX_DEPTH
from pytest_riskguard.data.measures import cutoff_of, provider_of
from pytest_riskguard.data.qrels import Qrels, judgement_rows
from pytest_riskguard.data.ranking import Order, Ranking, Ranks, order_of, ranking, topic_of_rows
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.scores import Judged
from pytest_riskguard.data.scoring import labels_for
from pytest_riskguard.frozen import frozen

if TYPE_CHECKING:
    from ir_measures import Measure

#: Shares of judged documents are those of so many ranks, and no fewer are kept.
FIRST_RANKS = LEAST_DEPTH = 10
#: About how many documents are kept for their ranks alone: of many topics fewer each, but all that are searched,
KEPT_DOCUMENTS = 250_000
#: unless that were more than this.
MOST_KEPT = 20_000_000

Rows = npt.NDArray[np.int32]


def depth_of(measure: Measure) -> int:
    """How many ranks are searched for unjudged documents."""
    return min(cutoff_of(measure) or DEFAULT_DEPTH, MAX_DEPTH)


def kept_depth(measure: Measure, qrels: Qrels) -> int:
    """How many ranks of each topic a report about this measure knows whole."""
    wanted, topics = max(cutoff_of(measure) or 0, MAX_DEPTH), len(qrels.topics)
    depth = min(wanted, max(depth_of(measure), KEPT_DOCUMENTS // topics))
    return max(min(depth, MOST_KEPT // topics), LEAST_DEPTH)


def depth_for(measures: Sequence[Measure], qrels: Qrels) -> int:
    """How many ranks are kept for reports about any of these measures."""
    return max((kept_depth(measure, qrels) for measure in measures), default=LEAST_DEPTH)


def rank_order(measure: Measure) -> Order:
    """The order by which a measure's provider ranks documents with equal scores."""
    return order_of(str(provider_of(measure).NAME))


@frozen(eq=False)
class JudgedRun:
    """A run as far as judgements and first ranks go.

    Of each scored topic that the run answers, it has all judged documents, at any rank, and all documents in the
    first ``depth`` ranks of any of its orders.

    Attributes
    ----------
    digest, qrels_digest : str
        Of the run and of the judgements.
    depth : int
        How many ranks are kept whole.
    topics : tuple of str
        The scored topics that the run answers, sorted as text.
    retrieved : array of int64, shape (n_topics,)
        How many documents the run has for each.
    offsets : array, shape (n_topics + 1,)
        The kept documents of topic i are the rows ``offsets[i]:offsets[i + 1]``, by rank in the order as written.
    judgements : array of int32, shape (n_rows,)
        The row of the document's judgement in ``Qrels.arrays``; -1 if it is not judged.
    unjudged : Ids
        The ids of the rows whose judgement is -1, in their order.
    ranks : mapping Order -> array of int32, shape (n_rows,)
        From 1, in the order as written and those that were asked for; equal arrays are shared.
    judged : Judged
    unknown : tuple of str
        Topics of the run without judgements, sorted.
    contradicted : tuple of str
        Topics whose rank column contradicts their scores, sorted.
    """

    digest: str
    qrels_digest: str
    depth: int
    topics: tuple[str, ...]
    retrieved: IntArray
    offsets: IntArray
    judgements: Rows
    unjudged: Ids
    ranks: Mapping[Order, Ranks]
    judged: Judged
    unknown: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        """The bytes of all columns."""
        ids, ranks = self.unjudged, {id(of_order): of_order for of_order in self.ranks.values()}
        columns = (self.retrieved, self.offsets, self.judgements, ids.text, ids.starts, ids.lengths)
        return sum(column.nbytes for column in columns) + sum(of_order.nbytes for of_order in ranks.values())

    @property
    def topic_of_row(self) -> Rows:
        """The place of the topic of each kept document; made anew each time, since there may be many."""
        return topic_of_rows(self.offsets).astype(np.int32)

    @property
    def has_judged(self) -> BoolArray:
        """The topics that retrieve a judged document, at any rank."""
        rows = np.flatnonzero(self.judgements >= 0)
        found: BoolArray = np.diff(np.searchsorted(rows, self.offsets)) > 0
        return found

    def ids_of_unjudged(self, rows: IntArray) -> Ids:
        """The ids of some rows, none of them judged."""
        if not len(rows):
            return self.unjudged.at(rows)
        topic = int(np.searchsorted(self.offsets, rows.min(), side="right")) - 1
        start, stop = int(self.offsets[topic]), int(rows.max()) + 1
        before = np.cumsum(self.judgements[start:stop] < 0, dtype=np.int32)  # in as few topics as may be
        return self.unjudged.at(self._unjudged_before[topic] - 1 + before[rows - start])

    def documents(self, rows: IntArray, qrels: Qrels) -> Ids:
        """The documents of some rows."""
        judgements = self.judgements[rows]
        is_judged = judgements >= 0
        both = [self.ids_of_unjudged(rows[~is_judged]), qrels.arrays.documents.at(judgements[is_judged])]
        return Ids.joined(both).at(np.argsort(np.argsort(is_judged, kind="stable")))

    @cached_property
    def _unjudged_before(self) -> IntArray:
        """How many rows before each topic are not judged."""
        judged = np.append(0, np.cumsum(self.judgements >= 0, dtype=np.int32))[self.offsets]
        before: IntArray = self.offsets - judged
        return before

    def ranks_of_judgements(self, order: Order, qrels: Qrels) -> IntArray:
        """The rank of the document of each judgement; 0 if it is not retrieved."""
        ranks, rows = np.zeros(len(qrels.arrays.grades), dtype=np.int64), np.flatnonzero(self.judgements >= 0)
        ranks[self.judgements[rows]] = self.ranks[order][rows]
        return ranks


def scored_topics(run: Run, qrels: Qrels) -> Run:
    """The topics of a run that are scored; documents where its ids name passages, each where its best one stands."""
    scored = np.flatnonzero([topic in qrels.arrays.places for topic in run.topics])
    if len(scored) < len(run.topics):
        run = run.at(scored)
    return _by_document(run, qrels.rules) if qrels.rules.separator else run


def _by_document(run: Run, rules: LabelRules) -> Run:
    ranks = ranking(run.scores, run.ranks, run.offsets, run.documents).ranks[Order.WRITTEN]
    topics, rows = topic_of_rows(run.offsets), np.lexsort((ranks, topic_of_rows(run.offsets)))
    names = [rules.document(name) for name in run.documents.at(rows).strings()]
    best: dict[tuple[int, str], int] = {}
    for topic, name, row in zip(topics[rows].tolist(), names, rows.tolist(), strict=True):
        best.setdefault((topic, name), row)
    kept = sorted(best, key=best.__getitem__)  # by line
    chosen = np.array([best[pair] for pair in kept], dtype=np.int64)
    return replace(
        run,
        offsets=np.searchsorted(topics[chosen], np.arange(len(run.topics) + 1)).astype(np.int64),
        documents=Ids.of([name for _, name in kept]),
        scores=run.scores[chosen],
        ranks=None if run.ranks is None else run.ranks[chosen],
    )


def judged_parts(run: Run, qrels: Qrels) -> Iterator[tuple[slice, Run, Ranking, IntArray]]:
    """The scored topics of a run a part at a time: which, their rows, ranks, and the row of each judgement, or -1."""
    places = qrels.arrays.places_of(run.topics)
    for topics, part in run.parts():
        found = judgement_rows(qrels.arrays, places[topics], part.offsets, part.documents)
        yield topics, part, ranking(part.scores, part.ranks, part.offsets, part.documents), found


class Judging:
    """Keeps of each part of a run, as ``judged_parts`` gives it, what is needed later."""

    def __init__(self, orders: Collection[Order], depth: int) -> None:
        self._orders, self._depth = {*orders, Order.WRITTEN}, depth
        self._counts: list[IntArray] = []
        self._judgements: list[Rows] = []
        self._unjudged: list[Ids] = []
        self._ranks: dict[Order, list[Ranks]] = {order: [] for order in self._orders}

    def add(self, part: Run, ranked: Ranking, judgements: IntArray) -> None:
        """Judged documents, and those in the first ranks."""
        is_kept = judgements >= 0
        for order in self._orders:
            is_kept |= ranked.ranks[order] <= self._depth
        rows = np.flatnonzero(is_kept)
        if ranked.written is not None:
            rows = ranked.written[is_kept[ranked.written]]
        self._counts.append(np.diff(np.searchsorted(np.sort(rows), part.offsets)))
        self._judgements.append(judgements[rows].astype(np.int32))
        self._unjudged.append(part.documents.at(rows[judgements[rows] < 0]).compact())
        for order, ranks in self._ranks.items():
            ranks.append(ranked.ranks[order][rows])

    def judged_run(self, run: Run, qrels: Qrels, unknown: tuple[str, ...]) -> JudgedRun:
        """What was kept of a run."""

        def joined(parts: Sequence[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
            return np.concatenate([np.zeros(0, dtype=np.int32), *parts])

        ranks = {order: joined(parts) for order, parts in self._ranks.items()}
        written, retrieved = ranks[Order.WRITTEN], np.diff(run.offsets)
        shared = {order: written if np.array_equal(of, written) else of for order, of in ranks.items()}
        judged = JudgedRun(
            digest=run.source.digest,
            qrels_digest=qrels.digest,
            depth=self._depth,
            topics=run.topics,
            retrieved=retrieved,
            offsets=np.append(0, np.cumsum(np.concatenate([np.zeros(0, dtype=np.int64), *self._counts]))),
            judgements=joined(self._judgements),
            unjudged=Ids.joined(self._unjudged),
            ranks=shared,
            judged=Judged(0, 0, 0.0),
            unknown=unknown,
            contradicted=tuple(topic for topic in run.source.contradicted if topic in {*run.topics}),
        )
        first = int(np.minimum(retrieved, FIRST_RANKS).sum())
        is_first = (written <= FIRST_RANKS) & (judged.judgements >= 0)
        share = int(np.count_nonzero(is_first)) / max(first, 1)
        return replace(judged, judged=Judged(len(run.topics), int(np.count_nonzero(judged.has_judged)), share))


@frozen(eq=False)
class RankedDocuments:
    """Some documents of a run: row, place of the topic in the columns of the judgements, id and rank of each."""

    rows: IntArray
    topics: IntArray
    documents: Ids
    ranks: IntArray

    def __len__(self) -> int:
        return len(self.topics)


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
        return self.run.ranks_of_judgements(self.order, self.qrels)

    def unjudged(self) -> RankedDocuments:
        """The unjudged documents in the first ranks, by topic; those that the measure does not see are left out."""
        last = min(self.depth, cutoff_of(self.measure) or self.depth)
        rows = np.flatnonzero((self.run.judgements < 0) & (self._ranks <= last))
        topics = self._topic_places[np.searchsorted(self.run.offsets, rows, side="right") - 1]
        return RankedDocuments(rows, topics, self.run.ids_of_unjudged(rows), self.ranks_of(rows))

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
        return self.run.documents(rows, self.qrels).strings()
