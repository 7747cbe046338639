"""Verdicts as JSON and back, exactly: every float, every type, every text as it was.

The JSON of reports rounds numbers; a kept verdict must print what the judged one printed. Only the records that
verdicts are made of can be read, so that no entry makes anything else.

Long tables that no screen shows have lines of their own below the first, which has all the rest: they are read when
somebody looks at them.
"""

from __future__ import annotations

import functools
import gc
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any

from pytest_riskguard.formats import metadata, records
from pytest_riskguard.gates import findings, kinds, origins, verdict
from pytest_riskguard.gates.rankings import entries, label_findings
from pytest_riskguard.gates.verdict import Deferred, Verdict

_MODULES = (verdict, findings, label_findings, kinds, origins, entries, metadata, records)
_DEFERRED, _LIST, _MAPPING = "deferred", "list", "mapping"
_SCALARS = frozenset((str, bool, int, float, type(None)))
#: Before the name of a type: many of them, column by column.
_COLUMNS = "columns of "
#: The same on a line of their own: which line, and how many there are.
_BELOW = "columns below of "
#: One for each topic, of which no screen shows more than a few.
_LATE = (label_findings.UnjudgedTopic,)


class ExactError(ValueError):
    """A value that no verdict holds, or text that is not one that ``written`` gave."""


def written(value: Verdict) -> str:
    """A verdict as text in ASCII, with all its findings; ``ExactError`` for a value of another kind."""
    tables: list[str] = []
    return "\n".join([_compact(_plain(value, tables)), *tables])


def read(text: str) -> Verdict:
    """The verdict that ``written`` gave; ``ExactError`` for any other text."""
    try:
        with _collecting_nothing():
            first, *tables = text.split("\n")
            value = _value(json.loads(first), tables)
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise ExactError(f"expected a verdict, found something else ({type(error).__name__})") from None
    if not isinstance(value, Verdict):
        raise ExactError(f"expected a verdict, found {type(value).__name__}")
    return value


@contextmanager
def _collecting_nothing() -> Iterator[None]:
    """Collect no garbage: looking for it among thousands of records that are all needed takes half of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _compact(plain: Any) -> str:
    return json.dumps(plain, separators=(",", ":"))


def _plain(value: Any, tables: list[str]) -> Any:
    """JSON types: a tuple is a list, everything else that is not a scalar an object that names its type.

    Long tables are appended to ``tables``.
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is tuple or kind is _Rows:
        return _columns(value, tables) or [_plain(item, tables) for item in value]
    if kind is list:
        return {_LIST: [_plain(item, tables) for item in value]}
    if kind is Deferred:
        return {_DEFERRED: _plain(value.value, tables)}
    if isinstance(value, Mapping):
        return {_MAPPING: [[_plain(key, tables), _plain(item, tables)] for key, item in value.items()]}
    if kind is _records().get(kind.__name__):
        return {kind.__name__: [_plain(getattr(value, name), tables) for name in _names(kind)]}
    raise ExactError(f"expected a value that a verdict holds, found {kind.__name__}")


def _columns(values: Sequence[Any], tables: list[str]) -> dict[str, Any] | None:
    """Many records of one type as columns, which are read much faster; None for anything else."""
    kinds = set(map(type, values))
    if len(values) < 2 or len(kinds) > 1 or not is_dataclass(kind := kinds.pop()):
        return None
    if kind is not _records().get(kind.__name__):
        raise ExactError(f"expected a value that a verdict holds, found {kind.__name__}")
    late = kind in _LATE
    # a table on a line of its own has no others inside
    inner = [] if late else tables
    columns = [_plain(tuple(getattr(value, name) for value in values), inner) for name in _names(kind)]
    if not late:
        return {_COLUMNS + kind.__name__: columns}
    tables.append(_compact(columns))
    return {_BELOW + kind.__name__: [len(tables) - 1, len(values)]}


def _value(plain: Any, tables: Sequence[str]) -> Any:
    if isinstance(plain, list):
        if _SCALARS.issuperset(map(type, plain)):
            return tuple(plain)
        return tuple([_value(item, tables) for item in plain])
    if not isinstance(plain, dict):
        return plain
    ((name, content),) = plain.items()
    if name == _MAPPING:
        return {_value(key, tables): _value(item, tables) for key, item in content}
    if name == _LIST:
        return [_value(item, tables) for item in content]
    if name == _DEFERRED:
        return Deferred.of(_value(content, tables))
    if name.startswith(_BELOW):
        place, count = content
        return _Rows(_late(name.removeprefix(_BELOW)), count, tables[place])
    kind = _records()[name.removeprefix(_COLUMNS)]
    if name.startswith(_COLUMNS):
        columns = [_value(column, tables) for column in content]
        return tuple(itertools.starmap(kind, zip(*_checked(columns, kind, len(columns[0])), strict=True)))
    return kind(**dict(zip(_names(kind), [_value(item, tables) for item in content], strict=True)))


def _late(name: str) -> Any:
    if (kind := _records()[name]) not in _LATE:
        raise ExactError(f"expected no table of {name} below")
    return kind


def _checked(columns: Sequence[Sequence[Any]], kind: Any, count: int) -> Sequence[Sequence[Any]]:
    if len(columns) != len(_names(kind)) or set(map(len, columns)) != {count}:
        raise ExactError(f"expected {len(_names(kind))} columns of {count}, found {len(columns)}")
    return columns


class _Rows(Sequence[Any]):
    """Records in columns, equal to the tuple of them; each is made when somebody looks at it."""

    def __init__(self, kind: Any, count: int, text: str) -> None:
        self._kind, self._count, self._text = kind, count, text

    @functools.cached_property
    def _columns(self) -> Sequence[Sequence[Any]]:
        return _checked(_value(json.loads(self._text), ()), self._kind, self._count)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return tuple(itertools.starmap(self._kind, zip(*(c[place] for c in self._columns), strict=True)))
        return self._kind(*(column[place] for column in self._columns))

    def __iter__(self) -> Iterator[Any]:
        return itertools.starmap(self._kind, zip(*self._columns, strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | _Rows) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


@functools.cache
def _records() -> dict[str, Any]:
    """The records that verdicts are made of, by name."""
    found = [value for module in _MODULES for value in vars(module).values()]
    return {value.__name__: value for value in found if isinstance(value, type) and is_dataclass(value)}


@functools.cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
