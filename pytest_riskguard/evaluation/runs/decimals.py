"""Many decimal numbers at once, each rounded as ``float`` rounds it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pytest_riskguard.evaluation.runs.identifiers import WORD_BYTES, Identifiers, IntArray, Words

FloatArray = npt.NDArray[np.float64]

#: Digits whose number 64 bits hold, whatever they are.
_MAX_DIGITS = 19
#: Whole numbers below this are exact in 64 bits of floating point, as 10**0 to 10**22 are: one division rounds once.
_EXACT = np.uint64(2**53)
#: Whether the widest numbers of this machine hold 64-bit whole numbers and powers of ten up to 27.
_HAS_WIDE = np.finfo(np.longdouble).nmant == 63

_ALL = (1 << 64) - 1
_NO_DOT = 64


def _bytes_of(value: int) -> np.uint64:
    """A word with the same byte eight times."""
    return np.uint64(value * 0x0101010101010101)


_ZEROS, _SEVEN_BITS, _HIGH_BITS = _bytes_of(ord("0")), _bytes_of(0x7F), _bytes_of(0x80)
_DOTS = _bytes_of(ord("0") ^ ord("."))
_OVER_NINE = _bytes_of(0x80 - 10)  # added to a byte above 9, it sets the highest bit
#: Masks for words of which only the last bytes belong to the number, by how many do.
_KEPT = np.array([_ALL ^ ((1 << (8 * (8 - count))) - 1) if count else 0 for count in range(9)], dtype=np.uint64)
#: By the bits before the dot's byte (64: no dot): the digits after it, and the digits of the word.
_AFTER_DOT = np.array([7 - bits // 8 if bits < _NO_DOT else 0 for bits in range(65)], dtype=np.int64)
_POWERS = 10.0 ** np.arange(_MAX_DIGITS + WORD_BYTES)
_WIDTHS = np.array([10**7 if bits < _NO_DOT else 10**8 for bits in range(65)], dtype=np.uint64)


def decimals(numbers: Identifiers) -> FloatArray:
    """Numbers as ``float`` reads them from text; NaN for what is no number, and for digits grouped with ``_``.

    Digits with a sign and a dot are computed for all numbers together; whatever else a number may be (exponents, 20
    digits and more) is left to ``float``.
    """
    ends = numbers.starts + numbers.lengths
    first = numbers.text[numbers.starts]
    negative = first == ord("-")
    has_sign = negative | (first == ord("+"))
    widths = numbers.lengths - has_sign
    every = _words(numbers)
    mantissas, odd, below = _eight(every, ends, widths)
    digits = widths - (below < _NO_DOT)
    after = _AFTER_DOT[below]
    odd |= digits < 1
    odd |= widths > _MAX_DIGITS + 1
    scale = _WIDTHS[below]
    for place in range(WORD_BYTES, _MAX_DIGITS + 1, WORD_BYTES):
        rows = np.flatnonzero(widths > place)
        if not len(rows):
            break
        higher, bad, dot = _eight(every, ends[rows] - place, widths[rows] - place)
        mantissas[rows] += higher * scale[rows]
        odd[rows] |= bad
        with_dot = np.flatnonzero(dot < _NO_DOT)
        if len(with_dot):
            dotted = rows[with_dot]
            odd[dotted] |= digits[dotted] < widths[dotted]  # a second dot
            digits[dotted] -= 1
            after[dotted] = _AFTER_DOT[dot[with_dot]] + place
        scale[rows] *= _WIDTHS[dot]
    odd |= digits > _MAX_DIGITS
    after[odd] = 0
    values: FloatArray = mantissas.astype(np.float64)
    values /= _POWERS[after]
    long = np.flatnonzero(~odd & (mantissas >= _EXACT))
    if len(long):
        odd[long] = _divide_wide(values, mantissas, after, long)
    np.negative(values, out=values, where=negative)
    for row in np.flatnonzero(odd).tolist():
        start = int(numbers.starts[row])
        values[row] = _one(numbers.text[start : int(ends[row])].tobytes())
    return values


def _words(numbers: Identifiers) -> Words:
    """The eight bytes from each place of the text on; numbers that begin within the first are ``odd`` elsewhere."""
    text = np.ascontiguousarray(numbers.text)
    if len(text) < WORD_BYTES:
        text = np.concatenate([text, np.zeros(WORD_BYTES, dtype=np.uint8)])
    return np.ndarray((len(text) - WORD_BYTES + 1,), dtype="<u8", buffer=text, strides=(1,))


def _eight(every: Words, ends: IntArray, widths: IntArray) -> tuple[Words, npt.NDArray[np.bool_], IntArray]:
    """The value of the last digits before ``ends``, at most 8 characters, without their dot.

    Also whether anything but digits and one dot is there, and the bits before the dot, or 64.
    """
    places = ends - WORD_BYTES
    words = every[np.maximum(places, 0)]
    words ^= _ZEROS  # digits are bytes 0 to 9 now
    words &= _KEPT.take(widths, mode="clip")
    apart = words ^ _DOTS
    dots = apart & _SEVEN_BITS
    dots += _SEVEN_BITS
    dots |= apart
    dots |= _SEVEN_BITS
    np.invert(dots, out=dots)  # the high bit of each dot
    odd = (dots & (dots - np.uint64(1))) != 0
    odd |= places < 0
    below: IntArray
    if len(dots) and (dots == dots[0]).all():  # as many digits after the dot in all numbers
        words, bits = _without_dots(words, dots[:1])
        below = np.full(len(dots), bits[0], dtype=np.int64)
    else:
        words, bits = _without_dots(words, dots)
        below = bits.astype(np.int64)
    odd |= (((words + _OVER_NINE) | words) & _HIGH_BITS) != 0
    return _value(words), odd, below


def _without_dots(words: Words, dots: Words) -> tuple[Words, npt.NDArray[np.uint8]]:
    """Words whose digits before the dot have moved into its place, and the bits before it."""
    marks = dots >> np.uint64(7)
    before = marks - np.uint64(1)  # all bytes before the dot; everything without one
    kept = np.where(dots == 0, before, ~(before | (marks * np.uint64(255))))
    moved = np.where(dots == 0, np.uint64(0), before)
    return ((words & moved) << np.uint64(8)) | (words & kept), np.bitwise_count(before)


def _value(words: Words) -> Words:
    """Eight digits, a byte each, as a number: pairs first, then all four pairs at once."""
    words = words * np.uint64(10) + (words >> np.uint64(8))
    pairs = np.uint64(0x000000FF000000FF)
    low = (words & pairs) * np.uint64(0x000F424000000064)
    words >>= np.uint64(16)
    words &= pairs
    words *= np.uint64(0x0000271000000001)
    words += low
    words >>= np.uint64(32)
    return words


def _divide_wide(values: FloatArray, mantissas: Words, after: IntArray, rows: IntArray) -> npt.NDArray[np.bool_]:
    """Replace values by the nearest of their quotients in wider numbers, and say of which that is not certain.

    Rounding twice is rounding once, unless the first result lies exactly half-way between two 64-bit numbers.
    """
    if not _HAS_WIDE:
        return np.ones(len(rows), dtype=np.bool_)
    quotients = mantissas[rows].astype(np.longdouble) / np.longdouble(10) ** after[rows]
    values[rows] = quotients.astype(np.float64)
    errors = np.abs(quotients - values[rows]).astype(np.float64)
    half = np.spacing(values[rows]) / 2
    unsure: npt.NDArray[np.bool_] = (errors == half) | (errors == half / 2)  # half of the half below a power of two
    return unsure


def _one(text: bytes) -> float:
    try:
        return math.nan if b"_" in text else float(text)
    except ValueError:
        return math.nan
