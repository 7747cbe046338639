"""What two runs could score on each topic, were its unjudged documents judged: every score, or those of a search."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.array_scores import has_kernel, kernel_of
from pytest_riskguard.data.grades import is_binary
from pytest_riskguard.data.ids import IntArray
from pytest_riskguard.data.judged import RankedRun
from pytest_riskguard.data.kernels import places_within
from pytest_riskguard.data.unjudged import UnjudgedDocuments, values_if_judged

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

#: Every way of judging a topic's documents is tried where there are at most so many; fewer where a provider computes
#: the measure.
MOST_OF_TOPIC, MOST_OF_PROVIDER = 128, 16
#: It is of no use where the topics together have more ways than this: most of them share a score, but not so many.
MOST_TOGETHER = 2.0**20
#: With more grades than this, only some of them are tried.
MOST_GRADES = 4
#: With more documents than the first of these, those that move the difference one way are only tried together; with
#: more than the second, not at all. The others: for measures that a provider computes.
MOST_RANKED, MOST_ALONE = 20_000, 200_000
RANKED_OF_PROVIDER, ALONE_OF_PROVIDER = 50, 2_000


@dataclass(frozen=True, eq=False)
class PossibleScores:
    """Scores of two runs on topics with unjudged documents, one row for each way of judging these that was tried.

    Attributes
    ----------
    topics : array of int64, shape (n,)
        Places in the columns of the judgements, ascending.
    offsets : array of int64, shape (n + 1,)
        The rows of topic i are ``scores[offsets[i]:offsets[i + 1]]``; the first is its score as judged.
    scores : array, shape (n_rows, 2)
        Of the candidate and of the baseline, in units of the measure.
    is_complete : array of bool, shape (n,)
        Whether every way of judging the topic's documents was tried.
    """

    topics: IntArray
    offsets: IntArray
    scores: FloatArray
    is_complete: BoolArray


def possible_scores(
    unjudged: UnjudgedDocuments, runs: tuple[RankedRun, RankedRun], is_open: BoolArray
) -> PossibleScores:
    """The scores that two runs could have, whatever grades the open documents get; the others stay unjudged.

    ``runs`` are candidate and baseline as the measure ranks them, in the order in which ``unjudged`` found its rows.

    A grade is one that occurs in the judgements, or a whole number of the declared scale.
    """
    search = _Search(unjudged, runs, is_open)
    found = [search.as_judged(), *search.every_way()]
    if len(search.others):
        found += search.searched()
    topics, scores = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(topics, kind="stable")
    counts = np.bincount(topics, minlength=len(search.topics))
    return PossibleScores(search.topics, np.append(0, np.cumsum(counts)), scores[order], search.is_complete)


def grades_to_try(run: RankedRun) -> tuple[FloatArray, bool]:
    """Grades that are not all worth the same to a measure, ascending, and whether these are all of them.

    Grade 0 is among them only where the measure tells a document that is not relevant from one without a judgement.
    """
    rules, measure = run.qrels.rules, run.measure
    given = np.unique(run.qrels.arrays.grades)
    if rules.scale is not None and float(rules.scale[1]).is_integer():
        given = np.union1d(given, np.arange(np.ceil(max(rules.scale[0], 0)), rules.scale[1] + 1))
    given = np.union1d(given, 0.0)
    if has_kernel(measure):
        kernel = kernel_of(measure, rules)
        values = kernel.values(given)
        given, values = (
            column[kernel.sees(values, np.ones(len(given), dtype=np.int64))] for column in (given, values)
        )
        _, first = np.unique(values, return_index=True)
        given = given[np.sort(first)]
    elif is_binary(measure):
        given = np.union1d(0.0, given[-1:])
    if len(given) <= MOST_GRADES:
        return given, True
    some = np.unique(np.linspace(0, len(given) - 1, MOST_GRADES).round().astype(np.int64))
    return given[some], False


class _Search:
    """The open documents of two runs, grouped by topic; topics are numbered from 0."""

    def __init__(self, unjudged: UnjudgedDocuments, runs: tuple[RankedRun, RankedRun], is_open: BoolArray) -> None:
        self.runs, self.rows = runs, unjudged.rows[is_open]
        self.topics, self.sizes = np.unique(unjudged.topics[is_open], return_counts=True)
        self.begins = np.cumsum(self.sizes) - self.sizes
        self.grades, is_every_grade = grades_to_try(self.runs[0])
        self.is_fast = all(has_kernel(run.measure) for run in self.runs)
        most = MOST_OF_TOPIC if self.is_fast else MOST_OF_PROVIDER
        ways = (len(self.grades) + 1.0) ** np.minimum(self.sizes, 64)
        is_tried = (ways <= most) & bool(np.sum(np.log2(ways)) <= math.log2(MOST_TOGETHER))
        self.others: IntArray = np.flatnonzero(~is_tried)
        self.is_complete: BoolArray = is_tried & is_every_grade

    def as_judged(self) -> tuple[IntArray, FloatArray]:
        """The scores of each topic as the judgements are."""
        topics, none = np.arange(len(self.topics), dtype=np.int64), np.zeros(0, dtype=np.int64)
        return topics, self._scores(topics, np.zeros_like(topics), none, np.zeros(0))

    def every_way(self) -> list[tuple[IntArray, FloatArray]]:
        """The scores of topics with few documents for each way of judging at least one of them."""
        tried = np.ones(len(self.topics), dtype=np.bool_)
        tried[self.others] = False
        found = []
        for size in np.unique(self.sizes[tried]).tolist():
            ways = np.indices((len(self.grades) + 1,) * size).reshape(size, -1).T[1:]
            topics = np.flatnonzero(tried & (self.sizes == size))
            if not len(ways):
                continue
            documents = np.repeat(self.begins[topics, None] + np.arange(size), len(ways), axis=0)
            found.append(self._scored_ways(np.repeat(topics, len(ways)), documents, np.tile(ways, (len(topics), 1))))
        return found

    def searched(self) -> list[tuple[IntArray, FloatArray]]:
        """The scores of the other topics under judgements that move their differences far.

        Each document alone, with each grade; then those that raise, or lower, the difference most together: the
        first, the first two, and so on, each with the grade that goes furthest alone.
        """
        documents = self._documents_of(self.others)
        ranked, alone = (MOST_RANKED, MOST_ALONE) if self.is_fast else (RANKED_OF_PROVIDER, ALONE_OF_PROVIDER)
        if len(documents) > alone or not len(self.grades):
            return []
        topics = np.repeat(self.others, self.sizes[self.others])
        ones, now = np.ones_like(topics), _differences(self.as_judged()[1])[topics]
        singles = [self._scores(topics, ones, documents, np.full(len(documents), grade)) for grade in self.grades]
        effects = np.round([_differences(scores) - now for scores in singles], 12)
        found = [(topics, scores) for scores in singles]
        for sign in (1, -1):
            best = np.argmax(sign * effects, axis=0)
            effect = sign * effects[best, np.arange(len(documents))]
            order = np.lexsort((documents, -effect, topics))
            if len(documents) > ranked:
                order = order[effect[order] > 0]
            together = self._together if len(documents) > ranked else self._first_together
            found.append(together(topics[order], documents[order], self.grades[best][order]))
        return found

    def _together(self, topics: IntArray, documents: IntArray, grades: FloatArray) -> tuple[IntArray, FloatArray]:
        """The scores of topics, ascending, if all of these documents were judged."""
        different, counts = np.unique(topics, return_counts=True)
        return different, self._scores(different, counts, documents, grades)

    def _first_together(
        self, topics: IntArray, documents: IntArray, grades: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """The scores of topics, ascending, if the first of their documents were judged: one, two, and so on."""
        counts = places_within(topics) + 1
        rows = _spans(np.arange(len(topics)) - counts + 1, counts)
        return topics, self._scores(topics, counts, documents[rows], grades[rows])

    def _scored_ways(self, topics: IntArray, documents: IntArray, ways: IntArray) -> tuple[IntArray, FloatArray]:
        """The scores of topics whose documents, shape (n, k), have the grades of these codes; 0: stay unjudged."""
        is_judged = ways > 0
        grades = np.append(0.0, self.grades)[ways[is_judged]]
        return topics, self._scores(topics, np.count_nonzero(is_judged, axis=1), documents[is_judged], grades)

    def _scores(self, topics: IntArray, counts: IntArray, documents: IntArray, grades: FloatArray) -> FloatArray:
        places = self.topics[topics]
        return np.stack(
            [
                values_if_judged(run, places, counts, self.rows[documents, side], grades)
                for side, run in enumerate(self.runs)
            ],
            axis=1,
        )

    def _documents_of(self, topics: IntArray) -> IntArray:
        return _spans(self.begins[topics], self.sizes[topics])


def _differences(scores: FloatArray) -> FloatArray:
    differences: FloatArray = scores[:, 0] - scores[:, 1]
    return differences


def _spans(begins: IntArray, sizes: IntArray) -> IntArray:
    """The whole numbers of several ranges, one range after the other."""
    before = np.cumsum(sizes) - sizes
    spans: IntArray = np.repeat(begins - before, sizes) + np.arange(int(np.sum(sizes)))
    return spans
