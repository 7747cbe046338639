"""Frozen dataclasses as plain JSON types, and back."""

from __future__ import annotations

import functools
import math
import sys
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

#: Digits that a report keeps: more would show the last bits of a sum, which mean nothing.
SIGNIFICANT_DIGITS = 12

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """Plain types: 12 significant digits, non-finite numbers as None, mappings sorted by key."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(value[key]) for key in sorted(value)}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, bool) or value is None or isinstance(value, str | int):
        return value
    return rounded(float(value))


def rounded(value: float) -> float | None:
    """A number as a report holds it; zero never carries a sign."""
    if not math.isfinite(value):
        return None
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") + 0.0


def from_plain(cls: type[T], data: Any, *, where: str = "") -> T:
    """The dataclass that ``to_plain`` wrote; unknown fields are left out, those with a default may lack.

    Raises
    ------
    ValueError
        Something is not of the type that the dataclass says; the message begins with where it stands.
    """
    made: T = _decoded(cls, data, where or cls.__name__)
    return made


def _decoded(kind: Any, value: Any, where: str) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _one_of(arguments, value, where)
    if origin is Literal:
        return _expected(value in arguments and isinstance(value, str), value, f"one of {arguments}", where)
    if origin is tuple:
        _expected(isinstance(value, list), value, "a list", where)
        return tuple(_decoded(arguments[0], item, f"{where}[{place}]") for place, item in enumerate(value))
    if origin is not None and issubclass(origin, Mapping):
        _expected(isinstance(value, dict), value, "an object", where)
        return {key: _decoded(arguments[1], item, f"{where}.{key}") for key, item in value.items()}
    if is_dataclass(kind):
        return _object(kind, value, where)
    if kind is type(None):
        return _expected(value is None, value, "null", where)
    if kind is float:
        # a float that is not finite was written as null
        number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
        return math.nan if value is None else _expected(number, value, "a number", where)
    right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    return _expected(right, value, kind.__name__, where)


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in kinds:
        return None
    problem: ValueError | None = None
    for kind in kinds:
        if kind is not type(None):
            try:
                return _decoded(kind, value, where)
            except ValueError as error:
                problem = problem or error
    raise problem or ValueError(f"{where}: unexpected {value!r:.60}")


def _object(kind: Any, value: Any, where: str) -> Any:
    _expected(isinstance(value, dict), value, "an object", where)
    hints, given = _hints(kind), {}
    for each in fields(kind):
        if each.name in value:
            given[each.name] = _decoded(hints[each.name], value[each.name], f"{where}.{each.name}")
        elif each.default is MISSING and each.default_factory is MISSING:
            raise ValueError(f"{where}: expected a field {each.name!r}, found none")
    return kind(**given)


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _expected(right: bool, value: Any, what: str, where: str) -> Any:
    if not right:
        raise ValueError(f"{where}: expected {what}, found {value!r:.60}")
    return value
