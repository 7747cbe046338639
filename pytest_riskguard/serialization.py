"""Frozen dataclasses as plain JSON types, and JSON back to dataclasses, strictly."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from typing import Any, TypeVar, cast

from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import JSON_VALUES

#: The largest whole number that other programs read; counts are far smaller.
MAX_WHOLE = 2**63 - 1
#: Digits that a report keeps: more would show the last bits of a sum, which mean nothing.
_DIGITS = "%.12g"

#: Metadata of a field that is written only where it is neither 0 nor empty.
UNLESS_EMPTY = {"unless_empty": True}


def unless_empty(default: Any) -> Any:
    """A field that is written only where it is neither 0 nor empty."""
    return field(default=default, metadata=UNLESS_EMPTY)


def unwritten(default: Any) -> Any:
    """A field that is not written: the sentences that are made from it are."""
    return field(default=default, metadata={"json": False})


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
#: What pydantic expected, by the type of its error, with the figures that it gives.
_EXPECTED = {
    "dataclass_type": "an object",
    "dict_type": "an object",
    "tuple_type": "a list",
    "string_type": "text",
    "string_unicode": "text without lone surrogates",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "literal_error": "{expected}",
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "a number, at least {ge:g}",
    "less_than": "a number below {lt:g}",
    "less_than_equal": "a number, at most {le:g}",
    "too_short": "at least {min_length}",
}
#: Types that JSON has as they are.
_KEPT = frozenset({str, int, bool, type(None)})


class Bounds:
    """In ``Annotated``: the least (``ge``, ``gt``) and the greatest value of a number, the ``min_length`` of a list.

    pydantic takes the types of ``annotated_types`` as well; importing those takes longer than all of ours.
    """

    def __init__(self, **bounds: float) -> None:
        self._bounds = bounds

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return handler(source) | self._bounds


@frozen
class Words:
    """In ``Annotated``: one of some words; if ``open``, later versions may have more, and reading accepts any."""

    words: tuple[str | None, ...]
    open: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return handler(source) if self.open else {"type": "literal", "expected": list(self.words)}

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        return {"enum": list(self.words)}


class JsonError(ValueError):
    """Text is not JSON, or not the expected JSON; the message says where, what was expected and what was found.

    ``line`` is where text is not JSON, ``problem`` the message without it.
    """

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem if line is None else f"line {line}: {problem}")
        self.problem, self.line = problem, line


def to_plain(value: Any) -> Any:
    """Plain types: 12 significant digits, non-finite numbers as None, mappings sorted by key.

    Fields with ``metadata={"json": False}`` are left out, and empty ones with ``metadata=UNLESS_EMPTY``.
    """
    kind: Any = type(value)
    if kind is float:
        return rounded(value)
    if kind in _KEPT:
        return value
    if kind is tuple or kind is list:
        return list(map(to_plain, value))
    if (written := _written(kind)) is not None:
        parts = ((name, is_optional, to_plain(getattr(value, name))) for name, is_optional in written)
        return {name: part for name, is_optional, part in parts if part or not is_optional}
    if isinstance(value, Mapping):
        return {str(key): to_plain(value[key]) for key in sorted(value)}
    if isinstance(value, str | int):
        return value
    if isinstance(value, Sequence):
        return [to_plain(item) for item in value]
    return rounded(float(value))


@functools.cache
def _written(kind: type) -> tuple[tuple[str, bool], ...] | None:
    """The fields of a dataclass that go into JSON, and whether only unless empty; None for another type."""
    if not is_dataclass(kind):
        return None
    return tuple((f.name, f.metadata == UNLESS_EMPTY) for f in fields(kind) if f.metadata.get("json", True))


def rounded(value: float) -> float | None:
    """A number as a report holds it; zero never carries a sign."""
    if not math.isfinite(value):
        return None
    return float(_DIGITS % value) + 0.0


def parsed(content: bytes) -> dict[str, Any]:
    """The JSON object in ``content``.

    ``JsonError`` if it is not UTF-8, JSON or an object, if a key appears twice, for NaN, infinity and whole numbers
    of more than 64 bits, and for more values than any report or manifest has.
    """
    data = parsed_value(content)
    if not isinstance(data, dict):
        raise JsonError(f"expected an object, found {_NAMES[type(data)]}")
    return data


def parsed_value(content: bytes) -> Any:
    """The JSON value in ``content``, whatever its type; ``JsonError`` otherwise as ``parsed``."""
    # what would take far more memory than the file; commas inside text count as values too
    count = sum(map(content.count, (b",", b"[", b"{")))
    if count > JSON_VALUES.value:
        raise JsonError(JSON_VALUES.problem(count))
    try:
        return _DECODER.decode(content.decode())
    except UnicodeDecodeError as error:
        raise JsonError(f"not UTF-8: byte 0x{content[error.start]:02x}") from None
    except json.JSONDecodeError as error:
        found = error.doc.split("\n")[error.lineno - 1]  # such as a marker of a merge conflict, or a Git LFS pointer
        raise JsonError(f"not JSON ({error.msg}), found {found!r:.60}", error.lineno) from None
    except RecursionError:
        raise JsonError("nested too deeply") from None


def decoded(kind: type[T], data: Any, *, where: str = "") -> T:
    """A value of type ``kind`` from plain JSON types, checked by pydantic; null instead of a number becomes NaN.

    A key that a dataclass does not know is ignored, unless its ``__pydantic_config__`` forbids unknown keys.
    A ``JsonError``, whose message begins with ``where`` and the path below it, if a key is missing or forbidden, or a
    value is of another type, out of range, or refused by its class.
    """
    from pydantic import ValidationError

    try:
        return cast(T, _validator(cast(Any, kind)).validate_python(data))
    except ValidationError as error:
        raise JsonError(_in_words(error.errors(include_url=False)[0], where)) from None


@functools.cache
def _validator(kind: Any) -> Any:
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

    return SchemaValidator(_strict(TypeAdapter(kind).core_schema))


def _strict(schema: Any) -> Any:
    """A schema of pydantic that converts no scalar into another type.

    pydantic's own strict mode refuses objects for dataclasses and lists for tuples if they come from Python, and text
    with lone surrogates, which document ids may have, if it comes from JSON.
    """
    if isinstance(schema, list):
        return list(map(_strict, schema))
    if not isinstance(schema, dict):
        return schema
    schema = {key: _strict(value) for key, value in schema.items()}
    match schema.get("type"):
        case "str" | "bool" | "int":
            schema["strict"] = True
        case "float":
            number = schema | {"strict": True, "allow_inf_nan": False}
            function = {"type": "no-info", "function": _number}
            return {"type": "function-wrap", "function": function, "schema": number}
        case "union":  # without labels, so that the path of an error does not name the alternative
            schema["choices"] = [(choice, "") for choice in schema["choices"]]
    return schema


def _number(value: Any, check: Callable[[Any], float]) -> float:
    """A number as it was written: 1 stays a whole number, so that it is written as one again."""
    if value is None:
        return math.nan
    check(value)
    return cast(float, value)


def _in_words(problem: Any, where: str) -> str:
    """An error of pydantic in the words of this package."""
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem["loc"] if step != ""]
    place, kind, value = "".join([where, *steps]).lstrip("."), problem["type"], problem["input"]
    match kind:
        case "missing":
            return f"missing key {place!r}"
        case "unexpected_keyword_argument":
            return f"unknown key {place!r}"
        case "value_error":
            return str(problem["ctx"]["error"])
    where = f"{place}: " if place else ""
    if kind not in _EXPECTED:
        return f"{where}{problem['msg']}"
    found = _NAMES[type(value)] if kind.endswith("_type") else f"{value!r:.60}"
    return f"{where}expected {_EXPECTED[kind].format(**problem.get('ctx', {}))}, found {found}"


def _with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    by_name = dict(pairs)
    if len(by_name) != len(pairs):
        names = [name for name, _ in pairs]
        raise JsonError(f"key {next(name for name in names if names.count(name) > 1)!r} appears twice")
    return by_name


def _refuse_constant(name: str) -> Any:
    raise JsonError(f"{name} is not a number")


def _whole(text: str) -> int:
    if len(text) > 20 or abs(int(text)) > MAX_WHOLE:
        raise JsonError(f"{text:.30} is a whole number of more than 64 bits")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JsonError(f"{text:.30} is larger than any number of 64 bits")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_with_unique_keys, parse_constant=_refuse_constant, parse_int=_whole, parse_float=_finite
)
