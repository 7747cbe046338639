"""What the rank columns of a ``RowBlock`` say, for all its topics at once; ``order`` says it of one topic."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from pytest_riskguard.evaluation.runs.identifiers import Identifiers, IntArray, Words
from pytest_riskguard.evaluation.runs.order import RankColumn, numbers_of
from pytest_riskguard.evaluation.runs.row_blocks import RowBlock

Codes = npt.NDArray[np.int8]
BoolArray = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

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


def topics_with(rows: BoolArray, offsets: IntArray) -> BoolArray:
    """The topics that have one of these rows; ``rows`` may lack the last ones."""
    found = np.zeros(len(offsets) - 1, dtype=bool)
    found[np.searchsorted(offsets, np.flatnonzero(rows), side="right") - 1] = True
    return found


def rows_of(offsets: IntArray, topics: IntArray) -> IntArray:
    """The rows of some topics, topic by topic."""
    return first_rows(offsets[topics], offsets[topics + 1] - offsets[topics])


def first_rows(starts: IntArray, lengths: IntArray) -> IntArray:
    """So many rows from each start on, one range after the other."""
    rows = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    rows += np.arange(len(rows))
    return rows


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


def _keys(ranks: Identifiers) -> Words:
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
    return _keys(Identifiers.of(map(str, range(2**bits))))


def _numbers(ranks: Identifiers, keys: Words, offsets: IntArray) -> tuple[IntArray, BoolArray]:
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
