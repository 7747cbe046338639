"""Two rankings of a topic side by side: of the topics responsible for a verdict, and of the largest wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import quote

from pytest_riskguard.data.measure_names import DEFAULT_DEPTH
from pytest_riskguard.data.measures import cutoff_of
from pytest_riskguard.data.titles import DocumentTitles
from pytest_riskguard.gates.findings import RankedDocument
from pytest_riskguard.gates.rankings.entries import MAX_DEPTH, Rankings
from pytest_riskguard.gates.rankings.unjudged import Rejudged

#: How many of the largest wins are shown.
MAX_WINS = 10


def depth_shown(rejudged: Rejudged) -> int:
    """How many ranks of each ranking are shown."""
    return min(cutoff_of(rejudged.measure) or DEFAULT_DEPTH, MAX_DEPTH)


def side_by_side(rejudged: Rejudged, responsible: Sequence[str]) -> Rankings:
    """The rankings for these topics and those of the largest wins, as yet without titles and addresses."""
    depth = depth_shown(rejudged)
    candidate, baseline = rejudged.scores
    topics = dict.fromkeys([*responsible, *_largest_wins(rejudged)])
    return Rankings(
        candidate=candidate.name,
        baseline=baseline.name,
        measure=candidate.measure or "",
        verdicts=(),
        depth=depth,
        titles={},
        urls={},
        topics={topic: _of_topic(rejudged, topic, depth) for topic in topics},
    )


def all_documents(rejudged: Rejudged) -> frozenset[str]:
    """The documents in the first ranks of both systems, over all topics: those that any gate on them could show."""
    depth, topics = depth_shown(rejudged), frozenset(rejudged.scores[0].topics)
    return frozenset().union(*(run.first(topics, depth) for run in rejudged.runs))


def titled(rankings: Rankings, rejudged: Rejudged, titles: DocumentTitles) -> Rankings:
    """The rankings with titles and addresses."""
    names, urls = titles.of(rankings.documents, lambda: all_documents(rejudged), rejudged.rules)
    if (address := titles.address) is not None:
        ids = {document: quote(document, safe="", errors="replace") for document in rankings.documents - urls.keys()}
        urls |= {document: address.replace("{id}", id) for document, id in ids.items()}
    return replace(rankings, titles=names, urls=urls)


def _largest_wins(rejudged: Rejudged) -> list[str]:
    """The topics that gained most, largest gain first."""
    candidate, baseline = (dict(zip(one.topics, one.values.tolist(), strict=True)) for one in rejudged.scores)
    gains = {topic: score - baseline[topic] for topic, score in candidate.items() if topic in baseline}
    wins = [topic for topic, gain in gains.items() if gain > 0]
    return sorted(wins, key=lambda topic: (-gains[topic], topic))[:MAX_WINS]


def _of_topic(rejudged: Rejudged, topic: str, depth: int) -> tuple[RankedDocument, ...]:
    """One topic's rankings; gates that compare the same runs share them."""
    known, (candidate, baseline) = rejudged.known.rankings, rejudged.runs
    key = (str(rejudged.measure), candidate.order, candidate.depth, baseline.depth, topic, depth)
    if key not in known:
        known[key] = _ranked(rejudged, topic, depth)
    return known[key]


def _ranked(rejudged: Rejudged, topic: str, depth: int) -> tuple[RankedDocument, ...]:
    candidate, baseline = (run.ranks(topic) for run in rejudged.runs)
    shown = {document for ranks in (candidate, baseline) for document, rank in ranks.items() if rank <= depth}
    grades, beyond = rejudged.runs[0].grades(topic), max([*candidate.values(), *baseline.values(), 0]) + 1

    def order(document: str) -> tuple[int, int, str]:
        before, now = baseline.get(document, beyond), candidate.get(document, beyond)
        return min(before, now), before, document

    ungraded = rejudged.rules.ungraded
    ranked = [
        RankedDocument(name, grades.get(name, ungraded), baseline.get(name), candidate.get(name))
        for name in sorted(shown, key=order)
    ]
    return tuple(ranked)
