"""Ranks of all documents of a ``RowBlock`` in every ``Order``, for all its topics at once.

They are those that ``order`` gives topic by topic. Scores mostly fall already in the order of the lines; then only
documents with equal scores are put in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.evaluation.runs.identifiers import WORD_BYTES, Identifiers, IntArray
from pytest_riskguard.evaluation.runs.order import Order
from pytest_riskguard.evaluation.runs.rank_columns import BoolArray, Codes, Floats, RankColumns, rows_of, topics_with
from pytest_riskguard.evaluation.runs.row_blocks import RowBlock

Ranks = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class RankedRows:
    """The rows of a block, ranked.

    Attributes
    ----------
    ranks : mapping Order -> array of int32, shape (n_rows,)
        From 1, of the rows in the order of the lines; orders that agree share an array.
    written : array of int64, shape (n_rows,), or None
        The rows of each topic by rank in the order as written; None if that is the order of the lines.
    rank_columns : array of int8, shape (n_topics,)
        What the rank column of each topic says: a place in ``rank_columns.KINDS``.
    """

    ranks: Mapping[Order, Ranks]
    written: IntArray | None
    rank_columns: Codes


def ranked(block: RowBlock) -> RankedRows:
    """Rank the documents of each topic of a block; each topic has at least one."""
    scores, offsets = block.scores, block.offsets
    lengths = np.diff(offsets)
    lines = (np.arange(1, len(scores) + 1) - np.repeat(offsets[:-1], lengths)).astype(np.int32)
    columns = RankColumns(block, lines)
    topics = np.flatnonzero(topics_with(_goes_on(scores.astype(np.float32), offsets), offsets))
    if not len(topics):  # scores fall from each line to the next
        return RankedRows(dict.fromkeys(Order, lines), None, columns.codes)
    rows = np.arange(len(scores)) if len(topics) == len(block.topics) else rows_of(offsets, topics)
    starts = np.concatenate([[0], np.cumsum(lengths[topics])])
    places = _places(scores[rows], starts, block.documents.at(rows), columns.numbers(rows))
    of_array = {id(order): _ranks_of(rows[order], lines, rows) for order in places.values()}
    written, is_lines = None, np.array_equal(places[Order.WRITTEN], np.arange(len(rows)))
    if not is_lines:
        written = np.arange(len(scores))
        written[rows] = rows[places[Order.WRITTEN]]
    return RankedRows({order: of_array[id(places[order])] for order in Order}, written, columns.codes)


def _ranks_of(ordered: IntArray, lines: Ranks, rows: IntArray) -> Ranks:
    """The ranks of all rows, where the documents of ``rows`` are ``ordered`` and others stand as in the lines."""
    ranks = lines.copy()
    ranks[ordered] = lines[rows]
    return ranks


def _goes_on(scores: npt.NDArray[np.floating], offsets: IntArray) -> BoolArray:
    """The rows whose score is not above that of the next row of their topic; the last row is left out."""
    found: BoolArray = scores[1:] >= scores[:-1]
    found[offsets[1:-1] - 1] = False
    return found


def _places(
    scores: Floats, offsets: IntArray, documents: Identifiers, numbers: IntArray | None
) -> dict[Order, IntArray]:
    """For each order the rows of each topic from rank 1 on; orders that agree share an array."""
    stable = _by_score(scores, offsets)
    places = dict.fromkeys(Order, stable)
    ordered = scores[stable]
    same_single, same = _goes_on(ordered.astype(np.float32), offsets), _goes_on(ordered, offsets)
    tied = np.flatnonzero(np.append(same_single, False) | np.insert(same_single, 0, False))
    if not len(tied):
        return places
    rows = stable[tied]
    singles = _numbered(~same_single)[tied]
    alphabet = _by_id(documents.at(rows), singles)
    places[Order.SINGLE_DESCENDING] = _moved(stable, tied, rows[_reversed(alphabet, singles)])
    if not same.any():
        return places
    doubles = _numbered(~same)[tied]
    if np.array_equal(same, same_single):
        places[Order.DESCENDING] = places[Order.SINGLE_DESCENDING]
    else:
        alphabet = alphabet[np.argsort(doubles[alphabet], kind="stable")]
        places[Order.DESCENDING] = _moved(stable, tied, rows[_reversed(alphabet, doubles)])
    places[Order.ASCENDING] = _moved(stable, tied, rows[alphabet])
    if numbers is not None:
        by_number = np.lexsort((numbers[rows], doubles))
        if not np.array_equal(by_number, np.arange(len(rows))):
            places[Order.WRITTEN] = _moved(stable, tied, rows[by_number])
    return places


def _numbered(differs: BoolArray) -> IntArray:
    """A number for each row that rises where a row differs from the one before."""
    numbers: IntArray = np.cumsum(np.insert(differs, 0, True))
    return numbers


def _by_score(scores: Floats, offsets: IntArray) -> IntArray:
    """The rows of each topic by falling score, then by line."""
    places = np.arange(len(scores))
    rises = scores[1:] > scores[:-1]
    rises[offsets[1:-1] - 1] = False
    if rises.any():
        topics = np.flatnonzero(topics_with(rises, offsets))
        rows = rows_of(offsets, topics)
        places[rows] = rows[np.lexsort((-scores[rows], np.repeat(topics, np.diff(offsets)[topics])))]
    return places


def _by_id(documents: Identifiers, groups: IntArray) -> IntArray:
    """The rows by group and, within groups, by their bytes; rows of a group stand together."""
    order, place = np.arange(len(groups)), 0
    first, _ = _bounds(groups)
    groups = first.copy()  # a group is named by its first place
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
