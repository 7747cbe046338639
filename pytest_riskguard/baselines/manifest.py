"""The manifest of a baseline: what its scores were computed from, and when."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from pytest_riskguard.frozen import frozen
from pytest_riskguard.serialization import JsonError, decoded, parsed

FORMAT = 2
#: The distribution that a provider of ir-measures computes with; other providers are part of ir-measures itself.
_DISTRIBUTIONS = {"pytrec_eval": "pytrec-eval-terrier", "cwl_eval": "cwl-eval"}


_NAME = re.compile(r"(?!.*\.\.)[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?")


def name_problem(name: str) -> str | None:
    """Why ``name``, which must also suit a folder on every system, cannot name a baseline; None if it can."""
    if _NAME.fullmatch(name):
        return None
    return (
        "expected at most 100 letters, digits, '.', '_' and '-', beginning with a letter or digit, without '..' or a "
        "final '.'"
    )


def now() -> str:
    """The time, UTC, to the second; the store has no other clock."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def versions(providers: Iterable[str]) -> dict[str, str]:
    """The versions of what computes scores, by distribution; those that are not installed are left out."""
    found = {}
    for name in ("ir-measures", "pytest-riskguard", *(_DISTRIBUTIONS.get(one, "ir-measures") for one in providers)):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


class _Exact:
    """A part of the manifest: pydantic refuses unknown keys."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - pydantic reads it from the class


@frozen
class Digests(_Exact):
    """``sha256:...`` of each file, decompressed; None where there was none.

    Where scores were stored without a run, ``run`` is the digest of their file as ``read_scores`` gives it, and
    ``qrels`` is None: nobody knows which judgements they rest on. ``topics`` is the file of topics, ``queries`` what
    is stored of it. A run that was stored without judgements has neither ``qrels`` nor ``scores``.
    """

    run: str
    qrels: str | None
    scores: str | None
    topics: str | None
    queries: str | None


@frozen
class GitState(_Exact):
    """The commit that was checked out, and whether tracked files outside the store differed from it."""

    commit: str
    dirty: bool


@frozen
class StoredTopics(_Exact):
    """How many topics are scored, how many have no relevant document, and which are in only one of run and qrels.

    ``unanswered`` are judged but not in the run, ``unknown`` are in the run but not judged. ``judged`` is the share
    of judged documents among the first 10 of all topics: near 0 the ids of run and qrels may not match.
    """

    scored: int
    without_relevant: int
    unanswered: tuple[str, ...]
    unknown: tuple[str, ...]
    judged: float | None


# The manual shows this docstring, so that it says again what the parts say of themselves.
@frozen
class Manifest(_Exact):
    """One stored baseline, a replicate or an earlier run: where its scores come from. No host, user or absolute path.

    Attributes
    ----------
    name
        The baseline's own name. A folder that was renamed or copied is refused.
    created
        When it was stored, UTC, ISO 8601.
    digests
        `run`, `qrels`, `scores`, and `topics` and `queries` (None without a topics file): `sha256:...`, run
        and qrels decompressed; `queries` is that of `queries.tsv`. Of scores without a run, `run` is the
        digest of their file and `qrels` is None; of a run without judgements `qrels` and `scores` are None.
    measures
        The columns of `scores.tsv`, in their order; none of a run without judgements.
    topics
        `scored` and `without_relevant` (numbers), `unanswered` and `unknown` (topics), `judged`: the share of
        judged documents in the first 10.
    run_kept
        Whether `run.gz` is there.
    versions
        Of ir-measures, pytest-riskguard and the packages that computed the scores.
    git
        `commit`, and `dirty`: whether tracked files outside the store and submodules had changes. None
        outside a repository.
    note
        The text of `--note`.
    allow_unanswered
        Whether the run may leave many topics unanswered, since the search finds nothing for them.
    replicates
        The digest of each replicate's manifest, by its number.
    number
        Of the runs that the baseline has held, which one this is, from 1.
    predecessor
        The digest of the manifest of the run before, now under `history`; None for the first.
    """

    name: str
    created: str
    digests: Digests
    measures: tuple[str, ...]
    topics: StoredTopics
    run_kept: bool
    versions: Mapping[str, str]
    git: GitState | None
    note: str
    allow_unanswered: bool = False
    replicates: Mapping[str, str] = field(default_factory=dict)
    number: int = 1
    predecessor: str | None = None

    def __post_init__(self) -> None:
        datetime.fromisoformat(self.created)
        if self.number < 1 or (self.number == 1) != (self.predecessor is None):
            raise ValueError("number: expected 1, or a larger one with a predecessor")
        if not all(number.isdecimal() for number in self.replicates):
            raise ValueError(f"replicates: expected numbers, found {', '.join(self.replicates)}")

    @property
    def has_run(self) -> bool:
        """Whether it was stored from a run, kept or not, rather than from scores alone."""
        return self.digests.qrels is not None or self.run_kept

    @property
    def is_judged(self) -> bool:
        """Whether it has scores."""
        return self.digests.scores is not None

    def to_bytes(self) -> bytes:
        """JSON, keys sorted, one value on a line, so that a change shows in a diff."""
        content = {"format": FORMAT, **asdict(self)}
        return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Manifest:
        """Read what ``to_bytes`` wrote; a ``JsonError`` for anything else."""
        data = parsed(content)
        if (found := json.dumps(data.pop("format", None))) != str(FORMAT):
            raise JsonError(f"format: expected {FORMAT}, found {found}; store the run again")
        manifest = decoded(cls, data)
        try:
            manifest.to_bytes()  # else the first to write it again would find out
        except UnicodeEncodeError:
            raise JsonError("expected text without lone surrogates") from None
        return manifest
