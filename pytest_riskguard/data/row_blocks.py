"""Whole topics of a run, as mappings and as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.given_file import LabelRules
from pytest_riskguard.data.ids import Ids, IntArray, rows_of
from pytest_riskguard.data.order import as_written

TOPICS_PER_CHUNK = 20
#: Topics with very many documents are passed on in smaller chunks.
DOCUMENTS_PER_CHUNK = 20_000
#: The largest 32-bit number: trec_eval holds scores in 32 bits, where larger ones are all infinite.
MAX_RUN_SCORE = (2 - 2**-23) * 2.0**127
#: As messages name it.
LARGEST = f"{MAX_RUN_SCORE:.5g}, the largest number of 32 bits"


class Documents(dict[str, float]):
    """The documents of a topic, docid -> score, in the order of the file; ``ranks`` is its rank column, if any."""

    ranks: list[bytes] | None = None


#: Some topics with all their documents.
Chunk = dict[str, Documents]


def chunked(topics: Iterable[tuple[str, Documents]]) -> Iterator[Chunk]:
    """Topics, each complete, about 20 at a time."""
    chunk: Chunk = {}
    documents_in_chunk = 0
    for topic, documents in topics:
        chunk[topic] = documents
        documents_in_chunk += len(documents)
        if len(chunk) >= TOPICS_PER_CHUNK or documents_in_chunk >= DOCUMENTS_PER_CHUNK:
            yield chunk
            chunk, documents_in_chunk = {}, 0
    if chunk:
        yield chunk


#: An odd number without a pattern in its bits: the same document in two topics has different keys.
_SPREAD = np.uint64(0xD6E8FEB86659FD93)


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Some topics of a run with all their documents, in the order of the lines.

    Attributes
    ----------
    topics : tuple of str
    offsets : array, shape (n_topics + 1,)
        The rows of topic i are ``offsets[i]:offsets[i + 1]``.
    documents : Ids, shape (n_rows,)
    scores : array of float64, shape (n_rows,)
    ranks : Ids, shape (n_rows,), or None
        The rank column as it is written; None of rankings without one.
    """

    topics: tuple[str, ...]
    offsets: IntArray
    documents: Ids
    scores: npt.NDArray[np.float64]
    ranks: Ids | None

    @classmethod
    def of(cls, chunk: Chunk) -> RowBlock:
        """Topics in memory as columns; all of them have a rank column, or none has."""
        offsets = np.cumsum([0, *map(len, chunk.values())], dtype=np.int64)
        ranks = [rank.decode() for documents in chunk.values() for rank in documents.ranks or ()]
        return cls(
            tuple(chunk),
            offsets,
            Ids.of([name for documents in chunk.values() for name in documents]),
            np.array([score for documents in chunk.values() for score in documents.values()], dtype=np.float64),
            Ids.of(ranks) if len(ranks) == offsets[-1] else None,
        )

    def only(self, topics: IntArray) -> RowBlock:
        """Some topics; they share the text."""
        rows = rows_of(self.offsets, topics)
        return RowBlock(
            tuple(self.topics[topic] for topic in topics.tolist()),
            np.append(0, np.cumsum(np.diff(self.offsets)[topics])),
            self.documents.at(rows),
            self.scores[rows],
            None if self.ranks is None else self.ranks.at(rows),
        )

    @property
    def has_repeated_documents(self) -> bool:
        """Whether a document stands twice in a topic."""
        topics = np.repeat(np.arange(len(self.topics), dtype=np.uint64), np.diff(self.offsets))
        keys = self.documents.hashes ^ (topics * _SPREAD)
        ordered = np.sort(keys)
        equal = ordered[1:] == ordered[:-1]
        if not equal.any():
            return False
        rows = np.flatnonzero(np.isin(keys, ordered[1:][equal]))
        pairs = list(zip(topics[rows].tolist(), self.documents.at(rows).slices(), strict=True))
        return len(set(pairs)) < len(pairs)

    def chunk(self) -> Chunk:
        """The topics as mappings, for what does not work on columns."""
        names, scores = self.documents.strings(), self.scores.tolist()
        ranks = None if self.ranks is None else self.ranks.slices()
        chunk: Chunk = {}
        for place, topic in enumerate(self.topics):
            rows = slice(int(self.offsets[place]), int(self.offsets[place + 1]))
            documents = chunk[topic] = Documents(zip(names[rows], scores[rows], strict=True))
            documents.ranks = None if ranks is None else ranks[rows]
        return chunk


def by_document(chunk: Chunk, rules: LabelRules) -> Chunk:
    """Rankings of passages as rankings of their documents: a document stands where its best passage does."""
    return {topic: _best_of(documents, rules) for topic, documents in chunk.items()} if rules.separator else chunk


def _best_of(passages: Documents, rules: LabelRules) -> Documents:
    """The best passage of each document: the first in the order as written, which begins with the highest score."""
    ranks = None if passages.ranks is None else dict(zip(passages, passages.ranks, strict=True))
    written = as_written(list(passages), list(passages.values()), passages.ranks)
    best: dict[str, str] = {}
    for passage in written.ranking:
        best.setdefault(rules.document(passage), passage)
    documents = Documents((document, passages[passage]) for document, passage in best.items())
    documents.ranks = None if ranks is None else [ranks[passage] for passage in best.values()]
    return documents
