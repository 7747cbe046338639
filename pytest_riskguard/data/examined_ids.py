"""Collects the topics whose document ids are examined while a run is read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_riskguard.data import id_checks
from pytest_riskguard.data.id_checks import MAX_RANKS, FirstDocuments, examined
from pytest_riskguard.data.ids import Ids, IntArray, first_rows, rows_of

#: How many times as many topics are held before those that are not examined are dropped.
_MOST_HELD = 1.25


def joined(parts: Sequence[FirstDocuments]) -> FirstDocuments:
    """The sample of all topics from those of some, each in one part."""
    places = np.concatenate([part.places for part in parts])
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    chosen = examined(places)
    chosen = chosen[np.argsort(places[chosen])]
    rows = rows_of(np.append(0, np.cumsum(lengths)), chosen)
    documents = Ids.joined([part.documents for part in parts]).at(rows).compact()
    return FirstDocuments(places[chosen], np.append(0, np.cumsum(lengths[chosen])), documents)


class Sample:
    """The first documents of the topics that are examined if no others come."""

    def __init__(self) -> None:
        self._parts: list[FirstDocuments] = []

    def add(self, places: IntArray, offsets: IntArray, documents: Ids, written: IntArray | None) -> None:
        """Take the first documents of these topics.

        ``written`` has the rows of the documents by topic and rank; None if that is their order.
        """
        lengths = np.minimum(np.diff(offsets), MAX_RANKS)
        rows = first_rows(offsets[:-1], lengths)
        some = documents.at(rows if written is None else written[rows]).compact()
        self._parts.append(FirstDocuments(places, np.append(0, np.cumsum(lengths)), some))
        if sum(len(part.places) for part in self._parts) > _MOST_HELD * id_checks.MAX_TOPICS:
            self._parts = [joined(self._parts)]

    def examined(self) -> FirstDocuments:
        """What was collected."""
        return joined(self._parts)
