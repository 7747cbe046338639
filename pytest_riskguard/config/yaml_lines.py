"""YAML text to plain values, each with the line it stands on.

PyYAML's pure Python parser does the reading (its C twin crashes the interpreter on deep nesting); what a
plain scalar means is decided here, by the core schema of YAML 1.2: ``1e-3`` is a number, ``NO`` and
``12:30:45`` are text; so are ``.nan``, ``.inf``, ``0o7`` and ``0x3A``, which no setting can be. Tags,
anchors, aliases, repeated keys and a second document are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

MAX_DEPTH = 20
#: PyYAML reads some 100,000 values in a second, and each may be a mistake to report; a gate has some ten.
MAX_VALUES = 20_000

Path = tuple[str | int, ...]

_CONSTANTS = {"null": None, "~": None, "": None, "true": True, "false": False}
_CONSTANT = re.compile(r"null|Null|NULL|~||true|True|TRUE|false|False|FALSE")
_WHOLE = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class YamlError(Exception):
    """The text cannot be read; ``line`` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line, self.problem = line, problem


@dataclass
class Document:
    """A YAML document as plain values, with the line of each, by path; that of its key, if it has one."""

    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int:
        """Line of the value at ``path``, or of the nearest value around it."""
        while path not in self.lines:
            path = path[:-1]
        return self.lines[path]


def parse(content: bytes) -> Document:
    """Read one YAML document; ``YamlError`` if it is not YAML, or refused (see the top of this module)."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise YamlError(line, f"not UTF-8: byte 0x{content[error.start]:02x}; save the file as UTF-8") from None
    try:
        reader = _Reader(text)
        return reader.document()
    except yaml.reader.ReaderError as error:  # for a character that nobody sees, before anything is read
        problem, line = f"character U+{error.character:04X} is not allowed", text.count("\n", 0, error.position) + 1
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        line = mark.line + 1 if mark else reader.line
    except (ValueError, OverflowError) as error:
        # chr() and int() complain about escapes, versions and numbers that are out of range.
        problem, line = str(error), reader.line
    raise YamlError(line, f"not YAML: {problem}")


class _Reader:
    """Builds a document from the parser's events."""

    def __init__(self, text: str) -> None:
        self._events = yaml.parse(text, Loader=yaml.SafeLoader)
        self._document = Document()
        self.line = 1

    def document(self) -> Document:
        self._next()  # the stream begins
        if isinstance(self._next(), yaml.StreamEndEvent):
            raise YamlError(1, "the file is empty; it must say at least `collection:` and `gates:`")
        self._document.data = self._value((), self._next())
        self._next()  # the document ends
        if not isinstance(self._next(), yaml.StreamEndEvent):
            raise YamlError(self.line, "a second document begins here (`---`); a file may hold only one")
        return self._document

    def _next(self) -> Any:
        event: Any = next(self._events)
        self.line = event.start_mark.line + 1
        if getattr(event, "anchor", None) or getattr(event, "tag", None):
            problem = "anchors (&), aliases (*) and tags (!) are not allowed; write the value out, or quote it"
            raise YamlError(self.line, problem)
        if isinstance(event, yaml.ScalarEvent) and _SURROGATE.search(event.value):
            raise YamlError(self.line, f"{event.value!r} holds half of a character pair; write the character")
        return event

    def _value(self, path: Path, event: Any) -> Any:
        lines = self._document.lines
        if len(path) > MAX_DEPTH:
            raise YamlError(self.line, f"nested more than {MAX_DEPTH} levels deep")
        if len(lines) >= MAX_VALUES:
            raise YamlError(self.line, f"more than {MAX_VALUES:,} values; settings are a few lines")
        lines[path] = self.line
        if isinstance(event, yaml.ScalarEvent):
            return event.value if event.style else _plain(event.value)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Any] = []
            while not isinstance(event := self._next(), yaml.SequenceEndEvent):
                items.append(self._value((*path, len(items)), event))
            return items
        entries: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            line = self.line
            if not isinstance(event, yaml.ScalarEvent):
                raise YamlError(line, "expected a key (a name), found something else")
            key = event.value
            if key in entries:
                problem = f"key {key!r} appears twice, first on line {lines[*path, key]}; remove one"
                raise YamlError(line, problem)
            entries[key] = self._value((*path, key), self._next())
            lines[*path, key] = line
        return entries


def _plain(text: str) -> str | int | float | bool | None:
    """What a scalar without quotes means."""
    if _CONSTANT.fullmatch(text):
        return _CONSTANTS[text.lower()]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
