"""Both rankings of a topic for the script: which document stood where, its grade, title and address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_riskguard.formats.serialization import rounded
from pytest_riskguard.gates.findings import TopicDocuments
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.text import clean, web_address

if TYPE_CHECKING:
    from pytest_riskguard.gates.rankings.entries import Rankings

_MAX_ID, _MAX_TITLE = 120, 160
#: What a document is in one topic: its place in the list of documents, grade, both ranks, and effect.
Entry = tuple[int, float | None, int | None, int | None, float | None]


class Panels:
    """The rankings of a comparison; each document is named once, however many topics show it."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        self._rankings: Rankings | None = next(
            (verdict.rankings for verdict in verdicts if verdict.rankings is not None), None
        )
        moves = {moved.topic: moved for verdict in reversed(verdicts) for moved in verdict.documents or ()}
        self._documents: dict[str, int] = {}
        self._topics: dict[str, list[Entry]] = {}
        if self._rankings is not None:
            for topic in self._rankings.topics:
                effects = _effects(moves.get(topic.topic))
                columns = zip(topic.documents, topic.grades, topic.baseline_ranks, topic.candidate_ranks, strict=True)
                self._topics[topic.topic] = [
                    (self._place(document), grade, before, after, effects.get(document))
                    for document, grade, before, after in columns
                ]
        for name, moved in moves.items():
            self._topics.setdefault(name, self._moved(moved))

    def __bool__(self) -> bool:
        return bool(self._topics)

    def __contains__(self, topic: str) -> bool:
        return topic in self._topics

    def _place(self, document: str) -> int:
        return self._documents.setdefault(document, len(self._documents))

    def _moved(self, moved: TopicDocuments) -> list[Entry]:
        """What is known without the rankings: the documents that moved, and the new ones."""
        known = {document.document: document for document in (*moved.replacements, *moved.moved)}
        return [
            (self._place(name), row.grade, row.baseline_rank, row.candidate_rank, rounded(row.effect) or None)
            for name, row in known.items()
        ]

    def data(self, topics: Sequence[str], *, depth: int) -> dict[str, Any]:
        """For the script: documents as id, title and address, and for each topic by its place its entries."""
        places = {topic: place for place, topic in enumerate(topics)}
        whole = {topic.topic for topic in self._rankings.topics} if self._rankings is not None else set()
        return {
            "depth": depth if self._rankings is None else self._rankings.depth,
            "documents": [[clean(name, limit=_MAX_ID), *self._shown(name)] for name in self._documents],
            "topics": [
                [places[topic], topic in whole, entries] for topic, entries in self._topics.items() if topic in places
            ],
        }

    def _shown(self, document: str) -> list[str]:
        """Title and address of a document, as far as they are known; only web addresses become links."""
        if self._rankings is None:
            return []
        title = clean(self._rankings.titles.get(document, ""), limit=_MAX_TITLE)
        address = self._rankings.url_of(document)
        link = web_address(address) if address is not None else None
        return [title, link] if link else [title] if title else []


def _effects(moved: TopicDocuments | None) -> Mapping[str, float | None]:
    """The effect of each relevant document that moved."""
    return {row.document: rounded(row.effect) for row in moved.moved} if moved is not None else {}
