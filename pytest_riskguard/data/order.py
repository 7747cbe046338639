"""The order of a topic's documents: as written in the run, and as a measure's provider ranks them by their scores.

The order as written is by score in 64 bits, for equal scores by the rank column, then by line. Providers break ties
by document id, and pytrec_eval compares scores in 32 bits, where 1699999999 and 1699999998 are equal. A rank column
that does not number the documents of a topic (0 everywhere, for example) is ignored.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from typing import NamedTuple

#: Providers that compare scores as 32-bit numbers.
_SINGLE = frozenset({"pytrec_eval"})
#: Providers that order equal scores by docid, descending or ascending. Others keep the order of the file.
_DESCENDING = frozenset({"pytrec_eval", "riskguard"})
_ASCENDING = frozenset({"msmarco", "judged", "compat"})


class Order(Enum):
    """How the documents of a topic are ranked: by falling score, and equal scores as named."""

    WRITTEN = "written"  # by the rank column, then by line
    SINGLE_DESCENDING = "32 bits, docid descending"  # scores compared in 32 bits
    DESCENDING = "docid descending"
    ASCENDING = "docid ascending"
    STABLE = "line"


def order_of(provider: str) -> Order:
    """The order by which an ir-measures provider, given by its name, ranks documents."""
    if provider in _SINGLE:
        return Order.SINGLE_DESCENDING
    if provider in _DESCENDING:
        return Order.DESCENDING
    return Order.ASCENDING if provider in _ASCENDING else Order.STABLE


class RankColumn(Enum):
    """What the rank column of a topic says about its scores."""

    SILENT = "silent"  # one document, equal scores, or no such column
    NUMBERS_NOTHING = "numbers nothing"  # 0 everywhere, for example
    AGREES = "agrees"
    CONTRADICTS = "contradicts"
    INVERTED = "inverted"  # the higher the score, the worse the rank, for every document
    STANDS_FOR_SCORES = "stands for scores"  # the score column numbers the lines, and the rank column numbers nothing


class Written(NamedTuple):
    """A topic as its run is written: ids and scores of documents from rank 1 on, and what the rank column says."""

    ranking: Sequence[str]
    scores: Sequence[float]
    rank_column: RankColumn


def as_written(docids: Sequence[str], scores: Sequence[float], ranks: Sequence[bytes] | None) -> Written:
    """The order of a topic's documents as written; all three in the order of the lines, ``ranks`` as in the file."""
    falls = scores == sorted(scores, reverse=True)
    numbers = None if ranks is None else numbers_of(ranks)
    if numbers is not None:
        rank_column = _said_by(numbers, scores)
    else:
        if ranks is None or min(scores) == max(scores):
            rank_column = RankColumn.SILENT
        else:
            rank_column = RankColumn.STANDS_FOR_SCORES if _are_lines(scores) else RankColumn.NUMBERS_NOTHING
        numbers = range(len(docids))
    if falls and list(numbers) == sorted(numbers):
        return Written(docids, scores, rank_column)
    places = sorted(range(len(docids)), key=lambda place: (-scores[place], numbers[place], place))
    return Written([docids[place] for place in places], [scores[place] for place in places], rank_column)


def as_listed(docids: Sequence[str], scores: Sequence[float], ranks: Sequence[bytes] | None) -> Sequence[str]:
    """The order that a run gives its documents: that of the rank column, if it numbers them, else as written."""
    numbers = None if ranks is None else numbers_of(ranks)
    if numbers is None:
        return as_written(docids, scores, ranks).ranking
    return [docids[place] for place in sorted(range(len(docids)), key=numbers.__getitem__)]


def as_scored(docids: Sequence[str], scores: Sequence[float], provider: str) -> Sequence[str]:
    """Document ids as an ir-measures provider, given by its name, ranks them by their scores."""
    compared = in_32_bits(scores) if provider in _SINGLE else list(scores)
    pairs = list(zip(compared, docids, strict=True))
    if provider in _DESCENDING:
        pairs.sort(reverse=True)
    else:
        if provider in _ASCENDING:
            pairs.sort(key=lambda pair: pair[1])
        pairs.sort(key=lambda pair: pair[0], reverse=True)  # stable
    return [docid for _, docid in pairs]


def in_32_bits(scores: Iterable[float]) -> list[float]:
    """Scores as trec_eval holds them."""
    return array("f", scores).tolist()


def has_ties(scores: Collection[float]) -> bool:
    """Whether two scores are equal, at least in 32 bits."""
    return len(set(array("f", scores))) < len(scores)


def untied(ranking: Sequence[str]) -> dict[str, float]:
    """A ranking as scores: whole numbers from the last rank up, which differ even in 32 bits."""
    return dict(zip(ranking, map(float, range(len(ranking), 0, -1)), strict=True))


def numbers_of(ranks: Sequence[bytes]) -> Sequence[int] | None:
    """The ranks of a topic's documents; None unless they are all different numbers."""
    try:
        numbers = list(map(int, ranks))
    except ValueError:
        return None
    return numbers if len(set(numbers)) == len(numbers) else None


def _said_by(numbers: Sequence[int], scores: Sequence[float]) -> RankColumn:
    by_rank = [scores[place] for place in sorted(range(len(numbers)), key=numbers.__getitem__)]
    if min(scores) == max(scores):
        return RankColumn.SILENT
    if by_rank == sorted(scores, reverse=True):
        return RankColumn.AGREES
    return RankColumn.INVERTED if by_rank == sorted(scores) else RankColumn.CONTRADICTS


def _are_lines(scores: Sequence[float]) -> bool:
    """Whether scores number the lines of a topic, from 1 or 0: ranks in the score column. Two may do so by chance."""
    first = scores[0]
    return len(scores) > 2 and first in (0, 1) and list(scores) == [first + place for place in range(len(scores))]
