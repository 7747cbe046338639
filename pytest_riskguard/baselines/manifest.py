"""What is written beside a baseline's scores, and its strict reading."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

FORMAT = 2
"""The newest format that this version reads.

Format 1 has no ``replicates``. It is still what a baseline without replicates is written in, so that an older
version reads it; one that knows of no replicates refuses a baseline that has some, rather than judge without them.
"""

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a whole number",
    NoneType: "null",
}
_MOVED = (b"<<<<<<<", b"=======", b">>>>>>>")


class ManifestError(ValueError):
    """The text is not a manifest; says what was expected and what was found."""


class NewerFormatError(ManifestError):
    """The manifest is of a later version of this package."""


@dataclass(frozen=True)
class Digests:
    """``sha256:...`` of each file, run and qrels decompressed; ``topics`` is None where there was no file."""

    run: str
    qrels: str
    scores: str
    topics: str | None = None

    def __post_init__(self) -> None:
        for name, digest in asdict(self).items():
            if digest is not None:
                _check_digest(f"digests.{name}", digest)


@dataclass(frozen=True)
class StoredMeasure:
    """A measure as ir-measures prints it, and what computed it; ``version`` is that of the provider."""

    name: str
    provider: str
    version: str | None


@dataclass(frozen=True)
class GitState:
    """The commit that was checked out, and whether tracked files outside the store differed from it."""

    commit: str
    dirty: bool


@dataclass(frozen=True)
class StoredTopics:
    """How many topics are scored, how many have no relevant document, and which are on one side only.

    ``unanswered`` are judged but not in the run, ``unknown`` are in the run but not judged.
    """

    scored: int
    without_relevant: int
    unanswered: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class StoredReplicate:
    """Another run of the same system: the number that its folder has, and the digest of the run in there."""

    number: int
    run: str

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ManifestError(f"replicates: expected numbers from 1, found {self.number}")
        _check_digest(f"replicates: run of {self.number}", self.run)


@dataclass(frozen=True)
class Manifest:
    """One stored baseline, or a replicate: where its scores come from. No host, user or absolute path.

    Attributes
    ----------
    created : str
        UTC, ISO 8601, to the second.
    digests : Digests
    measures : tuple of StoredMeasure
        In the order of the columns of ``scores.tsv``.
    topics : StoredTopics
    run_kept : bool
        Whether ``run.gz`` lies beside it.
    versions : mapping distribution -> version
        Of ``ir-measures`` and ``pytest-riskguard``.
    git : GitState or None
        None outside a repository, and where git could not say.
    note : str
    replicates : tuple of StoredReplicate
        By number. Listed here, so that one that gets lost is missed: how much noise there is changes verdicts.
    """

    created: str
    digests: Digests
    measures: tuple[StoredMeasure, ...]
    topics: StoredTopics
    run_kept: bool
    versions: Mapping[str, str]
    git: GitState | None = None
    note: str = ""
    replicates: tuple[StoredReplicate, ...] = ()

    def __post_init__(self) -> None:
        try:
            datetime.fromisoformat(self.created)
        except ValueError:
            raise ManifestError(f"created: expected a date and time, found {self.created!r}") from None
        if not self.measures:
            raise ManifestError("measures: expected at least one, found none")
        numbers = [replicate.number for replicate in self.replicates]
        if numbers != sorted(set(numbers)):
            raise ManifestError(f"replicates: expected numbers that rise, found {numbers}")
        if len({self.digests.run, *(replicate.run for replicate in self.replicates)}) <= len(numbers):
            raise ManifestError("replicates: the same run appears twice")

    def to_bytes(self) -> bytes:
        """JSON, keys sorted, one value on a line, so that a change shows in a diff."""
        content = {"format": FORMAT, **asdict(self)}
        if not self.replicates:
            del content["replicates"]
            content["format"] = 1
        return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Manifest:
        """Read what ``to_bytes`` wrote.

        Raises
        ------
        ManifestError
            Not JSON, a key twice, missing or unknown, a value of another type, or a newer format.
        """
        data = _json(content)
        if not isinstance(data, dict):
            raise ManifestError(f"expected an object, found {_kind(data)}")
        found = data.pop("format", None)
        if type(found) is not int or found < 1:
            raise ManifestError(f"format: expected a number from 1 to {FORMAT}, found {json.dumps(found)}")
        if found > FORMAT:
            raise NewerFormatError(
                f"written in format {found} by a newer pytest-riskguard, this one reads formats up to {FORMAT}; "
                "upgrade pytest-riskguard"
            )
        if found == 1:
            if "replicates" in data:
                raise ManifestError("key 'replicates' in format 1, which has none")
            data["replicates"] = []
        manifest: Manifest = _decoded(cls, data, "")
        if found > 1 and not manifest.replicates:
            raise ManifestError("replicates: expected at least one, found none")
        return manifest


def _check_digest(where: str, digest: str) -> None:
    if not _DIGEST.fullmatch(digest):
        raise ManifestError(f"{where}: expected sha256: and 64 hexadecimal digits, found {digest!r}")


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
    """``value`` as the annotated type ``kind``, without any conversion that could hide a mistake."""
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
    return _KINDS.get(type(value), "a number")


def _joined(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name
