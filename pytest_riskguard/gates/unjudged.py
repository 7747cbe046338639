"""What else the labels could say: unjudged documents, which of them to judge next, and several judges.

Ways of judging that could change a verdict are all of them where they are few, else found by a search. A gate's
answer does not follow the differences of topics alone: a topic that gains can widen an interval. So no two extremes
settle a verdict, and what is tried here proves nothing unless every way of judging was tried.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import chain, islice, product, zip_longest
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.given_file import LabelRules
from pytest_riskguard.data.judged import (
    PossibleScores,
    RankedRun,
    UnjudgedDocuments,
    depth_of,
    possible_scores,
    unjudged_documents,
    values_if_judged,
)
from pytest_riskguard.data.measures import cutoff_of
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.scoring import check_labels
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.findings import IfJudged, Judgements
from pytest_riskguard.gates.judge import rule
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.gates.verdict import Outcome, VerdictWarning, warning
from pytest_riskguard.risk.tradeoff import tradeoff

if TYPE_CHECKING:
    from ir_measures import Measure

    from pytest_riskguard.gates.documents import Known as KnownDocuments
    from pytest_riskguard.gates.findings import RankedDocument

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


#: Every combination of the topics' scores is tried where there are at most so many.
MOST_COMBINATIONS = 256
#: How much a wide spread of the scores counts for, or against, a way of judging: the best of these is tried.
_SPREADS = (0.25, 0.5, 1.0, 2.0, 4.0, -0.25, -0.5, -1.0, -2.0, -4.0)


class OtherJudgements:
    """Scores that topics could have, and ways of putting them together.

    A way is an array of shape (n_topics,): for each of ``topics`` a row of ``scores``, shape (n_rows, 2). Topics
    whose scores no judgement moves are left out, and so are equal rows of a topic.
    """

    def __init__(self, possible: PossibleScores) -> None:
        topic, count = possible.of_row, len(possible.topics)
        rounded = np.round(possible.scores, 12)
        order = np.lexsort((np.arange(len(topic)), rounded[:, 1], rounded[:, 0], topic))
        sorted_rows = np.column_stack([topic, rounded])[order]
        is_first = np.ones(len(order), dtype=np.bool_)
        is_first[1:] = np.any(sorted_rows[1:] != sorted_rows[:-1], axis=1)
        rows = order[is_first]
        rows = rows[np.lexsort((rows, topic[rows]))]
        moves = np.bincount(topic[rows], minlength=count) > 1
        rows = rows[moves[topic[rows]]]
        self.topics: IntArray = possible.topics[moves]
        self.scores: FloatArray = possible.scores[rows]
        self._counts = np.bincount(topic[rows], minlength=count)[moves]
        self._begins = np.cumsum(self._counts) - self._counts
        self._topic = np.repeat(np.arange(len(self._counts)), self._counts)
        few = float(np.sum(np.log2(self._counts))) <= math.log2(MOST_COMBINATIONS) + 1e-9
        self.exhaustive = bool(np.all(possible.is_complete)) and few

    @property
    def lowest(self) -> IntArray:
        """The lowest difference of each topic."""
        return self._best(-self._differences)

    @property
    def highest(self) -> IntArray:
        """The highest difference of each topic."""
        return self._best(self._differences)

    def combinations(self) -> Iterator[IntArray]:
        """Every way there is."""
        spans = zip(self._begins.tolist(), self._counts.tolist(), strict=True)
        for rows in product(*(range(begin, begin + count) for begin, count in spans)):
            yield np.array(rows, dtype=np.int64)

    def searched(self, gate: Gate, evidence: Evidence, places: IntArray) -> Iterator[IntArray]:
        """Ways that bring the gate's limit far down, and far up, by the mean and by the spread of its scores.

        ``places`` are those of the topics in the evidence, which is that of the judgements as they are.
        """
        if gate.by_topic or not len(self.topics):
            return
        alpha = 0.0 if gate.on_churn == "warn" else gate.alpha
        now = replace(evidence, clusters=None).scores(alpha)  # one for each topic: this only finds what to try
        weights = evidence.weighed(np.ones(evidence.n))[places]
        kind = "linear" if alpha == 0 else gate.tradeoff
        parts = tradeoff(self._differences, kind=kind, alpha=alpha) * weights[self._topic]
        center, scale = float(np.mean(now)), float(np.std(now)) or 1.0
        distances = np.square(parts - center) / scale
        critical = NormalDist().inv_cdf((1 + gate.level) / 2)
        others = np.delete(now, places)
        sides = {"lower": (-critical,), "upper": (critical,), "both": (-critical, critical)}[gate.side]
        for sign, to_limit in product((-1, 1), sides):
            ways = [self._best(sign * parts + spread * distances) for spread in _SPREADS]
            limits = [sign * _limit(np.append(others, parts[way]), to_limit) for way in ways]
            yield ways[int(np.argmax(np.round(limits, 12)))]

    @property
    def _differences(self) -> FloatArray:
        differences: FloatArray = self.scores[:, 0] - self.scores[:, 1]
        return differences

    def _best(self, values: FloatArray) -> IntArray:
        """The row with the highest value of each topic, the first of equal ones."""
        if not len(values):
            return np.zeros(0, dtype=np.int64)
        rounded = np.round(values, 12)
        best = np.flatnonzero(rounded == np.maximum.reduceat(rounded, self._begins)[self._topic])
        _, first = np.unique(self._topic[best], return_index=True)
        return best[first].astype(np.int64, copy=False)


def _limit(scores: FloatArray, critical: float) -> float:
    """About where the limit of an interval lies."""
    return float(np.mean(scores) + critical * np.std(scores) / math.sqrt(len(scores)))


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
    def found(self) -> Judgements:
        """Which documents are unjudged, and what the gate would say if they were judged in the ways that were tried.

        The verdict's own way first, then the other extremes, then the first other way that changes the outcome.
        """
        others = self.others()
        ways = (IfJudged(case, urisk, answer) for case, urisk, answer in self.other_cases(others))
        cases = [IfJudged(case, *self.in_case(case)) for case in _CASES]
        cases += islice(ways, 2)
        outcome = cases[0].outcome
        if all(case.outcome == outcome for case in cases):
            cases += islice((way for way in ways if way.outcome != outcome), 1)
        depends = any(case.outcome != outcome for case in cases)
        candidate, baseline = np.count_nonzero(self.unjudged.found, axis=0).tolist()
        return Judgements(
            depth=self.unjudged.depth,
            candidate=candidate,
            baseline=baseline,
            documents=len(self.unjudged),
            cases=tuple(cases),
            depends=depends,
            certain=depends or others.exhaustive,
        )

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
    """What the labels could say otherwise; where judgements are complete, only what each judge says alone."""
    judges = under_judges(rejudged)
    if not rejudged.rules.is_complete:
        return replace(rejudged.found, judges=judges)
    return Judgements(depth_of(rejudged.measure), 0, depends=False, certain=True, judges=judges)


#: With more judges than this, nothing is said of them: each has judged little.
MOST_JUDGES = 50


def under_judges(rejudged: Rejudged) -> tuple[IfJudged, ...]:
    """What the gate says under each judge alone; nothing where a grade does not suit the measure."""
    by_judge = rejudged.runs[0].qrels.by_judge or {}
    judges = sorted({judge for given in by_judge.values() for judge in given})
    if len(judges) > MOST_JUDGES:
        return ()
    try:
        return tuple(IfJudged(judge, *rejudged.ruled(*_scores_under(rejudged, judge))) for judge in judges)
    except DataError:
        return ()


def _scores_under(rejudged: Rejudged, judge: str) -> tuple[TopicScores, TopicScores]:
    """Candidate and baseline on the grades of one judge; ``DataError`` for grades that the measure does not take."""
    qrels = rejudged.runs[0].qrels.under(judge)
    check_labels(rejudged.measure, qrels)
    runs = [RankedRun(run.run, qrels, run.measure) for run in rejudged.runs]
    places = qrels.arrays.places_of(rejudged.scores[0].topics)
    none = np.zeros((0, 2), dtype=np.int64)
    values = values_if_judged(runs, places, np.zeros_like(places), none, np.zeros(0))
    ours, theirs = (
        replace(scores, values=of_side) for scores, of_side in zip(rejudged.scores, values.T, strict=True)
    )
    return ours, theirs


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
    if not rejudged.found.depends:
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
