"""The manifest of a baseline: what its scores were computed from, and when; its age."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, field
from datetime import UTC, datetime
from typing import Literal, get_args

from pytest_riskguard.data.metadata import Latency
from pytest_riskguard.frozen import frozen
from pytest_riskguard.serialization import JsonError, decoded, parsed

FORMAT = 1

Kind = Literal["fixed", "previous", "release", "best"]
#: When a baseline moves: never, with every accepted change, with every release, or only to a run that is as good.
KINDS: tuple[str, ...] = get_args(Kind)
FIXED: Kind = "fixed"

#: What a baseline was stored from if it is not a run: per-topic scores of a system whose run nobody gave.
SCORES_ALONE = "scores"


class _Exact:
    """A part of the manifest: pydantic refuses unknown keys."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - pydantic reads it from the class


@frozen
class Digests(_Exact):
    """``sha256:...`` of each file, decompressed; ``topics`` is None where there was no file.

    Where scores were stored without a run, ``run`` is the digest of their file as ``read_scores`` gives it, and
    ``qrels`` is None: nobody knows which judgements they rest on.
    """

    run: str
    qrels: str | None
    scores: str
    topics: str | None


@frozen
class StoredMeasure(_Exact):
    """A measure as ir-measures prints it, and what computed it; ``version`` is the provider's."""

    name: str
    provider: str
    version: str | None


@frozen
class GitState(_Exact):
    """The commit that was checked out, and whether tracked files outside the store differed from it."""

    commit: str
    dirty: bool


@frozen
class StoredTopics(_Exact):
    """How many topics are scored, how many have no relevant document, and which are in only one of run and qrels.

    ``unanswered`` are judged but not in the run, ``unknown`` are in the run but not judged.
    """

    scored: int
    without_relevant: int
    unanswered: tuple[str, ...]
    unknown: tuple[str, ...]


@frozen
class StoredJudged(_Exact):
    """How many of the scored topics retrieve a judged document, and the share of judged documents in the first 10.

    A share near 0 says that the ids of run and qrels may not match.
    """

    topics: int
    share: float


@frozen
class StoredLatency(_Exact, Latency):
    """How long a live system took to answer when it was stored."""


@frozen
class StoredReplicate(_Exact):
    """Another run of the same system, numbered from 1, and the digest of that run."""

    number: int
    run: str

    @property
    def folder(self) -> str:
        """Its folder, relative to the baseline's."""
        return f"replicates/{self.number}"


@frozen
class EarlierRun(_Exact):
    """A run that a baseline held before another one was accepted in its place, numbered from 1, the oldest.

    ``run`` is its digest; ``created``, ``git`` and ``note`` are those of its own manifest, ``means`` those of its
    stored scores, by measure.
    """

    number: int
    run: str
    created: str
    git: GitState | None
    note: str
    means: Mapping[str, float]

    @property
    def folder(self) -> str:
        """Its folder, relative to the baseline's; four digits, so that a listing is in order."""
        return f"history/{self.number:04d}"


@frozen
class Manifest(_Exact):
    """One stored baseline, a replicate or an earlier run: where its scores come from. No host, user or absolute path.

    ``created`` is UTC, ISO 8601, to the second; ``measures`` are in the order of the columns of ``scores.tsv``;
    ``git`` is None where git could not say. Replicates and earlier runs are listed by number, so that a lost one is
    noticed: how much noise there is changes verdicts. ``name`` is the baseline's own, ``judged`` about the documents
    of its run, ``queries`` the digest of ``queries.tsv``, None where there was no topics file. ``metadata``
    is what people said about the system. ``source`` says whether there was a run, ``latency`` how fast a live system
    answered, ``allow_unanswered`` that topics without an answer have none.
    ``predecessor`` is the run of the newest entry of ``history``: without it a lost history looks like none.
    """

    name: str
    created: str
    digests: Digests
    queries: str | None
    measures: tuple[StoredMeasure, ...]
    topics: StoredTopics
    judged: StoredJudged | None
    run_kept: bool
    versions: Mapping[str, str]
    git: GitState | None
    note: str
    replicates: tuple[StoredReplicate, ...]
    kind: str
    history: tuple[EarlierRun, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)
    source: str = "run"
    latency: StoredLatency | None = None
    allow_unanswered: bool = False
    predecessor: str | None = None

    def __post_init__(self) -> None:
        for time in (self.created, *(earlier.created for earlier in self.history)):
            try:
                datetime.fromisoformat(time)
            except ValueError:
                raise ValueError(f"created: expected a date and time, found {time!r}") from None
        if self.kind not in KINDS:
            raise ValueError(f"kind: expected one of {', '.join(KINDS)}, found {self.kind!r}")
        numbered = [earlier.number for earlier in self.history]
        if numbered != list(range(1, len(numbered) + 1)):
            raise ValueError(f"history: expected every number from 1, found {numbered}")
        if self.predecessor not in (None, *(earlier.run for earlier in self.history[-1:])):
            raise ValueError("history: its newest run, the predecessor of the present one, is missing")
        if len({self.digests.run, *(replicate.run for replicate in self.replicates)}) <= len(self.replicates):
            raise ValueError("replicates: the same run appears twice")

    @property
    def has_run(self) -> bool:
        """Whether it was stored from a run, kept or not, rather than from scores alone."""
        return self.source != SCORES_ALONE

    @property
    def measure_names(self) -> tuple[str, ...]:
        """The stored measures, in the order of the columns."""
        return tuple(measure.name for measure in self.measures)

    def to_bytes(self) -> bytes:
        """JSON, keys sorted, one value on a line, so that a change shows in a diff."""
        content = {"format": FORMAT, **asdict(self)}
        return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Manifest:
        """Read what ``to_bytes`` wrote; a ``JsonError`` for anything else."""
        data = parsed(content)
        number = data.pop("format", None)
        if type(number) is not int or number != FORMAT:
            raise JsonError(f"format: expected {FORMAT}, found {json.dumps(number)}")
        manifest = decoded(cls, data)
        try:
            manifest.to_bytes()
        except UnicodeEncodeError:
            raise JsonError("expected text without lone surrogates") from None
        return manifest


@frozen
class Staleness:
    """Age of a baseline: whole days since it was stored, and how many other runs the store has accepted since.

    It depends on the clock, so it is only shown and never changes a verdict.
    """

    days: int
    accepted_since: int


def staleness(name: str, manifests: Mapping[str, Manifest], *, now: str) -> Staleness:
    """Age of one of the baselines of a store, by the manifests that can be read."""
    own = manifests[name]
    stored = _time(own.created)
    accepted = {run for manifest in manifests.values() for run, when in _accepted(manifest) if _time(when) > stored}
    return Staleness(max((_time(now) - stored).days, 0), len(accepted - {own.digests.run}))


def _accepted(manifest: Manifest) -> list[tuple[str, str]]:
    """The digest of each run that was accepted to replace another, and when."""
    chain = [(earlier.run, earlier.created) for earlier in manifest.history]
    return [*chain, (manifest.digests.run, manifest.created)][1:]


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
