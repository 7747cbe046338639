"""Checks of settings that any key may need: whole numbers, lists, entries given twice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BeforeValidator

from pytest_riskguard.gates.option_types import shown


@dataclass(frozen=True)
class Whole:
    """A whole number in a range; ``hint`` ends the message about another value."""

    at_least: int
    hint: str = ""
    at_most: float = math.inf

    def __call__(self, value: Any) -> int:
        """The number."""
        if isinstance(value, int) and not isinstance(value, bool) and self.at_least <= value <= self.at_most:
            return value
        is_open = self.at_most == math.inf
        expected = f"at least {self.at_least}" if is_open else f"from {self.at_least} to {self.at_most}"
        raise ValueError(f"expected a whole number, {expected}, found {shown(value)}{self.hint}")


def whole(at_least: int, hint: str = "", *, at_most: float = math.inf) -> Whole:
    """A check for a whole number in a range; ``hint`` ends its message."""
    return Whole(at_least, hint, at_most)


T = TypeVar("T")


@dataclass(frozen=True)
class ListOf:
    """A list that is not empty; with ``or_one`` a single value is a list of one."""

    expected: str
    or_one: bool = False

    def __call__(self, value: Any) -> Any:
        """The list."""
        items = [value] if self.or_one and not isinstance(value, list) else value
        if not isinstance(items, list) or not items:
            several = " or a list of them" if self.or_one else ""
            raise ValueError(f"expected {self.expected}{several}, found {shown(value)}")
        return items


def list_of(expected: str, *, or_one: bool = False) -> BeforeValidator:
    """A list that is not empty; with ``or_one`` a single value is a list of one."""
    return BeforeValidator(ListOf(expected, or_one))


def distinct(items: tuple[T, ...]) -> tuple[T, ...]:
    """Refuse an entry given twice."""
    for index, item in enumerate(items):
        if item in items[:index]:
            shown = f"{item:g}" if isinstance(item, float) else f"{item}"
            raise ValueError(f"{shown} appears twice")
    return items
