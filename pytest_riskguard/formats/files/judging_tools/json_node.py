"""Values of a JSON file together with their places in it, so that every refusal says where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_riskguard.errors import FileError
from pytest_riskguard.formats.columns import number
from pytest_riskguard.formats.content import InputFile
from pytest_riskguard.text import clean


@dataclass(frozen=True)
class JsonNode:
    """One value; ``place`` is its path, such as ``queries[3].ratings``. All methods raise the file's error."""

    file: InputFile
    value: Any
    place: str = ""
    line: int | None = None

    @classmethod
    def of(cls, file: InputFile) -> JsonNode:
        """The whole file."""
        return cls(file, file.json)

    def __getitem__(self, key: str) -> JsonNode:
        """The value of a key that must be there."""
        if (node := self.get(key)) is None:
            raise self.refuse(f"expected a key {key!r}, found {self._shown()}")
        return node

    def get(self, key: str) -> JsonNode | None:
        """The value of a key; None if it is not there or null."""
        value = self._object().get(key)
        return None if value is None else self._below(value, f".{key}")

    def entries(self) -> Iterator[tuple[str, JsonNode]]:
        """The keys of an object with their values."""
        for key, value in self._object().items():
            yield key, self._below(value, f".{clean(key, limit=40)}")

    def items(self) -> Iterator[JsonNode]:
        """The values of a list."""
        if not isinstance(self.value, list):
            raise self.refuse(f"expected a list, found {self._shown()}")
        for place, value in enumerate(self.value):
            yield self._below(value, f"[{place}]")

    def text(self) -> str:
        """A text that is not blank."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.refuse(f"expected a text, found {self._shown()}")
        return self.value.strip()

    def identifier(self) -> str:
        """An id: a text, or a whole number, which becomes one."""
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return str(self.value)
        return self.text()

    def number(self) -> float:
        """A finite number, which may stand in a text (``"3.000"``)."""
        if isinstance(self.value, str):
            value = number(self.value)
        elif isinstance(self.value, int | float) and not isinstance(self.value, bool):
            value = float(self.value)
        else:
            value = float("nan")
        if value != value:
            raise self.refuse(f"expected a number, found {self._shown()}")
        return value

    def refuse(self, problem: str) -> FileError:
        """The error to raise for this value."""
        return self.file.refuse(self.line, f"{self.place}: {problem}" if self.place else problem)

    def _object(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self.refuse(f"expected an object, found {self._shown()}")
        return self.value

    def _below(self, value: Any, step: str) -> JsonNode:
        return JsonNode(self.file, value, f"{self.place}{step}".lstrip("."), self.line)

    def _shown(self) -> str:
        if isinstance(self.value, dict):
            keys = ", ".join(f"{key!r:.40}" for key in list(self.value)[:5])
            return f"an object with the keys {keys}" if keys else "an empty object"
        if isinstance(self.value, list):
            return "a list"
        return "null" if self.value is None else f"{self.value!r:.60}"
