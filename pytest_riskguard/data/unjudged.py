"""Unjudged documents of two runs, side by side, and what the runs would score if some of them were judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pytest_riskguard.data.ids import first_rows, places_among
from pytest_riskguard.data.judged import RankedDocuments, RankedRun, depth_of
from pytest_riskguard.data.kernels import BoolArray, FloatArray, IntArray, JudgedRows, places_within
from pytest_riskguard.data.measures import has_kernel
from pytest_riskguard.data.scoring import is_binary, judged_rows, kernel_of, values_of

#: About how many documents of each run are searched at a time.
DOCUMENTS_AT_ONCE = 50_000
#: About how many judged documents are scored at a time: more would need memory, fewer more calls.
ROWS_AT_ONCE = 2**15

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
class UnjudgedDocuments:
    """The unjudged documents in the first ranks of candidate or baseline, grouped by topic.

    Attributes
    ----------
    depth : int
        How many ranks are searched.
    topics : array of int64, shape (n,)
        The place of each document's topic in the columns of the judgements.
    runs : pair of RankedRun
        Candidate and baseline.
    rows : array of int64, shape (n, 2)
        Where the document is in the candidate and in the baseline; -1 where it is not retrieved, or below the ranks
        that are kept.
    """

    depth: int
    topics: IntArray
    runs: tuple[RankedRun, RankedRun]
    rows: IntArray

    def __len__(self) -> int:
        return len(self.topics)

    @cached_property
    def documents(self) -> tuple[str, ...]:
        """The documents' ids as text, which take far more memory than everything else."""
        names = np.empty(len(self), dtype=object)
        for side in (1, 0):
            held = self.rows[:, side] >= 0
            names[held] = self.runs[side].ids(self.rows[held, side])
        return tuple(names.tolist())

    @cached_property
    def ranks(self) -> IntArray:
        """From 1, 0 where the row is -1; shape (n, 2)."""
        return np.stack([run.ranks_of(self.rows[:, side]) for side, run in enumerate(self.runs)], axis=1)

    @property
    def found(self) -> BoolArray:
        """In which of the two runs each stands within the depth; shape (n, 2)."""
        return (self.ranks > 0) & (self.ranks <= self.depth)

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
    some = max(1, DOCUMENTS_AT_ONCE // max(candidate.depth, baseline.depth))
    of_topic, rows = [], []
    for first in range(0, len(places), some):
        span = range(first, min(first + some, len(places)))
        one, other = (run.unjudged(depth=run.depth, span=span) for run in (candidate, baseline))
        in_other = matches(one, other)
        in_one = np.full(len(other), -1, dtype=np.int64)
        in_one[in_other[in_other >= 0]] = np.flatnonzero(in_other >= 0)
        is_first = one.ranks <= depth
        ones = np.flatnonzero(is_first)
        others = np.flatnonzero((other.ranks <= depth) & ~np.append(is_first, False)[in_one])
        found = np.concatenate([one.topics[ones], other.topics[others]])
        order = np.argsort(found, kind="stable")
        order = order[is_wanted[found[order]]]
        of_topic.append(found[order])
        sides = (
            np.concatenate([one.rows[ones], np.append(one.rows, -1)[in_one[others]]]),
            np.concatenate([np.append(other.rows, -1)[in_other[ones]], other.rows[others]]),
        )
        rows.append(np.stack(sides, axis=1)[order])
    return UnjudgedDocuments(depth, np.concatenate(of_topic), (candidate, baseline), np.concatenate(rows))


def matches(documents: RankedDocuments, others: RankedDocuments) -> IntArray:
    """For each document the row of the same topic and document among others; -1 where there is none.

    Neither side has a document of a topic twice.
    """
    return places_among(documents.topics, documents.documents, others.topics, others.documents)


def values_if_relevant(run: RankedRun, topics: IntArray, counts: IntArray, rows: IntArray) -> FloatArray:
    """``values_if_judged``, where each document has the highest grade of its topic."""
    return values_if_judged(run, topics, counts, rows, np.repeat(run.qrels.arrays.highest[topics], counts))


def values_if_judged(
    run: RankedRun, topics: IntArray, counts: IntArray, rows: IntArray, grades: FloatArray
) -> FloatArray:
    """What a run scores on topics of which some unjudged documents are judged.

    Parameters
    ----------
    topics : array of int64, shape (n_variants,)
        Places in the columns of the judgements; a topic may be repeated, with other documents.
    counts : array of int64, shape (n_variants,)
        How many documents are judged besides.
    rows : array of int64, shape (sum of counts,)
        Where the run holds them, variant by variant; -1 if it does not retrieve the document.
    grades : array of float64, shape (sum of counts,)
        Their grades.

    Returns
    -------
    array, shape (n_variants,)
        In units of the measure.
    """
    if not len(topics):
        return np.zeros(0)
    qrels, answered = run.qrels, run.topic_of_place[topics]
    retrieved = np.where(answered >= 0, np.append(run.run.retrieved, 0)[answered], 0)
    judged = judged_rows(qrels, np.arange(len(qrels.topics)), run.judged_ranks, retrieved)
    if has_kernel(run.measure):
        judged = judged.at(kernel_of(run.measure, qrels.rules).needed(judged))
    begins = np.searchsorted(judged.topic, np.arange(len(qrels.topics) + 1))
    sizes, ends = np.diff(begins)[topics], np.cumsum(counts)
    values = np.empty(len(topics))
    for batch in np.split(np.arange(len(topics)), _cuts(sizes + counts)):
        variants, added = np.arange(len(batch)), slice(ends[batch[0]] - counts[batch[0]], ends[batch[-1]])
        old = first_rows(begins[topics[batch]], sizes[batch])
        together = JudgedRows(
            np.concatenate([np.repeat(variants, sizes[batch]), np.repeat(variants, counts[batch])]),
            np.concatenate([judged.rank[old], run.ranks_of(rows[added])]),
            np.concatenate([judged.value[old], grades[added]]),
            retrieved[batch],
        )
        values[batch] = values_of(run.measure, together, qrels.rules)
    return values


def _cuts(sizes: IntArray) -> IntArray:
    """Where to cut variants of these sizes, so that a batch holds about ``ROWS_AT_ONCE``."""
    return np.flatnonzero(np.diff(np.cumsum(sizes) // ROWS_AT_ONCE)) + 1


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
    topics = np.arange(len(search.topics), dtype=np.int64)
    as_judged = search.scores(topics, np.zeros_like(topics), topics[:0], np.zeros(0))
    found = [(topics, as_judged), *search.every_way(), *search.searched(as_judged[:, 0] - as_judged[:, 1])]
    of_row, scores = (np.concatenate(column) for column in zip(*found, strict=True))
    offsets = np.append(0, np.cumsum(np.bincount(of_row, minlength=len(topics))))
    return PossibleScores(
        search.topics, offsets, scores[np.argsort(of_row, kind="stable")], search.is_tried & search.is_every_grade
    )


def grades_to_try(run: RankedRun) -> tuple[FloatArray, bool]:
    """Grades that are not all worth the same to a measure, ascending, and whether these are all of them.

    Grade 0 is among them only where the measure tells a document that is not relevant from one without a judgement.
    """
    rules, measure = run.qrels.rules, run.measure
    given = np.union1d(run.qrels.arrays.grades, 0.0)
    if rules.scale is not None and float(rules.scale[1]).is_integer():
        given = np.union1d(given, np.arange(np.ceil(max(rules.scale[0], 0)), rules.scale[1] + 1))
    if has_kernel(measure):
        kernel = kernel_of(measure, rules)
        given = given[kernel.is_counted(given)]
        _, first = np.unique(kernel.value(given), return_index=True)
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
        self.grades, self.is_every_grade = grades_to_try(self.runs[0])
        self.is_fast = all(has_kernel(run.measure) for run in self.runs)
        most = MOST_OF_TOPIC if self.is_fast else MOST_OF_PROVIDER
        ways = (len(self.grades) + 1.0) ** np.minimum(self.sizes, 64)
        #: The topics of which every way is tried.
        self.is_tried = (ways <= most) & bool(np.sum(np.log2(ways)) <= math.log2(MOST_TOGETHER))

    def scores(self, topics: IntArray, counts: IntArray, documents: IntArray, grades: FloatArray) -> FloatArray:
        """The scores of both runs on topics of which some documents have these grades."""
        places = self.topics[topics]
        sides = [
            values_if_judged(run, places, counts, self.rows[documents, side], grades)
            for side, run in enumerate(self.runs)
        ]
        return np.stack(sides, axis=1)

    def every_way(self) -> list[tuple[IntArray, FloatArray]]:
        """The scores of topics with few documents for each way of judging at least one of them."""
        found = []
        for size in np.unique(self.sizes[self.is_tried]).tolist():
            # a way has for each document the place of its grade, from 1; 0: it stays unjudged
            ways = np.indices((len(self.grades) + 1,) * size).reshape(size, -1).T[1:]
            of_size = np.flatnonzero(self.is_tried & (self.sizes == size))
            topics, ways = np.repeat(of_size, len(ways)), np.tile(ways, (len(of_size), 1))
            documents, is_judged = self.begins[topics, None] + np.arange(size), ways > 0
            grades = np.append(0.0, self.grades)[ways[is_judged]]
            counts = np.count_nonzero(is_judged, axis=1)
            found.append((topics, self.scores(topics, counts, documents[is_judged], grades)))
        return found

    def searched(self, as_judged: FloatArray) -> list[tuple[IntArray, FloatArray]]:
        """The scores of the other topics under judgements that move their differences ``as_judged`` far.

        Each document alone, with each grade; then those that raise, or lower, the difference most together: the
        first, the first two, and so on, each with the grade that goes furthest alone.
        """
        others = np.flatnonzero(~self.is_tried)
        documents = first_rows(self.begins[others], self.sizes[others])
        most_ranked, most_alone = (
            (MOST_RANKED, MOST_ALONE) if self.is_fast else (RANKED_OF_PROVIDER, ALONE_OF_PROVIDER)
        )
        if not 0 < len(documents) <= most_alone or not len(self.grades):
            return []
        topics = np.repeat(others, self.sizes[others])
        ones = np.ones_like(topics)
        singles = [self.scores(topics, ones, documents, np.full(len(documents), grade)) for grade in self.grades]
        effects = np.round([scores[:, 0] - scores[:, 1] - as_judged[topics] for scores in singles], 12)
        found = [(topics, scores) for scores in singles]
        for sign in (1, -1):
            best = np.argmax(sign * effects, axis=0)
            effect = sign * effects[best, np.arange(len(documents))]
            order = np.lexsort((documents, -effect, topics))
            if len(documents) > most_ranked:  # all together that move it this way
                order = order[effect[order] > 0]
                of_row, counts = np.unique(topics[order], return_counts=True)
            else:
                of_row, counts = topics[order], places_within(topics[order]) + 1
                order = order[first_rows(np.arange(len(order)) - counts + 1, counts)]
            found.append((of_row, self.scores(of_row, counts, documents[order], self.grades[best][order])))
        return found
