"""Columns that grow while a run is read.

Each is one large piece of memory: many small ones would stay scattered among what is freed and keep it from use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.evaluation.runs.identifiers import Identifiers
from pytest_riskguard.evaluation.runs.order import Order

AnyArray = npt.NDArray[Any]
Ranks = npt.NDArray[np.int32]

_FIRST_ROWS = 2**12
#: How much a full column grows: little enough that most of its memory is used.
_GROWTH = 1.25


class Column:
    """Values of one type, or rows of as many values each, appended some at a time."""

    def __init__(self, dtype: npt.DTypeLike, *, width: int | None = None) -> None:
        self._rows: AnyArray = np.empty(_FIRST_ROWS if width is None else (_FIRST_ROWS, width), dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def append(self, values: AnyArray) -> None:
        """Add values at the end."""
        size = self._size + len(values)
        if size > len(self._rows):
            self._resize(max(size, int(_GROWTH * len(self._rows))))
        self._rows[self._size : size] = values
        self._size = size

    def array(self) -> AnyArray:
        """All values; nothing can be added afterwards."""
        self._resize(self._size)
        return self._rows

    def copy(self) -> Column:
        """A column with the same values."""
        column = Column(self._rows.dtype)
        column.append(self._rows[: self._size])
        return column

    def _resize(self, size: int) -> None:
        self._rows.resize((size, *self._rows.shape[1:]), refcheck=False)


class IdentifierColumn:
    """Ids, appended some at a time."""

    def __init__(self) -> None:
        self._text, self._lengths = Column(np.uint8), Column(np.int64)

    def append(self, ids: Identifiers) -> None:
        """Add ids at the end."""
        self._text.append(ids.compact().text)
        self._lengths.append(ids.lengths)

    def identifiers(self) -> Identifiers:
        """All ids; nothing can be added afterwards."""
        lengths = self._lengths.array()
        starts = np.cumsum(lengths)
        starts -= lengths  # in place: there may be many
        return Identifiers(self._text.array(), starts, lengths)


class OrderColumns:
    """Ranks in every order; orders that have agreed so far share a column."""

    def __init__(self) -> None:
        self._columns = dict.fromkeys(Order, Column(np.int32))

    def append(self, ranks: Mapping[Order, Ranks]) -> None:
        """Add rows at the end; of orders that agree, the arrays are the same object."""
        before = self._columns
        together: dict[tuple[int, int], Order] = {}  # by the column so far and what comes now: the first such order
        first = {order: together.setdefault((id(before[order]), id(ranks[order])), order) for order in Order}
        kept: set[int] = set()
        after: dict[Order, Column] = {}
        for order in together.values():
            column = before[order]
            after[order] = column.copy() if id(column) in kept else column
            kept.add(id(column))
        for order, column in after.items():
            column.append(ranks[order])
        self._columns = {order: after[first[order]] for order in Order}

    def ranks(self) -> Mapping[Order, Ranks]:
        """All ranks; nothing can be added afterwards."""
        arrays = {id(column): column.array() for column in self._columns.values()}
        return {order: arrays[id(column)] for order, column in self._columns.items()}
