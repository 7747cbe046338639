"""A question to the engine: a gate, a candidate, and the baselines that it is compared with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytest_riskguard.baselines.stored_files import same_file, stored_file
from pytest_riskguard.data.formats import system_name
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.measures import measure_name, refuse_uninformative, span
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.errors import UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.kinds import Gate


@frozen
class _File:
    """``name`` is what the verdict calls the system (default: the file's name)."""

    given: Path | GivenFile
    name: str | None = None

    @property
    def file(self) -> GivenFile:
        """The path and how it is read."""
        return GivenFile.of(self.given)

    @property
    def path(self) -> Path:
        """The file."""
        return self.file.path


class RunFile(_File):
    """A run on disk."""


class ScoreFile(_File):
    """Per-topic scores on disk."""


@frozen(eq=False)
class LiveRun:
    """Rankings that a system gives in this process when ``retrieve`` is called."""

    retrieve: Callable[[], Run]
    name: str = "candidate"


@frozen
class Stored:
    """A baseline in the store, or the run that it held ``earlier``: its number or ``oldest``."""

    name: str
    earlier: str | None = None


#: What has rankings that are not stored.
Ranked = RunFile | LiveRun | Run
Source = Ranked | ScoreFile | Stored | TopicScores


def label(source: Source) -> str:
    """The name of a source."""
    if isinstance(source, Stored) and source.earlier is not None:
        return f"{source.name}/{source.earlier}"
    return source.name or system_name(source.file) if isinstance(source, _File) else source.name


def asked_measure(measure: str | None, *sources: Source) -> str | None:
    """The measure as ir-measures writes it; where only scores are given, it may be any name."""
    try:
        return None if measure is None else measure_name(measure)
    except UsageError:
        if all(isinstance(source, ScoreFile | TopicScores | Stored) for source in sources):
            return measure  # the store refuses it for a baseline that was stored from a run
        raise


@frozen(eq=False)
class Question:
    """A gate and the systems that it compares; ``pool`` holds all baselines but the first of a gate over a pool.

    ``replicates`` are other runs of the baseline's system, beside those that a store has.
    """

    gate: Gate
    candidate: Source
    baseline: Source
    measure: str | None
    pool: tuple[Source, ...] = ()
    replicates: tuple[Source, ...] = ()

    @property
    def baselines(self) -> tuple[Source, ...]:
        """All baselines, in the order given."""
        return (self.baseline, *self.pool)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Everything that is scored for the question but replicates, the candidate first."""
        return (self.candidate, self.baseline, *self.pool)

    @property
    def stored(self) -> tuple[str, ...]:
        """The names of the stored baselines, each once."""
        return tuple(dict.fromkeys(source.name for source in self.sources if isinstance(source, Stored)))

    def refuse_without_answer(self, store: Path | None) -> None:
        """``UsageError`` where the answer is known: a gate that cannot fail, the same file on both sides.

        No file is read.
        """
        candidate, measure = self.candidate, self.measure
        if measure is None and isinstance(candidate, TopicScores):
            measure = candidate.measure
        if measure is not None:
            from pytest_riskguard.gates.could_fail import refuse_options  # loads numpy and what decides

            try:
                refuse_uninformative(measure)
                refuse_options(self.gate, span(measure))
            except ValueError as error:
                raise UsageError(f"{self.gate.kind}, {measure}: {error}") from None
        if not isinstance(candidate, RunFile | ScoreFile):
            return
        if store is not None and (place := stored_file(candidate.path, store, of=self.stored)) is not None:
            raise UsageError(
                f"{candidate.path.name} is the stored {place}, so a baseline would be compared with itself",
                remedy="name the run to judge",
            )
        for source in self.sources[1:]:
            if not isinstance(source, RunFile | ScoreFile) or source.file.part != candidate.file.part:
                continue  # a file may hold several systems
            if same_file(candidate.path, source.path):
                raise UsageError(
                    f"{candidate.path.name} is both the candidate and the baseline {label(source)}: a file cannot be "
                    "compared with itself",
                    remedy="name another run",
                )
