"""Rankings of topics side by side: of those responsible for a verdict, and of the largest wins.

A report holds them once for all verdicts on the same candidate, baseline and measure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from pytest_riskguard.data.measures import DEFAULT_DEPTH, cutoff_of
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import Count, RankedDocument
from pytest_riskguard.risk.checks import first_in_order
from pytest_riskguard.serialization import UNWRITTEN
from pytest_riskguard.text import web_address

if TYPE_CHECKING:
    from pytest_riskguard.data.titles import DocumentTitles
    from pytest_riskguard.gates.unjudged import Labels
    from pytest_riskguard.gates.verdict import Verdict

#: How many of the largest wins are shown.
MAX_WINS = 10


def depth_shown(labels: Labels) -> int:
    """How many ranks of each ranking are shown."""
    return min(cutoff_of(labels.measure) or DEFAULT_DEPTH, MAX_DEPTH)


def side_by_side(labels: Labels, responsible: Sequence[str]) -> Rankings:
    """The rankings for these topics and those of the largest wins, as yet without titles and addresses."""
    depth = depth_shown(labels)
    candidate, baseline = labels.scores
    topics = dict.fromkeys([*responsible, *_largest_wins(labels)])
    for topic in topics.keys() - labels.rankings.keys():
        labels.rankings[topic] = _of_topic(labels, topic, depth)
    return Rankings(
        candidate=candidate.name,
        baseline=baseline.name,
        measure=candidate.measure or "",
        verdicts=(),
        depth=depth,
        titles={},
        urls={},
        topics={topic: labels.rankings[topic] for topic in topics},
    )


def all_documents(labels: Labels) -> frozenset[str]:
    """The documents in the first ranks of both systems, over all topics: those that any gate on them could show."""
    depth = depth_shown(labels)
    return frozenset().union(*(run.first(depth) for run in labels.runs))


def titled(rankings: Rankings, labels: Labels, titles: DocumentTitles) -> Rankings:
    """The rankings with titles and addresses."""
    names, urls = titles.of(rankings.documents, lambda: all_documents(labels), labels.rules)
    if (address := titles.address) is not None:
        ids = {document: quote(document, safe="", errors="replace") for document in rankings.documents - urls.keys()}
        urls |= {document: address.replace("{id}", id) for document, id in ids.items()}
    return replace(rankings, titles=names, urls=urls)


def _largest_wins(labels: Labels) -> list[str]:
    """The topics that gained most, largest gain first."""
    candidate, baseline = labels.scores
    if candidate.topics != baseline.topics:
        shared = {*candidate.topics} & {*baseline.topics}
        candidate, baseline = (side.only(shared.__contains__) for side in (candidate, baseline))
    losses = baseline.values - candidate.values
    return [candidate.topics[place] for place in first_in_order(losses, MAX_WINS).tolist() if losses[place] < 0]


def _of_topic(labels: Labels, topic: str, depth: int) -> tuple[RankedDocument, ...]:
    """One topic's rankings."""
    candidate, baseline = (run.ranks(topic) for run in labels.runs)
    shown = {document for ranks in (candidate, baseline) for document, rank in ranks.items() if rank <= depth}
    grades, beyond = labels.runs[0].grades(topic), max([*candidate.values(), *baseline.values(), 0]) + 1

    def order(document: str) -> tuple[int, int, str]:
        before, now = baseline.get(document, beyond), candidate.get(document, beyond)
        return min(before, now), before, document

    ungraded = labels.rules.ungraded
    ranked = [
        RankedDocument(name, grades.get(name, ungraded), baseline.get(name), candidate.get(name))
        for name in sorted(shown, key=order)
    ]
    return tuple(ranked)


#: The most ranks of each ranking, whatever the measure looks at: people do not read further.
MAX_DEPTH = 20
#: The most characters of a title.
MAX_TITLE = 300


@frozen
class Rankings:
    """What both systems returned in their first ranks for the topics responsible, and for the largest wins.

    Ranks beyond the depth are given. Documents are ordered by their better rank.

    ``verdicts`` are the places in the report of those that compare these systems; ``depth`` is how many ranks of each
    ranking are shown; ``titles`` and ``urls`` are of documents in ``topics``, where a documents file has them.
    """

    candidate: str = field(default="", kw_only=True, metadata=UNWRITTEN)
    baseline: str = field(default="", kw_only=True, metadata=UNWRITTEN)
    measure: str = field(default="", kw_only=True, metadata=UNWRITTEN)
    depth: int = field(default=0, kw_only=True, metadata=UNWRITTEN)
    verdicts: tuple[Count, ...]
    titles: Mapping[str, str]
    urls: Mapping[str, str]
    topics: Mapping[str, tuple[RankedDocument, ...]]

    def __post_init__(self) -> None:
        for topic, documents in self.topics.items():
            if len(documents) > 2 * MAX_DEPTH:
                where = f"rankings: topic {topic!r:.60}"
                raise ValueError(f"{where}: expected at most {2 * MAX_DEPTH} documents, found {len(documents)}")
        for title in self.titles.values():
            if len(title) > MAX_TITLE:
                raise ValueError(f"rankings: titles: expected at most {MAX_TITLE} characters, found {len(title)}")
        for url in self.urls.values():
            if web_address(url) != url:
                raise ValueError(f"rankings: expected an address with http or https, found {url!r:.60}")

    @property
    def documents(self) -> frozenset[str]:
        """All documents of all topics."""
        return frozenset(row.document for rows in self.topics.values() for row in rows)


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
        entries[key] = replace(
            entry,
            verdicts=(*entry.verdicts, place),
            titles={**given.titles, **entry.titles},
            urls={**given.urls, **entry.urls},
            topics={**entry.topics, **given.topics, **entry.topics},
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
            of_verdict[place] = of_systems(entry, verdicts[place])
    return [replace(verdict, rankings=of_verdict.get(place)) for place, verdict in enumerate(verdicts)]


def of_systems(entry: Rankings, verdict: Verdict) -> Rankings:
    """The rankings with what follows from a verdict on these systems."""
    return replace(
        entry,
        candidate=verdict.candidate,
        baseline=verdict.baselines[0] if verdict.pool is None else verdict.pool.decided_by,
        measure=verdict.measure or "",
        depth=min(cutoff_of(verdict.measure) or DEFAULT_DEPTH, MAX_DEPTH),
    )
