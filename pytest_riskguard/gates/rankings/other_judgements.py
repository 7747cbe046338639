"""What else the labels could say: other ways of judging unjudged documents, and other judges.

Ways that could change a verdict are all of them where they are few, else found by a search. A gate's answer does not
follow the differences of topics alone: a topic that gains can widen an interval. So no two extremes settle a verdict,
and what is tried here proves nothing unless every way of judging was tried. Several judges are a source of chance.

References
----------
[1] A. B. Owen, "The pigeonhole bootstrap", Annals of Applied Statistics 1 (2007): topics and judges are crossed, and
    the variances that their draws add to a mean are added.
[2] W. G. Cochran, "Approximate significance levels of the Behrens-Fisher test", Biometrics 20 (1964).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, product
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.judged import PossibleScores, RankedRun, values_if_judged
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.scoring import check_labels
from pytest_riskguard.distributions import stdtrit
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.limits import limit_of, margin_of
from pytest_riskguard.gates.rankings.label_findings import IfJudged, LabelInterval, UnderJudges
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.intervals import Interval
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

#: With more judges than this, panels are those without one judge.
MOST_RESAMPLED = 4
#: With more judges than this, nothing is said of them: each has judged little.
MOST_JUDGES = 50


def under_judges(rejudged: Rejudged) -> UnderJudges | None:
    """What the gate says under each judge and under other panels; None without several judges.

    Also None where a judge gave a grade that the measure does not take.
    """
    by_judge = rejudged.runs[0].qrels.by_judge
    if by_judge is None:
        return None
    judges = sorted({judge for given in by_judge.values() for judge in given})
    if len(judges) > MOST_JUDGES:
        return None
    panels = list(panels_of(judges))
    try:
        alone = [IfJudged(judge, *rejudged.ruled(*_scores_under(rejudged, [judge]))) for judge in judges]
        ruled = [rejudged.ruled(*_scores_under(rejudged, panel)) for panel, _ in panels]
    except DataError:
        return None
    outcome, chances = rejudged.as_judged[1], np.array([chance for _, chance in panels])
    agrees = np.array([answer == outcome for _, answer in ruled])
    return UnderJudges(
        judges=tuple(alone),
        depends=len({judge.outcome for judge in alone}) > 1,
        panels=len(panels),
        agreeing=min(math.fsum(chances[agrees]), 1.0),
        interval=_interval(
            rejudged, variance_of_judges([urisk for urisk, _ in ruled], chances, len(judges)), len(judges)
        ),
    )


def panels_of(judges: Sequence[str]) -> Iterator[tuple[Sequence[str], float]]:
    """Panels that could have judged instead, each with its probability."""
    count = len(judges)
    if count > MOST_RESAMPLED:
        yield from (([*judges[:place], *judges[place + 1 :]], 1 / count) for place in range(count))
        return
    for panel in combinations_with_replacement(judges, count):
        orders = math.factorial(count) // math.prod(map(math.factorial, Counter(panel).values()))
        yield panel, orders / count**count


def variance_of_judges(estimates: Sequence[float], chances: FloatArray, count: int) -> float:
    """The variance that the draw of ``count`` judges adds to an estimate, from its values under ``panels_of`` them.

    That of the bootstrap over judges, or of the jackknife, each without its bias for a mean.
    """
    values = np.asarray(estimates)
    spread = float(np.sum(chances * np.square(values - np.sum(chances * values))))
    return spread * (count / (count - 1) if count <= MOST_RESAMPLED else count - 1)


def _interval(rejudged: Rejudged, variance: float, judges: int) -> LabelInterval | None:
    """The interval of URisk if so many judges had been drawn at random too."""
    ruling = rejudged.ruling
    if rejudged.gate.by_topic or ruling.evidence.units < 2:
        return None
    of_topics = (ruling.test.standard_error or 0.0) ** 2, ruling.sample.degrees_of_freedom
    return label_interval(ruling, ruling.estimate, of_topics, (variance, judges - 1))


def label_interval(
    ruling: Ruling, estimate: float, of_topics: tuple[float, float], of_labels: tuple[float, float]
) -> LabelInterval:
    """The interval of an estimate at the gate's level, and the gate's answer to it.

    ``of_topics`` and ``of_labels`` are variances with their degrees of freedom. Where the interval fails but churn
    only warns, there is no answer: the gate asks at alpha 0 too.
    """
    gate = ruling.gate
    half = half_width(of_topics, of_labels, level=gate.level)
    lower, upper = estimate - half, estimate + half
    passes = margin_of(gate, limit_of(gate, Interval("student_t", gate.level, lower, upper))) >= 0
    may_be_churn = gate.on_churn == "warn" and ruling.alpha > 0
    total = of_topics[0] + of_labels[0]
    return LabelInterval(
        estimate,
        lower,
        upper,
        share=of_labels[0] / total if total > 0 else 0.0,
        outcome="pass" if passes else None if may_be_churn else "fail",
    )


def half_width(of_topics: tuple[float, float], of_labels: tuple[float, float], *, level: float) -> float:
    """How far limits lie from an estimate whose variance is the sum of two estimates with degrees of freedom.

    The quantiles of Student's t are weighted by the variances, as in [2]: unlike Satterthwaite's degrees of freedom,
    this keeps its level where two judges (1 degree of freedom) disagree a lot.
    """
    total = of_topics[0] + of_labels[0]
    if total == 0:
        return 0.0
    quantiles = sum(variance * stdtrit(freedom, (1 + level) / 2) for variance, freedom in (of_topics, of_labels))
    return quantiles / math.sqrt(total)


def _scores_under(rejudged: Rejudged, panel: Sequence[str]) -> tuple[TopicScores, TopicScores]:
    """Candidate and baseline on the grades of a panel; ``DataError`` for grades that the measure does not take."""
    qrels = rejudged.runs[0].qrels.under(panel)
    check_labels(rejudged.measure, qrels)
    runs = [RankedRun(run.run, qrels, run.measure) for run in rejudged.runs]
    places = qrels.arrays.places_of(rejudged.scores[0].topics)
    none = np.zeros((0, 2), dtype=np.int64)
    values = values_if_judged(runs, places, np.zeros_like(places), none, np.zeros(0))
    ours, theirs = (
        replace(scores, values=of_side) for scores, of_side in zip(rejudged.scores, values.T, strict=True)
    )
    return ours, theirs
