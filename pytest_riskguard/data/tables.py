"""The tables that readers make: a run and its judgements as columns, and beside them where they came from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.given_file import Ties
from pytest_riskguard.data.ids import Ids, IntArray, rows_of
from pytest_riskguard.data.metadata import Latency, latency_of

FloatArray = npt.NDArray[np.float64]

_NONE: Mapping[str, Any] = MappingProxyType({})
#: About how many rows are worked on at a time.
ROWS_AT_ONCE = 2**16


@dataclass(frozen=True)
class Source:
    """Where a run came from, and what is known of it beside its columns.

    Attributes
    ----------
    name : str
        What verdicts call the system; empty where nobody named it.
    digest : str
        ``sha256:...`` of a file in TREC's format, decompressed; of other runs, of their content in columns.
    texts : mapping topic -> query text
        Where the run came with both.
    by_text : bool
        Whether ``topics`` of the run are query texts, since it came without ids.
    by_order : int
        How many rankings there were, if ``topics`` are their numbers, since the run came without ids and texts.
    ties : 'as_returned' or 'docid'
        Which order counts where scores are equal.
    contradicted : tuple of str
        Topics whose rank column, or whose order as returned, contradicts their scores.
    metadata : mapping
        What people say about the system; it changes no verdict.
    seconds : tuple of float
        How long each answer of a live system took.
    again : Run, optional
        What a live system returned when it was asked about the topics ``asked_again`` a second time.
    notes : tuple of str
        What the file holds and riskguard does not read, for people.
    """

    name: str = ""
    digest: str = ""
    texts: Mapping[str, str] = field(default_factory=lambda: _NONE)
    by_text: bool = False
    by_order: int = 0
    ties: Ties = "docid"
    contradicted: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=lambda: _NONE)
    seconds: tuple[float, ...] = ()
    again: Run | None = None
    asked_again: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def latency(self) -> Latency | None:
        """How long the answers took; None for a run that was not queried live."""
        return latency_of(self.seconds)


@dataclass(frozen=True, eq=False)
class Run:
    """The rankings of one system.

    Attributes
    ----------
    topics : tuple of str
        Sorted as text, each with at least one document.
    offsets : array of int64, shape (n_topics + 1,)
        The documents of topic i are the rows ``offsets[i]:offsets[i + 1]``, in the order of their lines.
    documents : Ids, shape (n_rows,)
    scores : array of float64, shape (n_rows,)
    ranks : array of int64, shape (n_rows,), or None
        The rank column, ``ranking.NO_RANK`` for what is no whole number; None of a run without one.
    source : Source
    """

    topics: tuple[str, ...]
    offsets: IntArray
    documents: Ids
    scores: FloatArray
    ranks: IntArray | None = None
    source: Source = Source()

    def at(self, topics: IntArray) -> Run:
        """Some topics, by their places."""
        rows = rows_of(self.offsets, topics)
        return replace(
            self,
            topics=tuple(self.topics[topic] for topic in topics.tolist()),
            offsets=np.append(0, np.cumsum(np.diff(self.offsets)[topics])),
            documents=self.documents.at(rows),
            scores=self.scores[rows],
            ranks=None if self.ranks is None else self.ranks[rows],
        )

    def parts(self) -> Iterator[tuple[slice, Run]]:
        """The run a part at a time, each of whole topics; the slice says which."""
        start = 0
        while start < len(self.topics):
            most = int(self.offsets[start]) + ROWS_AT_ONCE
            stop = max(start + 1, int(np.searchsorted(self.offsets, most, side="right")) - 1)
            rows = slice(int(self.offsets[start]), int(self.offsets[stop]))
            yield (
                slice(start, stop),
                replace(
                    self,
                    topics=self.topics[start:stop],
                    offsets=self.offsets[start : stop + 1] - rows.start,
                    documents=self.documents.at(rows),
                    scores=self.scores[rows],
                    ranks=None if self.ranks is None else self.ranks[rows],
                ),
            )
            start = stop

    def by_topic(self) -> dict[str, dict[str, float]]:
        """Topic -> document -> score, for what does not work on columns."""
        names, scores, bounds = self.documents.strings(), self.scores.tolist(), self.offsets.tolist()
        return {
            topic: dict(zip(names[start:stop], scores[start:stop], strict=True))
            for topic, start, stop in zip(self.topics, bounds[:-1], bounds[1:], strict=True)
        }

    def with_source(self, **changes: Any) -> Run:
        """The same rankings with other facts about where they came from."""
        return replace(self, source=replace(self.source, **changes))


def digest_of(texts: Sequence[Ids], *columns: npt.NDArray[Any]) -> str:
    """``sha256:...`` of columns."""
    digest = hashlib.sha256()
    for ids in texts:
        compact = ids.compact()
        digest.update(compact.lengths.astype("<i8").tobytes() + b"\0")
        digest.update(compact.text.tobytes() + b"\0")
    for column in columns:
        digest.update(column.astype(column.dtype.newbyteorder("<"), copy=False).tobytes() + b"\0")
    return f"sha256:{digest.hexdigest()}"
