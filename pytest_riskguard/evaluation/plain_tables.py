"""Tables of scores without quotes, a million rows in half a second: cells are found and checked column by column.

What is wrong with a table is not said here: whatever is unusual is left to the reader that goes line by line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import lt

import numpy as np
import numpy.typing as npt

from pytest_riskguard.evaluation.runs.decimals import decimals
from pytest_riskguard.evaluation.runs.identifiers import Identifiers

#: The longest cell that the csv module reads.
MAX_CELL = 131_072
#: Topics are sorted as numbers of this many bytes, one or two of them each.
WORD = 8
#: What ``str.strip`` removes from ASCII text, besides the end of a line.
_SPACES = tuple(b"\t\v\f\r\x1c\x1d\x1e\x1f ")

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Ascending(tuple[str, ...]):
    """Texts that are known to be in ascending order, each once, so that nobody needs to check a million of them."""

    __slots__ = ()


@dataclass(frozen=True)
class _Topics:
    """A column of topics: its text, a line for each, the topics in order, and the rows where these are."""

    text: bytes
    ascending: Ascending
    order: npt.NDArray[np.intp]


#: The last topics read: tables that are compared mostly have the same column of topics.
_LAST_TOPICS: list[_Topics] = []


@dataclass(frozen=True)
class Column:
    """A column to be read: its place, and the least and the greatest number that it may hold."""

    place: int
    low: float = -math.inf
    high: float = math.inf


def read_columns(
    rows: bytes, *, delimiter: str, width: int, topics: int, columns: Mapping[str, Column]
) -> tuple[tuple[str, ...], dict[str, FloatArray]] | None:
    """Topics in ascending order, and the values of each column; None for rows that need a closer look.

    Parameters
    ----------
    rows : bytes
        The lines below the header, UTF-8 without NUL.
    delimiter : str
        A comma or a tab.
    width, topics : int
        How many cells a row has, and which of them is its topic.
    """
    if not rows or b'"' in rows or b"\r" in rows:
        return None
    rows = rows if rows.endswith(b"\n") else rows + b"\n"
    characters = np.frombuffer(rows, dtype=np.uint8)
    ends = _ends(characters, delimiter, width)
    if ends is None:
        return None
    lengths = np.diff(ends.ravel(), prepend=-1).reshape(ends.shape) - 1
    if int(lengths.max()) > MAX_CELL:
        return None
    known = _topics(characters, lengths, topics)
    if known is None:
        return None
    values = {}
    for name, column in columns.items():
        place = column.place
        cells = Identifiers(characters, ends[:, place] - lengths[:, place], lengths[:, place].copy())
        numbers = decimals(cells)
        if not np.all((numbers >= column.low) & (numbers <= column.high) & np.isfinite(numbers)):
            return None
        values[name] = numbers[known.order]
    return known.ascending, values


def _ends(characters: npt.NDArray[np.uint8], delimiter: str, width: int) -> IntArray | None:
    """The places of the delimiters and line ends, shape (n_rows, width), for rows that all end with a line end.

    None where a row has another number of cells.
    """
    is_line_end = characters == ord("\n")
    ends = np.flatnonzero((characters == ord(delimiter)) | is_line_end)
    if ends.size % width:
        return None
    by_row = ends.reshape(-1, width)
    is_last = is_line_end[by_row]
    return by_row if np.all(is_last[:, -1]) and not np.any(is_last[:, :-1]) else None


def _topics(characters: npt.NDArray[np.uint8], lengths: IntArray, place: int) -> _Topics | None:
    """The topics in one column; None if one is there twice, or empty."""
    belongs = np.zeros(lengths.shape, dtype=np.bool_)
    belongs[:, place] = True
    column = characters[np.repeat(belongs, lengths.ravel() + 1)]
    column[np.cumsum(lengths[:, place] + 1) - 1] = ord("\n")
    text = column.tobytes()
    for known in _LAST_TOPICS:
        if known.text == text:
            return known
    names = text.decode().split("\n")[:-1]
    if not text.isascii() or any(space in text for space in _SPACES):
        names = [*map(str.strip, names)]
    order = ascending(names)
    if order is None or not names[int(order[0])]:
        return None
    in_order = names if np.array_equal(order, np.arange(order.size)) else [names[i] for i in order.tolist()]
    found = _Topics(text, Ascending(in_order), order)
    _LAST_TOPICS[:] = [found]
    return found


def ascending(texts: Sequence[str]) -> npt.NDArray[np.intp] | None:
    """The places of different texts in ascending order; None where two are the same."""
    if is_ascending(texts):
        return np.arange(len(texts))
    joined = "".join(texts)
    sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    if not joined.isascii() or "\0" in joined or int(sizes.max()) > 2 * WORD:
        order = np.array(sorted(range(len(texts)), key=texts.__getitem__), dtype=np.intp)
        return order if is_ascending([texts[i] for i in order.tolist()]) else None
    # an ASCII text sorts as the number that its bytes make, the first byte counting most
    padded = np.zeros((len(texts), 2 * WORD), dtype=np.uint8)
    rows, starts = np.repeat(np.arange(sizes.size), sizes), np.cumsum(sizes) - sizes
    padded[rows, np.arange(len(joined)) - starts[rows]] = np.frombuffer(joined.encode(), dtype=np.uint8)
    first, second = padded.view(">u8").astype(np.uint64).T
    order = np.argsort(first, kind="stable") if not second.any() else np.lexsort((second, first))
    same = (np.diff(first[order]) == 0) & (np.diff(second[order]) == 0)
    return None if np.any(same) else order


def is_ascending(texts: Sequence[str]) -> bool:
    """Whether each text is larger than the one before it."""
    return isinstance(texts, Ascending) or all(map(lt, texts, islice(texts, 1, None)))
