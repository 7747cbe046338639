"""What explains a verdict, computed from whole rankings: every variant is scored by ir-measures.

Slow and simple, to compare with what is computed from columns. ``SlowComparison`` answers every question that
``Rejudged`` answers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from pytest_riskguard.data.given_file import AS_GIVEN, LabelRules
from pytest_riskguard.data.judged import depth_of, rank_order
from pytest_riskguard.data.measures import cutoff_of
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.gates.findings import IfJudged, Judgements
from pytest_riskguard.gates.judge import compare
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.unjudged import ToJudge
from tests.data.plain_orders import ranked
from tests.data.scoring import plain
from tests.data.world import falling

if TYPE_CHECKING:
    from ir_measures import Measure

#: Judgements of a topic (docid -> grade), and a ranking of it.
Variant = tuple[Mapping[str, float], Sequence[str]]
Rankings = Mapping[str, Sequence[str]]


def rankings_of(run: Run, measure: Measure) -> Rankings:
    """Topic -> docids as the measure's provider ranks them."""
    order = rank_order(measure)
    return {topic: ranked(order, list(scores), list(scores.values())) for topic, scores in run.by_topic().items()}


Case = Literal["irrelevant", "relevant", "candidate_relevant", "baseline_relevant"]
Relevant = Mapping[str, Collection[str]]
CASES: Mapping[Case, Collection[int]] = {
    "relevant": (-1, 0, 1),
    "candidate_relevant": (1,),
    "baseline_relevant": (-1,),
}


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


def unjudged(
    topics: Sequence[str],
    grades: Mapping[str, Mapping[str, float]],
    candidate: Rankings,
    baseline: Rankings,
    *,
    depth: int,
) -> Iterator[Unjudged]:
    """The unjudged documents in the first ranks of two runs, for each topic that has any."""
    for topic in topics:
        judged = grades.get(topic, {})
        in_candidate, in_baseline = (
            {document: rank for rank, document in enumerate(run.get(topic, [])[:depth], 1) if document not in judged}
            for run in (candidate, baseline)
        )
        if in_candidate or in_baseline:
            yield Unjudged(topic, in_candidate, in_baseline)


def scores_of(measure: Measure, variants: Iterable[Variant]) -> list[float]:
    """The measure's value for each ranking, as ir-measures computes it."""
    scores: list[float] = []
    for grades, ranking in variants:
        if not ranking:
            scores.append(float(measure.DEFAULT))
            continue
        ranked = falling(ranking[: cutoff_of(measure)])
        scores.append(plain.scores(measure, {"t": ranked}, {"t": grades})["t"])
    return scores


@dataclass(frozen=True, eq=False)
class SlowComparison:
    """A comparison of two runs that can be repeated under other judgements, at the level that decided.

    Pairs are candidate and baseline; ``grades`` map topic to document to grade, as the measure takes it.
    """

    gate: Gate
    scores: tuple[TopicScores, TopicScores]
    runs: tuple[Rankings, Rankings]
    measure: Measure
    grades: Mapping[str, Mapping[str, float]]
    rules: LabelRules = AS_GIVEN

    @property
    def depth(self) -> int:
        """How many ranks are searched for unjudged documents."""
        return depth_of(self.measure)

    def gaps(self) -> tuple[Unjudged, ...]:
        """The unjudged documents of each topic that has any."""
        return tuple(unjudged(self.scores[0].topics, self.grades, *self.runs, depth=self.depth))

    def if_relevant(self, relevant: Relevant) -> tuple[float, Literal["pass", "fail", "inconclusive"]]:
        """URisk and the gate's answer if these documents had the highest grade of their topic."""
        affected = [topic for topic, documents in relevant.items() if documents]
        values = scores_of(self.measure, (v for topic in affected for v in self._variants(topic, relevant[topic])))
        candidate, baseline = (_changed(scores, affected, values[side::2]) for side, scores in enumerate(self.scores))
        comparison = compare(self.gate, candidate, baseline)
        return comparison.evidence.estimate(self.gate.alpha), comparison.answer[0]

    def effects(self, gap: Unjudged) -> dict[str, float]:
        """How much each document of a topic would move the topic's difference if it alone were relevant."""
        documents = gap.documents
        place = self.scores[0].topics.index(gap.topic)
        now = float(self.scores[0].values[place] - self.scores[1].values[place])
        values = scores_of(
            self.measure, (v for document in documents for v in self._variants(gap.topic, (document,)))
        )
        return {
            document: candidate - baseline - now
            for document, candidate, baseline in zip(documents, values[::2], values[1::2], strict=True)
        }

    def _variants(self, topic: str, relevant: Collection[str]) -> Iterator[Variant]:
        grades = {**self.grades[topic], **dict.fromkeys(relevant, max(self.grades[topic].values()))}
        for run in self.runs:
            yield grades, run.get(topic, [])


def _changed(scores: TopicScores, topics: Sequence[str], values: Sequence[float]) -> TopicScores:
    places = {topic: place for place, topic in enumerate(scores.topics)}
    changed = np.array(scores.values)
    changed[[places[topic] for topic in topics]] = values
    return replace(scores, values=changed)


def judgements(rejudged: SlowComparison) -> Judgements:
    """Which documents are unjudged, and what the gate would say in the four cases that go by rank."""
    gaps, cases = rejudged.gaps(), [IfJudged("irrelevant", *rejudged.if_relevant({}))]
    for case, sides in CASES.items():
        relevant = {gap.topic: [d for d in gap.documents if gap.favours(d) in sides] for gap in gaps}
        cases.append(IfJudged(case, *rejudged.if_relevant(relevant)))
    return Judgements(
        candidate=sum(len(gap.candidate) for gap in gaps),
        baseline=sum(len(gap.baseline) for gap in gaps),
        documents=sum(len(gap.documents) for gap in gaps),
        cases=tuple(cases),
        depends=len({case.outcome for case in cases}) > 1,
    )


def in_order(rejudged: SlowComparison) -> tuple[ToJudge, ...]:
    """All unjudged documents: the more one would move its topic's difference if it were relevant, the earlier."""
    effects = {
        ToJudge(gap.topic, document): effect
        for gap in rejudged.gaps()
        for document, effect in rejudged.effects(gap).items()
    }
    # effects are rounded, so that equal ones go by topic and document on every machine
    return tuple(sorted(effects, key=lambda entry: (-round(abs(effects[entry]), 12), entry.topic, entry.document)))


def moved_back(slow: SlowComparison, topic: str, document: str) -> float:
    """The candidate's score with one document at its baseline rank; a ranking that is too short is filled up."""
    candidate, baseline = ([*run.get(topic, [])] for run in slow.runs)
    ranking = [name for name in candidate if name != document]
    if document in baseline:
        place = baseline.index(document)
        if not str(slow.measure.NAME).startswith("Set"):  # these ignore ranks, and would count what fills it up
            ranking += [f" no document {number}" for number in range(len(ranking), place)]
        ranking.insert(place, document)
    return scores_of(slow.measure, [(slow.grades[topic], ranking)])[0]
