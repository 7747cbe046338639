"""What the scores of two runs could be, whatever grades their unjudged documents get.

Ways of judging that could change a verdict are all of them where they are few, else found by a search. A gate's
answer does not follow the differences of topics alone: a topic that gains can widen an interval. So no two extremes
settle a verdict, and what is tried here proves nothing unless every way of judging was tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import product
from statistics import NormalDist

import numpy as np

from pytest_riskguard.data.ids import BoolArray, FloatArray, IntArray, first_rows
from pytest_riskguard.data.judged import RankedRun
from pytest_riskguard.data.scoring import kernel_of
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.unjudged_documents import UnjudgedDocuments, values_if_judged
from pytest_riskguard.risk.tradeoff import tradeoff

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
        combinations = float(np.sum(np.log2(np.bincount(self.topic))))
        return self.is_whole and combinations <= math.log2(MOST_COMBINATIONS) + 1e-9

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
    """Grades that are not all worth the same to a measure, ascending, and whether these are all of them.

    Grade 0 is among them only where the measure tells a document that is not relevant from one without a judgement.
    """
    rules = run.qrels.rules
    given = np.union1d(run.qrels.arrays.grades, 0.0)
    if rules.scale is not None and float(rules.scale[1]).is_integer():
        given = np.union1d(given, np.arange(np.ceil(max(rules.scale[0], 0)), rules.scale[1] + 1))
    kernel = kernel_of(run.measure, rules)
    worth = kernel.value(given)
    _, first = np.unique(worth, return_index=True)
    given = given[np.sort(first[kernel.is_counted(worth[first])])]
    return (given, True) if len(given) <= MOST_GRADES else (given[[0, -1]], False)
