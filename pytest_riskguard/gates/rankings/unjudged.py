"""Unjudged documents: whether a verdict depends on them, and which to judge next."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.given_file import LabelRules
from pytest_riskguard.data.judged import (
    RankedRun,
    UnjudgedDocuments,
    depth_of,
    possible_scores,
    unjudged_documents,
    values_if_judged,
)
from pytest_riskguard.data.measures import cutoff_of
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.judge import rule
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.rankings.label_findings import IfJudged, Judgements
from pytest_riskguard.gates.rankings.other_judgements import OtherJudgements, under_judges
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.gates.verdict import Outcome, VerdictWarning, warning

if TYPE_CHECKING:
    from ir_measures import Measure

    from pytest_riskguard.gates.findings import RankedDocument
    from pytest_riskguard.gates.rankings.documents import Known as KnownDocuments

Case = Literal["irrelevant", "relevant", "candidate_relevant", "baseline_relevant"]
OtherCase = Literal["lowest", "highest", "other"]
Answer = Literal["pass", "fail", "inconclusive"]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

#: With more scores than this that topics could have, those by other measures are not kept: they take megabytes.
MAX_KEPT_SCORES = 20_000
#: Which unjudged documents count as relevant in each case, by side favoured (1: the candidate).
_CASES: Mapping[Case, Sequence[int]] = {
    "irrelevant": (),
    "relevant": (-1, 0, 1),
    "candidate_relevant": (1,),
    "baseline_relevant": (-1,),
}


@frozen(eq=False)
class Known:
    """What was found about two runs.

    ``unjudged``: their unjudged documents, by how these are ranked and how deep; ``values``: the scores that change
    in an extreme case, by measure and case, as ``Rejudged`` computes them; ``others``: the scores that topics could
    have, by measure; ``documents``: what moved in topics, as ``topic_documents`` keeps it; ``rankings``: topics side
    by side.
    """

    unjudged: dict[Hashable, UnjudgedDocuments] = field(default_factory=dict)
    values: dict[Hashable, tuple[IntArray, FloatArray, FloatArray]] = field(default_factory=dict)
    others: dict[Hashable, OtherJudgements] = field(default_factory=dict)
    documents: KnownDocuments = field(default_factory=dict)
    rankings: dict[Hashable, tuple[RankedDocument, ...]] = field(default_factory=dict)


@frozen
class Tried:
    """What the gate says in the ways of judging that were tried, the verdict's own first, and how many these are.

    ``cases`` are the extremes and the first other way that changes the outcome. It is ``certain`` whether the outcome
    ``depends`` on unjudged documents if a way changes it, or if every way was tried.
    """

    cases: tuple[IfJudged, ...]
    count: int
    depends: bool
    certain: bool


@frozen(eq=False)
class Rejudged:
    """A comparison of two runs that can be repeated under other judgements, at the level that decided.

    Pairs are candidate and baseline, both ranked by one measure; ``known`` is shared by all gates that compare these
    runs on the same topics.
    """

    gate: Gate
    scores: tuple[TopicScores, TopicScores]
    runs: tuple[RankedRun, RankedRun]
    topics: Topics | None = None
    known: Known = field(default_factory=Known)

    @property
    def measure(self) -> Measure:
        """The measure that ranks both."""
        return self.runs[0].measure

    @property
    def rules(self) -> LabelRules:
        """What is said about the judgements."""
        return self.runs[0].qrels.rules

    @cached_property
    def unjudged(self) -> UnjudgedDocuments:
        """The unjudged documents in the first ranks of either run."""
        if self._key not in self.known.unjudged:
            self.known.unjudged[self._key] = unjudged_documents(self.scores[0].topics, *self.runs)
        return self.known.unjudged[self._key]

    def others(self, is_open: BoolArray | None = None) -> OtherJudgements:
        """The scores that topics could have if these documents, by default all, were judged."""
        if is_open is not None:
            return OtherJudgements(possible_scores(self.unjudged, self.runs, is_open))
        key = (*self._key, str(self.measure))
        if key not in self.known.others:
            everything = np.ones(len(self.unjudged), dtype=np.bool_)
            found = OtherJudgements(possible_scores(self.unjudged, self.runs, everything))
            if len(found.scores) > MAX_KEPT_SCORES:  # gates ask of one measure after the other
                self.known.others.clear()
            self.known.others[key] = found
        return self.known.others[key]

    def other_cases(self, others: OtherJudgements) -> Iterator[tuple[OtherCase, float, Answer]]:
        """URisk and the gate's answer in each of these ways of judging, the two extremes first; none twice."""
        places, known = self.places[others.topics], {}
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
                known[key] = self._ruled_with(places, *others.scores[rows].T)
            yield case, *known[key]

    @cached_property
    def tried(self) -> Tried:
        """Whether any way of judging the unjudged documents that was tried changes the outcome."""
        others = self.others()
        ways = (IfJudged(case, urisk, answer) for case, urisk, answer in self.other_cases(others))
        cases = [IfJudged(case, *self.in_case(case)) for case in _CASES]
        cases += islice(ways, 2)
        outcome, count = cases[0].outcome, len(cases)
        depends = any(case.outcome != outcome for case in cases)
        while not depends and (way := next(ways, None)) is not None:
            count += 1
            if depends := way.outcome != outcome:
                cases.append(way)
        return Tried(tuple(cases), count, depends, certain=depends or others.exhaustive)

    @property
    def _key(self) -> tuple[Hashable, ...]:
        """What decides which documents are unjudged, and which of their ranks the measure sees."""
        candidate, baseline = self.runs
        return (candidate.order, cutoff_of(self.measure), candidate.depth, baseline.depth)

    @cached_property
    def as_judged(self) -> tuple[float, Answer]:
        """URisk and the gate's answer on the judgements as they are."""
        return self.ruled(*self.scores)

    def in_case(self, case: Case) -> tuple[float, Answer]:
        """URisk and the gate's answer in one of the extreme cases."""
        if case == "irrelevant":
            return self.as_judged
        key = (*self._key, str(self.measure), case)
        if key not in self.known.values:
            self.known.values[key] = self._values_if(self.in_favour(case))
        return self._ruled_with(*self.known.values[key])

    def in_favour(self, case: Case) -> BoolArray:
        """Which unjudged documents are relevant in a case."""
        return np.isin(self.unjudged.favours, _CASES[case])

    def if_relevant(self, relevant: BoolArray) -> tuple[float, Answer]:
        """URisk and the gate's answer if some of the unjudged documents had the highest grade of their topic."""
        return self._ruled_with(*self._values_if(relevant)) if np.any(relevant) else self.as_judged

    def _values_if(self, relevant: BoolArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """The places in the scores that change, with the values there of the candidate and of the baseline."""
        topics, counts = np.unique(self.unjudged.topics[relevant], return_counts=True)
        candidate, baseline = values_if_judged(self.runs, topics, counts, self.unjudged.rows[relevant]).T
        return self.places[topics], candidate, baseline

    def _ruled_with(self, places: IntArray, *values: FloatArray) -> tuple[float, Answer]:
        candidate, baseline = (
            _changed(scores, places, of_side) for scores, of_side in zip(self.scores, values, strict=True)
        )
        return self.ruled(candidate, baseline)

    @cached_property
    def effects(self) -> FloatArray:
        """How much each unjudged document would move its topic's difference if it alone were relevant."""
        topics = self.unjudged.topics
        candidate, baseline = values_if_judged(self.runs, topics, np.ones_like(topics), self.unjudged.rows).T
        now = (self.scores[0].values - self.scores[1].values)[self.places[topics]]
        effects: FloatArray = candidate - baseline - now
        return effects

    @cached_property
    def places(self) -> IntArray:
        """The place in the scores of each topic of the judgements' columns; -1 for others."""
        known = self.runs[0].qrels.arrays.places
        places = np.full(len(known), -1, dtype=np.int64)
        places[[known[topic] for topic in self.scores[0].topics]] = np.arange(len(self.scores[0].topics))
        return places

    @cached_property
    def ruling(self) -> Ruling:
        """The gate's ruling on the judgements as they are."""
        return self._comparison(*self.scores).ruling

    def ruled(self, candidate: TopicScores, baseline: TopicScores) -> tuple[float, Answer]:
        """URisk and the gate's answer on other scores of the same topics."""
        comparison = self._comparison(candidate, baseline)
        return comparison.evidence.estimate(self.gate.alpha), comparison.answer[0]

    def _comparison(self, candidate: TopicScores, baseline: TopicScores) -> Comparison:
        return rule(self.gate, candidate, baseline, topics=self.topics)


def _changed(scores: TopicScores, places: IntArray, values: FloatArray) -> TopicScores:
    changed = np.array(scores.values)
    changed[places] = values
    return replace(scores, values=changed)


def judgements(rejudged: Rejudged) -> Judgements:
    """Which documents are unjudged, and what the gate would say if they were judged in the ways that were tried.

    Where judgements are complete, only what is uncertain about those that there are.
    """
    judges = under_judges(rejudged)
    if rejudged.rules.is_complete:
        depth = depth_of(rejudged.measure)
        return Judgements(0, (), depth=depth, depends=False, certain=True, judges=judges)
    unjudged, tried = rejudged.unjudged, rejudged.tried
    candidate, baseline = np.count_nonzero(unjudged.found, axis=0).tolist()
    return Judgements(
        depth=unjudged.depth,
        candidate=candidate,
        baseline=baseline,
        documents=len(unjudged),
        cases=tried.cases,
        depends=tried.depends,
        tried=tried.count,
        certain=tried.certain,
        judges=judges,
    )


def rests_on_labels(outcome: Outcome, labels: Judgements) -> Iterator[VerdictWarning]:
    """The warnings that more judgements could change a verdict that is not a pass, and that judges disagree on it."""
    if outcome != "pass" and labels.depends:
        yield warning("rests_on_unjudged", documents=labels.documents)
    if len({judge.outcome for judge in labels.judges}) > 1:
        agree = sum(judge.outcome == outcome for judge in labels.judges)
        yield warning("rests_on_judges", judges=len(labels.judges), agree=agree)


@frozen
class ToJudge:
    """An unjudged document of a topic."""

    topic: str
    document: str


def judge_next(rejudged: Rejudged) -> tuple[ToJudge, ...]:
    """The documents to judge, most useful first; none where no judgement of them that was tried changes the verdict.

    The more a document would move its topic's difference if it were relevant, the more useful it is; losses do not
    weigh more than wins, or the first answers would lean towards one verdict. The list ends where no way of judging
    the remaining documents that was tried changes the verdict if all those listed are irrelevant.
    """
    if not rejudged.tried.depends:
        return ()
    unjudged = rejudged.unjudged
    is_open = np.ones(len(unjudged), dtype=np.bool_)
    topics = rejudged.runs[0].qrels.arrays.topics
    names = [
        ToJudge(topics[topic], document)
        for topic, document in zip(unjudged.topics.tolist(), unjudged.documents.strings(), strict=True)
    ]
    # effects are rounded, so that equal ones go by topic and document on every machine
    sizes = [-round(abs(effect), 12) for effect in rejudged.effects.tolist()]
    order = sorted(range(len(names)), key=lambda place: (sizes[place], names[place].topic, names[place].document))
    settled, still_open = len(order), 0
    while settled - still_open > 1:
        middle = (settled + still_open) // 2
        is_open[:] = True
        is_open[order[:middle]] = False
        if _open(rejudged, is_open):
            still_open = middle
        else:
            settled = middle
    return tuple(names[place] for place in order[:settled])


def together(lists: Iterable[Sequence[ToJudge]]) -> tuple[ToJudge, ...]:
    """One list for several verdicts: the first of each, then the second of each, every document once."""
    rows = chain.from_iterable(zip_longest(*lists))
    return tuple(dict.fromkeys(entry for entry in rows if entry is not None))


def _open(rejudged: Rejudged, is_open: BoolArray) -> bool:
    """Whether the verdict was found to change, if documents that are not open are irrelevant."""
    outcome = rejudged.as_judged[1]
    answers = (rejudged.if_relevant(rejudged.in_favour(case) & is_open)[1] for case in _CASES)
    if any(answer != outcome for answer in answers):
        return True
    return any(answer != outcome for _, _, answer in rejudged.other_cases(rejudged.others(is_open)))
