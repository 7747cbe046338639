"""Strict reading of JSON: no conversion that could hide a mistake, and errors that say where."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

_KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    NoneType: "null",
}
_MOVED = (b"<<<<<<<", b"=======", b">>>>>>>")


class ManifestError(ValueError):
    """The text is not a manifest; says what was expected and what was found."""


def parsed(content: bytes) -> dict[str, Any]:
    """The JSON object that some bytes are.

    Raises
    ------
    ManifestError
        They are not UTF-8, not JSON or not an object, or a key appears twice.
    """
    data = _json(content)
    if not isinstance(data, dict):
        raise ManifestError(f"expected an object, found {_kind(data)}")
    return data


def decoded(kind: Any, value: Any, where: str = "") -> Any:
    """``value``, as JSON gives it, as the annotated type ``kind``: dataclasses, tuples, mappings and plain values.

    Raises
    ------
    ManifestError
        A key is missing or unknown, or a value is of another type.
    """
    return _decoded(kind, value, where)


def _json(content: bytes) -> Any:
    try:
        return json.loads(content.decode(), object_pairs_hook=_object, parse_constant=_constant)
    except UnicodeDecodeError as error:
        raise ManifestError(f"not UTF-8: byte 0x{content[error.start]:02x}") from None
    except json.JSONDecodeError as error:
        reason = "not JSON" if content.strip() else "empty"
        if any(line.startswith(_MOVED) for line in content.splitlines()):
            reason = "a merge conflict is left in it"
        if content.startswith(b"version https://git-lfs"):
            reason = "a Git LFS pointer in place of the file, run `git lfs pull`"
        raise ManifestError(f"line {error.lineno}: {reason} ({error.msg})") from None
    except RecursionError:
        raise ManifestError("nested too deeply") from None
    except ManifestError:
        raise
    except ValueError as error:  # a number with thousands of digits, which Python does not read
        raise ManifestError(str(error)) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ManifestError(f"key {next(name for name in names if names.count(name) > 1)!r} appears twice")
    return found


def _constant(name: str) -> Any:
    raise ManifestError(f"{name} is not a number")


def _decoded(kind: Any, value: Any, where: str) -> Any:
    if isinstance(kind, UnionType):
        options = get_args(kind)
        if value is None and NoneType in options:
            return None
        (kind,) = (option for option in options if option is not NoneType)
    if is_dataclass(kind):
        return _decoded_fields(kind, _of(dict, value, where), where)
    origin = get_origin(kind)
    if origin is tuple:
        item = get_args(kind)[0]
        return tuple(_decoded(item, entry, f"{where}[{i}]") for i, entry in enumerate(_of(list, value, where)))
    if origin is Mapping:
        entries = _of(dict, value, where)
        return {key: _decoded(get_args(kind)[1], entry, f"{where}.{key}") for key, entry in entries.items()}
    return _of(kind, value, where)


def _decoded_fields(kind: Any, value: dict[str, Any], where: str) -> Any:
    names = [field.name for field in fields(kind)]
    for problem, keys in (("missing", set(names) - set(value)), ("unknown", set(value) - set(names))):
        if keys:
            raise ManifestError(f"{problem} key {_joined(where, min(keys))!r}")
    hints = get_type_hints(kind)
    return kind(**{name: _decoded(hints[name], value[name], _joined(where, name)) for name in names})


def _of(kind: type, value: Any, where: str) -> Any:
    if type(value) is not kind:
        raise ManifestError(f"{where}: expected {_KINDS[kind]}, found {_kind(value)}")
    return value


def _kind(value: object) -> str:
    return _KINDS[type(value)]


def _joined(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name
