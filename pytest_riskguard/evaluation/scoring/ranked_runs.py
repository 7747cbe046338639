"""Runs in memory, ranked as a measure's provider ranks them: their unjudged documents, scores on other judgements."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_riskguard.evaluation.measures import cutoff_of, provider_of
from pytest_riskguard.evaluation.runs.chunks import TOPICS_PER_CHUNK, Chunk
from pytest_riskguard.evaluation.runs.order import as_scored, untied
from pytest_riskguard.evaluation.runs.passages import by_document
from pytest_riskguard.evaluation.runs.rankings import Rankings
from pytest_riskguard.evaluation.runs.trec_runs import fold_run
from pytest_riskguard.evaluation.scoring.provider_scores import evaluate
from pytest_riskguard.formats.label_rules import AS_GIVEN, LabelRules

if TYPE_CHECKING:
    from ir_measures import Measure

#: How many ranks are searched for unjudged documents where the measure has no cutoff.
DEFAULT_DEPTH = 10
#: The most ranks that are searched, whatever the cutoff: judges do not go deeper.
MAX_DEPTH = 100

#: Judgements of a topic (docid -> grade), and a ranking of it.
Variant = tuple[Mapping[str, float], Sequence[str]]


@dataclass(frozen=True, eq=False)
class PackedRun:
    """A run in memory, about as large as its docids and scores alone; ``digest`` is that of its file."""

    digest: str
    _topics: dict[str, tuple[bytes, array[float]]]

    def __contains__(self, topic: str) -> bool:
        return topic in self._topics

    def documents(self, topic: str) -> tuple[list[str], array[float]]:
        """Docids and scores in the order of the file; none for a topic that is not in it."""
        packed = self._topics.get(topic)
        if packed is None:
            return [], array("d")
        return packed[0].decode().split("\n"), packed[1]


def pack_run(run: Path | Rankings, topics: Collection[str], rules: LabelRules = AS_GIVEN) -> PackedRun:
    """Read some topics of a run, with documents for passages if the rules say how these are named."""
    kept = frozenset(topics)
    if isinstance(run, Rankings):
        return PackedRun(run.digest, _packed(by_document(run.chunks(), rules), kept))
    packed, digest = fold_run(Path(run), lambda chunks: _packed(by_document(chunks, rules), kept))
    return PackedRun(digest, packed)


def _packed(chunks: Iterable[Chunk], topics: frozenset[str]) -> dict[str, tuple[bytes, array[float]]]:
    return {
        topic: ("\n".join(documents).encode(), array("d", documents.values()))
        for chunk in chunks
        for topic, documents in chunk.items()
        if topic in topics
    }


class RankedRun:
    """A run as the provider of one measure ranks it."""

    def __init__(self, run: PackedRun, measure: Measure) -> None:
        self._run = run
        self._provider = str(provider_of(measure).NAME)

    def ranking(self, topic: str) -> list[str]:
        """Docids from rank 1 on; none for a topic that the run does not answer."""
        documents, scores = self._run.documents(topic)
        return list(as_scored(documents, scores, self._provider))


@dataclass(frozen=True)
class Unjudged:
    """The unjudged documents of one topic: docid -> rank, from 1, within the depth, by rank."""

    topic: str
    candidate: Mapping[str, int]
    baseline: Mapping[str, int]

    @property
    def documents(self) -> tuple[str, ...]:
        """The unjudged documents of both rankings, each once, by their best rank."""
        ranks = {document: self.best_rank(document) for document in (*self.candidate, *self.baseline)}
        return tuple(sorted(ranks, key=lambda document: (ranks[document], document)))

    def best_rank(self, document: str) -> int:
        """The better of a document's ranks in the two rankings."""
        return min(ranks[document] for ranks in (self.candidate, self.baseline) if document in ranks)

    def favours(self, document: str) -> int:
        """1 if the candidate ranks it higher, or alone has it; -1 if the baseline does; 0 at equal ranks."""
        candidate, baseline = (ranks.get(document, math.inf) for ranks in (self.candidate, self.baseline))
        return (candidate < baseline) - (candidate > baseline)

    def without(self, documents: Collection[str]) -> Unjudged:
        """What is left when some of the documents are judged."""
        candidate, baseline = (
            {document: rank for document, rank in ranks.items() if document not in documents}
            for ranks in (self.candidate, self.baseline)
        )
        return Unjudged(self.topic, candidate, baseline)


def depth_of(measure: Measure) -> int:
    """How many ranks are searched for unjudged documents."""
    return min(cutoff_of(measure) or DEFAULT_DEPTH, MAX_DEPTH)


def unjudged(
    topics: Sequence[str],
    grades: Mapping[str, Mapping[str, float]],
    candidate: RankedRun,
    baseline: RankedRun,
    *,
    depth: int,
) -> Iterator[Unjudged]:
    """The unjudged documents in the first ranks of two runs, for each topic that has any."""
    for topic in topics:
        judged = grades.get(topic, {})
        in_candidate, in_baseline = (
            {document: rank for rank, document in enumerate(run.ranking(topic)[:depth], 1) if document not in judged}
            for run in (candidate, baseline)
        )
        if in_candidate or in_baseline:
            yield Unjudged(topic, in_candidate, in_baseline)


def scores_of(measure: Measure, variants: Iterable[Variant]) -> list[float]:
    """The measure's value for each ranking, as ir-measures computes it; rankings are read a few at a time.

    A topic may appear many times, with other judgements or in another order.
    """
    scores: list[float] = []
    remaining = iter(variants)
    while batch := list(islice(remaining, TOPICS_PER_CHUNK)):
        rankings: dict[str, dict[str, float]] = {}
        judged: dict[str, dict[str, float]] = {}
        for number, (grades, ranking) in enumerate(batch):
            if ranking:
                rankings[str(number)] = untied(ranking[: cutoff_of(measure)])
                judged[str(number)] = dict(grades)
        values = evaluate(measure, judged, rankings, "rankings") if rankings else {}
        scores += [values.get(str(number), measure.DEFAULT) for number in range(len(batch))]
    return scores
