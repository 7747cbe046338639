"""Unjudged documents: what a gate would say if they were judged, and which of them to judge next.

A gate's answer does not follow the differences of topics alone: a topic that gains can widen an interval. So neither
the cases that are asked here nor the two extremes settle a verdict: one that none of them changes may still change
under some other way of judging.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, zip_longest
from typing import NamedTuple

import numpy as np

from pytest_riskguard.data.ids import BoolArray, FloatArray, Ids, IntArray, first_rows, places_among
from pytest_riskguard.data.judged import RankedRun, depth_of
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.scoring import JudgedRows, kernel_of
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import IfJudged, Judgements, TopicDocuments
from pytest_riskguard.gates.judge import compare
from pytest_riskguard.gates.kinds import Gate

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
    (ours, our_topics), (theirs, their_topics) = candidate.unjudged(), baseline.unjudged()
    documents = candidate.run.documents.at(ours)
    in_theirs = places_among(our_topics, documents, their_topics, baseline.run.documents.at(theirs))
    alone = np.ones(len(theirs), dtype=np.bool_)
    alone[in_theirs[in_theirs >= 0]] = False  # -1 stands for those that are not among theirs
    documents = Ids.joined([documents, baseline.run.documents.at(theirs[alone])])
    of_baseline = np.append(np.append(theirs, -1)[in_theirs], theirs[alone])
    rows = np.stack([np.append(ours, np.full(np.count_nonzero(alone), -1)), of_baseline], axis=1)
    topic = np.append(our_topics, their_topics[alone])
    ranks = np.stack([candidate.ranks_of(rows[:, 0]), baseline.ranks_of(rows[:, 1])], axis=1)
    ranks[ranks > depth] = 0
    order = np.argsort(topic, kind="stable")
    order = order[(np.isin(topic, [places[one] for one in topics]) & ranks.any(axis=1))[order]]
    return UnjudgedDocuments(depth, topic[order], documents.at(order), rows[order], ranks[order])


def values_if_relevant(runs: Sequence[RankedRun], topics: IntArray, counts: IntArray, rows: IntArray) -> FloatArray:
    """What runs score on topics of which some unjudged documents have the highest grade of the topic.

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

    Returns
    -------
    array, shape (n_variants, n_runs)
        In units of the measure.
    """
    values = np.zeros((len(topics), len(runs)))
    if not len(topics):
        return values
    ends = np.cumsum(counts)
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


# ---- what a gate would say


class Labels:
    """Two runs, candidate and baseline, ranked by one measure, and what other labels would make of their scores.

    It is the same for all gates that compare these runs on the same topics, so what is found is kept, with
    ``documents`` of topics; ``alike`` are those of another measure that ranks, and cuts, both runs in the same way.
    What scores would be is an array of shape (n_topics, 2).
    """

    def __init__(
        self, scores: tuple[TopicScores, TopicScores], runs: tuple[RankedRun, RankedRun], alike: Labels | None = None
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
    def places(self) -> IntArray:
        """The place in the scores of each topic of the judgements' columns; -1 for others."""
        known = self.runs[0].qrels.arrays.places
        places = np.full(len(known), -1, dtype=np.int64)
        places[[known[topic] for topic in self.scores[0].topics]] = np.arange(len(self.scores[0].topics))
        return places

    @cached_property
    def effects(self) -> FloatArray:
        """How much each unjudged document would move its topic's difference if it alone were relevant.

        Rounded, so that equal ones are equal on every machine.
        """
        topics = self.unjudged.topics
        candidate, baseline = values_if_relevant(self.runs, topics, np.ones_like(topics), self.unjudged.rows).T
        now = (self.scores[0].values - self.scores[1].values)[self.places[topics]]
        effects: FloatArray = np.round(candidate - baseline - now, 12)
        return effects

    @cached_property
    def if_all_judged(self) -> dict[str, FloatArray]:
        """The same as ``if_judged`` of all these documents."""
        return self.if_judged(np.ones(len(self.unjudged), dtype=np.bool_))

    def if_judged(self, is_open: BoolArray) -> dict[str, FloatArray]:
        """The scores in each case, if the open documents were judged and the others are not relevant.

        In the extremes each topic has the lowest, or the highest, difference among all that were computed for it,
        among them those with every document relevant that alone lowers, or raises, the difference.
        """
        favours, effects = self.unjudged.favours, self.effects
        cases = {
            "relevant": self._if_relevant(is_open),
            "candidate_relevant": self._if_relevant(is_open & (favours > 0)),
            "baseline_relevant": self._if_relevant(is_open & (favours < 0)),
        }
        nothing, below, above = (self._if_relevant(is_open & some) for some in (False, effects < 0, effects > 0))
        ways = np.stack([nothing, *cases.values(), below, above])
        differences, topics = np.round(ways[..., 0] - ways[..., 1], 12), np.arange(ways.shape[1])
        return cases | {
            "lowest": ways[np.argmin(differences, axis=0), topics],
            "highest": ways[np.argmax(differences, axis=0), topics],
        }

    def _if_relevant(self, chosen: BoolArray) -> FloatArray:
        """The scores if these documents have the highest grade of their topic."""
        scores = np.stack([one.values for one in self.scores], axis=1)
        topics, counts = np.unique(self.unjudged.topics[chosen], return_counts=True)
        scores[self.places[topics]] = values_if_relevant(self.runs, topics, counts, self.unjudged.rows[chosen])
        return scores


@frozen(eq=False)
class Rejudged:
    """A gate's question about two runs, at the level that decided, that can be asked again under other labels."""

    gate: Gate
    labels: Labels
    topics: Topics | None = None

    @cached_property
    def as_judged(self) -> IfJudged:
        """What the gate says on the judgements as they are."""
        return self._said("irrelevant", self.labels.scores)

    def _said(self, case: str, systems: Sequence[TopicScores]) -> IfJudged:
        comparison = compare(self.gate, *systems, topics=self.topics)
        return IfJudged(case, comparison.evidence.estimate(self.gate.alpha), comparison.answer[0])

    def cases(self, scored: dict[str, FloatArray]) -> Iterator[IfJudged]:
        """What the gate says in each case, where scores are these."""
        for case, scores in scored.items():
            systems = [replace(one, values=values) for one, values in zip(self.labels.scores, scores.T, strict=True)]
            yield self._said(case, systems)

    @cached_property
    def found(self) -> Judgements:
        """Which documents are unjudged, and what the gate would say if they were judged; its own answer first."""
        labels = self.labels
        cases = (self.as_judged, *self.cases(labels.if_all_judged))
        candidate, baseline = np.count_nonzero(labels.unjudged.found, axis=0).tolist()
        return Judgements(
            documents=len(labels.unjudged),
            candidate=candidate,
            baseline=baseline,
            cases=cases,
            depends=any(case.outcome != cases[0].outcome for case in cases),
        )


class ToJudge(NamedTuple):
    """An unjudged document of a topic."""

    topic: str
    document: str


def judge_next(rejudged: Rejudged) -> tuple[ToJudge, ...]:
    """The documents to judge, most useful first; none where no case changes the verdict.

    The more a document would move its topic's difference if it were relevant, the more useful it is; losses do not
    weigh more than wins, or the first answers would lean towards one verdict. The list ends where no case of the
    remaining documents changes the verdict if all those listed are irrelevant.
    """
    if not rejudged.found.depends:
        return ()
    labels, unjudged = rejudged.labels, rejudged.labels.unjudged
    topics = map(labels.runs[0].qrels.arrays.topics.__getitem__, unjudged.topics.tolist())
    names, sizes = [*map(ToJudge, topics, unjudged.documents.strings())], np.abs(labels.effects).tolist()
    order = sorted(range(len(names)), key=lambda place: (-sizes[place], names[place]))

    def settles(count: int) -> bool:
        is_open = np.ones(len(names), dtype=np.bool_)
        is_open[order[:count]] = False
        return all(case.outcome == rejudged.as_judged.outcome for case in rejudged.cases(labels.if_judged(is_open)))

    count = bisect_left(range(len(order)), True, key=settles)
    return tuple(names[place] for place in order[:count])


def together(lists: Iterable[Sequence[ToJudge]]) -> tuple[ToJudge, ...]:
    """One list for several verdicts: the first of each, then the second of each, every document once."""
    rows = chain.from_iterable(zip_longest(*lists))
    return tuple(dict.fromkeys(entry for entry in rows if entry is not None))
