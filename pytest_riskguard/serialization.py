"""Frozen dataclasses as plain JSON types, and JSON back to dataclasses, strictly."""

from __future__ import annotations

import functools
import json
import math
import sys
import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

#: Digits that a report keeps: more would show the last bits of a sum, which mean nothing.
SIGNIFICANT_DIGITS = 12

T = TypeVar("T")

#: JSON types as messages name them.
_NAMES = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "null",
}
#: What pydantic expected, by the type of its error.
_EXPECTED = {
    "dataclass_type": "an object",
    "dict_type": "an object",
    "tuple_type": "a list",
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
}
_CONFLICT_MARKERS = (b"<<<<<<<", b"=======", b">>>>>>>")


@dataclass(frozen=True)
class Constraint:
    """What a value must be beside its type, in keywords of JSON Schema; it stands in ``Annotated``.

    An ``open`` list of words may have more in a later version, so that reading does not insist on it.
    """

    enum: tuple[str | None, ...] = ()
    minimum: float = -math.inf
    maximum: float = math.inf
    open_range: bool = False
    min_items: int = 0
    nullable: bool = False
    open: bool = False

    def check(self, value: Any, where: str) -> Any:
        """The value, if it is as it must be."""
        if self.enum and not self.open:
            _expected(value in self.enum, value, f"one of {', '.join(map(str, self.enum))}", where)
        if isinstance(value, tuple):
            _expected(len(value) >= self.min_items, list(value), f"at least {self.min_items}", where)
        if isinstance(value, int | float) and not math.isnan(value):
            inside = self.minimum < value < self.maximum if self.open_range else self.minimum <= value <= self.maximum
            between = "above {:g} and below {:g}" if self.open_range else "from {:g} to {:g}"
            _expected(inside, value, f"a number {between.format(self.minimum, self.maximum)}", where)
        return value

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        if self.enum:
            return {"enum": list(self.enum)}
        schema = dict(handler(core_schema))
        if self.nullable:
            schema["type"] = [schema["type"], "null"]
        prefix = "exclusiveM" if self.open_range else "m"
        if self.minimum > -math.inf:
            schema[f"{prefix}inimum"] = self.minimum
        if self.maximum < math.inf:
            schema[f"{prefix}aximum"] = self.maximum
        return schema | ({"minItems": self.min_items} if self.min_items else {})


class JsonError(ValueError):
    """Text is not JSON, or not the JSON that was expected; the message says where, what was expected and found."""


def to_plain(value: Any) -> Any:
    """Plain types: 12 significant digits, non-finite numbers as None, mappings sorted by key.

    Fields with ``metadata={"json": False}`` are left out.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in fields(value) if f.metadata.get("json", True)}
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
    if origin is Annotated:
        made = _decoded(arguments[0], value, where)
        for constraint in arguments[1:]:
            constraint.check(made, where)
        return made
    if origin in (Union, types.UnionType):
        return _one_of(arguments, value, where)
    if origin is Literal:
        return _expected(
            value in arguments and isinstance(value, str), value, f"one of {', '.join(arguments)}", where
        )
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
        if each.metadata.get("json", True) and each.name in value:
            given[each.name] = _decoded(hints[each.name], value[each.name], f"{where}.{each.name}")
        elif each.default is MISSING and each.default_factory is MISSING:
            raise ValueError(f"{where}: expected a field {each.name!r}, found none")
    return kind(**given)


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _expected(right: bool, value: Any, what: str, where: str) -> Any:
    if not right:
        raise ValueError(f"{where}: expected {what}, found {value!r:.60}")
    return value


def parsed(content: bytes) -> dict[str, Any]:
    """The JSON object in some bytes.

    Raises
    ------
    JsonError
        They are not UTF-8, not JSON or not an object, or a key appears twice.
    """
    data = _json(content)
    if not isinstance(data, dict):
        raise JsonError(f"expected an object, found {_NAMES[type(data)]}")
    return data


def decoded(kind: type[T], data: dict[str, Any]) -> T:
    """A dataclass from plain JSON types, by pydantic, which does not convert one type into another.

    A class of the dataclass that forbids unknown keys says so in ``__pydantic_config__``.

    Raises
    ------
    JsonError
        A key is missing or unknown, a value is of another type, or a class refuses its values (``ValueError``).
    """
    from pydantic import ValidationError

    try:
        made: T = _adapter(cast(Any, kind)).validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        raise JsonError(_in_words(error.errors(include_url=False)[0])) from None
    return made


@functools.cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _in_words(problem: Any) -> str:
    """An error of pydantic in the words of this package."""
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem["loc"]).lstrip(".")
    match problem["type"]:
        case "missing":
            return f"missing key {place!r}"
        case "unexpected_keyword_argument":
            return f"unknown key {place!r}"
        case "value_error":
            return str(problem["ctx"]["error"])
    expected = _EXPECTED.get(problem["type"])
    if expected is None:
        return f"{place}: {problem['msg']}"
    return f"{place}: expected {expected}, found {_NAMES[type(problem['input'])]}"


def _json(content: bytes) -> Any:
    try:
        return json.loads(content.decode(), object_pairs_hook=_with_unique_keys, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise JsonError(f"not UTF-8: byte 0x{content[error.start]:02x}") from None
    except json.JSONDecodeError as error:
        reason = "not JSON" if content.strip() else "empty"
        if any(line.startswith(_CONFLICT_MARKERS) for line in content.splitlines()):
            reason = "a merge conflict is left in it"
        if content.startswith(b"version https://git-lfs"):
            reason = "a Git LFS pointer instead of the file, run `git lfs pull`"
        raise JsonError(f"line {error.lineno}: {reason} ({error.msg})") from None
    except RecursionError:
        raise JsonError("nested too deeply") from None
    except JsonError:
        raise
    except ValueError as error:  # a number with thousands of digits, which Python does not read
        raise JsonError(str(error)) from None


def _with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    by_name = dict(pairs)
    if len(by_name) != len(pairs):
        names = [name for name, _ in pairs]
        raise JsonError(f"key {next(name for name in names if names.count(name) > 1)!r} appears twice")
    return by_name


def _refuse_constant(name: str) -> Any:
    raise JsonError(f"{name} is not a number")
