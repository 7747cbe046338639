"""What a question is asked of: runs, score files, live systems, stored baselines, baselines computed from these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pytest_riskguard.evaluation.runs import Rankings
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.text_files import system_name
from pytest_riskguard.gates.kinds import Gate


@dataclass(frozen=True)
class RunFile:
    """A run on disk; ``name`` is what the verdict calls it (default: the file's name)."""

    path: Path
    name: str | None = None

    @property
    def label(self) -> str:
        """The system's name."""
        return self.name or system_name(self.path)


@dataclass(frozen=True)
class ScoreFile:
    """Per-topic scores on disk."""

    path: Path
    name: str | None = None

    @property
    def label(self) -> str:
        """The system's name."""
        return self.name or system_name(self.path)


@dataclass(frozen=True, eq=False)
class LiveRun:
    """Rankings that a system gave in this process; made when first asked for, once."""

    retrieve: Callable[[], Rankings]
    name: str = "candidate"
    _made: list[Rankings] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The system's name."""
        return self.name

    @property
    def rankings(self) -> Rankings:
        """The rankings, retrieved at the first call."""
        if not self._made:
            self._made.append(self.retrieve())
        return self._made[0]


@dataclass(frozen=True)
class Stored:
    """A baseline in the store."""

    name: str

    @property
    def label(self) -> str:
        """The system's name."""
        return self.name


@dataclass(frozen=True)
class Computed:
    """A baseline computed topic by topic from several: their ``mean``, ``median`` or ``max`` (ECIR 2014, Eq. 2).

    ``candidate_inside`` says whether the candidate is one of them.
    """

    kind: str
    systems: tuple[RunFile | ScoreFile | LiveRun | Stored | TopicScores, ...]
    candidate_inside: bool = False

    @property
    def name(self) -> str:
        """As the verdict calls it: ``mean(prod, bm25)``."""
        return f"{self.kind}({', '.join(self.names)})"

    @property
    def names(self) -> tuple[str, ...]:
        """Of the systems, without the candidate."""
        return tuple(label(system) for system in self.systems)


Source = RunFile | ScoreFile | LiveRun | Stored | TopicScores
Baseline = Source | Computed


@dataclass(frozen=True, eq=False)
class Question:
    """A gate, and what it is asked of.

    Attributes
    ----------
    gate : Gate
    candidate : Source
    baseline : Baseline
        The first one where there are several.
    measure : str or None
    pool : tuple of Source
        The other baselines of a gate over a pool.
    alphas : tuple of float
        Asked together with the gate's.
    """

    gate: Gate
    candidate: Source
    baseline: Baseline
    measure: str | None
    pool: tuple[Source, ...] = ()
    alphas: tuple[float, ...] = ()

    @property
    def baselines(self) -> tuple[Baseline, ...]:
        """All of them, in the order given."""
        return (self.baseline, *self.pool)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Everything that is scored for it, the candidate first."""
        named = self.baseline.systems if isinstance(self.baseline, Computed) else (self.baseline,)
        return (self.candidate, *named, *self.pool)


def label(source: Baseline) -> str:
    """The name of a source."""
    return source.name if isinstance(source, TopicScores | Computed) else source.label
