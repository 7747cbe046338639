"""Unjudged documents of two runs, side by side, and what the runs would score if some of them were relevant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.array_scores import has_kernel, if_judged
from pytest_riskguard.data.ids import IntArray
from pytest_riskguard.data.judged import RankedDocuments, RankedRun, depth_of
from pytest_riskguard.data.variants import Variants, values_of

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

#: About how many documents of each run are searched at a time.
DOCUMENTS_AT_ONCE = 50_000
#: How many variants are made at a time for ir-measures.
VARIANTS_AT_ONCE = 1000


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
    ranks : array of int64, shape (n, 2)
        From 1; 0 where the row is -1.
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
        for side in (1, 0):
            held = self.rows[:, side] >= 0
            names[held] = self.runs[side].ids(self.rows[held, side])
        return tuple(names.tolist())

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
    wanted = np.zeros(len(places), dtype=np.bool_)
    wanted[[places[topic] for topic in topics]] = True
    some = max(1, DOCUMENTS_AT_ONCE // max(candidate.depth, baseline.depth))
    spans = [range(first, min(first + some, len(wanted))) for first in range(0, len(wanted), some)]
    found = [_of_topics(span, wanted, candidate, baseline, depth) for span in spans]
    rows = np.concatenate([rows for _, rows in found])
    return UnjudgedDocuments(
        depth,
        np.concatenate([topics for topics, _ in found]),
        (candidate, baseline),
        rows,
        np.stack([run.ranks_of(rows[:, side]) for side, run in enumerate((candidate, baseline))], axis=1),
    )


def _of_topics(
    span: range, wanted: BoolArray, candidate: RankedRun, baseline: RankedRun, depth: int
) -> tuple[IntArray, IntArray]:
    """The topic and the two rows of each document of some topics, by topic."""
    one, other = (run.unjudged(depth=depth, span=span) for run in (candidate, baseline))
    if not np.all(wanted[span.start : span.stop]):
        one, other = (side.at(np.flatnonzero(wanted[side.topics])) for side in (one, other))
    in_other = matches(one, other)
    alone = np.ones(len(other), dtype=np.bool_)
    alone[in_other[in_other >= 0]] = False
    of_other = other.at(np.flatnonzero(alone))
    in_baseline = _deeper(one, baseline, span, depth, np.flatnonzero(in_other < 0))
    in_baseline[in_other >= 0] = other.rows[in_other[in_other >= 0]]
    in_candidate = _deeper(of_other, candidate, span, depth, np.arange(len(of_other)))
    topics = np.concatenate([one.topics, of_other.topics])
    order = np.argsort(topics, kind="stable")
    rows = (np.concatenate([one.rows, in_candidate]), np.concatenate([in_baseline, of_other.rows]))
    return topics[order], np.stack(rows, axis=1)[order]


def _deeper(documents: RankedDocuments, run: RankedRun, span: range, depth: int, places: IntArray) -> IntArray:
    """The row of each document in another run below the ranks that are searched; -1 where it has none.

    Only the documents at these places are looked for: without a cutoff, they count wherever they stand.
    """
    rows = np.full(len(documents), -1, dtype=np.int64)
    deep = run.unjudged(above=depth, depth=run.depth, span=span)
    found = matches(deep, documents.at(places))
    rows[places[found[found >= 0]]] = deep.rows[found >= 0]
    return rows


def matches(documents: RankedDocuments, others: RankedDocuments) -> IntArray:
    """For each document the row of the same topic and document among others; -1 where there is none.

    Neither side has a document of a topic twice.
    """
    keys, other_keys = documents.keys, others.keys
    order = np.argsort(other_keys, kind="stable")
    by_key = other_keys[order]
    if np.any(by_key[1:] == by_key[:-1]):  # two documents share a number, so that it finds none of them
        rows = {key: row for row, key in enumerate(others.named())}
        return np.array([rows.get(key, -1) for key in documents.named()], dtype=np.int64)
    found = np.full(len(documents), -1, dtype=np.int64)
    places = np.searchsorted(by_key, keys)
    rows_with_key = np.flatnonzero(places < len(by_key))
    rows_with_key = rows_with_key[by_key[places[rows_with_key]] == keys[rows_with_key]]
    theirs = order[places[rows_with_key]]
    is_same = (documents.topics[rows_with_key] == others.topics[theirs]) & documents.documents.same(
        rows_with_key, others.documents, theirs
    )
    found[rows_with_key[is_same]] = theirs[is_same]
    return found


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
    answers = run.topic_of_place[topics] >= 0
    values = np.full(len(topics), float(run.measure.DEFAULT))
    if not np.any(answers):
        return values
    of_answers = np.repeat(answers, counts)
    rows, grades, topics, counts = rows[of_answers], grades[of_answers], topics[answers], counts[answers]
    ends = np.cumsum(counts)
    if has_kernel(run.measure):
        values[answers] = if_judged(
            run.run, run.qrels, run.measure, run.topic_of_place[topics], np.append(0, ends), rows, grades
        )
        return values
    scores = []
    for start in range(0, len(topics), VARIANTS_AT_ONCE):
        some = slice(start, start + VARIANTS_AT_ONCE)
        of_some = slice(int(ends[start] - counts[start]), int(ends[some][-1]))
        variants = _with_judged(run, topics[some], counts[some], run.ranks_of(rows[of_some]), grades[of_some])
        scores.append(values_of(run.measure, variants, run.qrels.rules))
    values[answers] = np.concatenate(scores)
    return values


def _with_judged(
    run: RankedRun, topics: IntArray, counts: IntArray, ranks: IntArray, new_grades: FloatArray
) -> Variants:
    """The judged documents of each topic, followed by those that are judged besides."""
    arrays = run.qrels.arrays
    judged = np.diff(arrays.offsets)[topics]
    offsets = np.append(0, np.cumsum(judged + counts))
    grades, all_ranks = np.empty(offsets[-1]), np.empty(offsets[-1], dtype=np.int64)
    source, target = _ranges(arrays.offsets[topics], judged), _ranges(offsets[:-1], judged)
    grades[target], all_ranks[target] = arrays.grades[source], run.judged_ranks[source]
    target = _ranges(offsets[:-1] + judged, counts)
    grades[target], all_ranks[target] = new_grades, ranks
    return Variants(offsets, grades, all_ranks, run.run.retrieved[run.topic_of_place[topics]])


def _ranges(starts: IntArray, lengths: IntArray) -> IntArray:
    """The whole numbers of all ranges, one range after the other."""
    before = np.cumsum(lengths) - lengths
    ranges: IntArray = np.repeat(starts - before, lengths) + np.arange(int(np.sum(lengths)))
    return ranges
