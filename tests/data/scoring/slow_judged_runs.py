"""A ``JudgedRun`` built topic by topic from mappings: simple and slow, to compare with what is read as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.judged_runs import JudgedRun
from pytest_riskguard.data.order import Order, RankColumn, as_scored, as_written
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.rankings import Rankings
from pytest_riskguard.data.row_blocks import Chunk, Documents, by_document
from pytest_riskguard.data.scores import Judged

#: A provider that ranks in each order by scores.
_PROVIDERS = {
    Order.SINGLE_DESCENDING: "pytrec_eval",
    Order.DESCENDING: "riskguard",
    Order.ASCENDING: "judged",
    Order.STABLE: "cwl_eval",
}
_CONTRADICTING = {RankColumn.CONTRADICTS, RankColumn.INVERTED, RankColumn.STANDS_FOR_SCORES}
DEPTH = 100


def judged_run(
    chunks: Iterable[Chunk] | Rankings, qrels: Qrels, *, depth: int = DEPTH, digest: str = "sha256:0"
) -> JudgedRun:
    """What a reading of these topics keeps."""
    contradicted: set[str] = set()
    if isinstance(chunks, Rankings):
        digest, contradicted, chunks = chunks.digest, set(chunks.contradicted), chunks.chunks()
    topics = {topic: documents for chunk in chunks for topic, documents in by_document(chunk, qrels.rules).items()}
    answered = sorted(topics.keys() & set(qrels.topics))
    with_judged = first = judged_first = 0
    rows: list[int] = []
    unjudged: list[str] = []
    ranks: dict[Order, list[int]] = {order: [] for order in Order}
    lengths = []
    for topic in answered:
        documents = topics[topic]
        rankings = _rankings(documents)
        written = as_written(list(documents), list(documents.values()), documents.ranks)
        if written.rank_column in _CONTRADICTING:
            contradicted.add(topic)
        judged = _places(qrels, topic)
        with_judged += not judged.keys().isdisjoint(documents)
        first += len(rankings[Order.WRITTEN][:10])
        judged_first += len(judged.keys() & rankings[Order.WRITTEN][:10])
        shown = {document for ranking in rankings.values() for document in ranking[:depth]}
        kept = [document for document in rankings[Order.WRITTEN] if document in judged or document in shown]
        lengths.append(len(kept))
        rows += [judged.get(document, -1) for document in kept]
        unjudged += [document for document in kept if document not in judged]
        for order, ranking in rankings.items():
            rank_of = {document: rank for rank, document in enumerate(ranking, 1)}
            ranks[order] += [rank_of[document] for document in kept]
    return JudgedRun(
        digest=digest,
        qrels_digest=qrels.digest,
        depth=depth,
        topics=tuple(answered),
        retrieved=np.array([len(topics[topic]) for topic in answered], dtype=np.int64),
        offsets=np.cumsum([0, *lengths], dtype=np.int64),
        judgements=np.array(rows, dtype=np.int32),
        unjudged=Ids.of(unjudged),
        ranks={order: np.array(of_order, dtype=np.int32) for order, of_order in ranks.items()},
        judged=Judged(len(answered), with_judged, judged_first / max(first, 1)),
        unknown=tuple(sorted(topics.keys() - qrels.grades.keys())),
        contradicted=tuple(sorted(contradicted)),
    )


def chunk_of(rows: Mapping[str, Sequence[tuple[str, float]]], *, ranks: bool = False) -> Chunk:
    """Topics in memory as a file holds them; with ``ranks``, its rank column numbers the lines."""
    chunk: Chunk = {}
    for topic, documents in rows.items():
        chunk[topic] = Documents(documents)
        if ranks:
            chunk[topic].ranks = [b"%d" % rank for rank in range(1, len(documents) + 1)]
    return chunk


def _rankings(documents: Documents) -> dict[Order, Sequence[str]]:
    docids, scores = list(documents), list(documents.values())
    by_score = {order: as_scored(docids, scores, provider) for order, provider in _PROVIDERS.items()}
    return {Order.WRITTEN: as_written(docids, scores, documents.ranks).ranking} | by_score


def _places(qrels: Qrels, topic: str) -> dict[str, int]:
    """Document -> the row of its judgement."""
    arrays = qrels.arrays
    place = arrays.places[topic]
    start, stop = int(arrays.offsets[place]), int(arrays.offsets[place + 1])
    return {document: row for row, document in enumerate(arrays.documents.at(slice(start, stop)).strings(), start)}
