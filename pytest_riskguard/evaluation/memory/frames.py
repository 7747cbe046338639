"""Frames of pandas, polars and PyArrow as tables, and pandas' series, through narwhals."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from pytest_riskguard.errors import ScoringError
from pytest_riskguard.evaluation.memory.input_data import Input
from pytest_riskguard.evaluation.memory.tables import Table
from pytest_riskguard.formats.columns import places
from pytest_riskguard.text import clean


class Frame(Protocol):
    """For type checkers: a frame of pandas, polars, PyArrow, or another library that narwhals knows."""

    @property
    def columns(self) -> Any:
        """Their names, or the columns themselves."""


class Series(Protocol):
    """For type checkers: a series with an index, as pandas has it."""

    @property
    def index(self) -> Any:
        """One topic for each value."""

    def to_dict(self) -> Any:
        """The values by their index."""


def is_frame(data: object) -> bool:
    """Whether an object has named columns; its class is asked, since polars warns when a lazy frame is."""
    return hasattr(type(data), "columns") and not isinstance(data, Mapping)


def is_series(data: object) -> bool:
    """Whether an object is one column, with an index or without one."""
    kind = type(data)
    return kind.__name__ == "Series" or (hasattr(kind, "index") and hasattr(kind, "to_dict") and not is_frame(data))


def table_of_frame(given: Input, frame: Any) -> Table:
    """The columns of a frame; the levels of pandas' index that have names are columns too.

    ``TypeError`` for a frame that is not in memory.
    """
    import narwhals as nw
    from narwhals.exceptions import NarwhalsError

    frame = _with_index(frame)
    if type(frame).__name__ == "RecordBatch":
        import pyarrow  # the batch has loaded it

        frame = pyarrow.Table.from_batches([frame])
    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError:
        remedy = "collect it first, such as with `.collect()`"
        raise TypeError(f"{given.name}: expected a frame in memory, found {_kind(frame)}; {remedy}") from None
    except (NarwhalsError, ValueError) as problem:
        raise given.refuse(None, f"expected columns with different names: {clean(str(problem))}") from None
    columns = list(eager.columns)
    return Table(given, tuple(map(str, columns)), lambda place: eager.get_column(columns[place]).to_list())


def mapping_of_series(series: Any, what: str) -> dict[Hashable, object]:
    """The values of a series by its index.

    ``TypeError`` for one without an index of topics, such as row numbers, which would pair topics by their places;
    ``ScoringError`` for a topic twice.
    """
    if not hasattr(series, "index") or callable(series.index):
        raise TypeError(
            f"{what}: expected a topic for each score, found {_kind(series)}, which has no index; give a frame with "
            "a column of topics and one of scores, or a mapping topic -> score"
        )
    if series.index.nlevels != 1:
        levels = ", ".join(map(str, series.index.names))
        raise TypeError(
            f"{what}: expected an index of topics, found one of {series.index.nlevels} levels ({levels}); "
            "`.reset_index()` makes a frame of it"
        )
    index = series.index
    if type(index).__name__ == "RangeIndex" and (index.name, index.start, index.step) == (None, 0, 1):
        raise TypeError(
            f"{what}: expected an index of topics, found row numbers; set it first, such as with "
            "`frame.set_index('qid')`; if the numbers are the topics, name it: `series.rename_axis('topic')`"
        )
    topics = series.index.to_list()
    twice = len(topics) - len(set(topics))
    if twice:
        repeated = next(topic for place, topic in enumerate(topics) if topic in topics[:place])
        raise ScoringError(f"{what}: expected each topic once in the index, found {repeated!r} again")
    return dict(zip(topics, series.to_list(), strict=True))


def _with_index(frame: Any) -> Any:
    """The frame with the named levels of its index as columns; without topics, with its unnamed index as topics."""
    index = getattr(frame, "index", None)
    if index is None or not hasattr(frame, "reset_index"):
        return frame
    if any(name is not None for name in index.names):
        with suppress(ValueError):  # there is a column of that name already
            return frame.reset_index()
        return frame
    is_numbered = type(index).__name__ == "RangeIndex"
    if is_numbered or places(map(str, frame.columns), ["topic", "query"]):
        return frame
    return frame.reset_index(names="topic")


def _kind(value: object) -> str:
    return f"{type(value).__module__.partition('.')[0]} {type(value).__name__}"
