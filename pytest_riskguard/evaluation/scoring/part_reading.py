"""From the rows of a run, block by block, to what is kept of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pytest_riskguard.evaluation.examined_ids import Sample
from pytest_riskguard.evaluation.judgements.arrays import judgement_rows
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.runs.chunks import TOPICS_PER_CHUNK
from pytest_riskguard.evaluation.runs.growing_columns import Column, IdentifierColumn, OrderColumns
from pytest_riskguard.evaluation.runs.identifiers import IntArray
from pytest_riskguard.evaluation.runs.order import Order
from pytest_riskguard.evaluation.runs.passages import by_document
from pytest_riskguard.evaluation.runs.rank_columns import BoolArray, rows_of, topics_with
from pytest_riskguard.evaluation.runs.rank_orders import RankedRows, ranked
from pytest_riskguard.evaluation.runs.row_blocks import RowBlock
from pytest_riskguard.evaluation.scoring.judged_runs import Ranks, Rows
from pytest_riskguard.evaluation.scoring.kept_topics import FloatArray, RunPart, joined
from pytest_riskguard.evaluation.scoring.provider_scores import values_of

if TYPE_CHECKING:
    from ir_measures import Measure


class _Kept:
    """The columns of a ``RunPart`` while a run is read."""

    def __init__(self, measures: int) -> None:
        self.places, self.retrieved, self.counts = (Column(np.int64) for _ in range(3))
        self.judgements = Column(np.int32)
        self.rank_columns, self.as_judged = Column(np.int8), Column(np.bool_)
        self.unjudged, self.ranks, self.sample = IdentifierColumn(), OrderColumns(), Sample()
        self.values, self.as_written = (Column(np.float64, width=measures) for _ in range(2))


class PartReader:
    """Reads topics of a run and keeps what judgements, measures and the first ranks need.

    ``measures`` are those that ir-measures computes; ``source`` names the run in messages.
    """

    def __init__(self, qrels: Qrels, measures: Sequence[Measure], *, depth: int, source: str) -> None:
        self._qrels, self._measures, self._depth, self._source = qrels, measures, depth, source

    def read(self, blocks: Iterable[RowBlock]) -> RunPart:
        """What is kept of the topics of these blocks, each of them complete."""
        kept = _Kept(len(self._measures))
        unknown = self._read(kept, blocks)
        by_place, rows, ids = _sorted(kept)
        part = RunPart(
            digest="",
            qrels_digest=self._qrels.digest,
            depth=self._depth,
            measures=tuple(map(str, self._measures)),
            places=kept.places.taken(by_place),
            retrieved=kept.retrieved.taken(by_place),
            offsets=np.append(0, np.cumsum(kept.counts.taken(by_place))),
            unjudged=kept.unjudged.taken(ids),
            judgements=kept.judgements.taken(rows),
            ranks=kept.ranks.taken(rows),
            rank_columns=kept.rank_columns.taken(by_place),
            as_judged=kept.as_judged.taken(by_place),
            values=kept.values.taken(by_place).T,
            as_written=kept.as_written.taken(by_place).T,
            examined=kept.sample.examined(),
            unknown=tuple(sorted(unknown)),
        )
        return joined([part])  # which refuses a topic that is here twice

    def _read(self, kept: _Kept, blocks: Iterable[RowBlock]) -> set[str]:
        """Keep what is needed of all blocks; the topics without judgements."""
        unknown: set[str] = set()
        for block in blocks:
            self._keep_block(kept, block, unknown)
            del block  # before the next one is read
        return unknown

    def _keep_block(self, kept: _Kept, block: RowBlock, unknown: set[str]) -> None:
        places = np.array([self._qrels.arrays.places.get(topic, -1) for topic in block.topics], dtype=np.int64)
        others = [block.topics[index] for index in np.flatnonzero(places < 0).tolist()]
        unknown.update(topic for topic in others if topic not in self._qrels.grades)
        if len(others) < len(places):
            scored = only(block, np.flatnonzero(places >= 0)) if others else block
            self._keep(kept, self._by_document(scored), places[places >= 0])

    def _by_document(self, block: RowBlock) -> RowBlock:
        if not self._qrels.rules.separator:
            return block
        return RowBlock.of(*by_document([block.chunk()], self._qrels.rules))

    def _keep(self, kept: _Kept, block: RowBlock, places: IntArray) -> None:
        """Keep what is needed of a block of scored topics, which are given by their places in the judgements."""
        rows = ranked(block)
        judgements = judgement_rows(self._qrels.arrays, places, block.offsets, block.documents)
        chosen = _kept_rows(rows, judgements >= 0, self._depth)
        values, as_written = self._values(block)
        kept.places.append(places)
        kept.retrieved.append(np.diff(block.offsets))
        # rows of a topic stand together in either order
        kept.counts.append(np.diff(np.searchsorted(np.sort(chosen), block.offsets)))
        kept.judgements.append(judgements[chosen])
        kept.unjudged.append(block.documents.at(chosen[judgements[chosen] < 0]))
        kept.ranks.append(_chosen(rows.ranks, chosen))
        kept.rank_columns.append(rows.rank_columns)
        kept.as_judged.append(self._are_as_judged(block, judgements, places))
        kept.values.append(values.T)
        kept.as_written.append(as_written.T)
        kept.sample.add(places, block.offsets, block.documents, rows.written)

    def _values(self, block: RowBlock) -> tuple[FloatArray, FloatArray]:
        """The values of measures that ir-measures computes, in their providers' orders and in the one as written."""
        values, as_written = np.empty((2, len(self._measures), len(block.topics)))
        if self._measures:
            for start in range(0, len(block.topics), TOPICS_PER_CHUNK):
                topics = np.arange(start, min(start + TOPICS_PER_CHUNK, len(block.topics)))
                chunk = only(block, topics).chunk()
                found = values_of(chunk, self._measures, self._qrels, self._source)
                values[:, topics], as_written[:, topics] = found
        return values, as_written

    def _are_as_judged(self, block: RowBlock, judgements: IntArray, places: IntArray) -> BoolArray:
        """The topics whose documents are exactly those that are judged, with their grades as scores."""
        arrays = self._qrels.arrays
        differs = (judgements < 0) | (arrays.grades[judgements] != block.scores)
        sizes = np.diff(arrays.offsets)[places]
        same: BoolArray = ~topics_with(differs, block.offsets) & (sizes == np.diff(block.offsets))
        return same


def _sorted(kept: _Kept) -> tuple[IntArray | None, Rows | None, Rows | None]:
    """The topics by their places, their rows, and the ids of unjudged ones; None where they stand so already."""
    places = kept.places.values
    if np.all(places[1:] > places[:-1]):
        return None, None, None
    by_place = np.argsort(places, kind="stable")
    rows = rows_of(np.append(0, np.cumsum(kept.counts.values)), by_place).astype(np.int32)
    return by_place, rows, _places_of_ids(kept.judgements.values, rows)


def _places_of_ids(judgements: Rows, rows: Rows) -> Rows:
    """Where the ids of those of these rows that are not judged stand, if only such rows have ids."""
    before = np.cumsum(judgements < 0, dtype=np.int32)
    places: Rows = before[rows[judgements[rows] < 0]] - np.int32(1)
    return places


def only(block: RowBlock, topics: IntArray) -> RowBlock:
    """Some topics of a block."""
    rows = rows_of(block.offsets, topics)
    return RowBlock(
        tuple(block.topics[topic] for topic in topics.tolist()),
        np.append(0, np.cumsum(np.diff(block.offsets)[topics])),
        block.documents.at(rows),
        block.scores[rows],
        None if block.ranks is None else block.ranks.at(rows),
    )


def _kept_rows(rows: RankedRows, is_judged: BoolArray, depth: int) -> IntArray:
    """The rows that are kept, by topic and by rank in the order as written."""
    is_kept = is_judged.copy()
    for ranks in {id(ranks): ranks for ranks in rows.ranks.values()}.values():
        is_kept |= ranks <= depth
    return np.flatnonzero(is_kept) if rows.written is None else rows.written[is_kept[rows.written]]


def _chosen(ranks: Mapping[Order, Ranks], rows: IntArray) -> Mapping[Order, Ranks]:
    """The ranks of some rows; orders that agree share an array."""
    chosen = {id(of_order): of_order[rows] for of_order in ranks.values()}
    return {order: chosen[id(of_order)] for order, of_order in ranks.items()}
