"""Many ids as slices of one text: what a column of a run is once it is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen

IntArray = npt.NDArray[np.int64]
#: Rows of arrays.
Places = npt.NDArray[np.int64] | npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]
BoolArray = npt.NDArray[np.bool_]

WORD_BYTES = 8
#: Where a text is shorter, its ids begin at numbers of 32 bits: half the memory, and any place in an id fits too.
_SHORT_TEXT = 2**30
#: How many ids are hashed at once: more take memory for intermediate numbers, and are not faster.
_HASHED_AT_ONCE = 2**16
#: Odd numbers without a pattern in their bits, which spread hashes over all values.
_SPREAD, _SPREAD_LENGTH = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
#: The bytes of ASCII that may be in an id; the first one is white space, which may not be at its ends.
_SPACE, _FIRST, _LAST = np.uint8(0x20), np.uint8(0x21), np.uint8(0x7E)
#: Masks for words whose last bytes do not belong to the id, by how many bytes do.
_MASKS = np.array([(1 << (8 * count)) - 1 for count in range(WORD_BYTES + 1)], dtype=np.uint64)


@frozen(eq=False)
class Ids:
    """Ids in UTF-8, whose order by bytes is that of their text.

    Attributes
    ----------
    text : array of uint8
        Holds every id, and maybe more.
    starts, lengths : array of int64 or of int32, shape (n,)
        Where each id begins, and its bytes.
    """

    text: npt.NDArray[np.uint8]
    starts: IntArray
    lengths: IntArray

    @classmethod
    def of(cls, ids: Iterable[str]) -> Ids:
        """Texts as identifiers."""
        encoded = [name.encode() for name in ids]
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        text = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return cls(text, np.cumsum(lengths) - lengths, lengths)

    @classmethod
    def joined(cls, parts: Sequence[Ids]) -> Ids:
        """The ids of several columns as one, without the text between them."""
        compact = [part.compact() for part in parts]
        if not compact:
            return cls.of(())
        lengths = np.concatenate([part.lengths for part in compact])
        return cls(np.concatenate([part.text for part in compact]), starts_of(lengths), lengths)

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, places: Places | npt.NDArray[np.bool_] | slice) -> Ids:
        """Some of the ids; they share the text."""
        some = Ids(self.text, self.starts[places], self.lengths[places])
        for name in ("hashes", "odd"):
            if name in self.__dict__:
                some.__dict__[name] = self.__dict__[name][places]
        return some

    def compact(self) -> Ids:
        """The same ids with a text of their own that holds nothing else."""
        starts = starts_of(self.lengths)
        size = int(self.lengths.sum())
        if size == len(self.text) and np.array_equal(starts, self.starts):
            return self
        text = np.empty(size, dtype=np.uint8)
        by_length = np.argsort(self.lengths, kind="stable")
        found, begins = np.unique(self.lengths[by_length], return_index=True)
        for length, rows in zip(found.tolist(), np.split(by_length, begins[1:]), strict=False):
            if length:  # ids of one length are copied as wholes
                _wholes(text, length)[starts[rows]] = _wholes(self.text, length)[self.starts[rows]]
        return Ids(text, starts, self.lengths)

    def slices(self) -> list[bytes]:
        """All ids as bytes."""
        text, starts, ends = self._spanned()
        return [text[start:end] for start, end in zip(starts, ends, strict=True)]

    def strings(self) -> list[str]:
        """All ids as text."""
        encoded, starts, ends = self._spanned()
        if not encoded.isascii():
            return [encoded[start:end].decode() for start, end in zip(starts, ends, strict=True)]
        text = encoded.decode()  # one character for each byte
        return [text[start:end] for start, end in zip(starts, ends, strict=True)]

    def _spanned(self) -> tuple[bytes, list[int], list[int]]:
        """The text from the first id to the last, and where in it the ids start and end."""
        ends = self.starts + self.lengths
        first, last = int(self.starts.min(initial=len(self.text))), int(ends.max(initial=0))
        return self.text[first:last].tobytes(), (self.starts - first).tolist(), (ends - first).tolist()

    @cached_property
    def odd(self) -> BoolArray:
        """Which ids may be empty, or have white space or control characters: all others are plain ASCII."""
        text = np.append(self.text, np.uint8(0))  # an empty id may start at the end
        odd: BoolArray = self.lengths == 0
        for edge in (text[self.starts], text[self.starts + np.maximum(self.lengths, 1) - 1]):
            odd |= edge - _FIRST > _LAST - _FIRST
        if (inside := self.text - _SPACE > _LAST - _SPACE).any():
            before = np.cumsum(np.append(0, inside), dtype=np.int64)
            odd |= before[self.starts + self.lengths] > before[self.starts]
        return odd

    @cached_property
    def hashes(self) -> Words:
        """A number for each id, the same wherever its text is; two ids rarely share one, unless somebody tries."""
        if len(self) > _HASHED_AT_ONCE:
            parts = [slice(row, row + _HASHED_AT_ONCE) for row in range(0, len(self), _HASHED_AT_ONCE)]
            return np.concatenate([self.at(part).hashes for part in parts])
        hashes = self.lengths.astype(np.uint64) * _SPREAD_LENGTH
        longest = int(self.lengths.max(initial=0))
        rows: Any = slice(None)
        for place in range(-(-longest // WORD_BYTES)):
            if place:
                rows = np.flatnonzero(self.lengths > place * WORD_BYTES)
            mixed = (hashes[rows] ^ self.words(place, rows)) * _SPREAD
            hashes[rows] = mixed ^ (mixed >> np.uint64(32))
        return hashes

    def words(self, place: int, rows: IntArray | slice = slice(None)) -> Words:
        """The bytes from ``8 * place`` on of some ids, at most 8, as numbers whose lowest byte comes first in the id.

        Bytes beyond the end of an id are 0.
        """
        starts, left = self.starts[rows], self.lengths[rows]
        if place:
            starts, left = starts + place * WORD_BYTES, left - place * WORD_BYTES
        text = np.ascontiguousarray(self.text)
        if len(text) < WORD_BYTES:
            text = np.concatenate([text, np.zeros(WORD_BYTES, dtype=np.uint8)])
        last = len(text) - WORD_BYTES
        every: Words = np.ndarray((last + 1,), dtype="<u8", buffer=text, strides=(1,))
        if starts.max(initial=0) <= last:
            words = every[starts].astype(np.uint64, copy=False)
        else:  # some are read from before, then moved
            words = every[np.minimum(starts, last)].astype(np.uint64, copy=False)
            late = np.flatnonzero(starts > last)
            moved = np.minimum(starts[late] - last, WORD_BYTES).astype(np.uint64)
            # a shift by all 64 bits is not defined
            words[late] = np.where(moved < WORD_BYTES, words[late] >> (np.uint64(8) * (moved % np.uint64(8))), 0)
        words &= _MASKS.take(left, mode="clip")
        return words

    def same(self, rows: IntArray, others: Ids, other_rows: IntArray) -> npt.NDArray[np.bool_]:
        """Whether ids are the same, pair by pair: row ``rows[i]`` here and ``other_rows[i]`` of the others."""
        equal: npt.NDArray[np.bool_] = self.lengths[rows] == others.lengths[other_rows]
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
    size = int(lengths.sum())
    ends: Any = np.cumsum(lengths, dtype=np.int32 if size < _SHORT_TEXT else np.int64)
    starts: IntArray = np.subtract(ends, lengths.astype(ends.dtype, copy=False), out=ends)
    return starts


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


def begins_of(ids: Ids) -> BoolArray:
    """For each id, whether it differs from the one before; the first does."""
    differs = np.ones(len(ids), dtype=np.bool_)
    words, lengths = ids.words(0), ids.lengths
    np.not_equal(words[1:], words[:-1], out=differs[1:])
    differs[1:] |= lengths[1:] != lengths[:-1]
    if lengths.max(initial=0) > WORD_BYTES:
        alike = np.flatnonzero(~differs & (lengths > WORD_BYTES))
        differs[alike] = ~ids.same(alike, ids, alike - 1)
    return differs
