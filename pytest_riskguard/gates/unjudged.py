"""What else the labels could say: unjudged documents, which of them to judge next.

Ways of judging that could change a verdict are all of them where they are few, else found by a search. A gate's
answer does not follow the differences of topics alone: a topic that gains can widen an interval. So no two extremes
settle a verdict, and what is tried here proves nothing unless every way of judging was tried.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice, product, zip_longest
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from pytest_riskguard.data.ids import BoolArray, FloatArray, Ids, IntArray, first_rows, places_among
from pytest_riskguard.data.judged import RankedRun, depth_of
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.scoring import JudgedRows, kernel_of
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.findings import IfJudged, Judgements, TopicDocuments
from pytest_riskguard.gates.judge import compare
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.verdict import Outcome, VerdictWarning, warning
from pytest_riskguard.risk.tradeoff import tradeoff

#: Which unjudged documents count as relevant in each case, by the side that ranks them higher (1: the candidate).
CASES: Mapping[str, Sequence[int]] = {
    "relevant": (-1, 0, 1),
    "candidate_relevant": (1,),
    "baseline_relevant": (-1,),
}
#: Every way of judging a topic's documents is tried where there are at most so many, and where the topics together
#: have no more than that: most share a score, but not so many.
MOST_WAYS, MOST_TOGETHER = 128, 2.0**20
#: Documents of other topics are tried alone where there are at most so many.
MOST_ALONE = 200_000
#: With more grades than this, only the lowest and the highest are tried.
MOST_GRADES = 4
#: Every combination of the topics' scores is tried where there are at most so many.
MOST_COMBINATIONS = 256
#: How much a wide spread of the scores counts for, or against, a way of judging: the best of these is tried.
_SPREADS = (0.25, 0.5, 1.0, 2.0, 4.0, -0.25, -0.5, -1.0, -2.0, -4.0)
#: About how many judged documents are scored at a time: more would need memory, fewer more calls.
ROWS_AT_ONCE = 2**15


# ---- unjudged documents, and scores if they are judged


@frozen(eq=False)
class UnjudgedDocuments:
    """The unjudged documents in the first ranks of candidate or baseline, grouped by topic.

    Attributes
    ----------
    depth : int
        How many ranks are searched.
    topics : array of int64, shape (n,)
        The place of each document's topic in the columns of the judgements.
    documents : Ids, shape (n,)
    rows : array of int64, shape (n, 2)
        Where the document is in the candidate and in the baseline; -1 where it is not retrieved, or below the ranks
        that are kept.
    ranks : array of int64, shape (n, 2)
        Its ranks within the depth, from 1; below it 0.
    """

    depth: int
    topics: IntArray
    documents: Ids
    rows: IntArray
    ranks: IntArray

    def __len__(self) -> int:
        return len(self.topics)

    @property
    def found(self) -> BoolArray:
        """In which of the two runs each stands within the depth; shape (n, 2)."""
        return self.ranks > 0

    @property
    def favours(self) -> IntArray:
        """For each 1 if the candidate ranks it higher, or alone has it; -1 if the baseline does; 0 at equal ranks."""
        ranks = np.where(self.found, self.ranks, self.depth + 1)
        favours: IntArray = np.sign(ranks[:, 1] - ranks[:, 0])
        return favours


def unjudged_documents(topics: Sequence[str], candidate: RankedRun, baseline: RankedRun) -> UnjudgedDocuments:
    """The unjudged documents in the first ranks of two runs, as one measure ranks both; only of these topics."""
    depth, places = depth_of(candidate.measure), candidate.qrels.arrays.places
    is_wanted = np.zeros(len(places), dtype=np.bool_)
    is_wanted[[places[topic] for topic in topics]] = True
    (ours, our_topics), (theirs, their_topics) = candidate.unjudged(), baseline.unjudged()
    documents = candidate.run.documents.at(ours)
    in_theirs = places_among(our_topics, documents, their_topics, baseline.run.documents.at(theirs))
    is_alone = np.ones(len(theirs) + 1, dtype=np.bool_)
    is_alone[in_theirs] = is_alone[-1] = False  # -1 stands for those that are not among theirs
    alone = np.flatnonzero(is_alone)
    documents = Ids.joined([documents, baseline.run.documents.at(theirs[alone])])
    of_baseline = np.append(np.append(theirs, -1)[in_theirs], theirs[alone])
    rows = np.stack([np.append(ours, np.full(len(alone), -1)), of_baseline], axis=1)
    topic = np.append(our_topics, their_topics[alone])
    ranks = np.stack([candidate.ranks_of(rows[:, 0]), baseline.ranks_of(rows[:, 1])], axis=1)
    ranks[ranks > depth] = 0
    # by topic; those of the candidate first, each side by rank
    is_first = ranks[:, 0] > 0
    order = np.argsort((topic << 1 | ~is_first) << 32 | np.where(is_first, *rows.T), kind="stable")
    order = order[(is_wanted[topic] & ranks.any(axis=1))[order]]
    return UnjudgedDocuments(depth, topic[order], documents.at(order), rows[order], ranks[order])


def values_if_judged(
    runs: Sequence[RankedRun], topics: IntArray, counts: IntArray, rows: IntArray, grades: FloatArray | None = None
) -> FloatArray:
    """What runs score on topics of which some unjudged documents are judged.

    Parameters
    ----------
    runs : sequence of RankedRun
        On the same judgements.
    topics : array of int64, shape (n_variants,)
        Places in the columns of the judgements; a topic may be repeated, with other documents.
    counts : array of int64, shape (n_variants,)
        How many documents are judged besides.
    rows : array of int64, shape (sum of counts, n_runs)
        Where the runs hold them, variant by variant; -1 if one does not retrieve the document.
    grades : array of float64, shape (sum of counts,), optional
        Their grades; by default the highest of the topic.

    Returns
    -------
    array, shape (n_variants, n_runs)
        In units of the measure.
    """
    values = np.zeros((len(topics), len(runs)))
    if not len(topics):
        return values
    ends = np.cumsum(counts)
    if grades is None:
        grades = np.repeat(runs[0].qrels.arrays.highest[topics], counts)
    for side, run in enumerate(runs):
        kernel, (judged, sizes) = kernel_of(run.measure, run.qrels.rules), run.counted
        ranks = run.ranks_of(rows[:, side])
        begins, costs = np.cumsum(sizes) - sizes, np.cumsum(sizes[topics] + counts)
        for batch in np.split(np.arange(len(topics)), np.flatnonzero(np.diff(costs // ROWS_AT_ONCE)) + 1):
            variants, of = np.arange(len(batch)), topics[batch]
            old, added = first_rows(begins[of], sizes[of]), slice(ends[batch[0]] - counts[batch[0]], ends[batch[-1]])
            together = JudgedRows(
                np.append(np.repeat(variants, sizes[of]), np.repeat(variants, counts[batch])),
                np.append(judged.rank[old], ranks[added]),
                np.append(judged.value[old], grades[added]),
                judged.retrieved[of],
            )
            values[batch, side] = kernel.scores(together)
    return values


# ---- whatever grades they get


@frozen(eq=False)
class OtherJudgements:
    """Scores that topics could have, one row for each that a way of judging gives, and ways of combining them.

    A way is an array of shape (n_topics,): for each of ``topics`` one of its rows. Topics whose scores no judgement
    moves are left out.

    Attributes
    ----------
    topics : array of int64, shape (n_topics,)
        Places in the columns of the judgements, ascending.
    topic : array of int64, shape (n_rows,)
        The topic of each row, from 0, ascending; a topic's first row is its score as judged.
    scores : array, shape (n_rows, 2)
        Of the candidate and of the baseline, in units of the measure.
    is_whole : bool
        Whether every way of judging every topic's documents was tried.
    """

    topics: IntArray
    topic: IntArray
    scores: FloatArray
    is_whole: bool

    @property
    def exhaustive(self) -> bool:
        """Whether every way of judging is among the few combinations."""
        return self.is_whole and math.prod(np.bincount(self.topic).tolist()) <= MOST_COMBINATIONS

    @cached_property
    def differences(self) -> FloatArray:
        """Of each row, candidate minus baseline."""
        differences: FloatArray = self.scores[:, 0] - self.scores[:, 1]
        return differences

    def best(self, values: FloatArray) -> IntArray:
        """The row with the highest value of each topic, the first of equal ones."""
        order = np.lexsort((-np.round(values, 12), self.topic))  # keeps the order of equal ones
        first: IntArray = order[np.searchsorted(self.topic, np.arange(len(self.topics)))]
        return first

    def combinations(self) -> Iterator[IntArray]:
        """Every way there is."""
        ends = np.cumsum(np.bincount(self.topic)).tolist()
        for rows in product(*map(range, [0, *ends], ends)):
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
        parts = tradeoff(self.differences, kind=kind, alpha=alpha) * weights[self.topic]
        distances = np.square(parts - float(np.mean(now))) / (float(np.std(now)) or 1.0)
        critical = NormalDist().inv_cdf((1 + gate.level) / 2)
        others = np.delete(now, places)
        sides = {"lower": (-critical,), "upper": (critical,), "both": (-critical, critical)}[gate.side]
        for sign, to_limit in product((-1, 1), sides):
            ways = [self.best(sign * parts + spread * distances) for spread in _SPREADS]
            limits = [sign * _limit(np.append(others, parts[way]), to_limit) for way in ways]
            yield ways[int(np.argmax(np.round(limits, 12)))]


def _limit(scores: FloatArray, critical: float) -> float:
    """About where the limit of an interval lies."""
    return float(np.mean(scores) + critical * np.std(scores) / math.sqrt(len(scores)))


def other_judgements(
    unjudged: UnjudgedDocuments, runs: tuple[RankedRun, RankedRun], is_open: BoolArray
) -> OtherJudgements:
    """The scores that two runs could have, whatever grades the open documents get; the others stay unjudged.

    ``runs`` are candidate and baseline as the measure ranks them, in the order in which ``unjudged`` found its rows.
    A grade is one that occurs in the judgements, or a whole number of the declared scale.
    """
    rows = unjudged.rows[is_open]
    topics, sizes = np.unique(unjudged.topics[is_open], return_counts=True)
    begins = np.cumsum(sizes) - sizes
    grades, is_every_grade = grades_to_try(runs[0])
    of_row: list[IntArray] = []
    scores: list[FloatArray] = []

    def score(of: IntArray, counts: IntArray, documents: IntArray, given: FloatArray) -> FloatArray:
        """The differences of topics of which some documents have these grades."""
        of_row.append(of)
        scores.append(values_if_judged(runs, topics[of], counts, rows[documents], given))
        return scores[-1][:, 0] - scores[-1][:, 1]

    count = (len(grades) + 1.0) ** np.minimum(sizes, 64)
    is_tried = (count <= MOST_WAYS) & bool(np.sum(np.log2(count)) <= math.log2(MOST_TOGETHER))
    # Of the other topics each document alone, relevant or not; then those that raise, or lower, the difference alone
    # together.
    others = np.flatnonzero(~is_tried)
    documents, of = first_rows(begins[others], sizes[others]), np.repeat(others, sizes[others])
    tries_alone = 0 < len(documents) <= MOST_ALONE and len(grades) > 0
    asked = np.flatnonzero(is_tried | tries_alone)
    as_judged = np.zeros(len(topics))
    as_judged[asked] = score(asked, np.zeros_like(asked), asked[:0], np.zeros(0))
    for topic in np.flatnonzero(is_tried).tolist():
        # a way has for each document the place of its grade, from 1; 0: it stays unjudged
        ways = np.indices((len(grades) + 1,) * sizes[topic]).reshape(sizes[topic], -1).T[1:]
        judged, of_topic = ways > 0, np.broadcast_to(begins[topic] + np.arange(sizes[topic]), ways.shape)
        given = np.append(0.0, grades)[ways[judged]]
        score(np.full(len(ways), topic), np.count_nonzero(judged, axis=1), of_topic[judged], given)
    if tries_alone:
        extremes = grades[(grades == 0) | (grades == grades[-1])]
        alone = [score(of, np.ones_like(of), documents, np.full(len(of), grade)) for grade in extremes]
        effects = np.round(np.array(alone) - as_judged[of], 12)
        for signed in (effects, -effects):
            moved = np.flatnonzero(signed.max(axis=0) > 0)
            of_way, counts = np.unique(of[moved], return_counts=True)
            score(of_way, counts, documents[moved], extremes[signed.argmax(axis=0)[moved]])
    return _distinct(topics, np.concatenate(of_row), np.concatenate(scores), bool(np.all(is_tried & is_every_grade)))


def _distinct(topics: IntArray, topic: IntArray, scores: FloatArray, is_whole: bool) -> OtherJudgements:
    """The different scores of each topic, by topic, the earliest of equal ones; topics with one are left out."""
    rounded = np.round(scores, 12)
    order = np.lexsort((rounded[:, 1], rounded[:, 0], topic))  # keeps the order of equal ones
    table = np.column_stack([topic, rounded])[order]
    is_new = np.ones(len(order), dtype=np.bool_)
    is_new[1:] = np.any(table[1:] != table[:-1], axis=1)
    rows = np.sort(order[is_new])
    rows = rows[np.argsort(topic[rows], kind="stable")]
    moves = np.bincount(topic[rows], minlength=len(topics)) > 1
    rows = rows[moves[topic[rows]]]
    numbers = np.cumsum(moves) - 1
    return OtherJudgements(topics[moves], numbers[topic[rows]], scores[rows], is_whole)


def grades_to_try(run: RankedRun) -> tuple[FloatArray, bool]:
    """Grades that are not all worth the same to a measure, ascending, and whether these are all of them."""
    rules = run.qrels.rules
    given = np.union1d(run.qrels.arrays.grades, 0.0)
    if rules.scale is not None and float(rules.scale[1]).is_integer():
        given = np.union1d(given, np.arange(np.ceil(max(rules.scale[0], 0)), rules.scale[1] + 1))
    worth = kernel_of(run.measure, rules).value(given)
    _, first = np.unique(worth, return_index=True)
    given = given[np.sort(first[worth[first] > 0])]
    return (given, True) if len(given) <= MOST_GRADES else (given[[0, -1]], False)


# ---- what a gate would say


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
    def if_all_judged(self) -> tuple[dict[str, FloatArray], OtherJudgements]:
        """The same as ``if_judged`` of all these documents."""
        return self.if_judged(np.ones(len(self.unjudged), dtype=np.bool_))

    def if_judged(self, is_open: BoolArray) -> tuple[dict[str, FloatArray], OtherJudgements]:
        """The scores in each of ``CASES`` and those that topics could have, if the open documents were judged."""
        unjudged, cases = self.unjudged, dict[str, FloatArray]()
        for name, sides in CASES.items():
            relevant = np.isin(unjudged.favours, sides) & is_open
            topics, counts = np.unique(unjudged.topics[relevant], return_counts=True)
            values = values_if_judged(self.runs, topics, counts, unjudged.rows[relevant])
            cases[name] = self.changed(topics, values)
        return cases, other_judgements(unjudged, self.runs, is_open)

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

    def changed(self, topics: IntArray, values: FloatArray) -> FloatArray:
        """The scores where those of some topics, by their places in the judgements' columns, are others."""
        scores = np.stack([one.values for one in self.scores], axis=1)
        scores[self.places[topics]] = values
        return scores


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

    def answers(self, cases: dict[str, FloatArray], others: OtherJudgements) -> Iterator[IfJudged]:
        """What the gate says in these cases, in the two extremes, then in other ways; equal scores are asked once."""
        labels, known = self.labels, dict[int, IfJudged]()
        extremes = [("lowest", others.best(-others.differences)), ("highest", others.best(others.differences))]
        searched = others.combinations()
        if not others.exhaustive:
            searched = others.searched(self.gate, self.comparison.evidence, labels.places[others.topics])
        ways = chain(extremes, (("other", rows) for rows in searched))
        scored = ((name, labels.changed(others.topics, others.scores[rows])) for name, rows in ways)
        for name, scores in chain(cases.items(), scored):
            key = hash(scores.tobytes())
            if key not in known:
                known[key] = self.case(name, scores)
            yield replace(known[key], case=name)

    @cached_property
    def found(self) -> Judgements:
        """Which documents are unjudged, and what the gate would say if they were judged in the ways that were tried.

        The verdict's own way first, then the extremes, then the first other way that changes the outcome.
        """
        labels = self.labels
        if labels.rules.is_complete:
            return Judgements(0, depends=False, certain=True)
        answers, outcome = self.answers(*labels.if_all_judged), self.as_judged.outcome
        cases = [self.as_judged, *islice(answers, len(CASES) + 2)]
        if all(case.outcome == outcome for case in cases):
            cases += islice((case for case in answers if case.outcome != outcome), 1)
        depends = any(case.outcome != outcome for case in cases)
        candidate, baseline = np.count_nonzero(labels.unjudged.found, axis=0).tolist()
        return Judgements(
            documents=len(labels.unjudged),
            candidate=candidate,
            baseline=baseline,
            cases=tuple(cases),
            depends=depends,
            certain=depends or labels.if_all_judged[1].exhaustive,
        )

    def changes(self, is_open: BoolArray) -> bool:
        """Whether the verdict was found to change, if documents that are not open are irrelevant."""
        answers = self.answers(*self.labels.if_judged(is_open))
        return any(answer.outcome != self.as_judged.outcome for answer in answers)


def _said(name: str, comparison: Comparison) -> IfJudged:
    return IfJudged(name, comparison.evidence.estimate(comparison.gate.alpha), comparison.answer[0])


def rests_on_labels(outcome: Outcome, labels: Judgements) -> Iterator[VerdictWarning]:
    """The warning that more judgements could change a verdict that is not a pass."""
    if outcome != "pass" and labels.depends:
        yield warning("rests_on_unjudged", documents=labels.documents)


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
