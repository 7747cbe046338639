"""What two systems returned for a topic: ranks and grades, and the effect of each document that moved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from pytest_riskguard.data.measures import DEFAULT_DEPTH, cutoff_of, has_kernel
from pytest_riskguard.data.scoring import JudgedRows, kernel_of, parts_of
from pytest_riskguard.gates.findings import Documents, RankedDocument, TopicDocuments

if TYPE_CHECKING:
    from pytest_riskguard.data.titles import DocumentTitles
    from pytest_riskguard.gates.unjudged import Labels

#: The most topics whose documents are listed: the most harmful losses, and the largest wins.
MAX_LOSSES, MAX_WINS = 50, 10
#: The most ranks of each ranking, whatever the measure looks at: people do not read further.
MAX_DEPTH = 20
#: The most documents of a topic that have an effect; how many, highest ranks first, are moved back one at a time.
MAX_MOVED, MAX_MOVED_BACK = 50, 10
#: How closely effects that are called exact add up to the topic's difference.
EXACT = 1e-9

#: Ranks of documents in the candidate and in the baseline.
Ranks = Sequence[Mapping[str, int]]


def documents(labels: Labels, responsible: Sequence[str], titles: DocumentTitles) -> Documents:
    """The documents of the topics responsible, most harmful first, and of the largest wins.

    They do not depend on the gate, so gates on the same two runs share those that are known.
    """
    depth = min(cutoff_of(labels.measure) or DEFAULT_DEPTH, MAX_DEPTH, *(run.depth for run in labels.runs))
    topics = dict.fromkeys([*responsible[:MAX_LOSSES], *_largest_wins(labels)])
    for topic in topics.keys() - labels.documents.keys():
        labels.documents[topic] = _of_topic(labels, topic, depth)
    found = tuple(labels.documents[topic] for topic in topics)
    return titled(
        Documents(depth, found), titles, lambda: set().union(*(run.first(depth) for run in labels.runs)), labels.rules
    )


def titled(found: Documents, titles: DocumentTitles, *known: Any) -> Documents:
    """The documents with their titles and addresses; what else is ``known`` of them is as ``titles`` takes it."""
    shown = {row.document for topic in found.topics for row in topic.documents if row.best_rank <= found.depth}
    names, urls = titles.of(shown, *known)
    if (address := titles.address) is not None:
        urls |= {one: address.replace("{id}", quote(one, safe="")) for one in shown - urls.keys()}
    return replace(found, titles=names, urls=urls)


def _largest_wins(labels: Labels) -> list[str]:
    """The topics that gained most, largest gain first."""
    candidate, baseline = labels.scores
    gains = candidate.values - baseline.values
    largest = np.argsort(-gains, kind="stable")[:MAX_WINS]
    return [candidate.topics[place] for place in largest[gains[largest] > 0].tolist()]


def _of_topic(labels: Labels, topic: str, depth: int) -> TopicDocuments:
    """What both systems returned for one topic; nothing moved where a measure says nothing of single documents."""
    ranks = [run.ranks(topic) for run in labels.runs]
    grades, ungraded = labels.runs[0].grades(topic), labels.rules.ungraded
    parts = _as_sum(labels, topic, grades, ranks)
    effects, exact = (_one_at_a_time(labels, topic, ranks), False) if parts is None else (parts, True)
    if len(effects) > MAX_MOVED:
        kept = sorted(effects, key=lambda document: (-abs(effects[document]), document))[:MAX_MOVED]
        effects, exact = {document: effects[document] for document in kept}, False
    first = {document for side in ranks for document, rank in side.items() if rank <= depth}
    rows = [
        RankedDocument(
            document,
            grades.get(document, ungraded),
            baseline_rank=ranks[1].get(document),
            candidate_rank=ranks[0].get(document),
            effect=effects.get(document, 0.0),
        )
        for document in first | effects.keys()
    ]
    return TopicDocuments(topic, exact, in_order(rows))


def in_order(rows: Iterable[RankedDocument]) -> tuple[RankedDocument, ...]:
    """Those that anybody has first before others."""
    return tuple(sorted(rows, key=lambda row: (row.best_rank, row.baseline_rank or math.inf, row.document)))


def _as_sum(labels: Labels, topic: str, grades: Mapping[str, float], ranks: Ranks) -> dict[str, float] | None:
    """Each document's part in the difference; None where the measure is not a sum over documents.

    One score gives the factor that all documents share; if it gives the other score too, the measure is a sum.
    """
    parts = parts_of(labels.measure)
    if parts is None:
        return None
    at = np.array([side.get(document, 0) for side in ranks for document in grades], dtype=np.int64)
    worth = parts(np.tile(np.array([*grades.values()], dtype=np.float64), 2), at).reshape(2, -1).tolist()
    raw, scores = [math.fsum(side) for side in worth], labels.scores_of(topic)
    larger = 0 if raw[0] >= raw[1] else 1
    if not raw[larger] > 0:
        return None
    factor = scores[larger] / raw[larger]
    if not abs(factor * raw[1 - larger] - scores[1 - larger]) <= EXACT:
        return None
    return {
        document: factor * (now - before)
        for document, now, before in zip(grades, *worth, strict=True)
        if now != before
    }


def _one_at_a_time(labels: Labels, topic: str, ranks: Ranks) -> dict[str, float]:
    """The effect of moving each relevant document alone back to its baseline rank; none is known without a kernel.

    Where the candidate's ranking is too short for that rank, it is filled up.
    """
    if not has_kernel(labels.measure):
        return {}
    run, kernel = labels.runs[0], kernel_of(labels.measure, labels.rules)
    given = run.qrels.grades[topic]
    names, values = [*given], np.array([*given.values()], dtype=np.float64)
    now, before = (np.array([side.get(document, 0) for document in given], dtype=np.int64) for side in ranks)
    best = np.minimum(*(np.where(at, at, math.inf) for at in (now, before)))
    moved = np.flatnonzero((kernel.value(values) > 0) & (now != before)).tolist()
    moved = sorted(moved, key=lambda place: (best[place], names[place]))[:MAX_MOVED_BACK]
    variants = np.tile(now, (len(moved), 1))
    retrieved = np.full(len(moved), run.counted[0].retrieved[run.qrels.arrays.places[topic]])
    for number, place in enumerate(moved):
        variant, back = variants[number], before[place]
        if now[place]:
            variant[variant > now[place]] -= 1
            retrieved[number] -= 1
        if back:
            variant[variant >= back] += 1
            retrieved[number] = max(retrieved[number] + 1, back)
        variant[place] = back
    rows = JudgedRows(
        np.repeat(np.arange(len(moved)), len(names)), variants.ravel(), np.tile(values, len(moved)), retrieved
    )
    effects = labels.scores_of(topic)[0] - kernel.scores(rows)
    return dict(zip([names[place] for place in moved], effects.tolist(), strict=True))
