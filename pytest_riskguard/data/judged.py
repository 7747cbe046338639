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
from pytest_riskguard.data.ids import BoolArray, Ids, IntArray, topic_of_rows, topics_with
from pytest_riskguard.data.measure_names import DEFAULT_DEPTH, MAX_DEPTH
from pytest_riskguard.data.measures import cutoff_of, provider_of
from pytest_riskguard.data.qrels import Qrels, judgement_rows
from pytest_riskguard.data.ranking import Order, Ranking, Ranks, order_of, ranking
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
    unknown: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        """About the bytes of all columns."""
        return self.unjudged.text.nbytes + (len(self.ranks) + 3) * self.judgements.nbytes

    @property
    def has_judged(self) -> BoolArray:
        """The topics that retrieve a judged document, at any rank."""
        return topics_with(self.judgements >= 0, self.offsets)

    @property
    def judged(self) -> Judged:
        """How much of it is judged."""
        is_first = (self.ranks[Order.WRITTEN] <= FIRST_RANKS) & (self.judgements >= 0)
        most = max(1, int(np.minimum(self.retrieved, FIRST_RANKS).sum()))
        answered, found = len(self.topics), np.count_nonzero(self.has_judged)
        return Judged(answered, int(found), int(np.count_nonzero(is_first)) / most)

    def ids_of_unjudged(self, rows: IntArray) -> Ids:
        """The ids of some rows, none of them judged."""
        return self.unjudged.at(self._unjudged_place[rows])

    def ids(self, rows: IntArray, qrels: Qrels) -> list[str]:
        """The documents of some rows."""
        judgements = self.judgements[rows]
        is_judged, names = judgements >= 0, np.empty(len(rows), dtype=object)
        names[is_judged] = qrels.arrays.documents.at(judgements[is_judged]).strings()
        names[~is_judged] = self.ids_of_unjudged(rows[~is_judged]).strings()
        return names.tolist()

    @cached_property
    def _unjudged_place(self) -> Rows:
        """How many rows before each are not judged."""
        before: Rows = np.cumsum(self.judgements < 0, dtype=np.int32) - 1
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
    rows = ranking(run.scores, run.ranks, run.offsets, run.documents).rows[Order.WRITTEN]
    topics = topic_of_rows(run.offsets)  # of these rows, too
    names = map(rules.document, run.documents.at(rows).strings())
    best: dict[tuple[int, str], int] = {}
    for topic, name, row in zip(topics.tolist(), names, rows.tolist(), strict=True):
        best.setdefault((topic, name), row)
    kept = sorted(best, key=best.__getitem__)  # by line
    chosen = np.array([best[pair] for pair in kept], dtype=np.int64)
    return replace(
        run.with_rows(chosen),
        offsets=np.searchsorted(topics[chosen], np.arange(len(run.topics) + 1)).astype(np.int64),
        documents=Ids.of([name for _, name in kept]),
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
        self._orders, self._depth = [*{*orders, Order.WRITTEN}], depth
        none = np.zeros((len(self._orders), 0), dtype=np.int32)
        self._kept = [(np.zeros(0, dtype=np.int64), none[0], Ids.of(()), none)]

    def add(self, part: Run, ranked: Ranking, judgements: IntArray) -> None:
        """Judged documents, and those in the first ranks."""
        ranks = np.array([ranked.ranks[order] for order in self._orders])
        is_kept = (judgements >= 0) | (ranks <= self._depth).any(axis=0)
        rows = ranked.rows[Order.WRITTEN]
        rows = rows[is_kept[rows]]
        counts = np.add.reduceat(is_kept, part.offsets[:-1], dtype=np.int64)
        unjudged = part.documents.at(rows[judgements[rows] < 0]).compact()
        self._kept.append((counts, judgements[rows].astype(np.int32), unjudged, ranks[:, rows]))

    def judged_run(self, run: Run, qrels: Qrels, unknown: tuple[str, ...]) -> JudgedRun:
        """What was kept of a run."""
        counts, judgements, unjudged, parts = zip(*self._kept, strict=True)
        ranks = dict(zip(self._orders, np.concatenate(parts, axis=1), strict=True))
        written = ranks[Order.WRITTEN]
        return JudgedRun(
            digest=run.source.digest,
            qrels_digest=qrels.digest,
            depth=self._depth,
            topics=run.topics,
            retrieved=np.diff(run.offsets),
            offsets=np.append(0, np.cumsum(np.concatenate(counts))),
            judgements=np.concatenate(judgements),
            unjudged=Ids.joined(unjudged),
            ranks={order: written if np.array_equal(of, written) else of for order, of in ranks.items()},
            unknown=unknown,
            contradicted=tuple(topic for topic in run.source.contradicted if topic in {*run.topics}),
        )


@frozen(eq=False)
class RankedDocuments:
    """Some documents of a run: row, place of the topic in the columns of the judgements, and id of each."""

    rows: IntArray
    topics: IntArray
    documents: Ids

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
        self._places = qrels.arrays.places_of(run.topics)
        #: How many documents the run has for each topic of the judgements' columns.
        self.retrieved = np.zeros(len(qrels.topics), dtype=np.int64)
        self.retrieved[self._places] = run.retrieved

    @cached_property
    def judged_ranks(self) -> IntArray:
        """The rank of each judged document, in the order of the judgements' columns; 0 if it is not retrieved."""
        return self.run.ranks_of_judgements(self.order, self.qrels)

    def unjudged(self) -> RankedDocuments:
        """The unjudged documents in the first ranks, by topic; those that the measure does not see are left out."""
        last = min(self.depth, cutoff_of(self.measure) or self.depth)
        rows = np.flatnonzero((self.run.judgements < 0) & (self._ranks <= last))
        topics = self._places[np.searchsorted(self.run.offsets, rows, side="right") - 1]
        return RankedDocuments(rows, topics, self.run.ids_of_unjudged(rows))

    def ranks_of(self, rows: IntArray) -> IntArray:
        """The ranks of some rows of the run; 0 for row -1."""
        return np.where(rows >= 0, self._ranks[rows], 0).astype(np.int64)

    def first(self, depth: int) -> set[str]:
        """The documents in the first ranks of any topic."""
        return set(self.ids(np.flatnonzero(self._ranks <= depth)))

    def grades(self, topic: str) -> Mapping[str, float]:
        """The judgements of a scored topic as the measure takes them: document -> grade."""
        return labels_for(self.measure, {topic: self.qrels.grades[topic]}, self.qrels.rules)[topic]

    def ranks(self, topic: str) -> Mapping[str, int]:
        """Document -> rank, from 1, by rank; none for a topic that the run does not answer."""
        place = self.qrels.arrays.places[topic]
        start, stop = self.run.offsets[np.searchsorted(self._places, [place, place + 1])].tolist()
        ranks = self._ranks[start:stop]
        is_known = (self.run.judgements[start:stop] >= 0) | (ranks <= self.depth)
        by_rank = np.flatnonzero(is_known)[np.argsort(ranks[is_known])]
        return dict(zip(self.ids(by_rank + start), ranks[by_rank].tolist(), strict=True))

    def ids(self, rows: IntArray) -> list[str]:
        """The documents of some rows."""
        return self.run.ids(rows, self.qrels)
