"""Documents without a judgement, and rankings scored with other judgements or in another order."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from pytest_riskguard.evaluation.measures import cutoff_of
from pytest_riskguard.evaluation.rankings import RankedRun
from pytest_riskguard.evaluation.runs import TOPICS_PER_CHUNK
from pytest_riskguard.evaluation.scoring import evaluate

if TYPE_CHECKING:
    from ir_measures import Measure

#: How many ranks are searched for unjudged documents where the measure has no cutoff.
DEFAULT_DEPTH = 10
#: Ranks that are searched at most, whatever the cutoff: judges do not go deeper.
MAX_DEPTH = 100

Variant = tuple[Mapping[str, int], Sequence[str]]
"""Judgements of a topic (docid -> grade), and a ranking of it."""


@dataclass(frozen=True)
class Unjudged:
    """The unjudged documents of one topic, with their ranks within the depth.

    Attributes
    ----------
    topic : str
    candidate, baseline : mapping docid -> rank
        By rank, from 1.
    """

    topic: str
    candidate: Mapping[str, int]
    baseline: Mapping[str, int]

    @property
    def documents(self) -> tuple[str, ...]:
        """Those of either ranking, each once, by their best rank."""
        ranks = {document: self.best_rank(document) for document in (*self.candidate, *self.baseline)}
        return tuple(sorted(ranks, key=lambda document: (ranks[document], document)))

    def best_rank(self, document: str) -> int:
        """Its better rank in the two rankings."""
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
    grades: Mapping[str, Mapping[str, int]],
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
    """The measure's value for each of some rankings, as ir-measures computes it.

    Parameters
    ----------
    measure : Measure
    variants : iterable of (grades, ranking)
        Read some at a time. A topic may appear many times, with other judgements or in another order.

    Raises
    ------
    ScoringError
        As ``score_run``.
    """
    cutoff = cutoff_of(measure)
    scores: list[float] = []
    remaining = iter(variants)
    while batch := list(islice(remaining, TOPICS_PER_CHUNK)):
        rankings: dict[str, dict[str, float]] = {}
        judged: dict[str, dict[str, int]] = {}
        for number, (grades, ranking) in enumerate(batch):
            if ranking:
                kept = ranking[:cutoff]
                # whole numbers from the last rank up: no ties, even in 32 bits
                rankings[str(number)] = dict(zip(kept, map(float, range(len(kept), 0, -1)), strict=True))
                judged[str(number)] = dict(grades)
        values = evaluate(measure, judged, rankings, "rankings") if rankings else {}
        scores += [values.get(str(number), measure.DEFAULT) for number in range(len(batch))]
    return scores
