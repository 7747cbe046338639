"""Verdicts as JSON and back, exactly: every float, every type, every text as it was.

The JSON of reports rounds numbers; a kept verdict must print what the judged one printed. Only the records that
verdicts are made of can be read, so that no entry makes anything else.
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
from pytest_riskguard.gates.rankings import entries
from pytest_riskguard.gates.verdict import Deferred, Verdict

_MODULES = (verdict, findings, kinds, origins, entries, metadata, records)
_DEFERRED, _LIST, _MAPPING = "deferred", "list", "mapping"
_SCALARS = frozenset((str, bool, int, float, type(None)))
#: Before the name of a type: many of them, column by column.
_COLUMNS = "columns of "
#: One for each topic, of which no screen shows more than a few.
_LATE = (findings.UnjudgedTopic,)


class ExactError(ValueError):
    """A value that no verdict holds, or text that is not one that ``written`` gave."""


def written(value: Verdict) -> str:
    """A verdict as text in ASCII, with all its findings; ``ExactError`` for a value of another kind."""
    return json.dumps(_plain(value), separators=(",", ":"))


def read(text: str) -> Verdict:
    """The verdict that ``written`` gave; ``ExactError`` for any other text."""
    try:
        with _collecting_nothing():
            value = _value(json.loads(text))
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


def _plain(value: Any) -> Any:
    """JSON types: a tuple is a list, everything else that is not a scalar an object that names its type."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is tuple or kind is _Rows:
        return _columns(value) or [_plain(item) for item in value]
    if kind is list:
        return {_LIST: [_plain(item) for item in value]}
    if kind is Deferred:
        return {_DEFERRED: _plain(value.value)}
    if isinstance(value, Mapping):
        return {_MAPPING: [[_plain(key), _plain(item)] for key, item in value.items()]}
    if kind is _records().get(kind.__name__):
        return {kind.__name__: [_plain(getattr(value, name)) for name in _names(kind)]}
    raise ExactError(f"expected a value that a verdict holds, found {kind.__name__}")


def _columns(values: Sequence[Any]) -> dict[str, Any] | None:
    """Many records of one type as columns, which are read much faster; None for anything else."""
    kinds = set(map(type, values))
    if len(values) < 2 or len(kinds) > 1 or not is_dataclass(kind := kinds.pop()):
        return None
    if kind is not _records().get(kind.__name__):
        raise ExactError(f"expected a value that a verdict holds, found {kind.__name__}")
    return {_COLUMNS + kind.__name__: [_plain(tuple(getattr(v, name) for v in values)) for name in _names(kind)]}


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return tuple(plain) if _SCALARS.issuperset(map(type, plain)) else tuple(map(_value, plain))
    if not isinstance(plain, dict):
        return plain
    ((name, content),) = plain.items()
    if name == _MAPPING:
        return {_value(key): _value(item) for key, item in content}
    if name == _LIST:
        return [_value(item) for item in content]
    if name == _DEFERRED:
        return Deferred.of(_value(content))
    kind = _records()[name.removeprefix(_COLUMNS)]
    if name.startswith(_COLUMNS):
        columns = [_value(column) for column in content]
        if len(columns) != len(_names(kind)) or len(set(map(len, columns))) != 1:
            raise ExactError(f"expected {len(_names(kind))} columns of one length, found {len(columns)}")
        rows = _Rows(kind, columns)
        return rows if kind in _LATE else tuple(rows)
    return kind(**dict(zip(_names(kind), map(_value, content), strict=True)))


class _Rows(Sequence[Any]):
    """Records in columns, equal to the tuple of them; each is made when somebody looks at it."""

    def __init__(self, kind: Any, columns: Sequence[Sequence[Any]]) -> None:
        self._kind, self._columns = kind, columns

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return tuple(_Rows(self._kind, [column[place] for column in self._columns]))
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
