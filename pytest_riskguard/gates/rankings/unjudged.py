"""Unjudged documents: whether a verdict depends on them, and which to judge next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Literal

import numpy as np

from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.scoring.ranked_runs import (
    RankedRun,
    Unjudged,
    Variant,
    depth_of,
    scores_of,
    unjudged,
)
from pytest_riskguard.evaluation.topics import Topics
from pytest_riskguard.formats.label_rules import AS_GIVEN, LabelRules
from pytest_riskguard.gates.findings import IfJudged, Judgements, UnjudgedTopic
from pytest_riskguard.gates.judge import rule
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.verdict import Outcome, VerdictWarning, warning

if TYPE_CHECKING:
    from ir_measures import Measure

Case = Literal["irrelevant", "relevant", "candidate_relevant", "baseline_relevant"]
Answer = Literal["pass", "fail", "inconclusive"]
Relevant = Mapping[str, Collection[str]]
"""Topic to documents that are assumed relevant, with the highest grade of their topic."""

#: All cases but the verdict's own: which unjudged documents count as relevant, by side favoured (1: the candidate).
_CASES: Mapping[Case, Collection[int]] = {
    "relevant": (-1, 0, 1),
    "candidate_relevant": (1,),
    "baseline_relevant": (-1,),
}


@dataclass(frozen=True, eq=False)
class Rejudged:
    """A comparison of two runs that can be repeated under other judgements, at the level that decided.

    Pairs are candidate and baseline; ``grades`` map topic to document to grade, as the measure takes it.
    """

    gate: Gate
    scores: tuple[TopicScores, TopicScores]
    runs: tuple[RankedRun, RankedRun]
    measure: Measure
    grades: Mapping[str, Mapping[str, float]]
    topics: Topics | None = None
    rules: LabelRules = AS_GIVEN

    @property
    def depth(self) -> int:
        """How many ranks are searched for unjudged documents."""
        return depth_of(self.measure)

    def gaps(self) -> tuple[Unjudged, ...]:
        """The unjudged documents of each topic that has any."""
        return tuple(unjudged(self.scores[0].topics, self.grades, *self.runs, depth=self.depth))

    def if_relevant(self, relevant: Relevant) -> tuple[float, Answer]:
        """URisk and the gate's answer if these documents had the highest grade of their topic."""
        affected = [topic for topic, documents in relevant.items() if documents]
        values = scores_of(self.measure, (v for topic in affected for v in self._variants(topic, relevant[topic])))
        candidate, baseline = (_changed(scores, affected, values[side::2]) for side, scores in enumerate(self.scores))
        comparison = rule(self.gate, candidate, baseline, topics=self.topics)
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
            yield grades, run.ranking(topic)


def _changed(scores: TopicScores, topics: Sequence[str], values: Sequence[float]) -> TopicScores:
    places = {topic: place for place, topic in enumerate(scores.topics)}
    changed = np.array(scores.values)
    changed[[places[topic] for topic in topics]] = values
    return replace(scores, values=changed)


def cases_of(rejudged: Rejudged, gaps: Sequence[Unjudged]) -> Iterator[IfJudged]:
    """What the gate would have said in each case; the first is the verdict's own."""
    yield IfJudged("irrelevant", *rejudged.if_relevant({}))
    for case, sides in _CASES.items():
        relevant = {gap.topic: [d for d in gap.documents if gap.favours(d) in sides] for gap in gaps}
        yield IfJudged(case, *rejudged.if_relevant(relevant))


def judgements(rejudged: Rejudged) -> Judgements:
    """Which documents are unjudged, and what the gate would say in the extreme cases."""
    gaps = rejudged.gaps()
    cases = tuple(cases_of(rejudged, gaps))
    rows = [UnjudgedTopic(gap.topic, len(gap.candidate), len(gap.baseline)) for gap in gaps]
    sizes = {gap.topic: len(gap.documents) for gap in gaps}
    return Judgements(
        depth=rejudged.depth,
        candidate=sum(row.candidate for row in rows),
        baseline=sum(row.baseline for row in rows),
        documents=sum(sizes.values()),
        topics=tuple(sorted(rows, key=lambda row: (-sizes[row.topic], row.topic))),
        cases=cases,
        depends=len({case.outcome for case in cases}) > 1,
    )


def rests_on_unjudged(outcome: Outcome, unjudged: Judgements) -> VerdictWarning | None:
    """The warning for a verdict that is not a pass and that more judgements could change."""
    if outcome == "pass" or not unjudged.depends:
        return None
    return warning("rests_on_unjudged", documents=unjudged.documents)


@dataclass(frozen=True)
class ToJudge:
    """An unjudged document of a topic."""

    topic: str
    document: str


def judge_next(rejudged: Rejudged) -> tuple[ToJudge, ...]:
    """The documents to judge, most useful first; none where no judgement of them could change the verdict.

    The more a document would move its topic's difference if it were relevant, the more useful it is; losses do not
    weigh more than wins, or the first answers would lean towards one verdict. The list ends where the remaining
    documents, relevant or not, cannot change the verdict if all those listed are irrelevant.
    """
    gaps = rejudged.gaps()
    if not _open(rejudged, gaps):
        return ()
    effects = {
        ToJudge(gap.topic, document): effect for gap in gaps for document, effect in rejudged.effects(gap).items()
    }
    # effects are rounded, so that equal ones go by topic and document on every machine
    order = sorted(effects, key=lambda entry: (-round(abs(effects[entry]), 12), entry.topic, entry.document))
    settled, still_open = len(order), 0
    while settled - still_open > 1:
        middle = (settled + still_open) // 2
        if _open(rejudged, _without(gaps, order[:middle])):
            still_open = middle
        else:
            settled = middle
    return tuple(order[:settled])


def together(lists: Iterable[Sequence[ToJudge]]) -> tuple[ToJudge, ...]:
    """One list for several verdicts: the first of each, then the second of each, every document once."""
    rows = chain.from_iterable(zip_longest(*lists))
    return tuple(dict.fromkeys(entry for entry in rows if entry is not None))


def _open(rejudged: Rejudged, gaps: Sequence[Unjudged]) -> bool:
    """Whether the verdict could still change."""
    return len({case.outcome for case in cases_of(rejudged, gaps)}) > 1


def _without(gaps: Sequence[Unjudged], judged: Iterable[ToJudge]) -> list[Unjudged]:
    known: dict[str, set[str]] = {}
    for entry in judged:
        known.setdefault(entry.topic, set()).add(entry.document)
    return [gap.without(known.get(gap.topic, set())) for gap in gaps]
