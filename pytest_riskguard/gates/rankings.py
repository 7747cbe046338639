"""What changed between the rankings of two systems, which needs no judgements: overlap, first results, lengths."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from math import fsum, log2

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
#: What can happen to a query, beside other results.
EMPTY, NEW, SHORTER, OTHER_FIRST = "empty", "new", "shorter", "other first result"

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
    """A query's first ``DEPTH`` results ``before`` and ``after``, of which there is one at least.

    ``overlap`` is the share of the documents of the longer list that both have. ``what`` happened is ``empty`` (none
    is left), ``new`` (there was none), or ``shorter`` and ``other first result``, if anything of these.
    """

    topic: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    overlap: float
    rbo: float
    what: tuple[str, ...]

    @property
    def is_changed(self) -> bool:
        """Whether anything differs."""
        return self.before != self.after


def change(topic: str, before: tuple[str, ...], after: tuple[str, ...]) -> Change:
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
    rbo = fsum(weight * share for weight, share in zip(weights, shared, strict=True)) / fsum(weights)
    both = {SHORTER: len(after) < len(before), OTHER_FIRST: before[:1] != after[:1]}
    what = {EMPTY: not after, NEW: not before} if not (before and after) else both
    return Change(topic, before, after, shared[-1], rbo, tuple(word for word, holds in what.items() if holds))


def changes(before: Lists, after: Lists, among: Collection[str] | None = None) -> list[Change]:
    """The change of every query that either side answers, those that moved most first; ``among`` some topics only."""
    topics = before.keys() | after.keys()
    topics = topics if among is None else topics & {*among}
    every = [change(topic, before.get(topic, ()), after.get(topic, ())) for topic in topics]
    return sorted(every, key=lambda one: (round(one.rbo, 12), one.topic))


def to_judge(changed: Sequence[Change], most: int = MAX_TO_JUDGE) -> list[tuple[str, str]]:
    """Pairs of topic and document to judge first: those that moved most, by nDCG's discount, over all queries.

    New and lost first results come first, so that few judgements already tell something of many queries.
    """
    pairs = []
    for place, one in enumerate(changed):
        old, new = ({name: 1 / log2(rank) for rank, name in enumerate(side, 2)} for side in (one.before, one.after))
        moves = {name: abs(new.get(name, 0.0) - old.get(name, 0.0)) for name in old | new}
        pairs += [(-move, place, name) for name, move in moves.items() if move]
    return [(changed[place].topic, name) for _, place, name in sorted(pairs)[:most]]


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
    turned = list[bool]()
    for one, other in pairs:
        both = {*one} & {*other}
        old, new = ([name for name in side if name in both] for side in (one, other))
        turned += [old[::-1] == new] * (len(both) > 2)
    if turned and sum(turned) >= MOST * len(turned):
        return "the order of nearly every ranking is reversed: distances, or ranks, may be written as scores"
    longest = max(len(other) for _, other in pairs)
    if longest < DEPTH and sum(len(other) == longest < len(one) for one, other in pairs) >= MOST * len(pairs):
        return f"nearly every ranking of the candidate ends at rank {longest}: its run may be cut at k = {longest}"
    return ""
