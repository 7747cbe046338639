"""Documents that nobody judged, and rankings scored under other judgements or in another order."""

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
#: The most ranks that are searched, whatever the cutoff: nobody judges deeper.
LARGEST_DEPTH = 100

Variant = tuple[Mapping[str, int], Sequence[str]]
"""Judgements of a topic (docid -> grade), and a ranking of it."""


@dataclass(frozen=True)
class Unjudged:
    """The documents of one topic that nobody judged: rank of each where the depth lets it be seen.

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
        """In either ranking, each once; those that stand higher first."""
        ranks = {document: self.best_rank(document) for document in (*self.candidate, *self.baseline)}
        return tuple(sorted(ranks, key=lambda document: (ranks[document], document)))

    def best_rank(self, document: str) -> int:
        """The higher of its ranks."""
        return min(ranks[document] for ranks in (self.candidate, self.baseline) if document in ranks)

    def favours(self, document: str) -> int:
        """1 where the candidate has it higher up, or alone; -1 where the baseline has; 0 at equal ranks."""
        ours, theirs = (ranks.get(document, math.inf) for ranks in (self.candidate, self.baseline))
        return (ours < theirs) - (ours > theirs)

    def without(self, documents: Collection[str]) -> Unjudged:
        """The same with some documents judged."""
        ours, theirs = (
            {document: rank for document, rank in ranks.items() if document not in documents}
            for ranks in (self.candidate, self.baseline)
        )
        return Unjudged(self.topic, ours, theirs)


def depth_of(measure: Measure) -> int:
    """How many ranks are searched for unjudged documents."""
    return min(cutoff_of(measure) or DEFAULT_DEPTH, LARGEST_DEPTH)


def unjudged(
    topics: Sequence[str],
    grades: Mapping[str, Mapping[str, int]],
    candidate: RankedRun,
    baseline: RankedRun,
    *,
    depth: int,
) -> Iterator[Unjudged]:
    """For each topic that has any: the unjudged documents in the first ranks of the two."""
    for topic in topics:
        judged = grades.get(topic, {})
        ours, theirs = (
            {document: rank for rank, document in enumerate(run.ranking(topic)[:depth], 1) if document not in judged}
            for run in (candidate, baseline)
        )
        if ours or theirs:
            yield Unjudged(topic, ours, theirs)


def scores_of(measure: Measure, variants: Iterable[Variant]) -> list[float]:
    """The measure's value for each of some rankings, as ir-measures computes it.

    Parameters
    ----------
    measure : Measure
    variants : iterable of (grades, ranking)
        Read some at a time. The same topic may be there many times, with other judgements or in another order.

    Raises
    ------
    ScoringError
        As ``score_run``.
    """
    cutoff = cutoff_of(measure)
    found: list[float] = []
    waiting = iter(variants)
    while batch := list(islice(waiting, TOPICS_PER_CHUNK)):
        asked: dict[str, dict[str, float]] = {}
        judged: dict[str, dict[str, int]] = {}
        for number, (grades, ranking) in enumerate(batch):
            if ranking:
                seen = ranking[:cutoff]
                # whole numbers from the last rank up: no ties, in 32 bits too
                asked[str(number)] = dict(zip(seen, map(float, range(len(seen), 0, -1)), strict=True))
                judged[str(number)] = dict(grades)
        values = evaluate(measure, judged, asked, "rankings") if asked else {}
        found += [values.get(str(number), measure.DEFAULT) for number in range(len(batch))]
    return found
