"""Ranks of all documents of a ``RowBlock`` in every ``Order``, and what its rank columns say, for all topics at once.

They are those that ``order`` gives topic by topic. Scores mostly fall already in the order of the lines; then only
documents with equal scores are put in order.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.ids import (
    WORD_BYTES,
    BoolArray,
    Ids,
    IntArray,
    Words,
    rows_of,
    topics_with,
)
from pytest_riskguard.data.order import Order, RankColumn, numbers_of
from pytest_riskguard.data.row_blocks import RowBlock

Codes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int32]

#: The kinds of rank column, by the number that stands for each in arrays.
KINDS = tuple(RankColumn)
#: Ranks of up to so many digits are read as columns; the highest byte of a word then says how many there are.
_MOST_DIGITS = 7
_LENGTH_BITS = np.uint64(56)
#: Rankings of up to this many documents are compared with the usual rank columns at once.
_USUAL_LENGTH = 200_000
#: No rank: a word of another length than it says.
_NO_RANK = np.uint64(0xFF << 56)


def code_of(kind: RankColumn) -> np.int8:
    """The number that stands for a kind of rank column."""
    return np.int8(KINDS.index(kind))


def changes(values: Floats, offsets: IntArray) -> tuple[BoolArray, BoolArray]:
    """The topics in which values rise from some row to the next, and those in which they fall."""
    rises, falls = values[1:] > values[:-1], values[1:] < values[:-1]
    ends = offsets[1:-1] - 1
    rises[ends] = falls[ends] = False
    return topics_with(rises, offsets), topics_with(falls, offsets)


class RankColumns:
    """The rank columns of a block.

    Attributes
    ----------
    codes : array of int8, shape (n_topics,)
        What each says of the scores: a place in ``KINDS``.
    """

    def __init__(self, block: RowBlock, lines: npt.NDArray[np.int32]) -> None:
        rises, falls = changes(block.scores, block.offsets)
        self.codes: Codes = np.where(falls, code_of(RankColumn.AGREES), code_of(RankColumn.SILENT))
        self._numbers: IntArray | None = None
        if block.ranks is None:
            self.codes[:] = code_of(RankColumn.SILENT)
            return
        keys = _keys(block.ranks)
        others = np.flatnonzero(rises | ~_are_usual(keys, lines, block.offsets))
        if not len(others):
            return
        rows = rows_of(block.offsets, others)
        offsets = np.concatenate([[0], np.cumsum(np.diff(block.offsets)[others])])
        numbers, is_numbered = _numbers(block.ranks.at(rows), keys[rows], offsets)
        scores = block.scores[rows]
        self.codes[others] = np.where(is_numbered, _said_by(numbers, scores, offsets), _unnumbered(scores, offsets))
        self._numbers = lines.astype(np.int64)
        self._numbers[rows] = np.where(np.repeat(is_numbered, np.diff(offsets)), numbers, lines[rows])

    def numbers(self, rows: IntArray | slice) -> IntArray | None:
        """What comes first among equal scores in the order as written has the lower number; None: the first line."""
        return None if self._numbers is None else self._numbers[rows]


def _keys(ranks: Ids) -> Words:
    """Each rank as a number, different for different texts of at most 7 bytes; longer ones are ``_NO_RANK``."""
    lengths = ranks.lengths.astype(np.uint64)
    keys = ranks.words(0) | (lengths << _LENGTH_BITS)
    keys[ranks.lengths > _MOST_DIGITS] = _NO_RANK
    return keys


def _are_usual(keys: Words, lines: npt.NDArray[np.int32], offsets: IntArray) -> BoolArray:
    """The topics whose ranks go up by one from 1, or from 0, in the order of the lines."""
    lengths = np.diff(offsets)
    longest = min(int(lengths.max(initial=1)), _USUAL_LENGTH)
    usual = _usual_keys(longest.bit_length())
    from_zero = keys[offsets[:-1]] == usual[0]
    expected = usual[np.minimum(lines, longest) - np.repeat(from_zero, lengths)]
    return ~topics_with(keys != expected, offsets) & (lengths <= _USUAL_LENGTH)


@functools.lru_cache(maxsize=4)
def _usual_keys(bits: int) -> Words:
    return _keys(Ids.of(map(str, range(2**bits))))


def _numbers(ranks: Ids, keys: Words, offsets: IntArray) -> tuple[IntArray, BoolArray]:
    """The ranks as numbers that are in the same order, and which topics they number: all different."""
    numbers, is_digits = _digits(keys)
    is_numbered = np.ones(len(offsets) - 1, dtype=bool)
    for topic in np.flatnonzero(topics_with(~is_digits, offsets)).tolist():  # +3, 1_0, 12345678: as Python reads them
        rows = slice(int(offsets[topic]), int(offsets[topic + 1]))
        read = numbers_of([rank.encode() for rank in ranks.at(rows).strings()])
        is_numbered[topic] = read is not None
        if read is not None:  # they may exceed 64 bits
            numbers[rows] = np.argsort(sorted(range(len(read)), key=read.__getitem__))
    topics = np.repeat(np.arange(len(is_numbered)), np.diff(offsets))
    ordered = numbers[np.lexsort((numbers, topics))]
    is_numbered &= ~topics_with((ordered[1:] == ordered[:-1]) & (topics[1:] == topics[:-1]), offsets)
    return numbers, is_numbered


def _digits(keys: Words) -> tuple[IntArray, BoolArray]:
    """Ranks as numbers, and which ranks consist of digits alone; the numbers of others mean nothing."""
    numbers, lengths = np.zeros(len(keys), dtype=np.int64), keys >> _LENGTH_BITS
    is_digits = (lengths > 0) & (lengths <= _MOST_DIGITS)
    for place in range(_MOST_DIGITS):
        inside = lengths > place
        digit = ((keys >> np.uint64(8 * place)) & np.uint64(255)).astype(np.int64) - ord("0")
        is_digits &= ~inside | ((digit >= 0) & (digit <= 9))
        numbers = np.where(inside, 10 * numbers + digit, numbers)
    return numbers, is_digits


def _said_by(numbers: IntArray, scores: Floats, offsets: IntArray) -> Codes:
    """What ranks that number the documents say of their scores."""
    topics = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    rises, falls = changes(scores[np.lexsort((numbers, topics))], offsets)
    kinds = (RankColumn.CONTRADICTS, RankColumn.INVERTED, RankColumn.AGREES)
    codes: Codes = np.select(
        [rises & falls, rises, falls], [code_of(kind) for kind in kinds], code_of(RankColumn.SILENT)
    )
    return codes


def _unnumbered(scores: Floats, offsets: IntArray) -> Codes:
    """What is said by ranks that do not number the documents: whether the scores number the lines instead."""
    lengths, first = np.diff(offsets), scores[offsets[:-1]]
    rises, falls = changes(scores, offsets)
    expected = np.arange(len(scores)) + np.repeat(first - offsets[:-1], lengths)
    are_lines = (lengths > 2) & ((first == 0) | (first == 1)) & ~topics_with(scores != expected, offsets)
    kinds = (RankColumn.STANDS_FOR_SCORES, RankColumn.NUMBERS_NOTHING)
    codes: Codes = np.select(
        [are_lines, rises | falls], [code_of(kind) for kind in kinds], code_of(RankColumn.SILENT)
    )
    return codes


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


def _places(scores: Floats, offsets: IntArray, documents: Ids, numbers: IntArray | None) -> dict[Order, IntArray]:
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


def _by_id(documents: Ids, groups: IntArray) -> IntArray:
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
