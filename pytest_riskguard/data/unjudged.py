"""Unjudged documents of two runs, side by side, and what the runs would score if some of them were judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from pytest_riskguard.data.ids import first_rows, places_among
from pytest_riskguard.data.judged import RankedRun, depth_of
from pytest_riskguard.data.kernels import BoolArray, FloatArray, IntArray, JudgedRows
from pytest_riskguard.data.scoring import judged_rows, kernel_of
from pytest_riskguard.frozen import frozen

#: About how many judged documents are scored at a time: more would need memory, fewer more calls.
ROWS_AT_ONCE = 2**15
#: Every way of judging a topic's documents is tried where there are at most so many, and where the topics together
#: have no more than that: most share a score, but not so many.
MOST_WAYS, MOST_TOGETHER = 128, 2.0**20
#: Documents of other topics are tried alone where there are at most so many.
MOST_ALONE = 200_000
#: With more grades than this, only the lowest and the highest are tried.
MOST_GRADES = 4


@frozen(eq=False)
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
    ranks : array of int64, shape (n, 2)
        Its ranks within the depth, from 1; below it 0.
    """

    depth: int
    topics: IntArray
    runs: tuple[RankedRun, RankedRun]
    rows: IntArray
    ranks: IntArray

    def __len__(self) -> int:
        return len(self.topics)

    @cached_property
    def documents(self) -> tuple[str, ...]:
        """The documents' ids as text, which take far more memory than everything else."""
        names = np.empty(len(self), dtype=object)
        for run, rows in zip(self.runs, self.rows.T, strict=True):
            names[rows >= 0] = run.ids(rows[rows >= 0])
        return tuple(names.tolist())

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
    one, other = candidate.unjudged(), baseline.unjudged()
    in_other = places_among(one.topics, one.documents, other.topics, other.documents)
    alone = np.setdiff1d(np.arange(len(other)), in_other)
    of_other = np.append(np.append(other.rows, -1)[in_other], other.rows[alone])
    rows = np.stack([np.append(one.rows, np.full(len(alone), -1)), of_other], axis=1)
    topic = np.append(one.topics, other.topics[alone])
    ranks = np.stack([candidate.ranks_of(rows[:, 0]), baseline.ranks_of(rows[:, 1])], axis=1)
    ranks[ranks > depth] = 0
    # by topic; those of the candidate first, each side by rank
    is_first = ranks[:, 0] > 0
    order = np.lexsort((np.where(is_first, *rows.T), ~is_first, topic))
    order = order[(is_wanted[topic] & ranks.any(axis=1))[order]]
    return UnjudgedDocuments(depth, topic[order], (candidate, baseline), rows[order], ranks[order])


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
    ends, all_places = np.cumsum(counts), np.arange(len(runs[0].qrels.topics))
    if grades is None:
        grades = np.repeat(runs[0].qrels.arrays.highest[topics], counts)
    for side, run in enumerate(runs):
        rules, retrieved = run.qrels.rules, run.retrieved
        kernel = kernel_of(run.measure, rules)
        judged = judged_rows(run.qrels, all_places, run.judged_ranks, retrieved)
        judged = judged.at(kernel.is_counted(kernel.value(judged.value)))
        sizes, ranks = judged.sums().astype(np.int64), run.ranks_of(rows[:, side])
        begins, costs = np.cumsum(sizes) - sizes, np.cumsum(sizes[topics] + counts)
        for batch in np.split(np.arange(len(topics)), np.flatnonzero(np.diff(costs // ROWS_AT_ONCE)) + 1):
            variants, of = np.arange(len(batch)), topics[batch]
            old, added = first_rows(begins[of], sizes[of]), slice(ends[batch[0]] - counts[batch[0]], ends[batch[-1]])
            together = JudgedRows(
                np.append(np.repeat(variants, sizes[of]), np.repeat(variants, counts[batch])),
                np.append(judged.rank[old], ranks[added]),
                np.append(judged.value[old], grades[added]),
                retrieved[of],
            )
            values[batch, side] = kernel.scores(together)
    return values


@frozen(eq=False)
class PossibleScores:
    """Scores of two runs on topics with unjudged documents, one row for each way of judging these that was tried.

    Attributes
    ----------
    topics : array of int64, shape (n,)
        Places in the columns of the judgements, ascending.
    of_row : array of int64, shape (n_rows,)
        The topic of each row, from 0; a topic's first row is its score as judged.
    scores : array, shape (n_rows, 2)
        Of the candidate and of the baseline, in units of the measure.
    is_complete : array of bool, shape (n,)
        Whether every way of judging the topic's documents was tried.
    """

    topics: IntArray
    of_row: IntArray
    scores: FloatArray
    is_complete: BoolArray


def possible_scores(
    unjudged: UnjudgedDocuments, runs: tuple[RankedRun, RankedRun], is_open: BoolArray
) -> PossibleScores:
    """The scores that two runs could have, whatever grades the open documents get; the others stay unjudged.

    ``runs`` are candidate and baseline as the measure ranks them, in the order in which ``unjudged`` found its rows.
    A grade is one that occurs in the judgements, or a whole number of the declared scale.
    """
    rows = unjudged.rows[is_open]
    topics, sizes = np.unique(unjudged.topics[is_open], return_counts=True)
    begins, every = np.cumsum(sizes) - sizes, np.arange(len(topics))
    grades, is_every_grade = grades_to_try(runs[0])
    of_row: list[IntArray] = []
    scores: list[FloatArray] = []

    def score(of: IntArray, counts: IntArray, documents: IntArray, given: FloatArray) -> FloatArray:
        """The scores of topics of which some documents have these grades."""
        of_row.append(of)
        scores.append(values_if_judged(runs, topics[of], counts, rows[documents], given))
        return scores[-1][:, 0] - scores[-1][:, 1]

    as_judged = score(every, np.zeros_like(every), every[:0], np.zeros(0))
    count = (len(grades) + 1.0) ** np.minimum(sizes, 64)
    is_tried = (count <= MOST_WAYS) & bool(np.sum(np.log2(count)) <= math.log2(MOST_TOGETHER))
    for topic in np.flatnonzero(is_tried).tolist():
        # a way has for each document the place of its grade, from 1; 0: it stays unjudged
        ways = np.indices((len(grades) + 1,) * sizes[topic]).reshape(sizes[topic], -1).T[1:]
        is_judged, documents = ways > 0, begins[topic] + np.arange(sizes[topic])
        given = np.append(0.0, grades)[ways[is_judged]]
        documents = np.broadcast_to(documents, ways.shape)[is_judged]
        score(np.full(len(ways), topic), np.count_nonzero(is_judged, axis=1), documents, given)

    # Of the other topics each document alone, relevant or not; then those that raise, or lower, the difference alone
    # together.
    others = np.flatnonzero(~is_tried)
    documents, of = first_rows(begins[others], sizes[others]), np.repeat(others, sizes[others])
    if 0 < len(documents) <= MOST_ALONE and len(grades):
        extremes = grades[(grades == 0) | (grades == grades[-1])]
        alone = [score(of, np.ones_like(of), documents, np.full(len(of), grade)) for grade in extremes]
        effects = np.round(np.array(alone) - as_judged[of], 12)
        for effect, best in (
            (effects.max(axis=0), effects.argmax(axis=0)),
            (-effects.min(axis=0), effects.argmin(axis=0)),
        ):
            moved = np.flatnonzero(effect > 0)
            of_way, counts = np.unique(of[moved], return_counts=True)
            score(of_way, counts, documents[moved], extremes[best[moved]])
    return PossibleScores(topics, np.concatenate(of_row), np.concatenate(scores), is_tried & is_every_grade)


def grades_to_try(run: RankedRun) -> tuple[FloatArray, bool]:
    """Grades that are not all worth the same to a measure, ascending, and whether these are all of them.

    Grade 0 is among them only where the measure tells a document that is not relevant from one without a judgement.
    """
    rules, measure = run.qrels.rules, run.measure
    given = np.union1d(run.qrels.arrays.grades, 0.0)
    if rules.scale is not None and float(rules.scale[1]).is_integer():
        given = np.union1d(given, np.arange(np.ceil(max(rules.scale[0], 0)), rules.scale[1] + 1))
    kernel = kernel_of(measure, rules)
    worth = kernel.value(given)
    _, first = np.unique(worth, return_index=True)
    given = given[np.sort(first[kernel.is_counted(worth[first])])]
    if len(given) <= MOST_GRADES:
        return given, True
    return given[[0, -1]], False
