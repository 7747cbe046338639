"""What changed between the rankings of two systems, which needs no judgements: overlap, first results, lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from math import log2
from statistics import fmean

from pytest_riskguard.frozen import frozen

#: The ranks that are compared, which people see.
DEPTH = 10
#: How likely RBO's reader goes on to the next rank: in the paper's example the first 10 ranks have 86% of the weight.
PATIENCE = 0.9
#: Of how many queries, and how many documents of each, causes are looked for.
LOOKED_AT, LOOKED_DEEP = 200, 100
#: What holds of this share of the queries has one cause.
MOST = 0.9
#: The most queries, and documents of each, that are listed to be judged.
MOST_QUERIES, MOST_DOCUMENTS = 10, 5
#: What can happen to a query, beside other results.
EMPTY, NEW, SHORTER, OTHER_FIRST = "empty", "new", "shorter", "other first result"
#: What of a query each limit of ``no_surprise`` counts.
LIMITED = {
    "max_empty": EMPTY,
    "max_shorter": SHORTER,
    "max_changed_first": OTHER_FIRST,
    "min_overlap": "other top 10",
}

#: The documents of a query, best first.
Ranking = tuple[str, ...]


@frozen
class Rankings:
    """A system's rankings: ``LOOKED_DEEP`` documents of the first ``LOOKED_AT`` topics, ``DEPTH`` of each other.

    ``reordered`` topics have equal scores, and are written in another order than they are ranked by document id.
    """

    name: str
    digest: str | None
    lists: Mapping[str, Ranking]
    queries: Mapping[str, str]
    reordered: int = 0

    @property
    def topics(self) -> tuple[str, ...]:
        """Those that it answers."""
        return (*self.lists,)

    def only(self, keep: Callable[[str], bool]) -> Rankings:
        """The rankings of some topics."""
        return replace(self, lists={topic: self.lists[topic] for topic in filter(keep, self.lists)})


@frozen
class Change:
    """A query's first ``DEPTH`` results ``before`` and ``after``, of which there is one at least.

    ``overlap`` is the share of the documents of the longer list that both have. ``what`` happened is ``empty`` (none
    is left), ``new`` (there was none), or ``shorter`` and ``other first result``, if anything of these.
    """

    topic: str
    before: Ranking
    after: Ranking
    overlap: float
    rbo: float
    what: tuple[str, ...]


def change(topic: str, before: Ranking, after: Ranking) -> Change:
    """What changed in a query's first results.

    RBO, rank-biased overlap, is the mean over ranks d of the share of d documents that both have among their first d,
    weighted by ``PATIENCE ** d``, up to the end of the longer list. The definition is for endless lists; what follows
    the last rank is left out, not extrapolated, so that equal lists of any length have 1.

    References
    ----------
    W. Webber, A. Moffat and J. Zobel, "A similarity measure for indefinite rankings", ACM Transactions on Information
    Systems 28(4), 2010, section 4.
    """
    before, after = before[:DEPTH], after[:DEPTH]
    ranks = range(1, max(len(before), len(after)) + 1)
    shared = [len({*before[:rank]} & {*after[:rank]}) / rank for rank in ranks]
    weights = [PATIENCE**rank for rank in ranks]
    rbo = fmean(shared, weights)
    if not (before and after):
        what = [EMPTY if before else NEW]
    else:
        what = [SHORTER] * (len(after) < len(before)) + [OTHER_FIRST] * (before[0] != after[0])
    return Change(topic, before, after, shared[-1], rbo, tuple(what))


@frozen
class Difference:
    """What changed from one system's rankings to another's, which have topics in common."""

    before: Rankings
    after: Rankings

    @cached_property
    def changes(self) -> list[Change]:
        """The change of every query that either side answers, those that moved most first."""
        before, after = self.before.lists, self.after.lists
        every = [change(topic, before.get(topic, ()), after.get(topic, ())) for topic in before.keys() | after.keys()]
        return sorted(every, key=lambda one: (round(one.rbo, 12), one.topic))

    @cached_property
    def changed(self) -> list[Change]:
        """Those that differ in anything."""
        return [one for one in self.changes if one.before != one.after]

    @cached_property
    def queries(self) -> Mapping[str, str]:
        """The texts of queries, as far as they are known."""
        return {**self.before.queries, **self.after.queries}

    @cached_property
    def _pairs(self) -> list[tuple[Ranking, Ranking]]:
        """The rankings in which causes are looked for."""
        before, after = self.before.lists, self.after.lists
        return [(before[topic], after[topic]) for topic in sorted(before.keys() & after.keys())[:LOOKED_AT]]

    @cached_property
    def _is_unrelated(self) -> bool:
        """Whether nearly no query has a document in both."""
        return sum({*old}.isdisjoint(new) for old, new in self._pairs) >= MOST * len(self._pairs)

    @cached_property
    def cause(self) -> str:
        """What is likely wrong where nearly all rankings changed alike; empty where nothing points to a mistake."""
        for one in (self.before, self.after):
            if one.reordered > len(one.lists) / 2:
                return (
                    f"equal scores in {one.reordered} queries of {one.name} are ranked by document id, here as in "
                    "scoring, not as written: give each rank its own score"
                )
        pairs = self._pairs
        places = [[new.index(name) for name in old if name in new] for old, new in pairs]
        if self._is_unrelated:
            return (
                f"nearly no query has a document in both, whose first ones are {pairs[0][0][0]!r:.60} and "
                f"{pairs[0][1][0]!r:.60}: they may be ids of another collection, or written in another way"
            )
        turned = [one == sorted(one, reverse=True) for one in places if len(one) > 2]
        if turned and sum(turned) >= MOST * len(turned):
            return "the order of nearly every ranking is reversed: distances, or ranks, may be written as scores"
        for side, name in enumerate(("baseline", "candidate")):
            longest = max(len(pair[side]) for pair in pairs)
            cut = sum(len(pair[side]) == longest < len(pair[1 - side]) for pair in pairs)
            if longest < DEPTH and cut >= MOST * len(pairs):
                return f"nearly all rankings of the {name} end at rank {longest}: its run may be cut at k = {longest}"
        return ""

    @cached_property
    def to_judge(self) -> list[tuple[str, str]]:
        """Pairs of topic and document: of each query that moved most those that did, by nDCG's discount.

        None of two collections. Few queries are judged well: of many, one or two documents say nothing about a list.
        """
        pairs = []
        for one in [] if self._is_unrelated else self.changed[:MOST_QUERIES]:
            sides = one.before, one.after
            old, new = ({name: 1 / log2(rank) for rank, name in enumerate(side, 2)} for side in sides)
            moves = {name: abs(new.get(name, 0.0) - old.get(name, 0.0)) for name in old | new}
            moved = sorted(filter(moves.get, moves), key=lambda name: (-moves[name], name))
            pairs += [(one.topic, name) for name in moved[:MOST_DOCUMENTS]]
        return pairs
