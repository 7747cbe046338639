"""Everything that verdicts know about one query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.comparisons import comparisons
from pytest_riskguard.reports.details import RANKED, marks, ranked
from pytest_riskguard.reports.numbers import plain, signed
from pytest_riskguard.reports.parts import Section, Table
from pytest_riskguard.reports.words import fault, word
from pytest_riskguard.text import clean, counted, did_you_mean, listed


def explained(asked: str, verdicts: Sequence[Verdict]) -> Section:
    """The query with this id, or this text, or the only one with this part of its text.

    ``UsageError`` if there is none, or several; ``DataError`` where no gate could compare anything.
    """
    known: dict[str, str] = {}
    for name, query, _, _ in _scored(verdicts):
        known[name] = known.get(name) or query or ""
    topic = _topic(asked, known, verdicts)
    tags = dict.fromkeys(
        f"{tag}={values[seen.topics.index(topic)]}"
        for seen in (Card(verdict).columns for verdict in verdicts)
        if topic in seen.topics
        for tag, values in seen.tags.items()
    )
    return Section(
        ": ".join(filter(None, (topic, known[topic]))),
        [f"Tags: {listed(tuple(tags), most=20)}."] if tags else [],
        [
            part
            for places in comparisons(verdicts)
            for part in _compared(topic, [verdicts[place] for place in places])
        ],
    )


def _scored(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, str | None, float, float]]:
    """The topics that verdicts name, their texts, and both scores."""
    for seen in (Card(verdict).columns for verdict in verdicts):
        yield from zip(seen.topics, seen.queries, seen.baseline, seen.candidate, strict=True)


def _topic(asked: str, known: dict[str, str], verdicts: Sequence[Verdict]) -> str:
    """Which of the known topics is meant."""
    if asked in known:
        return asked
    if not known:
        raise DataError(next(filter(None, map(fault, verdicts)), "no gate was judged, so no query is known"))
    words, shown = asked.casefold(), repr(clean(asked, limit=60))
    same = [topic for topic, query in known.items() if query.casefold() == words]
    found = same or [topic for topic, query in known.items() if words in query.casefold()]
    if not found:
        hint = did_you_mean(asked, [*known, *filter(None, known.values())])
        raise UsageError(f"no query {shown} among the {len(known)} that the verdicts name{hint}")
    if len(found) > 1:
        named = listed([f"{topic} ({known[topic]})" for topic in found], most=5)
        raise UsageError(f"{shown} is part of {counted(len(found), 'query', 'queries')}: {named}; give an id")
    return found[0]


def _compared(topic: str, verdicts: Sequence[Verdict]) -> Iterator[Section]:
    """What the gates on the same two systems say; nothing where the topic is not among theirs."""
    scores = next(((before, after) for name, _, before, after in _scored(verdicts) if name == topic), None)
    if scores is None:
        return
    first, (before, after) = verdicts[0], scores
    text = [f"{plain(before)} -> {plain(after)} ({signed(after - before)})"]
    if topic in first.topics.missing_in_candidate:
        text.append("The candidate returned nothing.")
    tables = [Table("", {"gate": "name", "outcome": "text", "share": ".1%", "": "text"}, [*_gates(topic, verdicts)])]
    if (documents := next((one.documents for one in verdicts if topic in Card(one).documents), None)) is None:
        text.append("Its rankings are not known: verdicts hold those of the queries that lost or gained most.")
    else:
        rows = [
            (*ranked(one), documents.titles.get(one.document))
            for row in documents.topics
            if row.topic == topic
            for one in row.documents
        ]
        columns = {**RANKED, "title": "name"}
        tables.append(Table(f"Rankings, {first.baseline} -> {first.candidate}", columns, rows))
    title = f"{clean(first.candidate, limit=60)} against {clean(first.baseline, limit=60)}"
    yield Section(f"{title}, {first.measure}" if first.measure else title, text, tables)


def _gates(topic: str, verdicts: Sequence[Verdict]) -> Iterator[tuple[str, str, float | None, str]]:
    """Each gate, its outcome, the query's share of the loss, and whether it decided."""
    for verdict in verdicts:
        row = next((row for row in verdict.responsible_topics if row.topic == topic), None)
        share = None if row is None or verdict.asked.by_topic else row.share
        mark = "" if row is None else marks(row, flips=topic in Card(verdict).decisive_topics)
        yield verdict.gate, word(verdict).upper(), share, mark
