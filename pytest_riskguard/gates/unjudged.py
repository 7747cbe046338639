"""What else the labels could say: unjudged documents, which of them to judge next, and several judges."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice, zip_longest
from typing import Literal, NamedTuple

import numpy as np

from pytest_riskguard.data.ids import BoolArray, FloatArray, IntArray
from pytest_riskguard.data.judged import RankedRun, depth_of
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.scoring import check_labels
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.findings import IfJudged, Judgements, TopicDocuments
from pytest_riskguard.gates.judge import rule
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.other_judgements import OtherJudgements, possible_scores
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.gates.unjudged_documents import UnjudgedDocuments, unjudged_documents, values_if_judged
from pytest_riskguard.gates.verdict import Outcome, VerdictWarning, warning

Case = Literal["irrelevant", "relevant", "candidate_relevant", "baseline_relevant"]
OtherCase = Literal["lowest", "highest", "other"]
Answer = Literal["pass", "fail", "inconclusive"]

#: Which unjudged documents count as relevant in each case, by side favoured (1: the candidate).
_CASES: Mapping[Case, Sequence[int]] = {
    "irrelevant": (),
    "relevant": (-1, 0, 1),
    "candidate_relevant": (1,),
    "baseline_relevant": (-1,),
}


class Labels:
    """Two runs, candidate and baseline, ranked by one measure, and what other labels would make of their scores.

    It is the same for all gates that compare these runs on the same topics, so what is found is kept, with
    ``documents`` of topics; ``alike`` is about another measure that sees the same documents.
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
        self._values: dict[Case, Values] = {}

    @cached_property
    def by_topic(self) -> tuple[dict[str, float], dict[str, float]]:
        """The scores of candidate and baseline."""
        candidate, baseline = (dict(zip(one.topics, one.values.tolist(), strict=True)) for one in self.scores)
        return candidate, baseline

    @cached_property
    def unjudged(self) -> UnjudgedDocuments:
        """The unjudged documents in the first ranks of either run."""
        return self._alike.unjudged if self._alike else unjudged_documents(self.scores[0].topics, *self.runs)

    @cached_property
    def others(self) -> OtherJudgements:
        """The scores that topics could have if all these documents were judged."""
        return self.others_of(np.ones(len(self.unjudged), dtype=np.bool_))

    def others_of(self, is_open: BoolArray) -> OtherJudgements:
        """The scores that topics could have if some of them were judged."""
        return OtherJudgements(possible_scores(self.unjudged, self.runs, is_open))

    @cached_property
    def places(self) -> IntArray:
        """The place in the scores of each topic of the judgements' columns; -1 for others."""
        known = self.runs[0].qrels.arrays.places
        places = np.full(len(known), -1, dtype=np.int64)
        places[[known[topic] for topic in self.scores[0].topics]] = np.arange(len(self.scores[0].topics))
        return places

    @cached_property
    def effects(self) -> FloatArray:
        """How much each unjudged document would move its topic's difference if it alone were relevant."""
        topics = self.unjudged.topics
        candidate, baseline = values_if_judged(self.runs, topics, np.ones_like(topics), self.unjudged.rows).T
        now = (self.scores[0].values - self.scores[1].values)[self.places[topics]]
        effects: FloatArray = candidate - baseline - now
        return effects

    def in_favour(self, case: Case) -> BoolArray:
        """Which unjudged documents are relevant in a case."""
        return np.isin(self.unjudged.favours, _CASES[case])

    def values_in(self, case: Case) -> Values:
        """The scores that change in an extreme case."""
        if case not in self._values:
            self._values[case] = self.values_if(self.in_favour(case))
        return self._values[case]

    def values_if(self, relevant: BoolArray) -> Values:
        """The scores that change if some of the unjudged documents had the highest grade of their topic."""
        topics, counts = np.unique(self.unjudged.topics[relevant], return_counts=True)
        values = values_if_judged(self.runs, topics, counts, self.unjudged.rows[relevant])
        return Values(self.places[topics], values)

    def under(self, judge: str) -> Values:
        """All scores on the grades of one judge; ``DataError`` for grades that the measure does not take."""
        qrels = self.runs[0].qrels.under(judge)
        check_labels(self.measure, qrels)
        runs = [RankedRun(run.run, qrels, run.measure) for run in self.runs]
        topics = qrels.arrays.places_of(self.scores[0].topics)
        none = np.zeros((0, 2), dtype=np.int64)
        values = values_if_judged(runs, topics, np.zeros_like(topics), none, np.zeros(0))
        return Values(np.arange(len(topics)), values)


class Values(NamedTuple):
    """Scores that change: their places, and there those of candidate and baseline, shape (n_places, 2)."""

    places: IntArray
    scores: FloatArray


class Rejudged:
    """A gate's question about two runs, at the level that decided, that can be asked again under other labels."""

    def __init__(self, gate: Gate, labels: Labels, topics: Topics | None = None) -> None:
        self.gate, self.labels, self.topics = gate, labels, topics

    def _comparison(self, *systems: TopicScores) -> Comparison:
        return rule(self.gate, *systems, topics=self.topics)

    @cached_property
    def ruling(self) -> Ruling:
        """The gate's ruling on the judgements as they are."""
        return self._comparison(*self.labels.scores).ruling

    @cached_property
    def as_judged(self) -> tuple[float, Answer]:
        """URisk and the gate's answer on the judgements as they are."""
        return self.ruled(Values(np.zeros(0, dtype=np.int64), np.zeros((0, 2))))

    def ruled(self, changed: Values) -> tuple[float, Answer]:
        """URisk and the gate's answer where these scores change."""
        systems = []
        for scores, values in zip(self.labels.scores, changed.scores.T, strict=True):
            new = np.array(scores.values)
            new[changed.places] = values
            systems.append(replace(scores, values=new))
        comparison = self._comparison(*systems)
        return comparison.evidence.estimate(self.gate.alpha), comparison.answer[0]

    def other_cases(self, others: OtherJudgements) -> Iterator[tuple[OtherCase, float, Answer]]:
        """URisk and the gate's answer in each of these ways of judging, the two extremes first; none twice."""
        places, known = self.labels.places[others.topics], {}
        searched = (
            others.combinations() if others.exhaustive else others.searched(self.gate, self.ruling.evidence, places)
        )
        extremes: tuple[tuple[OtherCase, IntArray], ...] = (("lowest", others.lowest), ("highest", others.highest))
        more: Iterator[tuple[OtherCase, IntArray]] = (("other", rows) for rows in searched)
        for case, rows in chain(extremes, more):
            key = rows.tobytes()
            if case == "other" and key in known:
                continue
            if key not in known:
                known[key] = self.ruled(Values(places, others.scores[rows]))
            yield case, *known[key]

    @cached_property
    def found(self) -> Judgements:
        """Which documents are unjudged, and what the gate would say if they were judged in the ways that were tried.

        The verdict's own way first, then the other extremes, then the first other way that changes the outcome.
        """
        unjudged, others = self.labels.unjudged, self.labels.others
        ways = (IfJudged(case, urisk, answer) for case, urisk, answer in self.other_cases(others))
        cases = [IfJudged("irrelevant", *self.as_judged)]
        cases += [IfJudged(case, *self.ruled(self.labels.values_in(case))) for case in [*_CASES][1:]]
        cases += islice(ways, 2)
        outcome = cases[0].outcome
        if all(case.outcome == outcome for case in cases):
            cases += islice((way for way in ways if way.outcome != outcome), 1)
        depends = any(case.outcome != outcome for case in cases)
        candidate, baseline = np.count_nonzero(unjudged.found, axis=0).tolist()
        return Judgements(
            depth=unjudged.depth,
            documents=len(unjudged),
            candidate=candidate,
            baseline=baseline,
            cases=tuple(cases),
            depends=depends,
            certain=depends or others.exhaustive,
        )

    def changes(self, is_open: BoolArray) -> bool:
        """Whether the verdict was found to change, if documents that are not open are irrelevant."""
        outcome, labels = self.as_judged[1], self.labels
        for case in _CASES:
            relevant = labels.in_favour(case) & is_open
            if np.any(relevant) and self.ruled(labels.values_if(relevant))[1] != outcome:
                return True
        return any(answer != outcome for _, _, answer in self.other_cases(labels.others_of(is_open)))


#: With more judges than this, nothing is said of them: each has judged little.
MOST_JUDGES = 50


def judgements(rejudged: Rejudged) -> Judgements:
    """What the labels could say otherwise; where judgements are complete, only what each judge says alone."""
    judges, labels = under_judges(rejudged), rejudged.labels
    if not labels.rules.is_complete:
        return replace(rejudged.found, judges=judges)
    return Judgements(0, depends=False, depth=depth_of(labels.measure), certain=True, judges=judges)


def under_judges(rejudged: Rejudged) -> tuple[IfJudged, ...]:
    """What the gate says under each judge alone; nothing where a grade does not suit the measure."""
    by_judge = rejudged.labels.runs[0].qrels.by_judge or {}
    judges = sorted({judge for given in by_judge.values() for judge in given})
    if len(judges) > MOST_JUDGES:
        return ()
    try:
        return tuple(IfJudged(judge, *rejudged.ruled(rejudged.labels.under(judge))) for judge in judges)
    except DataError:
        return ()


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
    topics = labels.runs[0].qrels.arrays.topics
    names = [
        ToJudge(topics[topic], document)
        for topic, document in zip(unjudged.topics.tolist(), unjudged.documents.strings(), strict=True)
    ]
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
