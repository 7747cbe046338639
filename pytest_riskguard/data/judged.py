"""Runs beside their judgements: the ranks of judged documents, and the first documents of each topic.

Every measure, every ranking that a report shows and every what-if over unjudged documents comes from these; the run
is not read again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_riskguard.data.given_file import LabelRules
from pytest_riskguard.data.ids import BoolArray, Ids, IntArray, offsets_of, topic_of_rows, topics_with
from pytest_riskguard.data.measures import DEFAULT_DEPTH, MAX_DEPTH, cutoff_of, provider_of
from pytest_riskguard.data.qrels import Qrels, judgement_rows
from pytest_riskguard.data.runs import Order, Ranks, Run, order_of, ranking, rows_by_rank
from pytest_riskguard.data.scores import Judged
from pytest_riskguard.data.scoring import JudgedRows, kernel_of, labels_for
from pytest_riskguard.frozen import frozen

if TYPE_CHECKING:
    from ir_measures import Measure

#: Shares of judged documents are those of so many ranks, and no fewer are kept.
FIRST_RANKS = LEAST_DEPTH = 10
#: About how many documents are kept for their ranks alone, beside those that are searched.
KEPT_DOCUMENTS = 250_000
#: No more are kept, even of those that are searched.
MOST_KEPT = 20_000_000


def depth_of(measure: Measure) -> int:
    """How many ranks are searched for unjudged documents."""
    return min(cutoff_of(measure) or DEFAULT_DEPTH, MAX_DEPTH)


def kept_depth(measure: Measure, qrels: Qrels) -> int:
    """How many ranks of each topic a report about this measure knows whole.

    As many as the measure sees, and at least ``MAX_DEPTH``; fewer of many topics, but all that are searched.
    """
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
    places : array of int64, shape (n_topics,)
        Their places in ``Qrels.arrays``.
    retrieved : array of int64, shape (n_topics,)
        How many documents the run has for each.
    offsets : array, shape (n_topics + 1,)
        The kept documents of topic i are the rows ``offsets[i]:offsets[i + 1]``, by rank in the order as written.
    judgements : array of int32, shape (n_rows,)
        The row of the document's judgement in ``Qrels.arrays``; -1 if it is not judged.
    documents : Ids, shape (n_rows,)
    ranks : mapping Order -> array of int32, shape (n_rows,)
        From 1, in the order as written and those that were asked for; equal arrays are shared.
    """

    digest: str
    qrels_digest: str
    depth: int
    topics: tuple[str, ...]
    places: IntArray
    retrieved: IntArray
    offsets: IntArray
    judgements: Ranks
    documents: Ids
    ranks: Mapping[Order, Ranks]

    @property
    def nbytes(self) -> int:
        """About the bytes of all columns."""
        return self.documents.text.nbytes + (len(self.ranks) + 3) * self.judgements.nbytes

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

    def judged_rows(self, order: Order, qrels: Qrels) -> JudgedRows:
        """All judgements, with the ranks at which the run has their documents."""
        arrays, rows = qrels.arrays, np.flatnonzero(self.judgements >= 0)
        ranks, retrieved = (np.zeros(len(column), dtype=np.int64) for column in (arrays.grades, arrays.topics))
        ranks[self.judgements[rows]] = self.ranks[order][rows]
        retrieved[self.places] = self.retrieved
        return JudgedRows(topic_of_rows(arrays.offsets), ranks, arrays.grades, retrieved)


def scored_topics(run: Run, qrels: Qrels) -> Run:
    """The topics of a run that are scored; documents where its ids name passages, each where its best one stands."""
    scored = np.flatnonzero([topic in qrels.arrays.places for topic in run.topics])
    if len(scored) < len(run.topics):
        run = run.at(scored)
    return _by_document(run, qrels.rules) if qrels.rules.separator else run


def _by_document(run: Run, rules: LabelRules) -> Run:
    rows = rows_by_rank(ranking(run)[Order.WRITTEN], run.offsets)
    topics = topic_of_rows(run.offsets)  # of these rows, too
    names = map(rules.document, run.documents.at(rows).strings())
    best: dict[tuple[int, str], int] = {}
    for topic, name, row in zip(topics.tolist(), names, rows.tolist(), strict=True):
        best.setdefault((topic, name), row)
    kept = sorted((row, name) for (_, name), row in best.items())  # by line
    chosen = np.array([row for row, _ in kept], dtype=np.int64)
    return replace(
        run.with_rows(chosen),
        offsets=np.searchsorted(topics[chosen], np.arange(len(run.topics) + 1)).astype(np.int64),
        documents=Ids.of([name for _, name in kept]),
    )


def judged_run(run: Run, qrels: Qrels, orders: Collection[Order], depth: int) -> JudgedRun:
    """The scored topics of a run beside their judgements: judged documents, and those in the first ranks."""
    places, orders = qrels.arrays.places_of(run.topics), [*{*orders, Order.WRITTEN}]
    none = np.zeros((len(orders), 0), dtype=np.int32)
    kept = [(np.zeros(0, dtype=np.int64), none[0], Ids.of(()), none)]
    for topics, part in run.parts():
        found = judgement_rows(qrels.arrays, places[topics], part.offsets, part.documents)
        every = ranking(part)
        ranks = np.array([every[order] for order in orders])
        is_kept = (found >= 0) | (ranks <= depth).any(axis=0)
        rows = rows_by_rank(every[Order.WRITTEN], part.offsets)
        rows = rows[is_kept[rows]]
        counts = np.add.reduceat(is_kept, part.offsets[:-1], dtype=np.int64)
        kept.append((counts, found[rows].astype(np.int32), part.documents.at(rows).compact(), ranks[:, rows]))
    sizes, judgements, ids, parts = zip(*kept, strict=True)
    ranks_by_order = dict(zip(orders, np.concatenate(parts, axis=1), strict=True))
    written = ranks_by_order[Order.WRITTEN]
    return JudgedRun(
        digest=run.source.digest,
        qrels_digest=qrels.digest,
        depth=depth,
        topics=run.topics,
        places=places,
        retrieved=np.diff(run.offsets),
        offsets=offsets_of(np.concatenate(sizes)),
        judgements=np.concatenate(judgements),
        documents=Ids.joined(ids),
        ranks={order: written if np.array_equal(of, written) else of for order, of in ranks_by_order.items()},
    )


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

    @cached_property
    def counted(self) -> tuple[JudgedRows, IntArray]:
        """The judgements that the measure counts, and how many a topic has; for measures with a kernel."""
        kernel, rows = kernel_of(self.measure, self.qrels.rules), self.run.judged_rows(self.order, self.qrels)
        counted = rows.at(kernel.value(rows.value) > 0)
        return counted, counted.sums().astype(np.int64)

    @property
    def last(self) -> int:
        """The last rank that the measure sees of unjudged documents."""
        return min(self.depth, cutoff_of(self.measure) or self.depth)

    def unjudged(self) -> tuple[IntArray, IntArray]:
        """The rows of unjudged documents in the first ranks that the measure sees, and the place of their topics."""
        rows = np.flatnonzero((self.run.judgements < 0) & (self._ranks <= self.last))
        return rows, self.run.places[np.searchsorted(self.run.offsets, rows, side="right") - 1]

    def ranks_of(self, rows: IntArray) -> IntArray:
        """The ranks of some rows of the run; 0 for row -1."""
        return np.where(rows >= 0, self._ranks[rows], 0).astype(np.int64)

    def first(self, depth: int) -> set[str]:
        """The documents in the first ranks of any topic."""
        return set(self.run.documents.at(np.flatnonzero(self._ranks <= depth)).strings())

    def grades(self, topic: str) -> Mapping[str, float]:
        """The judgements of a scored topic as the measure takes them: document -> grade."""
        return labels_for(self.measure, {topic: self.qrels.grades[topic]}, self.qrels.rules)[topic]

    def ranks(self, topic: str) -> Mapping[str, int]:
        """Document -> rank, from 1, by rank; none for a topic that the run does not answer."""
        place = bisect_left(self.run.topics, topic)
        if self.run.topics[place : place + 1] != (topic,):
            return {}
        rows = np.arange(*self.run.offsets[place : place + 2])
        rows = rows[(self.run.judgements[rows] >= 0) | (self._ranks[rows] <= self.depth)]
        rows = rows[np.argsort(self._ranks[rows])]
        return dict(zip(self.run.documents.at(rows).strings(), self._ranks[rows].tolist(), strict=True))
