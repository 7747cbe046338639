"""The topics of a comparison, column by column: once for all of its gates, beside the figures of each gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pytest_riskguard.gates.findings import ResponsibleTopic, TopicColumns
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.whole_page import MAX_TOPIC
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.serialization import rounded
from pytest_riskguard.text import clean

#: Longest query, and name or value of a tag.
MAX_QUERY, MAX_TAG = 200, 60


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
    """Every topic if the verdict has exhibits, else the topics responsible and the flagged wins; worst first."""
    responsible = {topic.topic: topic for topic in (*verdict.responsible_topics, *verdict.flagged_wins)}
    pivotal = set(verdict.explanation.pivotal_topics) if verdict.explanation else set()
    columns = TopicColumns.of(responsible.values()) if verdict.exhibits is None else verdict.exhibits.topics
    rows = [
        _row(columns, place, responsible.get(topic), pivotal=topic in pivotal)
        for place, topic in enumerate(columns.topics)
    ]
    return sorted(rows, key=lambda row: (round(row.contribution, 12), row.topic))


def _row(columns: TopicColumns, place: int, known: ResponsibleTopic | None, *, pivotal: bool) -> TopicRow:
    candidate, baseline = columns.candidate[place], columns.baseline[place]
    flagged = columns.flagged(place) if known is None else known.flagged
    # figures as the JSON report has them, so that page and script round the same numbers
    return TopicRow(
        topic=columns.topics[place],
        query=clean(columns.queries[place] or "", limit=MAX_QUERY),
        tags=tuple(
            (clean(tag, limit=MAX_TAG), clean(values[place], limit=MAX_TAG))
            for tag, values in columns.tags.items()
            if values[place]
        ),
        baseline=rounded(baseline) or 0.0,
        candidate=rounded(candidate) or 0.0,
        difference=rounded(candidate - baseline) or 0.0,
        share=None if known is None or known.share is None else rounded(known.share),
        contribution=rounded(columns.contributions[place]) or 0.0,
        standardised=rounded(columns.standardised[place]) or 0.0,
        marks=Shown.marks(known, flagged=flagged, flips=pivotal),
    )


def merged(of_gates: Sequence[Sequence[TopicRow]]) -> list[TopicRow]:
    """Every topic once: those of the first gate in its order, then those that only later gates have."""
    rows: dict[str, TopicRow] = {}
    for of_gate in of_gates:
        for row in of_gate:
            rows.setdefault(row.topic, row)
    return list(rows.values())


def topic_data(rows: Sequence[TopicRow]) -> dict[str, Any]:
    """What is the same in every gate, for the script; tags as places in a list of the different ones."""
    known: dict[tuple[str, str], int] = {}
    tags = [[known.setdefault(tag, len(known)) for tag in row.tags] for row in rows]
    return {
        "topics": [clean(row.topic, limit=MAX_TOPIC) for row in rows],
        "queries": [row.query for row in rows] if any(row.query for row in rows) else [],
        "known_tags": [list(tag) for tag in known],
        "tags": tags if known else [],
        "baseline": [row.baseline for row in rows],
        "candidate": [row.candidate for row in rows],
        "difference": [row.difference for row in rows],
    }


def gate_data(topics: Sequence[str], rows: Mapping[str, TopicRow]) -> dict[str, Any]:
    """The figures of one gate for the script; None for topics that it does not look at."""
    inside = [rows.get(topic) for topic in topics]
    return {
        "share": [row and row.share for row in inside],
        "contribution": [row and row.contribution for row in inside],
        "standardised": [row and row.standardised for row in inside],
        "marks": [row.marks if row else "" for row in inside],
    }
