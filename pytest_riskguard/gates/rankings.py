"""What changed between the rankings of two systems, which needs no judgements: overlap, first results, lengths."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from math import log2

from pytest_riskguard.frozen import frozen

#: The ranks that are compared, which people see.
DEPTH = 10
#: How likely RBO's reader goes on to the next rank: in the paper's example the first 10 ranks have 86% of the weight.
PATIENCE = 0.9
#: Of how many queries, and how many documents of each, causes are looked for.
LOOKED_AT, LOOKED_DEEP = 200, 100
#: What holds of this share of the queries has one cause.
MOST = 0.9
#: The most pairs of query and document that are listed to be judged.
MAX_TO_JUDGE = 50

#: Documents of each topic, best first.
Lists = Mapping[str, tuple[str, ...]]


@frozen
class Rankings:
    """A system's rankings: ``LOOKED_DEEP`` documents of the first ``LOOKED_AT`` topics, ``DEPTH`` of each other."""

    name: str
    digest: str | None
    lists: Lists
    queries: Mapping[str, str] = field(default_factory=dict)


@frozen
class Change:
    """A query's first ``DEPTH`` results ``before`` and ``after``."""

    topic: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    @cached_property
    def overlap(self) -> float:
        """The share of the documents of the longer list that both have; 1 where both are empty."""
        longest = max(len(self.before), len(self.after))
        return len({*self.before} & {*self.after}) / longest if longest else 1.0

    @cached_property
    def rbo(self) -> float:
        """Rank-biased overlap of the first ``DEPTH`` ranks, as a share of what equal lists have, so from 0 to 1.

        The mean over ranks d of the share of d documents that both have among their first d, each d weighted by
        ``PATIENCE ** d``, up to the end of the longer list. The definition is for endless lists; what follows the
        last rank is left out here, not extrapolated.

        References
        ----------
        W. Webber, A. Moffat and J. Zobel, "A similarity measure for indefinite rankings", ACM Transactions on
        Information Systems 28(4), 2010, section 4.
        """
        total, weights, weight = 0.0, 0.0, 1.0
        for depth in range(1, max(len(self.before), len(self.after)) + 1):
            total += weight * len({*self.before[:depth]} & {*self.after[:depth]}) / depth
            weights += weight
            weight *= PATIENCE
        return total / weights if weights else 1.0

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return bool(self.before) and not self.after

    @property
    def is_new(self) -> bool:
        """Whether there was nothing before."""
        return bool(self.after) and not self.before

    @property
    def is_shorter(self) -> bool:
        """Whether there are fewer results than before, but some."""
        return 0 < len(self.after) < len(self.before)

    @property
    def is_other_first(self) -> bool:
        """Whether both have a first result, and it is not the same document."""
        return bool(self.before and self.after) and self.before[0] != self.after[0]

    @property
    def is_changed(self) -> bool:
        """Whether anything differs."""
        return self.before != self.after

    def moved(self) -> dict[str, float]:
        """The documents that entered, left or moved, with how much of a reader's attention that is (log discount)."""
        worth = [{document: 1 / log2(rank + 1) for rank, document in enumerate(side, 1)} for side in self.sides]
        moves = {one: abs(worth[0].get(one, 0.0) - worth[1].get(one, 0.0)) for one in worth[0] | worth[1]}
        return {document: move for document, move in moves.items() if move}

    @property
    def sides(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Before and after."""
        return self.before, self.after


def changes(before: Lists, after: Lists, among: Collection[str] | None = None) -> list[Change]:
    """The change of every query that either side answers, those that moved most first; ``among`` some topics only."""
    topics = before.keys() | after.keys()
    topics = topics if among is None else topics & {*among}
    every = [Change(topic, before.get(topic, ())[:DEPTH], after.get(topic, ())[:DEPTH]) for topic in topics]
    return sorted(every, key=lambda one: (round(one.rbo, 12), one.topic))


def to_judge(changed: Sequence[Change], most: int = MAX_TO_JUDGE) -> list[tuple[str, str]]:
    """Pairs of topic and document to judge first: those that moved most, over all queries.

    New and lost first results come first, so that few judgements already tell something of many queries.
    """
    pairs = [(-move, place, document) for place, one in enumerate(changed) for document, move in one.moved().items()]
    return [(changed[place].topic, document) for _, place, document in sorted(pairs)[:most]]


def cause(before: Lists, after: Lists) -> str:
    """What is likely wrong where nearly all rankings changed alike; empty where nothing points to a mistake."""
    pairs = [(before[topic], after[topic]) for topic in sorted(before.keys() & after.keys())[:LOOKED_AT]]
    if not pairs:
        return ""
    if sum({*one}.isdisjoint(other) for one, other in pairs) >= MOST * len(pairs):
        return (
            f"nearly no query has a document in both, whose first ones are {pairs[0][0][0]!r:.60} and "
            f"{pairs[0][1][0]!r:.60}: they may be ids of another collection, or written in another way"
        )
    reversed_, comparable = 0, 0
    for one, other in pairs:
        inside = {*one} & {*other}
        common = [document for document in one if document in inside]
        comparable += len(common) > 2
        reversed_ += len(common) > 2 and common[::-1] == [document for document in other if document in inside]
    if comparable and reversed_ >= MOST * comparable:
        return "the order of nearly every ranking is reversed: distances, or ranks, may be written as scores"
    longest = max(len(other) for _, other in pairs)
    cut = sum(len(other) == longest < len(one) for one, other in pairs)
    if cut >= MOST * len(pairs) and longest < DEPTH:
        return f"nearly every ranking of the candidate ends at rank {longest}: its run may be cut at k = {longest}"
    return ""
