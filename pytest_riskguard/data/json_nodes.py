"""Values of JSON files together with their places in them, so that every refusal says where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from pytest_riskguard.data.headers import number
from pytest_riskguard.data.input_files import InputFile, Kind, Misfit
from pytest_riskguard.data.named_columns import text_of
from pytest_riskguard.errors import FileError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.text import clean

Part = TypeVar("Part")
#: How many names of parts an error has.
_MOST_NAMES = 8


def at(value: Any, path: str) -> Any:
    """What a JSON value has under a path of keys and places, such as ``hits.hits.0._id``; None for nothing."""
    for step in path.split("."):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def is_nested(value: Any) -> bool:
    """Whether a JSON value is an object of objects, of which there is one."""
    return isinstance(value, dict) and bool(value) and all(isinstance(inner, dict) for inner in value.values())


def outline(value: Any) -> str:
    """A JSON value in an error."""
    if isinstance(value, dict):
        return f"an object with the keys {', '.join(f'{key!r:.40}' for key in list(value)[:5]) or '(none)'}"
    return "a list" if isinstance(value, list) else f"{value!r:.60}"


@frozen(eq=False)
class JsonNode:
    """One value of a file. All methods raise the file's error, with the place, such as ``queries.3.ratings``."""

    file: InputFile
    value: Any
    line: int | None = None
    place: str = ""

    def __getitem__(self, path: str) -> JsonNode:
        """The value under a path of keys, which must be there and not be null."""
        if (node := self.find(path)) is None:
            raise self.refuse(f"expected a key {path!r} with a value, found {outline(self.value)}")
        return node

    def find(self, path: str) -> JsonNode | None:
        """The value under a path of keys; None if it is not there or null."""
        value = at(self.value, path)
        return None if value is None else self._below(path, value)

    def entries(self) -> Iterator[tuple[str, JsonNode]]:
        """The keys of an object with their values."""
        if not isinstance(self.value, dict):
            raise self.refuse(f"expected an object, found {outline(self.value)}")
        for key, value in self.value.items():
            yield key.strip(), self._below(key, value)

    def items(self) -> Iterator[JsonNode]:
        """The values of a list."""
        if not isinstance(self.value, list):
            raise self.refuse(f"expected a list, found {outline(self.value)}")
        for place, value in enumerate(self.value):
            yield self._below(str(place), value)

    def text(self) -> str:
        """A text that is not blank, or a whole number, which becomes one."""
        if not (text := text_of(self.value)):
            raise self.refuse(f"expected text or a whole number, found {outline(self.value)}")
        return text

    def number(self) -> float:
        """A finite number, which may stand in a text (``"3.000"``)."""
        value = number(str(self.value))
        if value != value:
            raise self.refuse(f"expected a number, found {outline(self.value)}")
        return value

    def refuse(self, problem: str) -> FileError:
        """The error to raise for this value."""
        return self.file.refuse(self.line, f"{clean(self.place)}: {problem}" if self.place else problem)

    def _below(self, step: str, value: Any) -> JsonNode:
        place = f"{self.place}.{step:.40}" if self.place else f"{step:.40}"
        return JsonNode(self.file, value, self.line, place)


def nodes(file: InputFile) -> Iterator[JsonNode]:
    """The values of JSON Lines, or the value of a JSON file; of a list, each of its own."""
    whole = file.json if file.first_object is None else file.json_or_none
    for line, value in file.json_lines() if whole is None else [(None, whole)]:
        node = JsonNode(file, value, line)
        yield from node.items() if isinstance(value, list) else [node]


def marked(**marks: str) -> Callable[[InputFile, Kind], Misfit]:
    """What says whether a file is of a format: JSON that has all places of a mark of its kind; ``|`` parts marks."""

    def fits(file: InputFile, kind: Kind) -> Misfit:
        value = file.first_object if file.json_or_none is None else file.json_or_none
        for place in ("0", "hits.hits.0", "_source"):
            value = at(value, place) or value
        if any(all(at(value, place) is not None for place in mark.split()) for mark in marks[kind].split("|")):
            return None
        return ""

    return fits


def require(misfit: Misfit, file: InputFile) -> None:
    """Refuse a file that was said to have a format that it does not have."""
    if misfit is not None:
        raise file.refuse(None, f"expected the format that was named, found {misfit or 'another one'}")


def chosen(file: InputFile, what: str, parts: Iterable[tuple[Sequence[str], Part]]) -> Part:
    """The part that ``FILE#PART`` calls by one of its names, or the only one; the error of the file for no such.

    ``what`` says what a part is, such as a system.
    """
    parts = list(parts)
    fitting = [part for names, part in parts if file.part is None or file.part in names]
    if len(fitting) == 1:
        return fitting[0]
    times = Counter(name for names, _ in parts for name in dict.fromkeys(names))
    names = ", ".join([f"{name!r:.60}" for name, count in times.items() if count == 1][:_MOST_NAMES])
    named = "" if file.part is None else f" named {file.part!r:.60}"
    which = f"name one as in {file.name}#NAME: {names or '(there is none)'}"
    raise file.refuse(None, f"expected one {what}{named}, found {len(fitting)}; {which}")


def chosen_node(file: InputFile, what: str, parts: Iterable[JsonNode]) -> JsonNode:
    """As ``chosen``, of objects with a name or an id."""
    named = [([name.text() for key in ("name", "id") if (name := part.find(key))], part) for part in parts]
    return chosen(file, what, named)
