"""Whole topics of a run as columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.evaluation.runs.chunks import Chunk, Documents
from pytest_riskguard.evaluation.runs.identifiers import Identifiers, IntArray

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
    documents : Identifiers, shape (n_rows,)
    scores : array of float64, shape (n_rows,)
    ranks : Identifiers, shape (n_rows,), or None
        The rank column as it is written; None of rankings without one.
    """

    topics: tuple[str, ...]
    offsets: IntArray
    documents: Identifiers
    scores: npt.NDArray[np.float64]
    ranks: Identifiers | None

    @classmethod
    def of(cls, chunk: Chunk) -> RowBlock:
        """Topics in memory as columns; all of them have a rank column, or none has."""
        offsets = np.cumsum([0, *map(len, chunk.values())], dtype=np.int64)
        ranks = [rank.decode() for documents in chunk.values() for rank in documents.ranks or ()]
        return cls(
            tuple(chunk),
            offsets,
            Identifiers.of([name for documents in chunk.values() for name in documents]),
            np.array([score for documents in chunk.values() for score in documents.values()], dtype=np.float64),
            Identifiers.of(ranks) if len(ranks) == offsets[-1] else None,
        )

    def topics_between(self, first: int, last: int) -> RowBlock:
        """The topics ``first:last``; they share the text."""
        offsets = self.offsets[first : last + 1]
        rows = slice(int(offsets[0]), int(offsets[-1]))
        ranks = None if self.ranks is None else self.ranks.at(rows)
        names = self.topics[first:last]
        return RowBlock(names, offsets - offsets[0], self.documents.at(rows), self.scores[rows], ranks)

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
