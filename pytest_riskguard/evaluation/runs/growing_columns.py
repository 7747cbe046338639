"""Columns that grow while a run is read.

Each is one large piece of memory: many small ones would stay scattered among what is freed and keep it from use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.evaluation.runs.identifiers import Identifiers, Places, starts_of
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

    @property
    def values(self) -> AnyArray:
        """All values so far; adding more may move them."""
        return self._rows[: self._size]

    def drop_after(self, size: int) -> None:
        """Drop all values but the first."""
        self._size = size

    def array(self) -> AnyArray:
        """All values; nothing can be added afterwards."""
        self._resize(self._size)
        return self._rows

    def taken(self, places: Places | None) -> AnyArray:
        """The values at some places, in the order of the places; the column is then empty, and its memory free.

        None: all values, which are not copied.
        """
        taken = self.array() if places is None else self.values[places]
        self._rows, self._size = self._rows[:0].copy(), 0
        return taken

    def keep(self, places: Places) -> None:
        """Drop all values but those at some places, in ascending order."""
        self._rows[: len(places)] = self._rows[places]
        self._size = len(places)

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
        self._text, self._lengths = Column(np.uint8), Column(np.int32)

    def append(self, ids: Identifiers) -> None:
        """Add ids at the end."""
        self._text.append(ids.compact().text)
        self._lengths.append(ids.lengths)

    def identifiers(self) -> Identifiers:
        """All ids; nothing can be added afterwards."""
        lengths, text = self._lengths.array(), self._text.array()
        return Identifiers(text, starts_of(lengths), lengths)

    def taken(self, places: Places | None) -> Identifiers:
        """The ids at some places, in the order of the places; the column is then empty, and its memory free.

        None: all ids, which are not copied.
        """
        taken = self.identifiers()
        if places is not None:
            taken = taken.at(places).compact()
        self._text, self._lengths = Column(np.uint8), Column(np.int32)
        return taken

    def keep(self, places: Places) -> None:
        """Drop all ids but those at some places, in ascending order."""
        kept = Identifiers(self._text.values, starts_of(self._lengths.values), self._lengths.values).at(places)
        self._lengths.keep(places)
        kept.copied_to(self._text.values)  # each to where it was, or before
        self._text.drop_after(int(self._lengths.values.sum()))


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

    def taken(self, rows: Places | None) -> Mapping[Order, Ranks]:
        """The ranks of some rows, in their order; the columns are empty afterwards, and their memory free.

        None: all ranks, which are not copied.
        """
        columns = {id(column): column for column in self._columns.values()}
        taken = {name: column.taken(rows) for name, column in columns.items()}
        return {order: taken[id(column)] for order, column in self._columns.items()}
