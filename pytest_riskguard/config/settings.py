"""What a riskguard.yaml says, as plain values that the rest of the package uses."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pytest_riskguard.gates.kinds import MIN_SLICE_TOPICS, Correction, Gate


@dataclass(frozen=True)
class Collection:
    """The judgements, and the query texts where there are any; absolute paths. ``line`` counts from 1."""

    qrels: Path
    topics: Path | None = None
    line: int = field(default=1, compare=False)


@dataclass(frozen=True)
class CandidateFile:
    """The candidate is a run file; an absolute path, and the line of the file that names it."""

    path: Path
    line: int = field(default=1, compare=False)


@dataclass(frozen=True)
class CandidateRetrieve:
    """The candidate is a function, ``target`` (``package.module:function``), that is called with each query.

    ``depth`` documents are kept for each topic; ``workers`` queries are asked at a time, each for up to ``timeout``
    seconds and with ``retries`` further tries.
    """

    target: str
    depth: int = 100
    workers: int = 1
    timeout: float | None = None
    retries: int = 0


Candidate = CandidateFile | CandidateRetrieve


@dataclass(frozen=True)
class ComputedBaseline:
    """A baseline computed topic by topic from stored ones: their ``mean``, ``median`` or ``max``."""

    kind: str
    systems: tuple[str, ...]
    candidate_inside: bool = False


@dataclass(frozen=True)
class DeclaredSlice:
    """``TAG=VALUE``, or ``TAG`` for each of its values, and the line of the file."""

    text: str
    line: int = field(default=1, compare=False)


@dataclass(frozen=True)
class GateSettings:
    """One entry of ``gates``; each measure is judged with each of the ``questions``, which differ in alpha.

    ``baselines`` are a pool, or asked about one by one. Without a ``candidate`` that of the file is judged.
    ``declared`` are parts of the topics as written (empty: all topics), ``slices`` the ``TAG=VALUE`` that
    ``items.with_slices`` found them to be; for ``TAG`` alone, those with at least ``smallest_slice`` judged topics.
    """

    name: str
    line: int
    baselines: tuple[str | ComputedBaseline, ...]
    measures: tuple[str, ...]
    candidate: Candidate | None
    questions: tuple[Gate, ...]
    declared: tuple[DeclaredSlice, ...] = ()
    smallest_slice: int = MIN_SLICE_TOPICS
    slices: tuple[str, ...] = ()

    @property
    def asked_of(self) -> tuple[tuple[str | ComputedBaseline, ...], ...]:
        """The baselines of each question: all of a pool, or one of the others."""
        return (self.baselines,) if self.questions[0].is_pool else tuple((one,) for one in self.baselines)

    @property
    def alphas(self) -> tuple[float, ...]:
        """Every alpha of the gate."""
        return tuple(question.alpha for question in self.questions)


@dataclass(frozen=True)
class FamilySettings:
    """The gates that are judged together, by name, and how their levels are corrected for being several."""

    correction: Correction
    gates: tuple[str, ...]


@dataclass(frozen=True)
class Config:
    """A whole riskguard.yaml, with absolute paths; the store need not exist.

    ``measures`` and ``candidate`` are those of every gate that names none. Without ``family`` every gate is judged at
    its own level.
    """

    path: Path
    collection: Collection
    store: Path
    measures: tuple[str, ...]
    candidate: Candidate | None
    family: FamilySettings | None
    gates: tuple[GateSettings, ...]

    @property
    def all_measures(self) -> tuple[str, ...]:
        """All that a baseline must be scored with: ``measures``, then those that only single gates name."""
        named = [*self.measures, *(measure for gate in self.gates for measure in gate.measures)]
        return tuple(dict.fromkeys(named))
