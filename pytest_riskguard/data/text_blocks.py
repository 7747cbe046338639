"""Text with as many fields in each line, split into columns by numpy: some 20 times as fast as line by line.

Anything unusual is refused without words: whoever reads the file line by line then says what is wrong, or that
nothing is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.ids import WORD_BYTES, BoolArray, FloatArray, Ids, IntArray, Words
from pytest_riskguard.limits import Limit

if TYPE_CHECKING:
    from pytest_riskguard.data.input_files import InputFile


#: Bytes of an array that is made and thrown away, never touched: from then on glibc gives smaller ones their memory
#: again and again, where it would ask the system for fresh pages each time, a fifth of all processor time.
_REUSED = 2**22
_FEED = ord("\n")
#: White space that is neither a space nor the end of a line.
_WHITE = b"\t\r\x0b\x0c"
_SPACES = bytes.maketrans(_WHITE, b"    ")
#: The most characters of a number, and which.
_MOST_CHARACTERS = 64
_CHARACTERS = b"0123456789.+-eE"
#: Up to eight digits are made into one number, all cells at once: each is a byte of a word, without the bits of "0".
_ZEROS, _NO_DIGITS, _ABOVE_NINE, _HIGH_BITS = (
    np.uint64(byte * 0x0101010101010101) for byte in (ord("0"), 0x10, 0x06, 0xF0)
)
_MINUS, _POINT, _BYTE = np.uint64(ord("-")), np.uint64(ord(".") ^ ord("0")), np.uint64(0xFF)
#: Multiplied with bit 4 of a byte, the highest four bits say how many bytes stand above it.
_BYTES_ABOVE = np.uint64(0x0706050403020100)
#: Three steps: bits to shift, what the first half is worth, bits to keep.
_STEPS = tuple(
    tuple(map(np.uint64, step))
    for step in ((8, 10, 0x00FF00FF00FF00FF), (16, 100, 0x0000FFFF0000FFFF), (32, 10_000, 0x00000000FFFFFFFF))
)
#: Powers of ten that are exact.
_POWERS = 10.0 ** np.arange(23)


class RefusedError(Exception):
    """Something is wrong with a text, or may be: reading it line by line says what."""


def text_blocks(
    file: InputFile, fields: int, *, longest: Limit, separator: bytes | None = None, has_header: bool = False
) -> Iterator[tuple[Ids, ...]]:
    """The fields of lines, of about half a million bytes at a time, which their ids share; a header is left out.

    By default any white space separates fields, and blank lines are left out. ``RefusedError`` for another number of
    fields, for lines of more bytes than ``longest``, and with a separator for quotes and blank lines.
    """
    np.empty(_REUSED, dtype=np.uint8)
    for number, text in file.texts(longest):
        if has_header and number == 1:
            header, _, text = text.partition(b"\n")
            if not header.strip() or b"\r" in header[:-1]:
                raise RefusedError
            if not text:
                continue
        if not text.endswith(b"\n"):
            text = text.rstrip(b"\r") + b"\n"
        elif b"\r" in text:
            text = text.replace(b"\r\n", b"\n")
        columns = _columns(text, fields, longest, separator)
        if columns is None and separator is None and max(map(len, text.split(b"\n"))) <= longest.value:
            text = _with_single_spaces(text)
            columns = _columns(text, fields, longest, separator) if text else ()
        if columns is None:
            raise RefusedError
        if columns:
            yield columns


def _columns(text: bytes, fields: int, longest: Limit, separator: bytes | None) -> tuple[Ids, ...] | None:
    """The fields of lines in which one separator stands between two; None for others."""
    characters = np.frombuffer(text, dtype=np.uint8)
    unusual = b'"\r' if separator else _WHITE
    is_feed = characters == _FEED
    edges = np.flatnonzero(is_feed | (characters == ord(separator or b" "))).astype(np.int32)
    if len(edges) != fields * np.count_nonzero(is_feed) or any(character in text for character in unusual):
        return None
    ends = np.ascontiguousarray(edges.reshape(-1, fields).T)
    starts = np.empty_like(ends)  # each field begins after the end of the one before
    starts[0, 0] = 0
    np.add(ends[-1, :-1], 1, out=starts[0, 1:])
    np.add(ends[:-1], 1, out=starts[1:])
    lengths, lines = ends - starts, ends[-1] - starts[0]
    if (
        lengths.min() < (separator is None)
        or lines.min() < fields  # nothing but separators
        or lines.max() > longest.value
        or not is_feed[ends[-1]].all()
    ):
        return None
    return tuple(Ids(characters, *places) for places in zip(starts, lengths, strict=True))


def _with_single_spaces(text: bytes) -> bytes:
    """A text without blank lines, and with one space for any white space in the others."""
    text = text.translate(_SPACES)
    for some, one in ((b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n"), (b"\n\n", b"\n")):
        while some in text:
            text = text.replace(some, one)
    return text.lstrip()


def _digits(words: Words, lengths: IntArray) -> tuple[Words, Words, BoolArray, BoolArray]:
    """Cells of at most eight characters as whole numbers, without the decimal point that they may have.

    Then the digits behind it, whether there is one, and whether the cell is nothing else.
    """
    digits = (words ^ _ZEROS) << ((WORD_BYTES - lengths) * 8).astype(np.uint64)  # the last digit is the highest byte
    mark = digits & _NO_DIGITS
    mark &= -mark  # in the first character that is no digit, which may be a point
    point = mark >> np.uint64(4)
    digits ^= point * _POINT
    is_plain = (digits & (point * _BYTE)) == 0
    has_point = point > 0
    digits += (digits & (point - has_point)) * _BYTE  # the digits before it move one on
    is_plain &= ((digits | (digits + _ABOVE_NINE)) & _HIGH_BITS) == 0
    for bits, worth, kept in _STEPS:
        digits = (digits * worth + (digits >> bits)) & kept
    return digits, (mark * _BYTES_ABOVE) >> np.uint64(60), has_point, is_plain & (lengths > has_point)


def whole_numbers(cells: Ids, otherwise: int) -> npt.NDArray[np.int32]:
    """Numbers of at most eight digits; ``otherwise`` for anything else."""
    digits, _, has_point, is_plain = _digits(cells.words_at(cells.starts), cells.lengths)
    is_whole = is_plain & ~has_point & (cells.lengths <= WORD_BYTES)
    return np.where(is_whole, digits.astype(np.int32), np.int32(otherwise))


def numbers(cells: Ids) -> FloatArray:
    """Numbers as ``float`` reads them, NaN where a cell is empty.

    ``RefusedError`` for what is no finite number, or written as hardly any program writes one.
    """
    words, lengths = cells.words_at(cells.starts), cells.lengths
    is_negative = (words & _BYTE == _MINUS) & (lengths > 0)
    if lengths.max(initial=0) <= WORD_BYTES and not is_negative.any():
        digits, decimals, _, is_plain = _digits(words, lengths)
    else:
        starts, lengths = cells.starts + is_negative, lengths - is_negative
        before = np.maximum(lengths - WORD_BYTES, 0)
        digits, decimals, has_point, is_plain = _digits(cells.words_at(starts + before), lengths - before)
        head, more, is_before, is_head = _digits(cells.words_at(starts), before)
        digits += head * np.where(has_point, np.uint64(10**7), np.uint64(10**8))
        decimals += is_before * (more + np.uint64(WORD_BYTES))
        is_plain &= (before == 0) | (is_head & (before <= WORD_BYTES) & ~(has_point & is_before))
    # with a point at most 15 digits, so that both numbers are exact, and the quotient is rounded once, as in the text
    values = digits.astype(np.float64) / _POWERS[decimals]
    np.negative(values, out=values, where=is_negative)
    if is_plain.all():
        return values
    others = cells.at(~is_plain)
    text = others.compact().text.tobytes()
    if text.translate(None, _CHARACTERS) or others.lengths.max() > _MOST_CHARACTERS:
        raise RefusedError
    try:
        read = [float(cell) if cell else np.nan for cell in others.strings()]
    except ValueError:
        raise RefusedError from None
    if np.isinf(read).any():
        raise RefusedError
    values[~is_plain] = read
    return values
