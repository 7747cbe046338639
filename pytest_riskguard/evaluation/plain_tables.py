"""Tables of scores without quotes, a million rows in a second: cells are cut out and checked column by column.

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

#: The longest cell that the csv module reads.
MAX_CELL = 131_072
#: Topics are sorted as numbers of this many bytes, one or two of them each.
WORD = 8

FloatArray = npt.NDArray[np.float64]


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
    rows = rows.removesuffix(b"\n")
    if not rows or b'"' in rows or b"\r" in rows:
        return None
    cells = _cells(rows, delimiter, width)
    if cells is None:
        return None
    names = [*map(str.strip, cells[topics::width])]
    order = ascending(names)
    if order is None or not names[int(order[0])]:
        return None
    values = {name: _numbers(cells[column.place :: width], column) for name, column in columns.items()}
    found = {name: array[order] for name, array in values.items() if array is not None}
    return (tuple(names[i] for i in order.tolist()), found) if len(found) == len(values) else None


def _cells(rows: bytes, delimiter: str, width: int) -> list[str] | None:
    """All cells, row after row; None where a row has another number of them, or one is too long."""
    characters = np.frombuffer(rows, dtype=np.uint8)
    ends = np.flatnonzero((characters == ord(delimiter)) | (characters == ord("\n")))
    is_line_end = characters[ends] == ord("\n")
    if (ends.size + 1) % width or np.any(is_line_end != (np.arange(1, ends.size + 1) % width == 0)):
        return None
    if np.max(np.diff(ends, prepend=-1, append=characters.size)) > MAX_CELL + 1:
        return None
    return rows.decode().replace("\n", delimiter).split(delimiter)


def _numbers(cells: Sequence[str], column: Column) -> FloatArray | None:
    """Finite numbers within the bounds of a column; None if one is anything else."""
    if "_" in "".join(cells):  # which Python takes between digits
        return None
    try:
        values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        return None
    within = (values >= column.low) & (values <= column.high) & np.isfinite(values)
    return values if np.all(within) else None


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
    return all(map(lt, texts, islice(texts, 1, None)))
