"""The answer of a gate: frozen, complete, the same bytes for the same data on every way in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.findings import (
    Diagnostics,
    Estimates,
    Exhibits,
    Explanation,
    Family,
    Judgements,
    Lineage,
    PoolFigures,
    Power,
    ReportedInterval,
    ResponsibleTopic,
    TopicDocuments,
    Yardstick,
)
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.serialization import from_plain, to_plain

if TYPE_CHECKING:  # numpy is loaded with it, which a run that only collects gates does not need
    from pytest_riskguard.evaluation.scores import TopicScores

Outcome = Literal["pass", "fail", "inconclusive", "incomparable"]

#: Intervals as people write them.
NAMES = {
    "student_t": "Student-t",
    "basic": "basic",
    "studentized": "studentized",
    "percentile": "percentile",
    "bca": "BCa",
}


@dataclass(frozen=True)
class VerdictWarning:
    """Something worth knowing that did not decide.

    ``code`` is for tools, ``message`` for people: reports make it from the verdict and the ``parameters``, which
    stand in no report.
    """

    code: str
    message: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict, compare=False, metadata={"json": False})


def warning(code: str, **parameters: Any) -> VerdictWarning:
    """A warning that is still to be put into words."""
    return VerdictWarning(code, parameters=parameters)


@dataclass(frozen=True)
class Inputs:
    """Digests of what was compared; a part that could not be read has none."""

    qrels: str | None = None
    candidate: str | None = None
    baselines: Mapping[str, str | None] = field(default_factory=dict)
    replicates: tuple[str | None, ...] = ()


@dataclass(frozen=True)
class TopicCounts:
    """How many topics, how many moved, and which were not as they should be."""

    count: int = 0
    changed: int = 0
    wins: int = 0
    losses: int = 0
    ties: int = 0
    losses_over_20_percent: int = 0
    missing_in_candidate: tuple[str, ...] = ()
    missing_in_baseline: tuple[str, ...] = ()
    unknown_in_candidate: tuple[str, ...] = ()
    without_relevant: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """Pass or fail with the evidence; field by field the JSON object of the report.

    ``measure`` and ``inputs`` are None for plain mappings, which have neither. ``replicates`` is how many runs of the
    baseline's system its own noise was taken from. Where there is a ``slice`` (``TAG=VALUE``) everything is about the
    topics of it alone, ``topics`` included. ``documents`` and ``judgements`` need the runs: they
    are there where the verdict is no pass or a report is written, and both runs are at hand; ``exhibits`` are there
    where a report is written.
    """

    gate: str
    kind: str
    outcome: Outcome
    reason: str | None
    warnings: tuple[VerdictWarning, ...]
    measure: str | None
    alpha: float
    tradeoff: str
    level: float
    method: str
    tolerance: float
    on_churn: str
    on_inconclusive: str
    missing: str
    candidate: str
    baselines: tuple[str, ...]
    convention: str = "plus"
    weighted: bool = False
    max_loss: float | None = None
    max_share: float | None = None
    protected: tuple[str, ...] = ()
    slice: str | None = None
    replicates: int = 0
    family: Family | None = None
    inputs: Inputs | None = None
    topics: TopicCounts = field(default_factory=TopicCounts)
    estimates: Estimates = field(default_factory=Estimates)
    intervals: tuple[ReportedInterval, ...] = ()
    responsible_topics: tuple[ResponsibleTopic, ...] = ()
    flagged_wins: tuple[ResponsibleTopic, ...] = ()
    power: Power = field(default_factory=Power)
    diagnostics: Diagnostics | None = None
    yardstick: Yardstick | None = None
    lineage: Lineage | None = None
    pool: PoolFigures | None = None
    explanation: Explanation | None = None
    documents: tuple[TopicDocuments, ...] | None = None
    judgements: Judgements | None = None
    exhibits: Exhibits | None = None
    problem: str | None = None

    @property
    def passed(self) -> bool:
        """Whether a build may go on: a pass, or an inconclusive gate that was told only to warn."""
        return self.outcome == "pass" or (self.outcome == "inconclusive" and self.on_inconclusive == "warn")

    @property
    def decisive_interval(self) -> ReportedInterval | None:
        """The interval whose limit decided, where there is one."""
        return next((interval for interval in self.intervals if interval.decisive), None)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of the report: plain types, 12 significant digits, non-finite numbers as None."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Verdict:
        """The verdict that ``to_dict`` wrote; fields it does not know are left out.

        Raises
        ------
        ValueError
            Something in it is not as a verdict has it.
        """
        return from_plain(cls, data, where="verdict")


def unanswered(
    gate: Gate, *, measure: str | None, candidate: str, baselines: tuple[str, ...], inputs: Inputs | None
) -> Verdict:
    """The question; the answer is still to come."""
    collapse = gate.kind == "no_topic_collapse"
    return Verdict(
        gate=gate.name,
        kind=gate.kind,
        outcome="inconclusive",
        reason=None,
        warnings=(),
        measure=measure,
        alpha=gate.alpha,
        tradeoff=gate.tradeoff,
        convention=gate.convention,
        weighted=gate.weighted,
        level=gate.level,
        method=gate.method,
        tolerance=gate.tolerance,
        max_loss=gate.max_loss if collapse else None,
        max_share=gate.max_share,
        protected=tuple(gate.protected),
        on_churn=gate.on_churn,
        on_inconclusive=gate.on_inconclusive,
        missing=gate.missing,
        slice=gate.slice,
        candidate=candidate,
        baselines=baselines,
        inputs=inputs,
    )


def refused(question: Verdict, error: DataError) -> Verdict:
    """The verdict on data that cannot be compared."""
    return replace(question, outcome="incomparable", reason=error.reason, problem=error.problem)


def incomparable(
    gate: Gate,
    error: DataError,
    *,
    measure: str | None,
    candidate: str,
    baselines: tuple[str, ...],
    inputs: Inputs | None = None,
) -> Verdict:
    """The same for data that never became scores."""
    return refused(unanswered(gate, measure=measure, candidate=candidate, baselines=baselines, inputs=inputs), error)


def digests(
    candidate: TopicScores, baselines: Sequence[TopicScores], replicates: Sequence[TopicScores] = ()
) -> Inputs | None:
    """Of everything that is compared; None where nothing has one."""
    systems = (candidate, *baselines, *replicates)
    if all(system.digest is None and system.qrels_digest is None for system in systems):
        return None
    return Inputs(
        qrels=next((system.qrels_digest for system in systems if system.qrels_digest is not None), None),
        candidate=candidate.digest,
        baselines={baseline.name: baseline.digest for baseline in baselines},
        replicates=tuple(replicate.digest for replicate in replicates),
    )
