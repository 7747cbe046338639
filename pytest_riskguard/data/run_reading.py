"""From the rows of a run, block by block, to what is kept of them; what was read does not depend on the blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.document_ids import FIRST_RANKS, GradesAsScores, Judged
from pytest_riskguard.data.examined_ids import Examined, Sample
from pytest_riskguard.data.ids import BoolArray, Ids, IntArray, rows_of, topics_with
from pytest_riskguard.data.judged_runs import JudgedRun, Ranks, Rows
from pytest_riskguard.data.qrels import judgement_rows
from pytest_riskguard.data.order import Order, RankColumn
from pytest_riskguard.data.provider_scores import values_of
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.ranks import KINDS, Codes, RankedRows, ranked
from pytest_riskguard.data.row_blocks import TOPICS_PER_CHUNK, RowBlock, by_document

if TYPE_CHECKING:
    from ir_measures import Measure

FloatArray = npt.NDArray[np.float64]


class _Part(NamedTuple):
    """What is kept of the scored topics of one block: a column for each name, by topic or by kept row."""

    places: IntArray
    retrieved: IntArray
    counts: IntArray
    rank_columns: Codes
    as_judged: BoolArray
    values: FloatArray
    as_written: FloatArray
    judgements: Rows
    unjudged: Ids
    ranks: Mapping[Order, Ranks]


@dataclass(frozen=True, eq=False)
class RunReading:
    """A run that was read, and what is only needed to check and to score it.

    Attributes
    ----------
    run : JudgedRun
    places : array of int64, shape (n_topics,)
        The topics of the run by their places in ``Qrels.topics``, sorted.
    rank_columns : array of int8, shape (n_topics,)
        What each topic's rank column says: a place in ``ranks.KINDS``.
    as_judged : array of bool, shape (n_topics,)
        Whether documents and scores are exactly those of the judgements.
    measures : tuple of str
        Those without a kernel, which ir-measures computes while the run is read.
    values, as_written : array of float64, shape (n_topics, n_measures)
        In the order of each measure's provider, and in the order as written.
    examined : Examined
        The first documents of the topics whose ids are examined.
    """

    run: JudgedRun
    places: IntArray
    rank_columns: Codes
    as_judged: BoolArray
    measures: tuple[str, ...]
    values: FloatArray
    as_written: FloatArray
    examined: Examined

    def named(self, digest: str, contradicted: Sequence[str] | None) -> RunReading:
        """The reading of a whole run with this digest.

        ``contradicted`` names the topics whose order contradicts their scores; by default the rank columns say so.
        """
        if contradicted is None:
            kinds = (RankColumn.CONTRADICTS, RankColumn.INVERTED, RankColumn.STANDS_FOR_SCORES)
            contradicted = [self.run.topics[index] for index in np.flatnonzero(self._is_any(*kinds)).tolist()]
        return replace(self, run=replace(self.run, digest=digest, contradicted=tuple(contradicted)))

    @property
    def upside_down(self) -> IntArray:
        """The topics whose scores rise with the rank, or number the lines, if most with other scores are so."""
        topics = self._is_any(RankColumn.INVERTED, RankColumn.STANDS_FOR_SCORES)
        others = self._is_any(RankColumn.AGREES, RankColumn.CONTRADICTS, RankColumn.NUMBERS_NOTHING)
        is_inverted = np.count_nonzero(topics) > np.count_nonzero(others)
        return np.flatnonzero(topics) if is_inverted else np.zeros(0, dtype=np.int64)

    def _is_any(self, *kinds: RankColumn) -> BoolArray:
        return np.isin(self.rank_columns, [KINDS.index(kind) for kind in kinds])

    def grades_as_scores(self, qrels: Qrels) -> GradesAsScores:
        """In how many topics documents and scores are exactly those of the judgements."""
        several = np.diff(qrels.arrays.offsets)[self.places] > 1
        same = int(np.count_nonzero(self.as_judged))
        return GradesAsScores(same, int(np.count_nonzero(self.as_judged & several)), len(self.places) - same)


class RunReader:
    """Reads topics of a run and keeps what judgements, measures and the first ranks need.

    ``measures`` are those that ir-measures computes; ``depth`` says how many ranks are kept whole; ``source`` names
    the run in messages.
    """

    def __init__(self, qrels: Qrels, measures: Sequence[Measure], *, depth: int, source: str) -> None:
        self._qrels, self._measures, self._depth, self._source = qrels, measures, depth, source

    def read(self, blocks: Iterable[RowBlock]) -> RunReading:
        """What is kept of the topics of these blocks, each of them complete and in one block."""
        parts: list[_Part] = []
        unknown: set[str] = set()
        sample = Sample()
        for block in blocks:
            places = np.array([self._qrels.arrays.places.get(topic, -1) for topic in block.topics], dtype=np.int64)
            others = [block.topics[index] for index in np.flatnonzero(places < 0).tolist()]
            unknown.update(topic for topic in others if topic not in self._qrels.grades)
            if len(others) < len(places):
                scored = block.only(np.flatnonzero(places >= 0)) if others else block
                if self._qrels.rules.separator:
                    scored = RowBlock.of(by_document(scored.chunk(), self._qrels.rules))
                parts.append(self._part(scored, places[places >= 0], sample))
            del block  # before the next one is read
        if not parts:
            none = RowBlock((), np.zeros(1, dtype=np.int64), Ids.of(()), np.zeros(0), None)
            parts.append(self._part(none, np.zeros(0, dtype=np.int64), sample))
        return self._joined(parts, sample.examined(), tuple(sorted(unknown)))

    def _part(self, block: RowBlock, places: IntArray, sample: Sample) -> _Part:
        """What is kept of a block of scored topics, which are given by their places in the judgements."""
        rows = ranked(block)
        judgements = judgement_rows(self._qrels.arrays, places, block.offsets, block.documents)
        chosen = _kept_rows(rows, judgements >= 0, self._depth)
        ranks = {id(ranks): ranks[chosen] for ranks in rows.ranks.values()}
        sample.add(places, block.offsets, block.documents, rows.written)
        return _Part(
            places,
            np.diff(block.offsets),
            np.diff(
                np.searchsorted(np.sort(chosen), block.offsets)
            ),  # rows of a topic stand together in either order
            rows.rank_columns,
            self._are_as_judged(block, judgements, places),
            *self._values(block),
            judgements[chosen].astype(np.int32),
            block.documents.at(chosen[judgements[chosen] < 0]).compact(),
            {order: ranks[id(of_order)] for order, of_order in rows.ranks.items()},
        )

    def _values(self, block: RowBlock) -> tuple[FloatArray, FloatArray]:
        """The values of measures that ir-measures computes, in their providers' orders and in the one as written."""
        values, as_written = np.empty((2, len(block.topics), len(self._measures)))
        if self._measures:
            for start in range(0, len(block.topics), TOPICS_PER_CHUNK):
                topics = np.arange(start, min(start + TOPICS_PER_CHUNK, len(block.topics)))
                found = values_of(block.only(topics).chunk(), self._measures, self._qrels, self._source)
                values[topics], as_written[topics] = (of_order.T for of_order in found)
        return values, as_written

    def _are_as_judged(self, block: RowBlock, judgements: IntArray, places: IntArray) -> BoolArray:
        """The topics whose documents are exactly those that are judged, with their grades as scores."""
        arrays = self._qrels.arrays
        differs = (judgements < 0) | (arrays.grades[judgements] != block.scores)
        sizes = np.diff(arrays.offsets)[places]
        same: BoolArray = ~topics_with(differs, block.offsets) & (sizes == np.diff(block.offsets))
        return same

    def _joined(self, parts: Sequence[_Part], examined: Examined, unknown: tuple[str, ...]) -> RunReading:
        """What was kept of all blocks, with the topics sorted."""

        def column(name: str) -> Any:
            return np.concatenate([getattr(part, name) for part in parts])

        places, counts, judgements = column("places"), column("counts"), column("judgements")
        order = np.argsort(places, kind="stable")
        rows = rows_of(np.append(0, np.cumsum(counts)), order)
        unjudged = Ids.joined([part.unjudged for part in parts])
        before = np.cumsum(judgements < 0)  # how many rows up to each have an id of their own
        judgements = judgements[rows]
        if not np.array_equal(order, np.arange(len(order))):
            unjudged = unjudged.at(before[rows[judgements < 0]] - 1).compact()
        run = JudgedRun(
            digest="",
            qrels_digest=self._qrels.digest,
            depth=self._depth,
            topics=tuple(self._qrels.topics[place] for place in places[order].tolist()),
            retrieved=column("retrieved")[order],
            offsets=np.append(0, np.cumsum(counts[order])),
            judgements=judgements,
            unjudged=unjudged,
            ranks=_of_shared([part.ranks for part in parts], rows),
            judged=Judged(0, 0, 0.0),
            unknown=unknown,
        )
        return RunReading(
            run=replace(run, judged=_judged(run)),
            places=places[order],
            rank_columns=column("rank_columns")[order],
            as_judged=column("as_judged")[order],
            measures=tuple(map(str, self._measures)),
            values=column("values")[order],
            as_written=column("as_written")[order],
            examined=examined,
        )


def _of_shared(ranks: Sequence[Mapping[Order, Ranks]], rows: IntArray) -> Mapping[Order, Ranks]:
    """The ranks of all parts for these rows; orders that agree everywhere share an array."""
    found: dict[tuple[int, ...], Ranks] = {}
    of_order = {}
    for order in Order:
        key = tuple(id(part[order]) for part in ranks)
        if key not in found:
            found[key] = np.concatenate([part[order] for part in ranks])[rows]
        of_order[order] = found[key]
    return of_order


def _judged(run: JudgedRun) -> Judged:
    """How much of what the topics retrieve is judged."""
    first = int(np.minimum(run.retrieved, FIRST_RANKS).sum())
    is_first = (run.ranks[Order.WRITTEN] <= FIRST_RANKS) & (run.judgements >= 0)
    share = int(np.count_nonzero(is_first)) / max(first, 1)
    return Judged(len(run.topics), int(np.count_nonzero(run.has_judged)), share)


def _kept_rows(rows: RankedRows, is_judged: BoolArray, depth: int) -> IntArray:
    """The rows that are kept, by topic and by rank in the order as written."""
    is_kept = is_judged.copy()
    for ranks in {id(ranks): ranks for ranks in rows.ranks.values()}.values():
        is_kept |= ranks <= depth
    return np.flatnonzero(is_kept) if rows.written is None else rows.written[is_kept[rows.written]]
