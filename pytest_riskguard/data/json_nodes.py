"""Values of JSON files together with their places in them, so that every refusal says where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from pytest_riskguard.data.headers import number
from pytest_riskguard.data.input_files import InputFile, Misfit
from pytest_riskguard.data.named_columns import as_tag
from pytest_riskguard.errors import FileError
from pytest_riskguard.text import clean

_MOST_NAMED = 8
Part = TypeVar("Part")


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


def outline(value: Any) -> str:
    """A JSON value in an error."""
    if isinstance(value, dict):
        keys = ", ".join(f"{key!r:.40}" for key in list(value)[:5])
        return f"an object with the keys {keys}" if keys else "an empty object"
    if isinstance(value, list):
        return "a list"
    return "null" if value is None else f"{value!r:.60}"


class JsonNode:
    """One value of a file. All methods raise the file's error, with the place, such as ``queries[3].ratings``."""

    __slots__ = ("_above", "_step", "file", "line", "value")

    def __init__(
        self, file: InputFile, value: Any, line: int | None = None, *, above: JsonNode | None = None, step: str = ""
    ) -> None:
        self.file, self.value, self.line, self._above, self._step = file, value, line, above, step

    def __getitem__(self, key: str) -> JsonNode:
        """The value of a key that must be there and not be null."""
        if (node := self.find(key)) is None:
            raise self.refuse(f"expected a key {key!r}, found {'null' if key in self.value else outline(self.value)}")
        return node

    def find(self, path: str) -> JsonNode | None:
        """The value under a path of keys; None if it is not there or null."""
        node = self
        for key in path.split("."):
            if (value := node._object().get(key)) is None:
                return None
            node = node._below(value, f".{key}")
        return node

    def entries(self) -> Iterator[tuple[str, JsonNode]]:
        """The keys of an object with their values."""
        for key, value in self._object().items():
            yield key.strip(), self._below(value, f".{key}")

    def items(self) -> Iterator[JsonNode]:
        """The values of a list."""
        if not isinstance(self.value, list):
            raise self.refuse(f"expected a list, found {outline(self.value)}")
        for place, value in enumerate(self.value):
            yield self._below(value, f"[{place}]")

    def text(self) -> str:
        """A text that is not blank."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.refuse(f"expected a text, found {outline(self.value)}")
        return self.value.strip()

    def identifier(self) -> str:
        """An id: a text, or a whole number, which becomes one."""
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return str(self.value)
        return self.text()

    def number(self) -> float:
        """A finite number, which may stand in a text (``"3.000"``)."""
        value = float("nan")
        if isinstance(self.value, str):
            value = number(self.value)
        elif isinstance(self.value, int | float) and not isinstance(self.value, bool):
            value = float(self.value)
        if value != value:
            raise self.refuse(f"expected a number, found {outline(self.value)}")
        return value

    def tags(self, *without: str) -> dict[str, str]:
        """The texts and numbers of an object, as tags of a topic."""
        found = ((key, as_tag(node.value)) for key, node in self.entries() if key and key not in without)
        return {key: tag for key, tag in found if tag}

    def refuse(self, problem: str) -> FileError:
        """The error to raise for this value."""
        steps: list[str] = []
        node: JsonNode | None = self
        while node is not None:
            steps.append(clean(node._step, limit=40))
            node = node._above
        place = "".join(reversed(steps)).lstrip(".")
        return self.file.refuse(self.line, f"{place}: {problem}" if place else problem)

    def _object(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self.refuse(f"expected an object, found {outline(self.value)}")
        return self.value

    def _below(self, value: Any, step: str) -> JsonNode:
        return JsonNode(self.file, value, self.line, above=self, step=step)


def nodes(file: InputFile) -> Iterator[JsonNode]:
    """The values of JSON Lines, or the value of a JSON file; of a list, each of its own."""
    whole = file.json if file.first_object is None else file.json_or_none
    for line, value in file.json_lines() if whole is None else [(None, whole)]:
        node = JsonNode(file, value, line)
        yield from node.items() if isinstance(value, list) else [node]


def without(file: InputFile, *marks: str) -> Misfit | None:
    """None for JSON, or a first line of JSON, that has all places of one of the marks, which spaces separate."""
    value = None
    if file.looks_like_json:
        value = file.first_object if file.json_or_none is None else file.json_or_none
    if any(all(at(value, place) is not None for place in mark.split()) for mark in marks):
        return None
    return Misfit(f"it is not JSON that has {' or '.join(marks[:3])}", 0 if value is None else 1)


def require(misfit: Misfit | None, file: InputFile) -> None:
    """Refuse a file that was said to have a format that it does not have."""
    if misfit is not None:
        raise file.refuse(None, f"expected the format that was named, but {misfit.reason}")


def chosen(file: InputFile, what: str, parts: Iterable[tuple[Sequence[str], Part]]) -> Part:
    """The part that ``FILE#NAME`` calls by one of its names, or the only one; the error of the file for no such."""
    parts = list(parts)
    fitting = [part for names, part in parts if file.part is None or file.part in names]
    if len(fitting) == 1:
        return fitting[0]
    times = Counter(name for names, _ in parts for name in {*names})
    known = [next((name for name in names if name and times[name] == 1), [*names, ""][0]) for names, _ in parts]
    listed = ", ".join(f"{name!r:.60}" for name in known[:_MOST_NAMED]) or "none"
    if len(known) > _MOST_NAMED:
        listed += ", ..."
    if not fitting:
        named = "" if file.part is None else f" named {file.part!r:.60}"
        raise file.refuse(None, f"expected a {what}{named}, found {listed}")
    example = f"{file.name}#{known[0]:.60}"
    raise file.refuse(None, f"expected one {what}, found {len(fitting)}: {listed}; name one, as in {example!r}")


def chosen_node(file: InputFile, what: str, parts: Iterable[JsonNode]) -> JsonNode:
    """As ``chosen``, of objects with a name or an id."""
    parts = list(parts)
    names = [[name.identifier() for key in ("name", "id") if (name := part.find(key))] for part in parts]
    return chosen(file, what, zip(names, parts, strict=True))
