"""The ranks of a run's documents, in the order as written and as each measure's provider ranks them by their scores.

The order as written is by score in 64 bits, for equal scores by the rank column, then by line. Providers break ties
by document id, and pytrec_eval compares scores in 32 bits, where 1699999999 and 1699999998 are equal. A rank column
that does not number the documents of a topic (0 everywhere, for example) is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.ids import WORD_BYTES, BoolArray, Ids, IntArray, rows_of, topics_with
from pytest_riskguard.frozen import frozen

FloatArray = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int32]
Codes = npt.NDArray[np.int8]

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


class RankColumn(IntEnum):
    """What the rank column of a topic says about its scores."""

    SILENT = 0  # one document, equal scores, or no such column
    NUMBERS_NOTHING = 1  # 0 everywhere, for example
    AGREES = 2
    CONTRADICTS = 3
    INVERTED = 4  # the higher the score, the worse the rank, for every document
    STANDS_FOR_SCORES = 5  # the score column numbers the lines, and the rank column numbers nothing


def lines_of(offsets: IntArray) -> IntArray:
    """The place of each row in its topic, from 0."""
    lines: IntArray = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    return lines


def topic_of_rows(offsets: IntArray) -> IntArray:
    """The place of the topic of each row."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _changes(values: FloatArray | IntArray, offsets: IntArray) -> tuple[BoolArray, BoolArray]:
    """The topics in which values rise from some row to the next, and those in which they fall."""
    rises, falls = values[1:] > values[:-1], values[1:] < values[:-1]
    ends = offsets[1:-1] - 1
    rises[ends] = falls[ends] = False
    return topics_with(rises, offsets), topics_with(falls, offsets)


def rank_columns(scores: FloatArray, ranks: Ranks | None, offsets: IntArray) -> tuple[Codes, IntArray]:
    """What the rank column of each topic says of its scores, and a number for each row.

    Among equal scores, the row with the lower number comes first in the order as written: its rank where ranks number
    the documents of the topic, else its line. ``ranks`` has ``NO_RANK`` where a rank is no whole number.
    """
    lines = lines_of(offsets)
    codes = np.full(len(offsets) - 1, RankColumn.SILENT, dtype=np.int8)
    if ranks is None or not len(codes):
        return codes, lines
    rises, falls = _changes(scores, offsets)
    codes[falls] = RankColumn.AGREES
    goes_on = ranks[1:] > ranks[:-1]
    goes_on[offsets[1:-1] - 1] = True
    is_usual = ~topics_with(~goes_on, offsets) & ~topics_with(ranks == NO_RANK, offsets)
    others = np.flatnonzero(rises | ~is_usual)
    if not len(others):
        return codes, lines
    rows = rows_of(offsets, others)
    lengths = np.diff(offsets)[others]
    bounds = np.append(0, np.cumsum(lengths))
    numbers, some_scores = ranks[rows], scores[rows]
    by_rank = np.lexsort((numbers, topic_of_rows(bounds)))
    repeats = numbers[by_rank[1:]] == numbers[by_rank[:-1]]
    repeats[bounds[1:-1] - 1] = False
    is_numbered = ~topics_with(repeats, bounds) & ~topics_with(numbers == NO_RANK, bounds)
    codes[others] = np.where(is_numbered, _said_by(some_scores[by_rank], bounds), _said_without(some_scores, bounds))
    lines[rows] = np.where(np.repeat(is_numbered, lengths), numbers, lines[rows])
    return codes, lines


def _said_by(scores: FloatArray, offsets: IntArray) -> Codes:
    """What ranks that number the documents say of the scores, which are given by rank."""
    rises, falls = _changes(scores, offsets)
    kinds = (RankColumn.CONTRADICTS, RankColumn.INVERTED, RankColumn.AGREES)
    return np.select([rises & falls, rises, falls], kinds, RankColumn.SILENT).astype(np.int8)


def _said_without(scores: FloatArray, offsets: IntArray) -> Codes:
    """What is said by ranks that do not number the documents: whether the scores number the lines instead."""
    lengths, first = np.diff(offsets), scores[offsets[:-1]]
    rises, falls = _changes(scores, offsets)
    differs = scores != np.repeat(first, lengths) + lines_of(offsets)
    are_lines = (lengths > 2) & ((first == 0) | (first == 1)) & ~topics_with(differs, offsets)
    kinds = (RankColumn.STANDS_FOR_SCORES, RankColumn.NUMBERS_NOTHING)
    return np.select([are_lines, rises | falls], kinds, RankColumn.SILENT).astype(np.int8)


@frozen(eq=False)
class Ranking:
    """Ranked rows.

    Attributes
    ----------
    ranks : mapping Order -> array of int32, shape (n_rows,)
        From 1; orders that agree share an array.
    written : array of int64, shape (n_rows,), or None
        The rows of each topic by rank in the order as written; None if that is the order of the lines.
    """

    ranks: Mapping[Order, Ranks]
    written: IntArray | None


def ranking(scores: FloatArray, ranks: Ranks | None, offsets: IntArray, documents: Ids) -> Ranking:
    """Rank the documents of each topic in every order.

    Scores mostly fall already from line to line; then only documents with equal scores are put in order.
    """
    lines = (lines_of(offsets) + 1).astype(np.int32)
    topics = np.flatnonzero(topics_with(_goes_on(scores.astype(np.float32), offsets), offsets))
    if not len(topics):  # scores fall from each line to the next
        return Ranking(dict.fromkeys(Order, lines), None)
    rows = rows_of(offsets, topics)
    starts = np.append(0, np.cumsum(np.diff(offsets)[topics]))
    _, numbers = rank_columns(scores[rows], None if ranks is None else ranks[rows], starts)
    places = _places(scores[rows], starts, documents.at(rows), numbers)
    of_array = {}
    for order in places.values():
        of_order = lines.copy()
        of_order[rows[order]] = lines[rows]
        of_array[id(order)] = of_order
    written = None
    if not np.array_equal(places[Order.WRITTEN], np.arange(len(rows))):
        written = np.arange(len(scores))
        written[rows] = rows[places[Order.WRITTEN]]
    return Ranking({order: of_array[id(places[order])] for order in Order}, written)


def _goes_on(scores: npt.NDArray[np.floating], offsets: IntArray) -> BoolArray:
    """The rows whose score is not above that of the next row of their topic; the last row is left out."""
    found: BoolArray = scores[1:] >= scores[:-1]
    found[offsets[1:-1] - 1] = False
    return found


def _places(scores: FloatArray, offsets: IntArray, documents: Ids, numbers: IntArray) -> dict[Order, IntArray]:
    """For each order the rows of each topic from rank 1 on; orders that agree share an array."""
    stable = _by_score(scores, offsets)
    places = dict.fromkeys(Order, stable)
    ordered = scores[stable]
    same_single, same = _goes_on(ordered.astype(np.float32), offsets), _goes_on(ordered, offsets)
    tied = np.flatnonzero(np.append(same_single, False) | np.insert(same_single, 0, False))
    if not len(tied):
        return places
    rows = stable[tied]
    singles, doubles = (
        np.cumsum(np.insert(~are_same, 0, True), dtype=np.int64)[tied] for are_same in (same_single, same)
    )
    alphabet = _by_id(documents.at(rows), singles)
    places[Order.SINGLE_DESCENDING] = _moved(stable, tied, rows[_reversed(alphabet, singles)])
    if not same.any():
        return places
    if np.array_equal(same, same_single):
        places[Order.DESCENDING] = places[Order.SINGLE_DESCENDING]
    else:
        alphabet = alphabet[np.argsort(doubles[alphabet], kind="stable")]
        places[Order.DESCENDING] = _moved(stable, tied, rows[_reversed(alphabet, doubles)])
    places[Order.ASCENDING] = _moved(stable, tied, rows[alphabet])
    by_number = np.lexsort((numbers[rows], doubles))
    if not np.array_equal(by_number, np.arange(len(rows))):
        places[Order.WRITTEN] = _moved(stable, tied, rows[by_number])
    return places


def _by_score(scores: FloatArray, offsets: IntArray) -> IntArray:
    """The rows of each topic by falling score, then by line."""
    places = np.arange(len(scores))
    rises, _ = _changes(scores, offsets)
    topics = np.flatnonzero(rises)
    if len(topics):
        rows = rows_of(offsets, topics)
        places[rows] = rows[np.lexsort((-scores[rows], np.repeat(topics, np.diff(offsets)[topics])))]
    return places


def _by_id(documents: Ids, groups: IntArray) -> IntArray:
    """The rows by group and, within groups, by their bytes; rows of a group stand together."""
    order, place = np.arange(len(groups)), 0
    groups = _bounds(groups)[0].copy()  # a group is named by its first place
    while True:
        same = groups[1:] == groups[:-1]
        active = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
        if not len(active):
            return order
        rows = order[active]
        # ids that are equal but for zero bytes at the end differ in length
        is_past = int(documents.lengths[rows].max()) <= place * WORD_BYTES
        keys = documents.lengths[rows] if is_past else documents.words(place, rows).byteswap()
        sort = np.lexsort((keys, groups[active]))
        order[active] = rows[sort]
        if is_past:
            return order
        keys, known = keys[sort], groups[active]
        starts = np.append(True, (keys[1:] != keys[:-1]) | (known[1:] != known[:-1]))
        groups[active] = active[starts][np.cumsum(starts) - 1]
        place += 1


def _reversed(order: IntArray, groups: IntArray) -> IntArray:
    """The order turned round within each group."""
    first, last = _bounds(groups)
    turned: IntArray = order[first + last - np.arange(len(groups))]
    return turned


def _bounds(groups: IntArray) -> tuple[IntArray, IntArray]:
    """The first and the last place of each row's group; rows of a group stand together."""
    starts = np.append(True, groups[1:] != groups[:-1])
    firsts = np.flatnonzero(starts)
    group = np.cumsum(starts) - 1
    return firsts[group], np.append(firsts[1:], len(groups))[group] - 1


def _moved(places: IntArray, tied: IntArray, rows: IntArray) -> IntArray:
    """The order in which these rows stand in the places of tied ones."""
    moved = places.copy()
    moved[tied] = rows
    return moved
