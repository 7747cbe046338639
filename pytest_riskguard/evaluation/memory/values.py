"""Single values in memory: ids, numbers, and what stands for nothing."""

from __future__ import annotations

import math
from numbers import Integral
from typing import SupportsFloat
from uuid import UUID

from pytest_riskguard.evaluation.memory.input_data import Input
from pytest_riskguard.formats.text_files import is_identifier
from pytest_riskguard.text import clean

#: Names of types whose values are not numbers although ``float`` takes them: Python's and numpy's truth values.
_TRUTH = frozenset({"bool", "bool_"})
#: Names of the types of pandas' missing values.
_NOTHING = frozenset({"NAType", "NaTType", "NoneType"})


def identifier(given: Input, row: int | None, value: object, what: str) -> str:
    """An id as text: text on one line, a whole number or a UUID."""
    if isinstance(value, Integral | UUID) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise given.refuse(row, f"expected text or a whole number as the {what}, found {shown(value)}")
    if not is_identifier(value):
        raise given.refuse(row, f"expected a {what} on one line, without spaces around it, found {value!r:.60}")
    return str(value)


def number(value: object) -> float:
    """A finite number; NaN for anything else, text and truth values included."""
    if not isinstance(value, SupportsFloat) or type(value).__name__ in _TRUTH:
        return math.nan
    try:
        converted = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return converted if math.isfinite(converted) else math.nan


def plain(value: object) -> object:
    """A cell as Python has it: None for nothing, whole and other numbers of any library as ``int`` and ``float``."""
    if value is None or isinstance(value, str | float) or type(value) in (int, bool):
        return value
    if is_missing(value):
        return None
    if isinstance(value, UUID):
        return str(value)
    if not isinstance(value, SupportsFloat) or type(value).__name__ in _TRUTH:
        return value
    try:
        return int(value) if isinstance(value, Integral) else float(value)
    except (TypeError, ValueError, OverflowError):  # an array, say
        return value


def is_missing(value: object) -> bool:
    """Whether a cell holds nothing: None, NaN, or pandas' NA."""
    return type(value).__name__ in _NOTHING or (isinstance(value, float) and math.isnan(value))


def shown(value: object) -> str:
    """A value for a message."""
    return "nothing" if is_missing(value) else f"{clean(repr(value), limit=60)} ({type(value).__name__})"
