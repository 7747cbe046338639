"""What else the labels could say: other ways of judging unjudged documents, and other judges.

Ways that could change a verdict are all of them where they are few, else found by a search. A gate's answer does not
follow the differences of topics alone: a topic that gains can widen an interval. So no two extremes settle a verdict,
and what is tried here proves nothing unless every way of judging was tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.judged import PossibleScores, RankedRun, values_if_judged
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.scoring import check_labels
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.rankings.label_findings import IfJudged
from pytest_riskguard.risk.tradeoff import tradeoff

if TYPE_CHECKING:
    from pytest_riskguard.gates.rankings.unjudged import Rejudged

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

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


# ---- several judges

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
