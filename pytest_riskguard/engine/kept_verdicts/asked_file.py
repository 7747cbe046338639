"""What a riskguard.yaml asks, as far as its verdicts can be found with it: plain values, which the cache keeps too.

Settings are checked by pydantic, which takes longer to load than a kept verdict takes to read. A file whose bytes
were found to be right asks the same again, so only those of other files are checked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_riskguard.baselines.stored_files import stored_file
from pytest_riskguard.engine.kept_verdicts.software import software_digest, switches
from pytest_riskguard.errors import UsageError
from pytest_riskguard.evaluation.cache.cache_folder import CacheFolder, cache_folder
from pytest_riskguard.evaluation.cache.known_measures import may_be_of_project

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.formats.given_file import GivenFile

_KIND = "settings"
_FORMAT = "riskguard-settings/1"


class NamedFile(NamedTuple):
    """A file that gates are about, and in one text how it is read."""

    path: str
    read_as: str

    @classmethod
    def of(cls, given: GivenFile) -> NamedFile:
        """The file that somebody names."""
        return cls(str(given.path), repr(given))


@dataclass(frozen=True)
class AskedItem:
    """One item of a gate: its id, the gate's line, and what its verdict depends on.

    Items of one ``group`` are judged together. ``candidate`` is None for a live system.
    """

    id: str
    line: int
    measure: str
    slice: str | None
    group: int
    stored: tuple[str, ...]
    candidate: NamedFile | None


@dataclass(frozen=True)
class AskedFile:
    """A riskguard.yaml: ``written`` is all that it says, ``gates`` are names with their lines, ``files`` by role.

    ``is_lasting`` says that the same bytes ask the same tomorrow, whatever other files there are.
    """

    path: Path
    store: Path
    written: Any
    require: int | str | None
    gates: tuple[tuple[str, int], ...]
    files: tuple[tuple[str, NamedFile], ...]
    items: tuple[AskedItem, ...]
    is_lasting: bool

    @classmethod
    def of(cls, settings: Config) -> AskedFile:
        """What checked settings ask; slices must have been looked up."""
        from pytest_riskguard.config.candidate_settings import file_of
        from pytest_riskguard.config.items import judged_together

        lines = {gate.name: settings.line("gates", place) for place, gate in settings.placed_gates}
        items, given_files = [], list(_files(settings).values())
        for item, group in judged_together(settings):
            given = file_of(item.settings.candidate or settings.candidate)
            candidate = None if given is None else NamedFile.of(given)
            given_files += [] if given is None else [given]
            line, stored = lines[item.settings.name], item.settings.stored
            items.append(AskedItem(item.id, line, item.measure, item.gate.slice, group, stored, candidate))
        return cls(
            path=settings.path,
            store=settings.store,
            written=settings.written,
            require=settings.require,
            gates=tuple((gate.name, lines[gate.name]) for gate in settings.gates),
            files=tuple((role, NamedFile.of(given)) for role, given in _files(settings).items()),
            items=tuple(items),
            # slices were looked up in other files, and a live system is whatever its project says
            is_lasting=all(item.slice is None and item.candidate is not None for item in items)
            and not any(map(_may_be_a_part, given_files)),
        )


def kept_file(path: Path, content: bytes) -> AskedFile | None:
    """What a riskguard.yaml with this content asks, if the cache knows it; None if a candidate is a stored file."""
    folder = cache_folder()
    text = None
    with suppress(UsageError):  # a wrong size of the cache, which is said where a gate is judged
        text = None if folder is None else folder.read(_KIND, _name(path, content))
    if text is None:
        return None
    try:
        head, data = text.decode("ascii").split("\n", 1)
        found = _read(path, json.loads(data)) if head == _head(path, content, data) else None
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return None
    if found is None or _asks_project(found) or _compares_with_itself(found):
        return None
    return found


def keep_file(asked: AskedFile, content: bytes) -> None:
    """Keep what a file asks if it depends on nothing but the file."""
    folder: CacheFolder | None = cache_folder()
    if folder is None or not asked.is_lasting or _asks_project(asked):
        return
    rest = {name: getattr(asked, name) for name in ("written", "require", "gates", "files")}
    data = {**rest, "store": str(asked.store), "items": [[*vars(item).values()] for item in asked.items]}
    try:
        text = json.dumps(data)
    except ValueError:  # a number of more digits than Python writes
        return
    with suppress(UsageError):  # as above
        folder.write(_KIND, _name(asked.path, content), f"{_head(asked.path, content, text)}\n{text}".encode("ascii"))
        folder.trim()


def _read(path: Path, data: Mapping[str, Any]) -> AskedFile:
    return AskedFile(
        path=path.absolute(),
        store=Path(data["store"]),
        written=data["written"],
        require=data["require"],
        gates=tuple((name, line) for name, line in data["gates"]),
        files=tuple((role, NamedFile(*file)) for role, file in data["files"]),
        items=tuple(
            AskedItem(name, line, measure, part, group, tuple(stored), NamedFile(*candidate))
            for name, line, measure, part, group, stored, candidate in data["items"]
        ),
        is_lasting=True,
    )


def _asks_project(asked: AskedFile) -> bool:
    """Whether code of the project may say what a measure is, and how far its scores lie apart."""
    return any(map(may_be_of_project, {item.measure for item in asked.items}))


def _may_be_a_part(given: GivenFile) -> bool:
    """Whether a file was named as ``FILE#PART``, or would be if it were not there."""
    return given.part is not None or "#" in str(given.path)


def _compares_with_itself(asked: AskedFile) -> bool:
    """Whether a candidate is a file of the store, which depends on more than the settings."""
    names: dict[str, set[str]] = {}
    for item in asked.items:
        if item.candidate is not None:
            names.setdefault(item.candidate.path, set()).update(item.stored)
    return any(stored_file(Path(path), asked.store, of=of) is not None for path, of in names.items())


def _files(settings: Config) -> dict[str, GivenFile]:
    """The files of the collection, and the ledger of looks at it."""
    from pytest_riskguard.formats.given_file import GivenFile

    collection = settings.collection
    documents = None if collection.documents is None else GivenFile(collection.documents)
    given = {"qrels": collection.given_qrels, "topics": collection.given_topics, "documents": documents}
    given["ledger"] = None if settings.budget is None else GivenFile(settings.budget.ledger)
    return {role: file for role, file in given.items() if file is not None}


def _name(path: Path, content: bytes) -> str:
    known = [str(path.absolute()), hashlib.sha256(content).hexdigest(), switches(), software_digest()]
    return hashlib.sha256(json.dumps([_FORMAT, *known]).encode()).hexdigest()


def _head(path: Path, content: bytes, text: str) -> str:
    return f"{_FORMAT} {_name(path, content)} {hashlib.sha256(text.encode('ascii')).hexdigest()}"
