"""Text with fields as columns: whole blocks of lines with numpy, some 20 times as fast as line by line.

Anything unusual is refused without words: whoever reads the file line by line then says what is wrong, or that
nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.ids import BoolArray, Ids, IntArray
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import Limit

if TYPE_CHECKING:
    from pytest_riskguard.data.input_files import InputFile

FloatArray = npt.NDArray[np.float64]
Characters = npt.NDArray[np.uint8]

_FEED, _RETURN, _SPACE = ord("\n"), ord("\r"), ord(" ")
#: What separates fields where there is no separator, by code. Other control characters belong to the fields.
_IS_WHITE = np.array([code in b" \t\n\r\x0b\x0c" for code in range(_SPACE + 1)])
#: White space beyond ASCII, which Python strips from a cell.
_WIDE_SPACE = re.compile(rb"\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80")
#: Numbers of up to so many characters are read together.
_MOST_CHARACTERS = 64
_PLUS, _UNDERSCORE, _QUOTE = ord("+"), ord("_"), ord('"')


class RefusedError(Exception):
    """Something is wrong with a text, or may be: reading it line by line says what."""


@frozen(eq=False)
class TextBlock:
    """Some lines of a text, without those that are blank.

    Attributes
    ----------
    columns : tuple of Ids, each of shape (n_rows,)
        The fields; all share the bytes of the block.
    lines : array of int64, shape (n_rows,)
        The number of each row's line in the file, from 1.
    """

    columns: tuple[Ids, ...]
    lines: IntArray


def text_blocks(file: InputFile, fields: int, *, longest: Limit, separator: str | None = None) -> Iterator[TextBlock]:
    """The lines of a file, about a million bytes at a time, each with so many fields.

    ``separator`` is the character between two fields; by default any white space separates them, and blank lines are
    left out. ``RefusedError`` for another number of fields, bytes that are not UTF-8, NUL, lines of more than
    ``longest`` bytes, more lines than ``limits.LINES``, and with a separator also for quotes
    but around whole cells, cells with white space around them and rows without anything.
    """
    most = longest.value
    for first, text in file.texts(longest):
        if not text.endswith(b"\n"):
            text += b"\n"
        characters = np.frombuffer(text, dtype=np.uint8)
        if separator is None:
            starts, ends, lines = _words(characters, fields, most)
        else:
            starts, ends, lines = _cells(text, characters, fields, ord(separator), most)
        columns = tuple(Ids(characters, *places) for places in zip(starts, ends - starts, strict=True))
        yield TextBlock(columns, lines + first)


def numbers(cells: Ids) -> FloatArray:
    """Numbers as ``float`` reads them, NaN where a cell is empty.

    ``RefusedError`` for what is no finite number, or written as hardly any program writes one.
    """
    filled = cells.lengths > 0
    if not filled.all():
        values = np.full(len(cells), np.nan)
        values[filled] = numbers(cells.at(filled))
        return values
    width = int(cells.lengths.max(initial=1))
    if width > _MOST_CHARACTERS:
        raise RefusedError
    text = np.concatenate([cells.text, np.zeros(width, dtype=np.uint8)])
    table = np.lib.stride_tricks.sliding_window_view(text, width)[cells.starts]
    table = np.where(np.arange(width) < cells.lengths[:, None], table, np.uint8(0))
    if ((table == _UNDERSCORE) | ((table > 0) & (table < _PLUS))).any():  # which Python's numbers may have
        raise RefusedError
    try:
        values = table.view(f"S{width}").ravel().astype(np.float64)
    except ValueError:
        raise RefusedError from None
    if not np.isfinite(values).all():
        raise RefusedError
    return values


#: Where fields start and end, two arrays of shape (fields, n_rows), and the line of each row, from 0.
_Places = tuple[IntArray, IntArray, IntArray]


def _between(edges: IntArray, fields: int) -> tuple[IntArray, IntArray]:
    """Where fields start and end if each ends at the next edge, the last one of a row with its line."""
    ends = np.ascontiguousarray(edges.reshape(-1, fields).T)
    starts = np.empty_like(ends)
    starts[0, 0] = 0
    np.add(ends[-1, :-1], 1, out=starts[0, 1:])
    np.add(ends[:-1], 1, out=starts[1:])
    return starts, ends


def _words(characters: Characters, fields: int, longest: int) -> _Places:
    edges = np.flatnonzero(characters <= _SPACE)
    if len(edges) % fields == 0:
        starts, ends = _between(edges, fields)
        if (
            (ends > starts).all()
            and (characters[ends[-1]] == _FEED).all()
            and np.count_nonzero(characters == _SPACE) == len(edges) - ends.shape[1]
        ):
            if (ends[-1] - starts[0]).max() > longest:
                raise RefusedError
            return starts, ends, np.arange(ends.shape[1])
    return _words_anywhere(edges, characters[edges], fields, longest)


def _words_anywhere(edges: IntArray, kinds: Characters, fields: int, longest: int) -> _Places:
    """The same for lines with white space of any length and kind, and for blank lines."""
    is_white = _IS_WHITE[kinds]
    edges, kinds = edges[is_white], kinds[is_white]
    feeds = kinds == _FEED
    if np.diff(edges[feeds], prepend=-1).max() > longest + 1:
        raise RefusedError
    starts = np.concatenate([[0], edges[:-1] + 1])
    found = np.flatnonzero(edges > starts)
    lines = (np.cumsum(feeds) - feeds)[found]
    if len(found) % fields:
        raise RefusedError
    lines = lines.reshape(-1, fields)
    if (lines[:, 0] != lines[:, -1]).any() or (lines[1:, 0] == lines[:-1, 0]).any():
        raise RefusedError
    starts, ends = (np.ascontiguousarray(place[found].reshape(-1, fields).T) for place in (starts, edges))
    return starts, ends, lines[:, 0]


def _cells(text: bytes, characters: Characters, fields: int, separator: int, longest: int) -> _Places:
    if not text.isascii() and _WIDE_SPACE.search(text):
        raise RefusedError
    feeds: BoolArray = characters == _FEED
    is_edge = (characters == separator) | feeds
    if b'"' in text:
        is_edge &= np.cumsum(characters == _QUOTE, dtype=np.uint8) % 2 == 0
    edges = np.flatnonzero(is_edge)
    if not len(edges) or len(edges) % fields:
        raise RefusedError
    starts, ends = _between(edges, fields)
    rows = ends.shape[1]
    if not feeds[ends[-1]].all() or np.count_nonzero(feeds) != rows or (ends[-1] - starts[0]).max() > longest:
        raise RefusedError
    if b"\r" in text:
        returns = characters[ends[-1] - 1] == _RETURN  # of an empty first line, the line feed at the end
        if np.count_nonzero(returns) != text.count(b"\r"):
            raise RefusedError
        ends[-1] -= returns
    if b'"' in text:
        starts, ends = _unquoted(text, characters, starts, ends)
    filled = ends > starts
    padded = (characters[starts] <= _SPACE) | (characters[ends - 1] <= _SPACE)
    if (padded & filled).any() or not filled.any(axis=0).all():
        raise RefusedError
    return starts, ends, np.arange(rows)


def _unquoted(text: bytes, characters: Characters, starts: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """Cells without quotes around them; none may have another one, which a quote inside would need."""
    quoted = (characters[starts] == _QUOTE) & (characters[ends - 1] == _QUOTE) & (ends - starts > 1)
    if 2 * np.count_nonzero(quoted) != text.count(b'"'):
        raise RefusedError
    return starts + quoted, ends - quoted
