"""The queries of a comparison for the page: their scores once, the figures of each gate, and both rankings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pytest_riskguard.gates.findings import Exhibits, ResponsibleTopic
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.details import marks
from pytest_riskguard.reports.html.whole_page import MAX_TOPIC
from pytest_riskguard.text import clean, web_address

#: Longest query, name or value of a tag, id and title of a document.
MAX_QUERY, MAX_TAG, _MAX_ID, _MAX_TITLE = 200, 60, 120, 160


_FIGURES = ("baseline", "candidate", "difference", "share", "contribution", "standardised", "marks")


class TopicRow(NamedTuple):
    """A topic in one gate."""

    topic: str
    query: str
    tags: tuple[tuple[str, str], ...]
    baseline: float
    candidate: float
    difference: float
    share: float | None
    contribution: float
    standardised: float
    marks: str


def topic_rows(verdict: Verdict) -> list[TopicRow]:
    """Every topic if the verdict has exhibits, else the topics responsible; worst first."""
    responsible = {topic.topic: topic for topic in verdict.responsible_topics}
    decisive = Card(verdict).decisive_topics
    columns = Exhibits.of(verdict.responsible_topics) if verdict.exhibits is None else verdict.exhibits
    rows = [
        _row(columns, place, responsible.get(topic), flips=topic in decisive)
        for place, topic in enumerate(columns.topics)
    ]
    return sorted(rows, key=lambda row: (round(row.contribution, 12), row.topic))


def _row(columns: Exhibits, place: int, known: ResponsibleTopic | None, *, flips: bool) -> TopicRow:
    candidate, baseline = columns.candidate[place], columns.baseline[place]
    flagged = columns.flagged(place) if known is None else known.flagged
    return TopicRow(
        topic=columns.topics[place],
        query=clean(columns.queries[place] or "", limit=MAX_QUERY),
        tags=tuple(
            (clean(tag, limit=MAX_TAG), clean(values[place], limit=MAX_TAG))
            for tag, values in columns.tags.items()
            if values[place]
        ),
        baseline=baseline,
        candidate=candidate,
        difference=candidate - baseline,
        share=None if known is None else known.share,
        contribution=columns.contributions[place],
        standardised=columns.standardised[place],
        marks=marks(known, flagged=flagged, flips=flips),
    )


def topic_data(rows: Sequence[TopicRow]) -> dict[str, Any]:
    """The topics for the script, column by column; tags as places in a list of the different ones."""
    known: dict[tuple[str, str], int] = {}
    tags = [[known.setdefault(tag, len(known)) for tag in row.tags] for row in rows]
    return {
        "topics": [clean(row.topic, limit=MAX_TOPIC) for row in rows],
        "queries": [row.query for row in rows] if any(row.query for row in rows) else [],
        "known_tags": [list(tag) for tag in known],
        "tags": tags if known else [],
        **{name: [getattr(row, name) for row in rows] for name in _FIGURES},
    }


def panels(verdicts: Sequence[Verdict], topics: Sequence[str]) -> dict[str, Any]:
    """Both rankings of a topic, for the script: documents as id, title and address, and for each topic its entries.

    An entry is a document by its place, its grade, both ranks and its effect.
    """
    known = [verdict.documents for verdict in reversed(verdicts) if verdict.documents is not None]
    found = {topic.topic: topic.documents for one in known for topic in one.topics}
    titles = {name: title for one in known for name, title in one.titles.items()}
    urls = {name: url for one in known for name, url in one.urls.items()}
    depth = known[-1].depth if known else 0
    documents: dict[str, int] = {}
    entries = []
    for place, topic in enumerate(topics):
        rows = [row for row in found.get(topic, ()) if row.best_rank <= depth]
        shown = [
            (
                documents.setdefault(row.document, len(documents)),
                row.grade,
                row.baseline_rank,
                row.candidate_rank,
                row.effect or None,
            )
            for row in rows
        ]
        if topic in found:
            entries.append([place, shown])
    return {
        "depth": depth,
        "documents": [[clean(name, limit=_MAX_ID), *_title(titles.get(name), urls.get(name))] for name in documents],
        "topics": entries,
    }


def _title(title: str | None, address: str | None) -> list[str]:
    """Title and address of a document, as far as they are known; only web addresses become links."""
    shown, link = clean(title or "", limit=_MAX_TITLE), web_address(address) if address else None
    return [shown, link] if link else [shown] if shown else []
