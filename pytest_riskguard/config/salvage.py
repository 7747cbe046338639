"""The parts of a riskguard.yaml that are right although others are wrong, so that these are checked too."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from pytest_riskguard.config.schema import TAGS, Config
from pytest_riskguard.config.yaml_lines import Document, Path

#: What stands for judgements that are not named; nothing looks for the file.
_NO_COLLECTION = {"qrels": "qrels.txt"}


@dataclass(frozen=True)
class Salvaged:
    """Settings without their wrong values, and the paths of these."""

    config: Config
    removed: frozenset[Path] = frozenset()

    def lacks(self, *path: str | int) -> bool:
        """Whether the value at a path, or one that it is part of, was wrong."""
        return any(path[: len(gone)] == gone for gone in self.removed)

    def keys_removed(self, place: int) -> frozenset[str]:
        """The keys of the gate at this place in the file whose values were wrong."""
        return frozenset(str(path[2]) for path in self.removed if path[:2] == ("gates", place) and len(path) > 2)


def salvage(document: Document, path: FilePath) -> Salvaged | None:
    """The settings without what pydantic refuses: a key, or a gate that lacks a name or a kind.

    None if nothing is left to check.
    """
    data: dict[str, Any] = dict(document.data)
    listed = data.get("gates")
    gates = (
        {i: dict(gate) for i, gate in enumerate(listed) if isinstance(gate, dict)} if listed.__class__ is list else {}
    )
    removed: set[Path] = set()
    while True:
        places = tuple(gates)
        data["gates"] = [gates[place] for place in places]
        context = {"path": path, "document": document, "places": places}
        try:
            return Salvaged(Config.model_validate(data, context=context), frozenset(removed))
        except ValidationError as error:
            before = len(removed)
            for detail in error.errors(include_url=False):
                where: Path = tuple(part for part in detail["loc"] if part not in TAGS)
                removed.add(_remove(data, gates, places, where))
            if len(removed) == before:  # nothing more can be left out
                return None


def _remove(data: dict[str, Any], gates: dict[int, dict[str, Any]], places: tuple[int, ...], where: Path) -> Path:
    """Leave out the value that is wrong; its path in the file."""
    match where:
        case ("gates", int(index), *rest):
            place = places[index]
            key = rest[0] if rest else ""
            if key in gates.get(place, {}) and key not in ("name", "kind"):
                del gates[place][str(key)]
                return ("gates", place, key)
            gates.pop(place, None)
            return ("gates", place)
        case ("collection", str(key), *_) if key != "qrels":
            data["collection"] = {name: value for name, value in data["collection"].items() if name != key}
            return ("collection", key)
        case ("collection", *_):
            data["collection"] = _NO_COLLECTION
            return ("collection",)
        case (str(key), *_):
            data.pop(key, None)
            return (key,)
    return where
