"""The manifest of a baseline: what its scores were computed from, and when; written and read strictly."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal, get_args

from pytest_riskguard.serialization import JsonError, decoded, parsed

FORMAT = 3
"""The newest format that this version reads.

Each baseline is written in the oldest format that can express it, so that older versions can read it. Format 1 has
no ``replicates``, ``kind`` or ``history``; format 2 has replicates. A version without replicates would judge without
them. One without histories would judge correctly, but would drop the history as soon as it adds a replicate. Both
therefore refuse newer formats.
"""

Kind = Literal["fixed", "previous", "release", "best"]
KINDS: tuple[str, ...] = get_args(Kind)
"""What a baseline stands for, and so when it moves: never, with every accepted change, with every release, or only
to a run that is at least as good."""
FIXED: Kind = "fixed"

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class NewerFormatError(JsonError):
    """The manifest is of a later version of this package."""


class _Exact:
    """A part of the manifest: pydantic refuses keys that it does not have."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - pydantic reads it from the class


@dataclass(frozen=True)
class Digests(_Exact):
    """``sha256:...`` of each file, run and qrels decompressed; ``topics`` is None where there was no file."""

    run: str
    qrels: str
    scores: str
    topics: str | None

    def __post_init__(self) -> None:
        for name, digest in asdict(self).items():
            if digest is not None:
                _check_digest(f"digests.{name}", digest)


@dataclass(frozen=True)
class StoredMeasure(_Exact):
    """A measure as ir-measures prints it, and what computed it; ``version`` is that of the provider."""

    name: str
    provider: str
    version: str | None


@dataclass(frozen=True)
class GitState(_Exact):
    """The commit that was checked out, and whether tracked files outside the store differed from it."""

    commit: str
    dirty: bool


@dataclass(frozen=True)
class StoredTopics(_Exact):
    """How many topics are scored, how many have no relevant document, and which are in only one of run and qrels.

    ``unanswered`` are judged but not in the run, ``unknown`` are in the run but not judged.
    """

    scored: int
    without_relevant: int
    unanswered: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class StoredReplicate(_Exact):
    """Another run of the same system: the number of its folder, and the digest of the run in it."""

    number: int
    run: str

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ValueError(f"replicates: expected numbers from 1, found {self.number}")
        _check_digest(f"replicates: run of {self.number}", self.run)


@dataclass(frozen=True)
class EarlierRun(_Exact):
    """A run that a baseline held before another one was accepted in its place.

    Attributes
    ----------
    number : int
        From 1, the oldest; also the number of its folder.
    run : str
        The digest of the run in that folder.
    created, git, note
        Those of its manifest.
    means : mapping measure -> mean score
        Of the stored scores, for each stored measure.
    """

    number: int
    run: str
    created: str
    git: GitState | None
    note: str
    means: Mapping[str, float]

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ValueError(f"history: expected numbers from 1, found {self.number}")
        _check_digest(f"history: run of {self.number}", self.run)
        _check_time(f"history: created of {self.number}", self.created)
        for measure, mean in self.means.items():
            if not math.isfinite(mean):
                raise ValueError(f"history: mean {measure} of {self.number}: expected a finite number, found {mean}")


@dataclass(frozen=True)
class Manifest(_Exact):
    """One stored baseline, a replicate or an earlier run: where its scores come from. No host, user or absolute path.

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
        By number. Listed here so that a lost one is noticed: how much noise there is changes verdicts.
    kind : str
        What it stands for, one of ``KINDS``.
    history : tuple of EarlierRun
        By number: the runs that this one and its predecessors replaced. Listed here so that a lost one is noticed.
    """

    created: str
    digests: Digests
    measures: tuple[StoredMeasure, ...]
    topics: StoredTopics
    run_kept: bool
    versions: Mapping[str, str]
    git: GitState | None
    note: str
    replicates: tuple[StoredReplicate, ...]
    kind: str
    history: tuple[EarlierRun, ...]

    def __post_init__(self) -> None:
        _check_time("created", self.created)
        if self.kind not in KINDS:
            raise ValueError(f"kind: expected one of {', '.join(KINDS)}, found {self.kind!r}")
        if not self.measures:
            raise ValueError("measures: expected at least one, found none")
        _check_rising("history", [earlier.number for earlier in self.history])
        numbers = [replicate.number for replicate in self.replicates]
        _check_rising("replicates", numbers)
        if len({self.digests.run, *(replicate.run for replicate in self.replicates)}) <= len(numbers):
            raise ValueError("replicates: the same run appears twice")

    def to_bytes(self) -> bytes:
        """JSON, keys sorted, one value on a line, so that a change shows in a diff."""
        content = {"format": self._format, **asdict(self)}
        for key in _absent(self._format):
            del content[key]
        return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()

    @property
    def _format(self) -> int:
        """The oldest format that can express this."""
        if self.kind != FIXED or self.history:
            return 3
        return 2 if self.replicates else 1

    @classmethod
    def from_bytes(cls, content: bytes) -> Manifest:
        """Read what ``to_bytes`` wrote.

        Raises
        ------
        JsonError
            Not JSON; a key twice, missing or unknown; a value of another type; or a newer format.
        """
        data = parsed(content)
        number = data.pop("format", None)
        if type(number) is not int or number < 1:
            raise JsonError(f"format: expected a number from 1 to {FORMAT}, found {json.dumps(number)}")
        if number > FORMAT:
            raise NewerFormatError(
                f"written in format {number} by a newer pytest-riskguard, this one reads formats up to {FORMAT}; "
                "upgrade pytest-riskguard"
            )
        for key, value in _absent(number).items():
            if key in data:
                raise JsonError(f"key {key!r} in format {number}, which has none")
            data[key] = value
        manifest = decoded(cls, data)
        if number == 2 and not manifest.replicates:
            raise JsonError("replicates: expected at least one, found none")
        if number != manifest._format:
            raise JsonError(f"format: expected {manifest._format} for what is in it, found {number}")
        return manifest


def _absent(format_: int) -> dict[str, object]:
    """The keys that a format does not have, and the values that they stand for."""
    keys: dict[str, object] = {}
    if format_ < 3:
        keys |= {"kind": FIXED, "history": []}
    if format_ < 2:
        keys |= {"replicates": []}
    return keys


def _check_time(where: str, text: str) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{where}: expected a date and time, found {text!r}") from None


def _check_rising(where: str, numbers: list[int]) -> None:
    if numbers != sorted(set(numbers)):
        raise ValueError(f"{where}: expected numbers that rise, found {numbers}")


def _check_digest(where: str, digest: str) -> None:
    if not _DIGEST.fullmatch(digest):
        raise ValueError(f"{where}: expected sha256: and 64 hexadecimal digits, found {digest!r}")
