"""What reading some topics of a run keeps: it can be put together with what is kept of others.

A part does not depend on how its topics were divided into blocks, nor the whole on how they were divided into parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.document_ids import FIRST_RANKS, GradesAsScores, Judged
from pytest_riskguard.evaluation.examined_ids import Examined
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.runs.identifiers import Identifiers, IntArray
from pytest_riskguard.evaluation.runs.order import Order, RankColumn
from pytest_riskguard.evaluation.runs.rank_columns import KINDS, BoolArray, Codes, rows_of
from pytest_riskguard.evaluation.scoring.judged_runs import JudgedRun, Ranks, Rows

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RunPart:
    """Some topics of a run: those that are scored, and the names of others.

    Attributes
    ----------
    digest : str
        ``sha256:...`` of the run, decompressed, if the part is the whole run; else empty.
    qrels_digest : str
        Of the judgements.
    depth : int
        How many ranks are kept whole.
    measures : tuple of str
        Those without a kernel, which ir-measures computes while the run is read.
    places : array of int64, shape (n_topics,)
        The topics by their places in ``Qrels.topics``, sorted.
    retrieved, offsets, judgements, unjudged, ranks
        As in ``JudgedRun``, for these topics in this order.
    rank_columns : array of int8, shape (n_topics,)
        What each topic's rank column says: a place in ``rank_columns.KINDS``.
    as_judged : array of bool, shape (n_topics,)
        Whether documents and scores are exactly those of the judgements.
    values, as_written : array of float64, shape (n_measures, n_topics)
        In the order of each measure's provider, and in the order as written.
    examined : Examined
        The first documents of the topics whose ids are examined.
    unknown : tuple of str
        Topics without judgements, sorted.
    """

    digest: str
    qrels_digest: str
    depth: int
    measures: tuple[str, ...]
    places: IntArray
    retrieved: IntArray
    offsets: IntArray
    judgements: Rows
    unjudged: Identifiers
    ranks: Mapping[Order, Ranks]
    rank_columns: Codes
    as_judged: BoolArray
    values: FloatArray
    as_written: FloatArray
    examined: Examined
    unknown: tuple[str, ...]


def joined(parts: Sequence[RunPart], *, digest: str | None = None) -> RunPart:
    """The parts of a run as one, with its topics sorted.

    ``digest`` is that of the whole run; by default that of the part, if it is the only one.

    ``DataError`` for parts with different judgements, depths or measures, and for a topic in two parts.
    """
    if len({(part.qrels_digest, part.depth, part.measures) for part in parts}) != 1:
        raise DataError(
            "expected parts of a run that were read with the same judgements, measures and depth, found others; read "
            "all parts again in the same way",
            reason="inputs_changed",
        )
    if len(parts) == 1 and np.all(np.diff(parts[0].places) > 0):
        return replace(parts[0], digest=parts[0].digest if digest is None else digest)
    places = np.concatenate([part.places for part in parts])
    offsets = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part.offsets) for part in parts]))])
    judgements = np.concatenate([part.judgements for part in parts])
    unjudged = Identifiers.joined([part.unjudged for part in parts])
    order: IntArray | slice = slice(None)
    rows: IntArray | slice = slice(None)
    if not np.all(places[1:] > places[:-1]):
        order = np.argsort(places, kind="stable")
        if np.any(places[order][1:] == places[order][:-1]):
            raise DataError("expected each topic in one part of the run, found one in several", reason="bad_run")
        rows = rows_of(offsets, order)
        of_row = np.cumsum(judgements < 0, dtype=np.int32) - np.int32(1)  # where the id of an unjudged row stands
        unjudged = unjudged.at(of_row[rows[judgements[rows] < 0]]).compact()
    return RunPart(
        digest=(parts[0].digest if len(parts) == 1 else "") if digest is None else digest,
        qrels_digest=parts[0].qrels_digest,
        depth=parts[0].depth,
        measures=parts[0].measures,
        places=places[order],
        retrieved=np.concatenate([part.retrieved for part in parts])[order],
        offsets=np.concatenate([[0], np.cumsum(np.diff(offsets)[order])]),
        judgements=judgements[rows],
        unjudged=unjudged,
        ranks=_of_shared([part.ranks for part in parts], rows),
        rank_columns=np.concatenate([part.rank_columns for part in parts])[order],
        as_judged=np.concatenate([part.as_judged for part in parts])[order],
        values=np.concatenate([part.values for part in parts], axis=1)[:, order],
        as_written=np.concatenate([part.as_written for part in parts], axis=1)[:, order],
        examined=Examined.joined([part.examined for part in parts]),
        unknown=tuple(sorted({topic for part in parts for topic in part.unknown})),
    )


def _of_shared(ranks: Sequence[Mapping[Order, Ranks]], rows: IntArray | slice) -> Mapping[Order, Ranks]:
    """The ranks of all parts for these rows; orders that agree everywhere still share an array."""
    found: dict[tuple[int, ...], Ranks] = {}
    of_order = {}
    for order in Order:
        key = tuple(id(part[order]) for part in ranks)
        if key not in found:
            found[key] = np.concatenate([part[order] for part in ranks])[rows]
        of_order[order] = found[key]
    return of_order


def judged_run(part: RunPart, qrels: Qrels, contradicted: Sequence[str] | None = None) -> JudgedRun:
    """The run that a whole part is, without what is only needed to check it.

    ``contradicted`` names the topics whose order contradicts their scores; by default the rank columns say so.
    """
    topics = tuple(qrels.topics[place] for place in part.places.tolist())
    if contradicted is None:
        kinds = (RankColumn.CONTRADICTS, RankColumn.INVERTED, RankColumn.STANDS_FOR_SCORES)
        contradicted = [topics[index] for index in np.flatnonzero(_is_any(part, *kinds)).tolist()]
    return JudgedRun(
        digest=part.digest,
        qrels_digest=part.qrels_digest,
        depth=part.depth,
        topics=topics,
        retrieved=part.retrieved,
        offsets=part.offsets,
        judgements=part.judgements,
        unjudged=part.unjudged,
        ranks=part.ranks,
        judged=judged(part),
        unknown=part.unknown,
        contradicted=tuple(contradicted),
    )


def upside_down(part: RunPart) -> IntArray:
    """The topics whose scores rise with the rank, or number the lines, if most topics with other scores are so."""
    topics = _is_any(part, RankColumn.INVERTED, RankColumn.STANDS_FOR_SCORES)
    others = _is_any(part, RankColumn.AGREES, RankColumn.CONTRADICTS, RankColumn.NUMBERS_NOTHING)
    is_inverted = np.count_nonzero(topics) > np.count_nonzero(others)
    return np.flatnonzero(topics) if is_inverted else np.zeros(0, dtype=np.int64)


def _is_any(part: RunPart, *kinds: RankColumn) -> BoolArray:
    return np.isin(part.rank_columns, [KINDS.index(kind) for kind in kinds])


def topics_with_judged(part: RunPart) -> BoolArray:
    """The topics that retrieve a judged document, at any rank."""
    rows = np.flatnonzero(part.judgements >= 0)
    found: BoolArray = np.diff(np.searchsorted(rows, part.offsets)) > 0
    return found


def judged(part: RunPart) -> Judged:
    """How much of what the topics retrieve is judged."""
    first = int(np.minimum(part.retrieved, FIRST_RANKS).sum())
    is_first = (part.ranks[Order.WRITTEN] <= FIRST_RANKS) & (part.judgements >= 0)
    share = int(np.count_nonzero(is_first)) / max(first, 1)
    return Judged(len(part.places), int(np.count_nonzero(topics_with_judged(part))), share)


def grades_as_scores(part: RunPart, qrels: Qrels) -> GradesAsScores:
    """In how many topics documents and scores are exactly those of the judgements."""
    several = np.diff(qrels.arrays.offsets)[part.places] > 1
    same = int(np.count_nonzero(part.as_judged))
    return GradesAsScores(same, int(np.count_nonzero(part.as_judged & several)), len(part.places) - same)
