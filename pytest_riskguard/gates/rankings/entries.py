"""Rankings as a report holds them: once for all verdicts on the same candidate, baseline and measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from pytest_riskguard.formats.serialization import UNWRITTEN
from pytest_riskguard.gates.findings import Count, Positive, RankedDocument
from pytest_riskguard.text import web_address

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

#: The most ranks of an entry that is read, and the most characters of a title.
MAX_READ_DEPTH, MAX_TITLE = 1000, 300


@dataclass(frozen=True)
class TopicRanking:
    """The documents in the first ranks of either system, each with its grade and both ranks.

    Ranks beyond the depth are given. Documents are ordered by their better rank.
    """

    topic: str
    documents: tuple[RankedDocument, ...]


@dataclass(frozen=True)
class Rankings:
    """What both systems returned for the topics responsible, most harmful first, and for the largest wins.

    ``verdicts`` are the places in the report of those that compare these systems; ``depth`` is how many ranks of each
    ranking are shown; ``titles`` and ``urls`` are of documents in ``topics``, where a documents file has them.
    """

    candidate: str = field(default="", kw_only=True, metadata=UNWRITTEN)
    baseline: str = field(default="", kw_only=True, metadata=UNWRITTEN)
    measure: str = field(default="", kw_only=True, metadata=UNWRITTEN)
    verdicts: tuple[Count, ...]
    depth: Positive
    document_url: str | None
    titles: Mapping[str, str]
    urls: Mapping[str, str]
    topics: tuple[TopicRanking, ...]

    def __post_init__(self) -> None:
        if self.depth > MAX_READ_DEPTH:
            raise ValueError(f"rankings: depth: expected at most {MAX_READ_DEPTH}, found {self.depth}")
        for topic in self.topics:
            if len(topic.documents) > 2 * self.depth:
                where = f"rankings: topic {topic.topic!r:.60}: documents"
                raise ValueError(f"{where}: expected at most {2 * self.depth}, found {len(topic.documents)}")
        for title in self.titles.values():
            if len(title) > MAX_TITLE:
                raise ValueError(f"rankings: titles: expected at most {MAX_TITLE} characters, found {len(title)}")
        for url in (*self.urls.values(), *([self.document_url] if self.document_url is not None else [])):
            if web_address(url) != url:
                raise ValueError(f"rankings: expected an address with http or https, found {url!r:.60}")

    def url_of(self, document: str) -> str | None:
        """The document's address: its own, or ``document_url`` with its id, percent-encoded, for ``{id}``."""
        if document in self.urls:
            return self.urls[document]
        if self.document_url is None:
            return None
        return self.document_url.replace("{id}", quote(document, safe="", errors="replace"))

    def of_topic(self, topic: str) -> TopicRanking | None:
        """The rankings of one topic, where they are known."""
        return next((ranking for ranking in self.topics if ranking.topic == topic), None)

    @property
    def documents(self) -> frozenset[str]:
        """All documents of all topics."""
        return frozenset(row.document for topic in self.topics for row in topic.documents)


def collected(verdicts: Sequence[Verdict]) -> list[Rankings]:
    """The rankings of all verdicts, once for the same candidate, baseline and measure, with the verdicts' places."""
    entries: dict[object, Rankings] = {}
    for place, verdict in enumerate(verdicts):
        given = verdict.rankings
        if given is None:
            continue
        inputs = verdict.inputs
        digests = None if inputs is None else (inputs.qrels, inputs.candidate, inputs.baselines.get(given.baseline))
        key = (given.candidate, given.baseline, given.measure, given.depth, digests)
        entry = entries.setdefault(key, replace(given, verdicts=()))
        known = {topic.topic for topic in entry.topics}
        entries[key] = replace(
            entry,
            verdicts=(*entry.verdicts, place),
            document_url=entry.document_url or given.document_url,
            titles={**given.titles, **entry.titles},
            urls={**given.urls, **entry.urls},
            topics=(*entry.topics, *(topic for topic in given.topics if topic.topic not in known)),
        )
    return list(entries.values())


def restored(verdicts: Sequence[Verdict], entries: Sequence[Rankings]) -> list[Verdict]:
    """The verdicts with their rankings; ``ValueError`` if a verdict has two or is not there."""
    of_verdict: dict[int, Rankings] = {}
    for index, entry in enumerate(entries):
        for place in entry.verdicts:
            where = f"rankings[{index}].verdicts"
            if place >= len(verdicts):
                raise ValueError(f"{where}: expected places below {len(verdicts)}, found {place}")
            if place in of_verdict:
                raise ValueError(f"{where}: verdicts[{place}] has other rankings already")
            verdict = verdicts[place]
            of_verdict[place] = replace(
                entry,
                candidate=verdict.candidate,
                baseline=verdict.baselines[0] if verdict.pool is None else verdict.pool.decided_by,
                measure=verdict.measure or "",
            )
    return [replace(verdict, rankings=of_verdict.get(place)) for place, verdict in enumerate(verdicts)]
