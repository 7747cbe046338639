"""Dataclasses that never change, defined in a third of the time.

Before Python 3.13 the standard library compiles six methods for each frozen dataclass: with 200 of them a seventh of
what a small comparison takes. Here it compiles ``__init__`` alone, and the other methods are shared. Type checkers
refuse assignments, which nothing else does: a check in Python of each attribute would be two calls in five of a gate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache, partial
from operator import attrgetter
from typing import Any, dataclass_transform


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: Any = None, *, eq: bool = True) -> Any:
    """As ``dataclass(frozen=True, eq=eq)`` for type checkers; methods that the class defines itself stay."""
    if cls is None:
        return partial(frozen, eq=eq)
    cls.__doc__ = cls.__doc__ or cls.__name__  # a missing one would be made from the signature
    shared: dict[str, Any] = {"__repr__": _repr}
    if eq:
        shared |= {"__eq__": _equals, "__hash__": _hash}
    for name, method in shared.items():
        if vars(cls).get(name) is None:  # a class with an own __eq__ has the hash None
            setattr(cls, name, method)
    return dataclass(repr=False, eq=False)(cls)


def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _equals(self: Any, other: Any) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    values, _ = _values_of(self.__class__)
    return values(self) == values(other)


def _hash(self: Any) -> int:
    _, values = _values_of(self.__class__)
    return hash(values(self))


@cache
def _values_of(cls: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """What of an object is compared, and what counts for its hash."""
    compared = [one.name for one in fields(cls) if one.compare]
    hashed = [one.name for one in fields(cls) if (one.compare if one.hash is None else one.hash)]
    return attrgetter("__class__", *compared), attrgetter("__class__", *hashed)  # there may be no fields
