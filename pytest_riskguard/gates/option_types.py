"""What an option of a gate is: a value with a check, a default and a help text for every way in."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

from pytest_riskguard.frozen import frozen
from pytest_riskguard.text import did_you_mean

_MAX_SHOWN = 60
_METADATA = "option"


class OptionError(ValueError):
    """A value is wrong; ``fault`` says it without the name of the ``option``, which may not be known yet."""

    def __init__(self, fault: str, option: str = "") -> None:
        super().__init__(f"{option}: {fault}" if option else fault)
        self.option, self.fault = option, fault


class OptionTypeError(OptionError, TypeError):
    """An option's value has the wrong type; a ``ValueError`` too, because files and commands report it as one."""


@frozen
class Option:
    """One option of a kind of gate: its name, type and default as declared, one sentence of help, and the check.

    ``in_assertions`` says whether plain assertions take it, ``in_report`` whether it is a key of the verdicts in a
    report.
    """

    help: str
    check: Check
    in_assertions: bool = True
    in_report: bool = True
    name: str = ""
    type: str = ""
    default: Any = None

    @property
    def type_text(self) -> str:
        """The type as documentation writes it: for a choice of words, the words."""
        return "{" + ", ".join(map(repr, self.check.words)) + "}" if isinstance(self.check, OneOf) else self.type


def option(default: Any, check: Check, help: str, **more: Any) -> Any:
    """A field of a kind of gate that users may set; ``more`` are further fields of ``Option``."""
    return dataclasses.field(default=default, kw_only=True, metadata={_METADATA: Option(help, check, **more)})


def declared(cls: type) -> dict[str, Option]:
    """The options that a dataclass declares, by name."""
    return {
        field.name: dataclasses.replace(
            field.metadata[_METADATA], name=field.name, type=str(field.type), default=field.default
        )
        for field in dataclasses.fields(cls)
        if _METADATA in field.metadata
    }


@frozen
class Number:
    """A finite number in a range; ``words`` replaces the description, ``optional`` lets None through."""

    low: float
    high: float = math.inf
    open_range: bool = False
    optional: bool = False
    words: str = ""

    @property
    def expected(self) -> str:
        """The range in words, for errors."""
        if self.words:
            return self.words
        if self.high == math.inf:
            return f"a finite number, {'above' if self.open_range else 'at least'} {self.low:g}"
        words = "above {:g} and below {:g}" if self.open_range else "from {:g} to {:g}"
        return f"a number {words.format(self.low, self.high)}"

    def __call__(self, value: Any) -> Any:
        """The value as it was given."""
        if (self.optional and value is None) or (is_number(value) and self._holds(value)):
            return value
        raise _refusal(value, self.expected, right_type=is_number(value))

    def _holds(self, value: Any) -> bool:
        inside = self.low < value < self.high if self.open_range else self.low <= value <= self.high
        return bool(inside and value <= sys.float_info.max)


@frozen
class ShareOrCount(Number):
    """A share of a whole, below 1, or a whole number."""

    def __call__(self, value: Any) -> Any:
        """The value; a whole number as an integer, however it was written."""
        number = super().__call__(value)
        return int(number) if number is not None and number == int(number) else number

    def _holds(self, value: Any) -> bool:
        return super()._holds(value) and (value < 1 or value == int(value))


@frozen
class OneOf:
    """One of several words."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        """The choice of words, for errors."""
        return " or ".join(filter(None, [", ".join(self.words[:-1]), self.words[-1]]))

    def __call__(self, value: Any) -> str:
        """The word."""
        if not isinstance(value, str):
            raise _refusal(value, self.expected)
        if value not in self.words:
            raise _refusal(value, self.expected, right_type=True, hint=did_you_mean(value, self.words))
        return value


@frozen
class TrueOrFalse:
    """A truth value; words such as ``yes`` are text."""

    expected: str = "true or false"

    def __call__(self, value: Any) -> bool:
        """The value as it was given."""
        if isinstance(value, bool):
            return value
        raise _refusal(value, self.expected)


@frozen
class Text:
    """One printable line that is not empty; ``parse`` may normalise or refuse it."""

    expected: str
    optional: bool = False
    parse: Callable[[str], str] = str

    def __call__(self, value: Any) -> str | None:
        """The normalised text."""
        if self.optional and value is None:
            return None
        if isinstance(value, str) and value.strip() and value.isprintable():
            return self.parse(value)
        hint = "; put it in quotes" if isinstance(value, bool | Real) else ""
        raise _refusal(value, self.expected, right_type=isinstance(value, str), hint=hint)


@frozen
class Texts:
    """Several texts."""

    entry: Text
    expected: str

    def __call__(self, value: Any) -> tuple[str, ...]:
        """The normalised texts."""
        if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
            raise _refusal(value, self.expected)
        return tuple(str(self.entry(entry)) for entry in value)


#: States what a value must be (``expected``), and checks it.
Check = Number | OneOf | TrueOrFalse | Text | Texts


def _refusal(value: Any, expected: str, *, right_type: bool = False, hint: str = "") -> ValueError:
    error = OptionError if right_type else OptionTypeError
    return error(f"expected {expected}, found {shown(value)}{hint}")


def is_number(value: object) -> bool:
    """Whether a value is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def shown(value: object) -> str:
    """How an error shows a value that it did not expect."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case dict():
            return "a mapping"
        case list():
            return "a list" if value else "an empty list"
        case str():
            return repr(_cut(value))
    if not is_number(value):
        return f"{type(value).__name__} {value!r:.{_MAX_SHOWN}}"
    try:
        return f"the number {_cut(str(value))}"
    except ValueError:  # CPython refuses to print integers of thousands of digits
        return "a number of thousands of digits"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
