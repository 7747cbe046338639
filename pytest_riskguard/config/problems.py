"""Every error that pydantic finds in a riskguard.yaml, with its line; imports pydantic."""

from __future__ import annotations

import functools
from pathlib import Path as FilePath
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pytest_riskguard.config.candidate_settings import FORMS, Http, form_of
from pytest_riskguard.config.schema import Collection, Config, Documents, GateModel, QrelsFile, TopicsFile
from pytest_riskguard.config.setting_types import SettingError
from pytest_riskguard.config.yaml_lines import Document, Path
from pytest_riskguard.errors import ConfigError
from pytest_riskguard.gates.kinds import OPTIONS
from pytest_riskguard.gates.option_types import shown
from pytest_riskguard.text import did_you_mean

# The model of the mapping under some keys; under any others it is a candidate.
_MODELS: dict[tuple[str, ...], type[BaseModel]] = {
    (): Config,
    ("collection",): Collection,
    ("collection", "qrels"): QrelsFile,
    ("collection", "topics"): TopicsFile,
    ("collection", "documents"): Documents,
    ("gates",): GateModel,
}


def checked(document: Document, path: FilePath, *, require_gates: bool) -> Config:
    """The settings of the file at ``path``; ``ConfigError`` has all that is wrong, ordered by line."""
    try:
        return Config.model_validate(
            document.data, context={"path": path.absolute(), "document": document, "require_gates": require_gates}
        )
    except ValidationError as error:
        problems = [_problem(document, detail) for detail in error.errors(include_url=False)]
    raise ConfigError.of([ConfigError(path, *problem) for problem in sorted(problems, key=lambda found: found[0])])


def _problem(document: Document, detail: ErrorDetails) -> tuple[int, str]:
    path = _place(document, detail["loc"])
    if detail["type"] == "extra_forbidden":
        *parent, key = path
        known = _known_keys(document.data, tuple(parent))
        instead = did_you_mean(str(key), known) or f"; known keys: {', '.join(known)}"
        return document.line(path), f"unknown key {key!r} in {_subject(document.data, tuple(parent))}{instead}"
    if detail["type"] == "missing":
        key = detail["loc"][-1]
        return document.line(path), f"{_subject(document.data, path)} has no {key!r}; add `{key}: ...`"
    error = detail.get("ctx", {}).get("error", "expected a mapping, found " + shown(detail["input"]))
    unwritten = list[str]()
    if isinstance(error, SettingError):
        path = _place(document, (*detail["loc"], *error.keys))
        unwritten = [str(key) for key in error.keys if key in OPTIONS and key not in path]
    return document.line(path), ": ".join([_subject(document.data, path), *unwritten, str(error)])


def _place(document: Document, loc: Path) -> Path:
    """Where an error is in the document, which has no key for the branch of a union that pydantic took."""
    path: Path = ()
    for part in loc:
        path = (*path, part) if (*path, part) in document.lines else path
    return path


def _subject(data: Any, path: Path) -> str:
    """What an error is about, such as ``alpha of gate 'no-risk'``."""
    gate, keys = "", path
    if path[:1] == ("gates",) and len(path) > 1:
        entry, keys = data["gates"][path[1]], path[2:]
        name = entry.get("name") if isinstance(entry, dict) else None
        gate = f"gate {name!r}" if isinstance(name, str) else f"gate {int(path[1]) + 1}"
    inner = ".".join(part for part in keys if isinstance(part, str))
    return " of ".join(filter(None, [inner, gate])) or "the file"


def _known_keys(data: Any, path: Path) -> list[str]:
    """The keys that the mapping at ``path`` may have."""
    keys = tuple(part for part in path if isinstance(part, str))
    mapping = functools.reduce(lambda value, part: value[part], path, data)
    model = Http if "http" in keys else FORMS[form_of(mapping)]
    return list(_MODELS.get(keys, model).model_fields)
