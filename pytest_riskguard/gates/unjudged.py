"""What else the labels could say: unjudged documents, which of them to judge next, and several judges."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice, zip_longest
from typing import NamedTuple

import numpy as np

from pytest_riskguard.data.ids import BoolArray, FloatArray, IntArray
from pytest_riskguard.data.judged import RankedRun
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.scoring import check_labels
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.findings import IfJudged, Judgements, TopicDocuments
from pytest_riskguard.gates.judge import compare
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.other_judgements import OtherJudgements, other_judgements
from pytest_riskguard.gates.unjudged_documents import UnjudgedDocuments, unjudged_documents, values_if_judged
from pytest_riskguard.gates.verdict import Outcome, VerdictWarning, warning

#: Which unjudged documents count as relevant in each case, by the side that ranks them higher (1: the candidate).
CASES: Mapping[str, Sequence[int]] = {
    "relevant": (-1, 0, 1),
    "candidate_relevant": (1,),
    "baseline_relevant": (-1,),
}
#: With more judges than this, nothing is said of them: each has judged little.
MOST_JUDGES = 50


class Labels:
    """Two runs, candidate and baseline, ranked by one measure, and what other labels would make of their scores.

    It is the same for all gates that compare these runs on the same topics, so what is found is kept, with
    ``documents`` of topics; ``alike`` are those of another measure that ranks, and cuts, both runs in the same way.
    What scores would be is an array of shape (n_topics, 2).
    """

    def __init__(
        self,
        scores: tuple[TopicScores, TopicScores],
        runs: tuple[RankedRun, RankedRun],
        alike: Labels | None = None,
    ) -> None:
        self.scores, self.runs, self._alike = scores, runs, alike
        self.measure, self.rules = runs[0].measure, runs[0].qrels.rules
        self.documents: dict[str, TopicDocuments] = {}

    def scores_of(self, topic: str) -> list[float]:
        """What candidate and baseline score on a topic."""
        place = self.places[self.runs[0].qrels.arrays.places[topic]]
        return [float(one.values[place]) for one in self.scores]

    @cached_property
    def unjudged(self) -> UnjudgedDocuments:
        """The unjudged documents in the first ranks of either run."""
        return self._alike.unjudged if self._alike else unjudged_documents(self.scores[0].topics, *self.runs)

    @cached_property
    def others(self) -> OtherJudgements:
        """The scores that topics could have if all these documents were judged."""
        return other_judgements(self.unjudged, self.runs, np.ones(len(self.unjudged), dtype=np.bool_))

    @cached_property
    def places(self) -> IntArray:
        """The place in the scores of each topic of the judgements' columns; -1 for others."""
        known = self.runs[0].qrels.arrays.places
        places = np.full(len(known), -1, dtype=np.int64)
        places[[known[topic] for topic in self.scores[0].topics]] = np.arange(len(self.scores[0].topics))
        return places

    @cached_property
    def cases(self) -> dict[str, FloatArray]:
        """The scores in each of ``CASES``."""
        return {case: self.if_relevant(np.isin(self.unjudged.favours, sides)) for case, sides in CASES.items()}

    @cached_property
    def effects(self) -> FloatArray:
        """How much each unjudged document would move its topic's difference if it alone were relevant."""
        topics = self.unjudged.topics
        candidate, baseline = values_if_judged(self.runs, topics, np.ones_like(topics), self.unjudged.rows).T
        now = (self.scores[0].values - self.scores[1].values)[self.places[topics]]
        effects: FloatArray = candidate - baseline - now
        return effects

    def changed(self, topics: IntArray, values: FloatArray) -> FloatArray:
        """The scores where those of some topics, by their places in the judgements' columns, are others."""
        scores = np.stack([one.values for one in self.scores], axis=1)
        scores[self.places[topics]] = values
        return scores

    def if_relevant(self, relevant: BoolArray) -> FloatArray:
        """The scores if some of the unjudged documents had the highest grade of their topic."""
        topics, counts = np.unique(self.unjudged.topics[relevant], return_counts=True)
        return self.changed(topics, values_if_judged(self.runs, topics, counts, self.unjudged.rows[relevant]))

    def under(self, judge: str) -> FloatArray:
        """The scores on the grades of one judge; ``DataError`` for grades that the measure does not take."""
        qrels = self.runs[0].qrels.under(judge)
        check_labels(self.measure, qrels)
        runs = [RankedRun(run.run, qrels, run.measure) for run in self.runs]
        topics = qrels.arrays.places_of(self.scores[0].topics)
        return values_if_judged(runs, topics, np.zeros_like(topics), np.zeros((0, 2), dtype=np.int64), np.zeros(0))


class Rejudged:
    """A gate's question about two runs, at the level that decided, that can be asked again under other labels."""

    def __init__(self, gate: Gate, labels: Labels, topics: Topics | None = None) -> None:
        self.gate, self.labels, self.topics = gate, labels, topics

    @cached_property
    def comparison(self) -> Comparison:
        """The question on the judgements as they are."""
        return compare(self.gate, *self.labels.scores, topics=self.topics)

    @cached_property
    def as_judged(self) -> IfJudged:
        """What the gate says on the judgements as they are."""
        return _said("irrelevant", self.comparison)

    def case(self, name: str, scores: FloatArray) -> IfJudged:
        """What the gate says where scores are these."""
        systems = [replace(one, values=values) for one, values in zip(self.labels.scores, scores.T, strict=True)]
        return _said(name, compare(self.gate, *systems, topics=self.topics))

    def other_cases(self, others: OtherJudgements) -> Iterator[IfJudged]:
        """What the gate says in each of these ways of judging, the two extremes first; none twice."""
        labels, known = self.labels, dict[bytes, IfJudged]()
        extremes = [("lowest", others.best(-others.differences)), ("highest", others.best(others.differences))]
        searched = others.combinations()
        if not others.exhaustive:
            searched = others.searched(self.gate, self.comparison.evidence, labels.places[others.topics])
        for name, rows in chain(extremes, (("other", rows) for rows in searched)):
            key = rows.tobytes()
            if key not in known:
                known[key] = self.case(name, labels.changed(others.topics, others.scores[rows]))
            elif name == "other":
                continue
            yield replace(known[key], case=name)

    @cached_property
    def found(self) -> Judgements:
        """Which documents are unjudged, and what the gate would say if they were judged in the ways that were tried.

        The verdict's own way first, then the extremes, then the first other way that changes the outcome. Where
        judgements are complete, only what each judge says alone.
        """
        labels, judges = self.labels, self._under_judges()
        if labels.rules.is_complete:
            return Judgements(0, depends=False, certain=True, judges=judges)
        ways, outcome = self.other_cases(labels.others), self.as_judged.outcome
        cases = [self.as_judged, *(self.case(case, scores) for case, scores in labels.cases.items())]
        cases += islice(ways, 2)
        if all(case.outcome == outcome for case in cases):
            cases += islice((way for way in ways if way.outcome != outcome), 1)
        depends = any(case.outcome != outcome for case in cases)
        candidate, baseline = np.count_nonzero(labels.unjudged.found, axis=0).tolist()
        return Judgements(
            documents=len(labels.unjudged),
            candidate=candidate,
            baseline=baseline,
            cases=tuple(cases),
            depends=depends,
            certain=depends or labels.others.exhaustive,
            judges=judges,
        )

    def _under_judges(self) -> tuple[IfJudged, ...]:
        """What the gate says under each judge alone; nothing where a grade does not suit the measure."""
        by_judge = self.labels.runs[0].qrels.by_judge or {}
        judges = sorted({judge for given in by_judge.values() for judge in given})
        if len(judges) > MOST_JUDGES:
            return ()
        try:
            return tuple(self.case(judge, self.labels.under(judge)) for judge in judges)
        except DataError:
            return ()

    def changes(self, is_open: BoolArray) -> bool:
        """Whether the verdict was found to change, if documents that are not open are irrelevant."""
        labels = self.labels
        masks = (np.isin(labels.unjudged.favours, sides) & is_open for sides in CASES.values())
        cases = (self.case("relevant", labels.if_relevant(mask)) for mask in masks if np.any(mask))
        others = self.other_cases(other_judgements(labels.unjudged, labels.runs, is_open))
        return any(case.outcome != self.as_judged.outcome for case in chain(cases, others))


def _said(name: str, comparison: Comparison) -> IfJudged:
    return IfJudged(name, comparison.evidence.estimate(comparison.gate.alpha), comparison.answer[0])


def rests_on_labels(outcome: Outcome, labels: Judgements) -> Iterator[VerdictWarning]:
    """The warnings that more judgements could change a verdict that is not a pass, and that judges disagree on it."""
    if outcome != "pass" and labels.depends:
        yield warning("rests_on_unjudged", documents=labels.documents)
    if len({judge.outcome for judge in labels.judges}) > 1:
        agree = sum(judge.outcome == outcome for judge in labels.judges)
        yield warning("rests_on_judges", judges=len(labels.judges), agree=agree)


class ToJudge(NamedTuple):
    """An unjudged document of a topic."""

    topic: str
    document: str


def judge_next(rejudged: Rejudged) -> tuple[ToJudge, ...]:
    """The documents to judge, most useful first; none where no judgement of them that was tried changes the verdict.

    The more a document would move its topic's difference if it were relevant, the more useful it is; losses do not
    weigh more than wins, or the first answers would lean towards one verdict. The list ends where no way of judging
    the remaining documents that was tried changes the verdict if all those listed are irrelevant.
    """
    if not rejudged.found.depends:
        return ()
    labels, unjudged = rejudged.labels, rejudged.labels.unjudged
    topics = map(labels.runs[0].qrels.arrays.topics.__getitem__, unjudged.topics.tolist())
    names = [*map(ToJudge, topics, unjudged.documents.strings())]
    # effects are rounded, so that equal ones go by topic and document on every machine
    sizes = [-round(abs(effect), 12) for effect in labels.effects.tolist()]
    order = sorted(range(len(names)), key=lambda place: (sizes[place], names[place]))

    def settles(count: int) -> bool:
        is_open = np.ones(len(names), dtype=np.bool_)
        is_open[order[:count]] = False
        return not rejudged.changes(is_open)

    count = bisect_left(range(len(order)), True, lo=1, key=settles)
    return tuple(names[place] for place in order[:count])


def together(lists: Iterable[Sequence[ToJudge]]) -> tuple[ToJudge, ...]:
    """One list for several verdicts: the first of each, then the second of each, every document once."""
    rows = chain.from_iterable(zip_longest(*lists))
    return tuple(dict.fromkeys(entry for entry in rows if entry is not None))
