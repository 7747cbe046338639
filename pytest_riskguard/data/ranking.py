"""The ranks of a run's documents, in the order as written and as each measure's provider ranks them by their scores.

The order as written is by score in 64 bits, for equal scores by the rank column, then by line. Providers break ties
by document id, and pytrec_eval compares scores in 32 bits, where 1699999999 and 1699999998 are equal. A rank column
that does not number the documents of a topic (0 everywhere, for example) is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.ids import BoolArray, Ids, IntArray, topic_of_rows, topics_with

FloatArray = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int32]

#: In a rank column: what is no whole number.
NO_RANK = int(np.iinfo(np.int32).min)


class Order(Enum):
    """How the documents of a topic are ranked: by falling score, and equal scores as named."""

    WRITTEN = "written"  # by the rank column, then by line
    SINGLE_DESCENDING = "32 bits, docid descending"  # scores compared in 32 bits
    DESCENDING = "docid descending"
    ASCENDING = "docid ascending"
    STABLE = "line"


#: Providers that do not keep the order of the lines where scores are equal.
_ORDERS = {
    "pytrec_eval": Order.SINGLE_DESCENDING,
    "riskguard": Order.DESCENDING,
    **dict.fromkeys(("msmarco", "judged", "compat"), Order.ASCENDING),
}


def order_of(provider: str) -> Order:
    """The order by which an ir-measures provider, given by its name, ranks documents."""
    return _ORDERS.get(provider, Order.STABLE)


def lines_of(offsets: IntArray) -> IntArray:
    """The place of each row in its topic, from 0."""
    lines: IntArray = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    return lines


def with_pair(pairs: BoolArray, offsets: IntArray) -> BoolArray:
    """The topics in which something holds of a row and the next one."""
    pairs[offsets[1:-1] - 1] = False
    return topics_with(pairs, offsets)


def changes(values: npt.NDArray[Any], offsets: IntArray) -> tuple[BoolArray, BoolArray]:
    """The topics in which values rise from some row to the next, and those in which they fall."""
    rises, falls = values[1:] > values[:-1], values[1:] < values[:-1]
    return with_pair(rises, offsets), with_pair(falls, offsets)


def in_order(values: npt.NDArray[Any], offsets: IntArray) -> IntArray:
    """The rows of each topic by rising value, then by line."""
    if not changes(values, offsets)[1].any():
        return np.arange(len(values))
    return np.lexsort((values, topic_of_rows(offsets)))


def rank_column(scores: FloatArray, ranks: Ranks | None, offsets: IntArray) -> tuple[IntArray, BoolArray, BoolArray]:
    """A number for each row, and the topics whose scores rise, and those whose scores fall, from rank to rank.

    Among equal scores, the row with the lower number comes first in the order as written: its rank where ranks number
    the documents of the topic, else its line. Ranks that number nothing contradict no scores, unless these number the
    lines: then they are the ranks. ``ranks`` has ``NO_RANK`` where a rank is no whole number.
    """
    lines = lines_of(offsets)
    if ranks is None:
        none = np.zeros(len(offsets) - 1, dtype=bool)
        return lines, none, none
    order = in_order(ranks, offsets)
    by_rank, first, lengths = ranks[order], scores[offsets[:-1]], np.diff(offsets)
    is_numbered = ~with_pair(by_rank[1:] == by_rank[:-1], offsets) & ~topics_with(ranks == NO_RANK, offsets)
    are_lines = (lengths > 2) & ((first == 0) | (first == 1))  # two scores may number the lines by chance
    are_lines &= ~topics_with(scores != np.repeat(first, lengths) + lines, offsets)
    rises, falls = changes(scores[order], offsets)
    falls = np.where(is_numbered, falls, (rises | falls) & ~are_lines)
    return np.where(np.repeat(is_numbered, lengths), ranks, lines), np.where(is_numbered, rises, are_lines), falls


class Ranking(NamedTuple):
    """Rows in every order: by rank, topic by topic, and the rank of each, from 1."""

    rows: Mapping[Order, IntArray]
    ranks: Mapping[Order, Ranks]


def ranking(scores: FloatArray, ranks: Ranks | None, offsets: IntArray, documents: Ids) -> Ranking:
    """Rank the documents of each topic in every order.

    Scores mostly fall already from line to line; then only documents with equal scores are put in order.
    """
    lines = (lines_of(offsets) + 1).astype(np.int32)
    by_score = in_order(-scores, offsets)
    first = np.zeros(len(scores), dtype=bool)
    first[offsets[:-1]] = True

    def groups(values: npt.NDArray[np.floating]) -> IntArray:
        """A number for each group of equal scores of a topic, by rank."""
        begins = first.copy()
        begins[1:] |= values[1:] != values[:-1]
        return np.cumsum(begins)

    doubles = groups(scores[by_score])
    singles = groups(scores[by_score].astype(np.float32))
    same = singles[1:] == singles[:-1]
    tied = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
    rows = by_score[tied]
    numbers, letters = rank_column(scores, ranks, offsets)[0][rows], _alphabet(documents.at(rows).strings())
    by_rank, ranks_by_order = dict.fromkeys(Order, by_score), {}
    if len(tied):
        for order, number, of_row in (
            (Order.WRITTEN, numbers, doubles),
            (Order.SINGLE_DESCENDING, -letters, singles),
            (Order.DESCENDING, -letters, doubles),
            (Order.ASCENDING, letters, doubles),
        ):
            by_rank[order] = by_score.copy()
            by_rank[order][tied] = rows[np.lexsort((number, of_row[tied]))]
    for order, of_order in by_rank.items():
        ranks_by_order[order] = np.empty_like(lines)
        ranks_by_order[order][of_order] = lines
    return Ranking(by_rank, ranks_by_order)


def _alphabet(documents: Sequence[str]) -> IntArray:
    """The place of each id among all, which is the same by characters and by bytes."""
    places: IntArray = np.unique(np.array(documents, dtype=object), return_inverse=True)[1]
    return places
