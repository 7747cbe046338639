"""Checks of settings that any key may need: whole numbers, lists, entries given twice."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BeforeValidator

from pytest_riskguard.gates.option_types import shown


def whole(at_least: int, hint: str = "", *, at_most: float = math.inf) -> Callable[[Any], int]:
    """A check for a whole number in a range; ``hint`` ends its message."""
    expected = f"at least {at_least}" if at_most == math.inf else f"from {at_least} to {at_most}"

    def check(value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and at_least <= value <= at_most:
            return value
        raise ValueError(f"expected a whole number, {expected}, found {shown(value)}{hint}")

    return check


T = TypeVar("T")


def list_of(expected: str, *, or_one: bool = False) -> BeforeValidator:
    """A list that is not empty; with ``or_one`` a single value is a list of one."""

    def check(value: Any) -> Any:
        items = [value] if or_one and not isinstance(value, list) else value
        if not isinstance(items, list) or not items:
            raise ValueError(f"expected {expected}{' or a list of them' if or_one else ''}, found {shown(value)}")
        return items

    return BeforeValidator(check)


def distinct(items: tuple[T, ...]) -> tuple[T, ...]:
    """Refuse an entry given twice."""
    for index, item in enumerate(items):
        if item in items[:index]:
            shown = f"{item:g}" if isinstance(item, float) else f"{item}"
            raise ValueError(f"{shown} appears twice")
    return items
