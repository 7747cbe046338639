"""YAML text to plain values, each with the line it stands on.

PyYAML's pure Python parser does the reading (its C twin crashes the interpreter on deep nesting); what a
plain scalar means is decided here, by the core schema of YAML 1.2: ``1e-3`` is a number, ``NO`` and
``12:30:45`` are text. Tags, anchors, aliases, repeated keys and a second document are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

MAX_DEPTH = 20
#: PyYAML reads some 100,000 values in a second, and each may be a mistake to report; a gate has some ten.
MAX_VALUES = 20_000

Path = tuple[str | int, ...]

_CONSTANTS = {"null": None, "~": None, "": None, "true": True, "false": False}
_CONSTANT = re.compile(r"(?:null|Null|NULL|~||true|True|TRUE|false|False|FALSE)\Z")
_WHOLE = {10: re.compile(r"[-+]?[0-9]+\Z"), 8: re.compile(r"0o[0-7]+\Z"), 16: re.compile(r"0x[0-9a-fA-F]+\Z")}
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")

# U+0085, U+2028 and U+2029 break lines for PyYAML but not for editors: later lines would be miscounted.
_UNWANTED = re.compile(r"[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029]")
_CONFLICT = re.compile(r"^(?:<{7}|>{7})(?: |$)", re.MULTILINE)
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class YamlError(Exception):
    """The text cannot be read; ``line`` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line, self.problem = line, problem


@dataclass
class Document:
    """A YAML document as plain values; the rest can be read in spite of its ``problems`` (path, line, text)."""

    data: Any = None
    problems: list[tuple[Path, int, str]] = field(default_factory=list)
    _values: dict[Path, int] = field(default_factory=dict)
    _keys: dict[Path, int] = field(default_factory=dict)

    def known(self, path: Path) -> Path:
        """The longest beginning of ``path`` that the document has."""
        while path and path not in self._values:
            path = path[:-1]
        return path

    def line(self, path: Path) -> int:
        """Line of the value at ``path``, or of the nearest value around it."""
        return self._values.get(self.known(path), 1)

    def key_line(self, path: Path) -> int:
        """Line of the key that ``path`` ends with."""
        return self._keys.get(path, self.line(path))


def decode(content: bytes) -> str:
    """Text of a file's bytes; ``YamlError`` for bytes that an editor would not show as they are."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise YamlError(1, "the file is UTF-16; save it as UTF-8")
    if content.startswith(b"\xef\xbb\xbf"):
        raise YamlError(1, "the file begins with a byte order mark; save it as UTF-8 without one")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise YamlError(line, f"not UTF-8: byte 0x{content[error.start]:02x}; save the file as UTF-8") from None
    if text.startswith("version https://git-lfs.github.com/spec/"):
        raise YamlError(1, "this is a Git LFS pointer, not the file itself; run `git lfs pull`")
    if unwanted := _UNWANTED.search(text):
        line = text.count("\n", 0, unwanted.start()) + 1
        raise YamlError(line, f"character U+{ord(unwanted.group()):04X} is not allowed; remove it")
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        raise YamlError(line, f"a merge conflict is left in the file ({conflict.group().strip()}); resolve it")
    return text


def parse(text: str) -> Document:
    """Read one YAML document; ``YamlError`` if it is not YAML, or refused (see the top of this module)."""
    reader = _Reader(text)
    try:
        return reader.document()
    except yaml.MarkedYAMLError as error:
        raise YamlError(*_explained(error)) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # PyYAML lets chr() and int() complain about escapes and versions that are out of range.
        raise YamlError(reader.last_line, f"not YAML: {error}") from None
    except RecursionError:
        raise YamlError(reader.last_line, "nested too deeply") from None


def _explained(error: yaml.MarkedYAMLError) -> tuple[int, str]:
    mark = error.problem_mark or error.context_mark
    message = ", ".join(part for part in (error.context, error.problem) if part)
    hint = "; indent with spaces, not tabs" if "'\\t'" in message else ""
    return (mark.line + 1 if mark else 1), f"not YAML: {message}{hint}"


class _Reader:
    """Builds a document from the parser's events."""

    def __init__(self, text: str) -> None:
        self._events: Iterator[Any] = yaml.parse(text, Loader=yaml.SafeLoader)
        self._document = Document()
        self._values = 0
        self.last_line = 1

    def document(self) -> Document:
        self._next()  # the stream begins
        if isinstance(self._next(), yaml.StreamEndEvent):
            raise YamlError(1, "the file is empty; it must say at least `collection:` and `gates:`")
        self._document.data = self._value((), self._next())
        self._next()  # the document ends
        if not isinstance(self._next(), yaml.StreamEndEvent):
            raise YamlError(self.last_line, "a second document begins here (`---`); a file may hold only one")
        return self._document

    def _next(self) -> Any:
        event = next(self._events)
        self.last_line = event.start_mark.line + 1
        return event

    def _value(self, path: Path, event: Any) -> Any:
        line = self.last_line
        if isinstance(event, yaml.AliasEvent):
            raise YamlError(line, f"alias *{event.anchor}: aliases are not allowed; write the value out, or quote it")
        if event.anchor is not None:
            raise YamlError(line, f"anchor &{event.anchor}: anchors are not allowed; remove it, or quote the value")
        if event.tag is not None:
            raise YamlError(line, f"tag {event.tag}: tags are not allowed; remove it, or quote the value")
        if len(path) > MAX_DEPTH:
            raise YamlError(line, f"nested more than {MAX_DEPTH} levels deep")
        self._values += 1
        if self._values > MAX_VALUES:
            raise YamlError(line, f"more than {MAX_VALUES:,} values; settings are a few lines")
        self._document._values.setdefault(path, line)
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event, line)
        return self._sequence(path) if isinstance(event, yaml.SequenceStartEvent) else self._mapping(path)

    def _sequence(self, path: Path) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._value((*path, len(items)), event))
        return items

    def _mapping(self, path: Path) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            line = self.last_line
            if not isinstance(event, yaml.ScalarEvent) or event.anchor or event.tag:
                raise YamlError(line, "expected a key (a name), found something else")
            key = event.value
            if _SURROGATE.search(key):
                raise YamlError(line, f"key {key!r} is not text")
            if key in entries:
                first = self._document._keys[*path, key]
                self._document.problems.append(
                    ((*path, key), line, f"key {key!r} appears twice, first on line {first}; remove one")
                )
                self._value((*path, key), self._next())
                continue
            self._document._keys[*path, key] = line
            entries[key] = self._value((*path, key), self._next())
        return entries


def _scalar(event: Any, line: int) -> str | int | float | bool | None:
    text: str = event.value
    if _SURROGATE.search(text):
        raise YamlError(line, f"{text!r} holds half of a character pair (\\ud800 to \\udfff); write the character")
    if event.style is not None:  # quoted or a block of text
        return text
    if _CONSTANT.match(text):
        return _CONSTANTS[text.lower()]
    for base, pattern in _WHOLE.items():
        if pattern.match(text):
            try:
                return int(text, base)
            except ValueError:
                raise YamlError(line, f"a number of {len(text)} digits is too long") from None
    if _FLOAT.match(text):
        return float(text)
    return float(text.replace(".", "")) if _NOT_FINITE.match(text) else text
