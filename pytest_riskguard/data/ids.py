"""A column of ids, kept as slices of one text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen

IntArray = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

WORD_BYTES = 8
#: Where a text is shorter, its ids begin at numbers of 32 bits: half the memory, and any place in an id fits too.
_SHORT_TEXT = 2**30
#: Odd numbers without a pattern in their bits, which spread hashes over all values.
_SPREAD, _SPREAD_LENGTH = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_TOPIC, _PAIR = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xA0761D6478BD642F)
#: A table of rows by hash has 2 to this power places for each.
_SPARE_BITS = 4
#: What plain ASCII lies between; the first one is white space.
_SPACE, _LAST = np.uint8(0x20), np.uint8(0x7E)
#: Masks for words whose last bytes do not belong to the id, by how many bytes do.
_MASKS = np.array([(1 << (8 * count)) - 1 for count in range(WORD_BYTES + 1)], dtype=np.uint64)


@frozen(eq=False)
class Ids:
    """Ids in UTF-8, whose order by bytes is that of their text.

    Attributes
    ----------
    text : array of uint8
        Holds every id, and maybe more.
    starts, lengths : array of whole numbers, shape (n,)
        Where each id begins, and its bytes.
    """

    text: npt.NDArray[np.uint8]
    starts: IntArray
    lengths: IntArray

    @classmethod
    def of(cls, ids: Iterable[str]) -> Ids:
        """Texts as identifiers."""
        names = list(ids)
        text = "".join(names)
        encoded = names if text.isascii() else map(str.encode, names)
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(names))
        return cls(np.frombuffer(text.encode(), dtype=np.uint8), starts_of(lengths), lengths)

    @classmethod
    def joined(cls, parts: Sequence[Ids]) -> Ids:
        """The ids of several columns as one, without the text between them."""
        compact = [part.compact() for part in (*parts, cls.of(()))]
        lengths = np.concatenate([part.lengths for part in compact])
        return cls(np.concatenate([part.text for part in compact]), starts_of(lengths), lengths)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, row: int) -> str:
        start = int(self.starts[row])
        return self.text[start : start + int(self.lengths[row])].tobytes().decode()

    def at(self, rows: npt.NDArray[Any] | slice) -> Ids:
        """Some of the ids; they share the text."""
        return Ids(self.text, self.starts[rows], self.lengths[rows])

    def compact(self) -> Ids:
        """The same ids with a text of their own that holds nothing else."""
        starts = starts_of(self.lengths)
        size = int(self.lengths.sum())
        if size == len(self.text) and np.array_equal(starts, self.starts):
            return self
        text = np.empty(size, dtype=np.uint8)
        for length in np.flatnonzero(np.bincount(self.lengths)).tolist():
            rows = np.flatnonzero(self.lengths == length)
            if length:  # ids of one length are copied as wholes
                _wholes(text, length)[starts[rows]] = _wholes(self.text, length)[self.starts[rows]]
        return Ids(text, starts, self.lengths)

    def strings(self) -> list[str]:
        """All ids as text."""
        ids = self.compact()
        encoded, starts, ends = ids.text.tobytes(), ids.starts.tolist(), (ids.starts + ids.lengths).tolist()
        if not encoded.isascii():
            return [encoded[start:end].decode() for start, end in zip(starts, ends, strict=True)]
        text = encoded.decode()  # one character for each byte
        return [text[start:end] for start, end in zip(starts, ends, strict=True)]

    @property
    def odd(self) -> BoolArray:
        """Which ids may be empty, or have white space or control characters: of plain ASCII only the empty ones."""
        odd: BoolArray = self.lengths == 0
        is_plain = self.text.min(initial=_LAST) > _SPACE and self.text.max(initial=0) <= _LAST
        return odd if is_plain else np.ones_like(odd)

    @cached_property
    def hashes(self) -> Words:
        """A number for each id, the same wherever its text is; two ids rarely share one, unless somebody tries."""
        hashes = self.lengths.astype(np.uint64) * _SPREAD_LENGTH
        shortest, longest = self.lengths.min(initial=WORD_BYTES), int(self.lengths.max(initial=0))
        for place, begin in enumerate(range(0, longest, WORD_BYTES)):
            rows = slice(None) if begin < shortest else np.flatnonzero(self.lengths > begin)
            mixed = (hashes[rows] ^ self.words(place, rows)) * _SPREAD
            hashes[rows] = mixed ^ (mixed >> np.uint64(32))
        return hashes

    def words(self, place: int, rows: IntArray | slice = slice(None)) -> Words:
        """The bytes from ``8 * place`` on of some ids, at most 8, as numbers whose lowest byte comes first in the id.

        Bytes beyond the end of an id are 0.
        """
        begin = place * WORD_BYTES
        words, left = self.words_at(self.starts[rows] + begin), self.lengths[rows]
        if left.min(initial=begin + WORD_BYTES) < begin + WORD_BYTES:
            left = np.maximum(left.astype(np.int64) - begin, 0) if begin else left
            words &= _MASKS[np.minimum(left, WORD_BYTES)]
        return words

    def words_at(self, starts: IntArray) -> Words:
        """The 8 bytes from these places of the text on; bytes beyond its end are 0."""
        text = self.text
        if len(text) < WORD_BYTES:
            text = np.append(text, np.zeros(WORD_BYTES, dtype=np.uint8))
        last = len(text) - WORD_BYTES
        every: Words = np.ndarray((last + 1,), dtype="<u8", buffer=text, strides=(1,))
        late = np.flatnonzero(starts > last)  # these are read from before, too
        places = np.minimum(starts, last, dtype=np.int64)  # an index of 32 bits takes half as long again
        words = every[places].astype(np.uint64, copy=False)
        words[late] >>= (WORD_BYTES * (starts[late] - last)).astype(np.uint64)
        return words

    def same(self, rows: IntArray, others: Ids, other_rows: IntArray) -> BoolArray:
        """Whether ids are the same, pair by pair: row ``rows[i]`` here and ``other_rows[i]`` of the others."""
        equal: BoolArray = self.lengths[rows] == others.lengths[other_rows]
        pairs, place = np.flatnonzero(equal), 0
        while len(pairs):
            differs = self.words(place, rows[pairs]) != others.words(place, other_rows[pairs])
            equal[pairs[differs]] = False
            place += 1
            pairs = pairs[~differs]
            pairs = pairs[self.lengths[rows[pairs]] > place * WORD_BYTES]
        return equal


def _wholes(text: npt.NDArray[np.uint8], length: int) -> npt.NDArray[np.void]:
    """The ids of this length that could begin at each byte of a text."""
    return np.ndarray((len(text) - length + 1,), dtype=f"V{length}", buffer=text, strides=(1,))


def starts_of(lengths: IntArray) -> IntArray:
    """Where ids of these lengths begin if they stand one after the other."""
    starts: IntArray = lengths.astype(np.int32 if int(lengths.sum()) < _SHORT_TEXT else np.int64)
    np.cumsum(starts, out=starts)
    starts -= lengths
    return starts


def offsets_of(sizes: IntArray) -> IntArray:
    """Where the rows of topics with so many begin, and where those of the last one end."""
    return np.append(0, np.cumsum(sizes))


def topics_with(rows: BoolArray, offsets: IntArray) -> BoolArray:
    """The topics that have one of these rows; ``rows`` may lack the last ones."""
    counts = np.searchsorted(np.flatnonzero(rows), offsets)
    return counts[1:] > counts[:-1]


def topic_of_rows(offsets: IntArray) -> IntArray:
    """The place of the topic of each row."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def rows_of(offsets: IntArray, topics: IntArray) -> IntArray:
    """The rows of some topics, topic by topic."""
    return first_rows(offsets[topics], offsets[topics + 1] - offsets[topics])


def first_rows(starts: IntArray, lengths: IntArray) -> IntArray:
    """So many rows from each start on, one range after the other."""
    rows = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    rows += np.arange(len(rows))
    return rows


def begins_of(ids: Ids) -> BoolArray:
    """For each id, whether it differs from the one before; the first does."""
    words, lengths = ids.words(0), ids.lengths
    differs = np.append(True, (words[1:] != words[:-1]) | (lengths[1:] != lengths[:-1]))[: len(ids)]
    rows = np.flatnonzero(~differs & (lengths > WORD_BYTES))
    differs[rows] = ~ids.same(rows, ids, rows - 1)
    return differs


def pair_hashes(topics: IntArray, documents: Ids) -> Words:
    """A hash of each document together with its topic, whose high bits differ most."""
    salts = (topics.astype(np.uint64) + np.uint64(1)) * _TOPIC
    salts ^= documents.hashes
    salts *= _PAIR
    return salts


def has_twice(hashes: Words) -> bool:
    """Whether two are the same."""
    ordered = np.sort(hashes)
    return bool((ordered[1:] == ordered[:-1]).any())


def places_among(topics: IntArray, documents: Ids, other_topics: IntArray, others: Ids) -> IntArray:
    """For each document of a topic its place among others, which has each once; -1 where it is not.

    Others stand in a table by their hashes; those that found their place taken get another turn.
    """
    found = np.full(len(documents), -1, dtype=np.int64)
    hashes, wanted = pair_hashes(other_topics, others), pair_hashes(topics, documents)
    rows, left = np.arange(len(documents)), np.arange(len(others))
    while len(rows) and len(left):
        bits = len(left).bit_length() + _SPARE_BITS
        shift = np.uint64(64 - bits)
        table = np.full(2**bits, -1, dtype=np.int32)
        slots = hashes[left] >> shift
        table[slots] = left
        places = table[wanted[rows] >> shift]
        rows, places = rows[places >= 0], places[places >= 0]
        is_same = wanted[rows] == hashes[places]
        is_same &= topics[rows] == other_topics[places]
        is_same[is_same] = documents.same(rows[is_same], others, places[is_same])
        found[rows[is_same]] = places[is_same]
        rows, left = rows[~is_same], left[table[slots] != left]
    return found
