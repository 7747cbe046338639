"""Everything that verdicts know about one query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.gates.findings import Documents, TopicDocuments
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.comparisons import Comparison, comparisons
from pytest_riskguard.reports.details import marks
from pytest_riskguard.reports.numbers import plain, short, signed
from pytest_riskguard.reports.parts import Section, Table
from pytest_riskguard.reports.words import fault, word
from pytest_riskguard.text import clean, counted, did_you_mean, listed

#: Queries that a message names.
_MAX_NAMED = 5


def queries(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """The texts of all queries that the verdicts name, by topic; empty where a text is not known."""
    known: dict[str, str] = {}
    for verdict in verdicts:
        named = [(row.topic, row.query) for row in verdict.responsible_topics]
        if (exhibits := verdict.exhibits) is not None:
            named += zip(exhibits.topics, exhibits.queries, strict=True)
        for topic, query in (*named, *((topic, None) for topic in verdict.topics.missing_in_candidate)):
            known[topic] = known.get(topic) or query or ""
    return known


def topic_of(asked: str, verdicts: Sequence[Verdict]) -> str:
    """The topic with this id, or this text, or the only one with this part of its text.

    ``UsageError`` if there is none, or several; ``DataError`` where no gate could compare anything.
    """
    known = queries(verdicts)
    if asked in known:
        return asked
    if not known:
        faults = [fault(verdict) for verdict in verdicts if verdict.outcome == "incomparable"]
        raise DataError(next(iter(faults), "no gate was judged, so no query is known"))
    words = asked.casefold()
    same = [topic for topic, query in known.items() if query.casefold() == words]
    found = same or [topic for topic, query in known.items() if words in query.casefold()]
    if len(found) == 1:
        return found[0]
    if found:
        named = listed(tuple(f"{topic} ({known[topic]})" for topic in found), most=_MAX_NAMED)
        raise UsageError(
            f"{clean(asked, limit=60)!r} is part of {counted(len(found), 'query', 'queries')}: {named}; give an id"
        )
    hint = did_you_mean(asked, [*known, *filter(None, known.values())])
    raise UsageError(f"no query {clean(asked, limit=60)!r} among the {len(known)} that the verdicts name{hint}")


def explained(topic: str, verdicts: Sequence[Verdict]) -> Section:
    """The query: what each gate says of it, and both rankings."""
    query = queries(verdicts)[topic]
    parts = [_compared(topic, one) for one in comparisons(verdicts) if topic in queries(one.verdicts)]
    return Section(f"{topic}: {query}" if query else topic, _tags(topic, verdicts), parts)


def _tags(topic: str, verdicts: Sequence[Verdict]) -> list[str]:
    found = [
        f"{tag}={values[verdict.exhibits.topics.index(topic)]}"
        for verdict in verdicts
        if verdict.exhibits is not None and topic in verdict.exhibits.topics
        for tag, values in verdict.exhibits.tags.items()
    ]
    return [f"Tags: {listed(tuple(dict.fromkeys(found)), most=20)}."] if found else []


def _compared(topic: str, one: Comparison) -> Section:
    """What the gates on the same two systems say."""
    first, verdicts = one.verdicts[0], one.verdicts
    title = f"{clean(first.candidate, limit=60)} against {clean(first.baseline, limit=60)}"
    title += f", {first.measure}" if first.measure else ""
    text = [_scores(topic, verdicts)]
    if any(topic in verdict.topics.missing_in_candidate for verdict in verdicts):
        text.append("The candidate returned nothing.")
    tables = [Table("", {"gate": "name", "outcome": "text", "share": ".1%", "": "text"}, [*_gates(topic, verdicts)])]
    documents = next((v.documents for v in verdicts if topic in Card(v).documents), None)
    if documents is None:
        text.append("Its rankings are not known: verdicts hold those of the queries that lost or gained most.")
    else:
        row = next(row for row in documents.topics if row.topic == topic)
        tables.append(_rankings(row, documents, first))
    return Section(title, text, tables)


def _scores(topic: str, verdicts: Sequence[Verdict]) -> str:
    """``0.5000 -> 0.1000 (-0.4000)``."""
    for verdict in verdicts:
        pairs = [(row.topic, row.baseline, row.candidate) for row in verdict.responsible_topics]
        if (exhibits := verdict.exhibits) is not None:
            pairs += zip(exhibits.topics, exhibits.baseline, exhibits.candidate, strict=True)
        for name, before, after in pairs:
            if name == topic:
                return f"{plain(before)} -> {plain(after)} ({signed(after - before)})"
    return ""


def _gates(topic: str, verdicts: Sequence[Verdict]) -> Iterator[tuple[str, str, float | None, str]]:
    """Each gate, its outcome, the query's share of the loss, and whether it decided."""
    for verdict in verdicts:
        row = next((row for row in verdict.responsible_topics if row.topic == topic), None)
        flips = topic in Card(verdict).decisive_topics
        share = None if row is None or verdict.asked.by_topic else row.share
        yield (
            verdict.gate,
            word(verdict).upper(),
            share,
            marks(row, flagged=row is not None and row.flagged, flips=flips),
        )


def _rankings(row: TopicDocuments, documents: Documents, verdict: Verdict) -> Table:
    """Each document with its rank in both, best ranks first."""
    columns = {"document": "name", "grade": "text", "ranks": "text", "effect": "+.4f", "title": "name"}
    rows = [
        (
            one.document,
            "unjudged" if one.grade is None else short(one.grade),
            f"{one.baseline_rank or '-'} -> {one.candidate_rank or '-'}",
            one.effect or None,
            documents.titles.get(one.document),
        )
        for one in row.documents
    ]
    return Table(f"Rankings, {verdict.baseline} -> {verdict.candidate}", columns, rows)
