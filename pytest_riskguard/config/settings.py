"""What a riskguard.yaml says, as plain values that the rest of the package uses."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pytest_riskguard.gates.spec import Gate, Kind, Method, Response, Tradeoff


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
    """

    target: str
    depth: int = 100


Candidate = CandidateFile | CandidateRetrieve


@dataclass(frozen=True)
class GateItem:
    """One question of one gate: a single measure and a single alpha.

    Attributes
    ----------
    id : str
        The gate's name, followed by ``[MEASURE-ALPHA]`` where the gate asks more than one question.
    gate : Gate
        The question as ``gates.judge`` takes it; its name is ``id``.
    measure : str
        As written in the file; whether ir-measures knows it is found out when it is scored.
    baseline : str
        A stored name.
    line : int
        Where the gate begins in the file, counted from 1.
    settings : GateSettings
        The gate that this is one question of.
    """

    id: str
    gate: Gate
    measure: str
    baseline: str
    line: int
    settings: GateSettings


@dataclass(frozen=True)
class GateSettings:
    """One entry of ``gates``; the values mean what they mean in ``Gate``.

    ``candidate`` is None where the gate asks about the candidate of the whole file; ``line`` counts from 1.
    """

    name: str
    line: int
    kind: Kind
    baseline: str
    measures: tuple[str, ...]
    alphas: tuple[float, ...]
    candidate: Candidate | None
    level: float
    method: Method
    tolerance: float
    tradeoff: Tradeoff
    on_churn: Response
    on_inconclusive: Response
    max_mde: float | None

    def items(self) -> tuple[GateItem, ...]:
        """One question per measure and alpha, in the order of the file."""
        pairs = [(measure, alpha) for measure in self.measures for alpha in self.alphas]
        return tuple(
            self._item(self.name if len(pairs) == 1 else f"{self.name}[{measure}-{_short(alpha)}]", measure, alpha)
            for measure, alpha in pairs
        )

    def _item(self, item_id: str, measure: str, alpha: float) -> GateItem:
        gate = Gate(
            name=item_id,
            kind=self.kind,
            alpha=alpha,
            level=self.level,
            method=self.method,
            tolerance=self.tolerance,
            tradeoff=self.tradeoff,
            on_churn=self.on_churn,
            on_inconclusive=self.on_inconclusive,
            max_mde=self.max_mde,
        )
        return GateItem(item_id, gate, measure, self.baseline, self.line, self)


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
    gates : tuple of GateSettings
        In the order of the file.
    """

    path: Path
    collection: Collection
    store: Path
    measures: tuple[str, ...]
    candidate: Candidate | None
    gates: tuple[GateSettings, ...]

    @property
    def all_measures(self) -> tuple[str, ...]:
        """``measures``, then those that only single gates name: what a baseline must be scored with."""
        named = [*self.measures, *(measure for gate in self.gates for measure in gate.measures)]
        return tuple(dict.fromkeys(named))


def _short(alpha: float) -> str:
    """The shortest text that still tells two alphas apart: ``5``, ``0.1``, ``1e-05``."""
    return repr(float(alpha)).removesuffix(".0")
