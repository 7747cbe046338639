"""The unjudged documents of two runs, and what topics score if some of them are judged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_riskguard.data.ids import BoolArray, FloatArray, Ids, IntArray, first_rows, places_among
from pytest_riskguard.data.judged import RankedRun, depth_of
from pytest_riskguard.data.scoring import JudgedRows, kernel_of
from pytest_riskguard.frozen import frozen

#: About how many judged documents are scored at a time: more would need memory, fewer more calls.
ROWS_AT_ONCE = 2**15


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
