"""Many decimal numbers at once, each rounded as ``float`` rounds it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pytest_riskguard.evaluation.runs.identifiers import WORD_BYTES, Identifiers, IntArray, Words

FloatArray = npt.NDArray[np.float64]

#: Digits whose number 64 bits hold, whatever they are.
_MAX_DIGITS = 19
#: Whole numbers below are exact in 64-bit floating point, as powers of ten up to 22 are: one division rounds once.
_EXACT = np.uint64(2**53)
#: Whether the widest numbers of this machine hold 64-bit whole numbers and powers of ten up to 27.
_HAS_WIDE = np.finfo(np.longdouble).nmant == 63

_ALL = (1 << 64) - 1


def _bytes_of(value: int) -> np.uint64:
    """A word with the same byte eight times."""
    return np.uint64(value * 0x0101010101010101)


_ZEROS, _SEVEN_BITS, _HIGH_BITS = _bytes_of(ord("0")), _bytes_of(0x7F), _bytes_of(0x80)
_DOTS = _bytes_of(ord("0") ^ ord("."))
_OVER_NINE = _bytes_of(0x80 - 10)  # added to a byte above 9, it sets the highest bit
#: What is left of a word whose last bytes alone belong to the number, by how many do.
_KEPT = np.array([_ALL ^ ((1 << (8 * (8 - count))) - 1) if count else 0 for count in range(9)], dtype=np.uint64)
#: By the bits below the dot's byte (64: no dot): the digits after it, and the digits of the word.
_AFTER_DOT = np.array([7 - bits // 8 if bits < 64 else 0 for bits in range(65)], dtype=np.int64)
_POWERS = 10.0 ** np.arange(_MAX_DIGITS + WORD_BYTES)
_WIDTHS = np.array([10**7 if bits < 64 else 10**8 for bits in range(65)], dtype=np.uint64)


def decimals(numbers: Identifiers) -> FloatArray:
    """Numbers as ``float`` reads them from text; NaN for what is no number, and for digits grouped with ``_``.

    Digits with a sign and a dot are computed for all numbers together; whatever else a number may be (exponents, 20
    digits and more) is left to ``float``.
    """
    ends = numbers.starts + numbers.lengths
    first = numbers.text[numbers.starts]
    negative = first == ord("-")
    widths = numbers.lengths - (negative | (first == ord("+")))
    every = _words(numbers)
    mantissas, odd, below = _eight(every, ends, widths)
    digits = widths - (below < 64)
    after = _AFTER_DOT[below]
    odd |= (digits < 1) | (widths > _MAX_DIGITS + 1)
    rows = np.flatnonzero(widths > WORD_BYTES)
    scale = _WIDTHS[below[rows]]
    for place in range(1, 3):
        if not len(rows):
            break
        higher, bad, dot = _eight(every, ends[rows] - place * WORD_BYTES, widths[rows] - place * WORD_BYTES)
        mantissas[rows] += higher * scale
        scale *= _WIDTHS[dot]
        has_dot = dot < 64
        odd[rows] |= bad | (has_dot & (digits[rows] < widths[rows]))
        digits[rows] -= has_dot
        after[rows] += np.where(has_dot, _AFTER_DOT[dot] + place * WORD_BYTES, 0)
        further = widths[rows] > (place + 1) * WORD_BYTES
        rows, scale = rows[further], scale[further]
    odd |= digits > _MAX_DIGITS
    after[odd] = 0
    values: FloatArray = mantissas.astype(np.float64) / _POWERS[after]
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

    Returned with it are whether anything but digits and one dot is there, and the bits before the dot, or 64.
    """
    places = ends - WORD_BYTES
    words = every[np.maximum(places, 0)]
    words ^= _ZEROS  # digits are bytes 0 to 9 now
    words &= _KEPT[np.minimum(widths, WORD_BYTES)]
    apart = words ^ _DOTS
    dots = ~(((apart & _SEVEN_BITS) + _SEVEN_BITS) | apart | _SEVEN_BITS)  # the high bit of each dot
    marks = dots >> np.uint64(7)
    before = marks - np.uint64(1)  # all bytes before the dot; everything without one
    below = np.bitwise_count(before)
    moved = (words & before) << np.uint64(8)
    words = np.where(dots == 0, words, moved | (words & ~(before | (marks * np.uint64(255)))))
    odd = (((words + _OVER_NINE) | words) & _HIGH_BITS) != 0
    odd |= ((dots & (dots - np.uint64(1))) != 0) | (places < 0)
    words = words * np.uint64(10) + (words >> np.uint64(8))  # pairs of digits
    pairs = np.uint64(0x000000FF000000FF)
    low = (words & pairs) * np.uint64(0x000F424000000064)
    high = ((words >> np.uint64(16)) & pairs) * np.uint64(0x0000271000000001)
    return (low + high) >> np.uint64(32), odd, below.astype(np.int64)


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
