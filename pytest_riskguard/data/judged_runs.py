"""What one reading of a run keeps: the ranks of its judged documents, and the first documents of each topic.

Every measure that riskguard computes itself, every what-if over unjudged documents and every ranking that a report
shows comes from here; the run is not read again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.ids import BoolArray, Ids, IntArray
from pytest_riskguard.data.measure_names import DEFAULT_DEPTH, MAX_DEPTH
from pytest_riskguard.data.measures import cutoff_of
from pytest_riskguard.data.order import Order
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.scores import Judged

if TYPE_CHECKING:
    from ir_measures import Measure

Ranks = npt.NDArray[np.int32]
Rows = npt.NDArray[np.int32]

#: Shares of judged documents are those of so many ranks.
LEAST_DEPTH = 10
#: About how many documents are kept for their ranks alone: of many topics fewer each, but all that are searched,
KEPT_DOCUMENTS = 250_000
#: unless that were more than this.
MOST_KEPT = 20_000_000


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """A run as far as judgements and first ranks go.

    Of each scored topic that the run answers, it has all judged documents, at any rank, and all documents in the
    first ``depth`` ranks of any of the five orders.

    Attributes
    ----------
    digest, qrels_digest : str
        ``sha256:...`` of the run, decompressed, and of the judgements.
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
        From 1; equal arrays may be shared. A reading knows all orders, ``narrowed`` only some.
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
    def topic_of_row(self) -> Rows:
        """The place of the topic of each kept document; made anew each time, since there may be many."""
        return np.repeat(np.arange(len(self.topics), dtype=np.int32), np.diff(self.offsets))

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

    @cached_property
    def _unjudged_before(self) -> IntArray:
        """How many rows before each topic are not judged."""
        judged = np.append(0, np.cumsum(self.judgements >= 0, dtype=np.int32))[self.offsets]
        before: IntArray = self.offsets - judged
        return before

    def narrowed(self, orders: Collection[Order]) -> JudgedRun:
        """The same with the ranks of some orders alone."""
        return replace(self, ranks={order: ranks for order, ranks in self.ranks.items() if order in orders})

    def rows_of_judged(self, order: Order) -> Rows:
        """The rows of judged documents by topic and as an order ranks them; sorted once for each ranking."""
        ranks = self.ranks[order]
        rows = self._judged_rows.get(id(ranks))
        if rows is None:
            rows = self._judged_rows[id(ranks)] = self._sorted(ranks)
        return rows

    @cached_property
    def _judged_rows(self) -> dict[int, Rows]:
        """The rows of judged documents, sorted, by the array of ranks, which orders may share."""
        return {}

    def _sorted(self, ranks: Ranks) -> Rows:
        judged = np.flatnonzero(self.judgements >= 0)
        keys = self.topic_of_row[judged].astype(np.int64) << 32 | ranks[judged]
        if np.any(keys[1:] < keys[:-1]):
            judged = judged[np.argsort(keys, kind="stable")]
        return judged.astype(np.int32)


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
