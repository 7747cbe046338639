"""Runs kept in memory, with each topic in the order in which the provider of a measure ranks it."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pytest_riskguard.evaluation.measures import provider_of
from pytest_riskguard.evaluation.runs import Chunk, Rankings, fold_run

if TYPE_CHECKING:
    from ir_measures import Measure

#: Providers that compare scores as 32-bit numbers.
_SINGLE = frozenset({"pytrec_eval"})
#: Providers that order equal scores by docid, descending or ascending. Others keep the order of the file.
_DESCENDING = frozenset({"pytrec_eval", "riskguard"})
_ASCENDING = frozenset({"msmarco", "judged", "compat"})


@dataclass(frozen=True, eq=False)
class PackedRun:
    """A run in memory, about as large as its docids and scores alone.

    Attributes
    ----------
    digest : str
        ``sha256:...`` of the run, decompressed.
    """

    digest: str
    _topics: dict[str, tuple[bytes, array[float]]]

    def __contains__(self, topic: str) -> bool:
        return topic in self._topics

    def documents(self, topic: str) -> tuple[list[str], array[float]]:
        """Docids and scores in the order of the file; none for a topic that is not in it."""
        packed = self._topics.get(topic)
        if packed is None:
            return [], array("d")
        return packed[0].decode().split("\n"), packed[1]


def pack_run(run: Path | Rankings, topics: Collection[str]) -> PackedRun:
    """Read some topics of a run.

    Raises
    ------
    FileError
        The run is not what it should be.
    """
    kept = frozenset(topics)
    if isinstance(run, Rankings):
        return PackedRun(run.digest, _packed(run.chunks(), kept))
    packed, digest = fold_run(Path(run), lambda chunks: _packed(chunks, kept))
    return PackedRun(digest, packed)


def _packed(chunks: Iterable[Chunk], topics: frozenset[str]) -> dict[str, tuple[bytes, array[float]]]:
    return {
        topic: ("\n".join(documents).encode(), array("d", documents.values()))
        for chunk in chunks
        for topic, documents in chunk.items()
        if topic in topics
    }


class RankedRun:
    """A run as the provider of one measure ranks it."""

    def __init__(self, run: PackedRun, measure: Measure) -> None:
        self._run = run
        self._provider = str(provider_of(measure).NAME)

    def ranking(self, topic: str) -> list[str]:
        """Docids from rank 1 on; none for a topic that the run does not answer."""
        documents, scores = self._run.documents(topic)
        compared = np.asarray(scores, dtype=np.float64)
        if self._provider in _SINGLE:
            compared = compared.astype(np.float32).astype(np.float64)
        if np.all(np.diff(compared) < 0):  # most files are in order and have no ties
            return documents
        pairs = list(zip(compared.tolist(), documents, strict=True))
        if self._provider in _DESCENDING:
            pairs.sort(reverse=True)
        else:
            if self._provider in _ASCENDING:
                pairs.sort(key=lambda pair: pair[1])
            pairs.sort(key=lambda pair: pair[0], reverse=True)  # stable
        return [document for _, document in pairs]
