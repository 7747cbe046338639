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
    """The candidate is a function: ``target`` (``package.module:function``) is called with each query.

    Attributes
    ----------
    target : str
        Where the function is imported from; nothing is imported by reading the settings.
    depth : int
        How many documents are kept for each topic.
    workers, timeout, retries : int, float or None, int
        How many queries are asked at a time, the seconds that an answer may take, and further tries.
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
    """One entry of ``gates``.

    Attributes
    ----------
    name : str
    line : int
        Where it begins in the file, counted from 1.
    baselines : tuple of str or ComputedBaseline
        Stored names: a pool, or baselines that are each asked about; or a single computed one.
    measures : tuple of str
    candidate : CandidateFile, CandidateRetrieve or None
        None where the gate asks about the candidate of the whole file.
    questions : tuple of Gate
        What is asked of each measure, one for each alpha.
    declared : tuple of DeclaredSlice
        Parts of the topics that are asked about; empty for all topics.
    smallest_slice : int
        The fewest judged topics of a slice that ``TAG`` alone stands for.
    slices : tuple of str
        ``TAG=VALUE``: what ``items.with_slices`` found the declared ones to be.
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
        if self.questions[0].is_pool:
            return (self.baselines,)
        return tuple((baseline,) for baseline in self.baselines)

    @property
    def kind(self) -> str:
        """The kind of gate, the same for every measure and alpha."""
        return self.questions[0].kind

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
    """A whole riskguard.yaml.

    Attributes
    ----------
    path : Path
        The file, absolute.
    collection : Collection
    store : Path
        The folder of stored baselines, absolute; it need not exist.
    measures : tuple of str
        The measures of every gate that names none; empty where each gate names its own.
    candidate : CandidateFile, CandidateRetrieve or None
        None where each gate names its own.
    family : FamilySettings or None
        None where every gate is judged at its own level.
    gates : tuple of GateSettings
        In the order of the file.
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
        """``measures``, then those that only single gates name: a baseline must be scored with all of them."""
        named = [*self.measures, *(measure for gate in self.gates for measure in gate.measures)]
        return tuple(dict.fromkeys(named))
