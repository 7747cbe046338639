"""The answer of a gate: frozen, complete, and for the same data the same bytes however the gate was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, field, fields, replace
from functools import cached_property
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pytest_riskguard.data.given_file import Ties
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates import SHOWN
from pytest_riskguard.gates.findings import (
    Alpha,
    Count,
    Documents,
    Estimates,
    Exhibits,
    Judgements,
    Level,
    Lineage,
    Positive,
    Power,
    Probability,
    ReportedInterval,
    ResponsibleTopic,
    Slice,
    TopicCounts,
)
from pytest_riskguard.gates.kinds import KINDS, METHODS, OPTIONS, EveryOption, Gate, options_of
from pytest_riskguard.gates.warning_codes import REASONS, WARNINGS
from pytest_riskguard.serialization import UNLESS_EMPTY, Bounds, JsonError, Words, decoded, to_plain, unless_empty
from pytest_riskguard.text import clean

if TYPE_CHECKING:  # numpy, which scores load, is not needed by a run that only collects gates
    from pytest_riskguard.data.scores import TopicScores

Outcome = Literal["pass", "fail", "inconclusive", "incomparable"]


@frozen
class VerdictWarning:
    """Something worth knowing that did not decide: ``code`` for tools, ``message`` for people.

    Reports make the message from the verdict and the ``parameters``, which are not written.
    """

    code: str
    message: str = ""
    parameters: Any = field(default_factory=dict, compare=False, metadata={"json": False})


def warning(code: str, **parameters: Any) -> VerdictWarning:
    """A warning that reports still have to phrase."""
    assert code in WARNINGS, code
    return VerdictWarning(code, parameters=parameters)


@frozen
class Inputs:
    """Digests of what was compared; a part that could not be read has none."""

    qrels: str | None = None
    candidate: str | None = None
    baselines: Mapping[str, str | None] = field(default_factory=dict)


@frozen
class Origin:
    """A system of a verdict; of a stored baseline what the store knows.

    ``stored`` is when (ISO 8601, UTC), from ``commit``, which was so many ``commits`` ago. ``ties`` says which order
    counts where scores are equal; None where no rankings were read.
    """

    name: str
    commit: str | None = unless_empty(None)
    note: str = unless_empty("")
    stored: str | None = unless_empty(None)
    ties: Ties | None = unless_empty(None)
    commits: int = unless_empty(0)


@frozen
class JudgedFile:
    """Where a candidate is that was judged, so that it can be stored as it was.

    ``digest`` is the one that verdicts have. ``path`` begins in the folder of riskguard.yaml, without one where the
    command was typed. Answers of a live system, and rankings in memory, are kept: ``path`` is then a file of the
    folder beside the report, and ``kept`` the digest of its text. ``scores``: it has scores of topics. The others say
    how it is read, as ``GivenFile`` has them.
    """

    candidate: str
    digest: str
    path: str
    kept: str | None = unless_empty(None)
    scores: bool = unless_empty(False)
    format: str | None = unless_empty(None)
    part: str | None = unless_empty(None)
    ties: Ties | None = unless_empty(None)
    columns: Mapping[str, str] = field(default_factory=dict, hash=False, metadata=UNLESS_EMPTY)


#: What says how it is read.
HOW_READ = ("format", "part", "ties", "columns")


@frozen
class Origins:
    """Where the systems of one verdict come from; ``file`` is the candidate's, where a report is written."""

    candidate: Origin
    baselines: tuple[Origin, ...]
    file: JudgedFile | None = None


#: What ``auto`` chooses: Holm's method, or draws of what all gates together would show if nothing were lost, pooled
#: for gates on disjoint topics, joint flips for gates on the same (``inference.families``).
HOLM, POOL, FLIPS = "holm", "pooled_draws", "joint_flips"
#: Every correction that a verdict can say was used.
USED = ("none", HOLM, POOL, FLIPS)


@frozen
class Family:
    """The gates that a gate was judged together with; ``level`` is the one that the correction leaves it.

    It fails exactly where ``adjusted_p_value`` is at most 1 less its own level. Its interval at ``level`` then lies
    below the bound; where the correction draws, ``level`` is the gate's own, and its interval may lie below the bound
    though it passes.
    """

    correction: Annotated[str, Words(USED)]
    size: Positive
    level: Level
    adjusted_p_value: Probability

    @property
    def draws(self) -> bool:
        """Whether the gate keeps its level, and must be rejected by draws as well."""
        return self.correction in (POOL, FLIPS)


@frozen
class Commands:
    """What its reader can type about a verdict in the folder where it was judged; empty where there is nothing.

    Commands list the documents to judge first, store the candidate as the baseline (None where nobody knows whether
    it is stored), look for faults in the store, and explain the worst query; ``problem`` and ``remedy`` are the
    verdict's with paths and commands as they are typed there.
    """

    judge_next: str = ""
    update: str | None = ""
    verify: str = ""
    problem: str = ""
    remedy: str = ""
    explain: str = ""


@frozen
class Findings:
    """Everything found out about an answer; none of it decides. See ``Verdict`` for each finding."""

    _: KW_ONLY
    warnings: tuple[VerdictWarning, ...] = ()
    topics: TopicCounts = TopicCounts()
    estimates: Estimates = Estimates()
    intervals: tuple[ReportedInterval, ...] = ()
    responsible_topics: tuple[ResponsibleTopic, ...] = ()
    power: Power = Power()
    summary: str = ""
    slices: tuple[Slice, ...] = ()
    figures: tuple[str, ...] = ()


class Deferred:
    """Findings that are computed when the first of them is read."""

    def __init__(self, compute: Callable[[], Findings]) -> None:
        self._compute = compute

    @cached_property
    def value(self) -> Findings:
        """The findings."""
        return self._compute()

    def __getstate__(self) -> dict[str, Findings]:
        return {"value": self.value}  # what computes it cannot be pickled

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Deferred) and self.value == other.value


_FINDINGS = frozenset(one.name for one in fields(Findings))

if TYPE_CHECKING:

    class _Read(EveryOption, Findings):
        """What can be read from a verdict by its own name."""
else:

    class _Read:
        """The options of the gate that was asked and the findings, read from the verdict by their own names."""

        def __getattr__(self, name: str) -> Any:
            if name in OPTIONS:
                return getattr(self.asked, name)
            if name in _FINDINGS:
                return getattr(self.findings.value, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


@frozen
class Verdict(_Read):
    """Pass or fail, and the evidence, which is computed when it is first read.

    Attributes
    ----------
    asked : Gate
        The question; its options can be read from the verdict by their own names.
    outcome : {"pass", "fail", "inconclusive", "incomparable"}
    reason : str or None
        A code that says why the gate did not pass.
    measure, inputs
        None for plain mappings, which have neither.
    candidate, baselines
        Names.
    replicates : int
        How many other runs of the baseline's system its noise was measured with.
    family : Family or None
    problem, remedy : str or None
        Why the data cannot be compared, and what to do; reports name files by their paths in the project.
    error : DataError or None
        The error that was raised here, of which screens name paths and commands as they are typed.
    findings : Deferred of Findings
        Estimates, intervals, responsible topics, ...; each can be read from the verdict by its own name. Where there
        is a ``slice`` (``TAG=VALUE``) everything is about its topics alone.
    documents, judgements
        They exist if the gate did not pass or a report is written, and both runs are available.
    lineage : Lineage or None
    exhibits : Exhibits or None
        What charts draw, where a report is written.
    origins : Origins or None
        Where the systems come from.
    commands : Commands or None
        What its reader can type in the folder where it was judged; None where nobody knows where it is read.
    service : str
        What reports call the riskguard.yaml of its gate, where a run has several.
        ``error``, ``origins``, ``commands`` and ``service`` are no part of the verdict's JSON.
    """

    asked: Gate
    outcome: Outcome
    reason: str | None
    measure: str | None
    candidate: str
    baselines: tuple[str, ...]
    replicates: int = 0
    family: Family | None = None
    inputs: Inputs | None = None
    problem: str | None = None
    remedy: str | None = None
    findings: Deferred = field(default_factory=lambda: Deferred(Findings), hash=False)
    lineage: Lineage | None = None
    documents: Documents | None = None
    judgements: Judgements | None = None
    exhibits: Exhibits | None = None
    error: DataError | None = field(default=None, compare=False)
    origins: Origins | None = field(default=None, compare=False)
    commands: Commands | None = field(default=None, compare=False)
    service: str = field(default="", compare=False)

    def __repr__(self) -> str:
        about = f"{self.candidate} against {', '.join(self.baselines)}" + (
            f", {self.measure}" if self.measure else ""
        )
        outcome = self.outcome + (f" ({self.reason})" if self.reason else "")
        return f"<Verdict {clean(self.gate)}: {outcome}, {clean(about)}>"

    def __str__(self) -> str:
        """The card: first line, what happened, the worst queries, what to do next."""
        return SHOWN["text"](self) if "text" in SHOWN else repr(self)

    def _repr_html_(self) -> str | None:
        """The card for the cell of a notebook."""
        return SHOWN["html"](self) if "html" in SHOWN else None

    def save(self, path: str | PathLike[str]) -> None:
        """Write a report on this verdict in the format of the suffix: ``.html``, ``.json``, ``.md`` or ``.xml``.

        ``UsageError`` with the path if the suffix is another, or the file cannot be written.
        """
        import_module("pytest_riskguard.reports.files").save(self, Path(path))  # which comes after the gates

    @property
    def gate(self) -> str:
        """The name of the gate."""
        return self.asked.name

    @property
    def kind(self) -> str:
        """The kind of the gate."""
        return self.asked.kind

    @property
    def baseline(self) -> str:
        """The name of what the candidate's figures are against: the baseline, of a pool the reference."""
        return self.reference or self.baselines[0]

    @property
    def passed(self) -> bool:
        """Whether a build may go on: a pass, or an inconclusive gate that only warns."""
        return self.outcome == "pass" or (self.outcome == "inconclusive" and self.on_inconclusive == "warn")

    @property
    def advises(self) -> bool:
        """Whether reports name a command besides the one that judges again."""
        depends = self.judgements is not None and bool(self.judgements.depends)
        return depends or any(w.code == "significantly_better" for w in self.warnings)

    @property
    def identical_to(self) -> tuple[str, ...]:
        """The baselines that are the same run as the candidate: the same digest, and no score differs."""
        if self.outcome == "incomparable" or self.inputs is None or self.inputs.candidate is None:
            return ()
        same = tuple(name for name, digest in self.inputs.baselines.items() if digest == self.inputs.candidate)
        if self.asked.is_pool:
            by_name = self.estimates.georisk or {}
            return tuple(name for name in same if by_name.get(name) == next(iter(by_name.values())))
        return same if self.topics.changed == 0 else ()

    @property
    def first_warnings(self) -> tuple[VerdictWarning, ...]:
        """What a reader must see with any outcome: changed inputs, and what a baseline gave away by not answering."""
        return tuple(warning for warning in self.warnings if warning.code in FIRST_WARNINGS)

    @property
    def decisive_interval(self) -> ReportedInterval | None:
        """The interval whose limit decided, where there is one."""
        return next((interval for interval in self.intervals if interval.decisive), None)

    def with_findings(self, change: Callable[[Findings], Findings]) -> Verdict:
        """The same verdict with its findings changed, which happens when one of them is first read."""
        return replace(self, findings=Deferred(lambda: change(self.findings.value)))

    def warned(self, warning: VerdictWarning) -> Verdict:
        """The same verdict with one more warning."""
        return self.with_findings(lambda findings: replace(findings, warnings=(*findings.warnings, warning)))

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of the report: plain types, 12 significant digits, non-finite numbers as None."""
        options = {name: getattr(self, name) for name in options_of(type(self.asked)) if name in BELOW}
        return {key: to_plain(options if key == "options" else getattr(self, key)) for key in JSON_TYPES}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Verdict:
        """The verdict that ``to_dict`` wrote; ``ValueError`` says what is wrong, and where."""
        data = decoded(dict[str, Any], data)
        if missing := [key for key in REQUIRED if key not in data]:
            raise JsonError(f"missing key {missing[0]!r}")
        given = {key: decoded(kind, data[key], where=key) for key, kind in JSON_TYPES.items() if key in data}
        kind, options = KINDS[given["kind"]], {**given["options"], **given}
        asked = kind(given["gate"], **{name: options[name] for name in options_of(kind) if name in options})
        found, rest = ({p.name: given[p.name] for p in fields(one) if p.name in given} for one in (Findings, cls))
        return cls(asked=asked, findings=Deferred(lambda: Findings(**found)), **rest)


#: Codes of warnings that come first and are never folded.
FIRST_WARNINGS = ("suspicious_run", "changed_inputs", "free_wins")

#: The JSON object, key by key in its order, with the type of each.
JSON_TYPES: dict[str, Any] = {
    "gate": str,
    "kind": Annotated[str, Words(tuple(KINDS))],
    "outcome": Outcome,
    "reason": Annotated[str | None, Words((*REASONS, None), open=True)],
    "warnings": tuple[VerdictWarning, ...],
    "measure": str | None,
    "alpha": Alpha,
    "level": Level,
    "method": Annotated[str, Words(METHODS)],
    "tolerance": Annotated[float, Bounds(ge=0)],
    "options": Mapping[str, bool | float | str | tuple[str, ...] | None],
    "candidate": str,
    "baselines": Annotated[tuple[str, ...], Bounds(min_length=1)],
    "replicates": Count,
    "family": Family | None,
    "inputs": Inputs | None,
    "topics": TopicCounts,
    "estimates": Estimates,
    "intervals": tuple[ReportedInterval, ...],
    "responsible_topics": tuple[ResponsibleTopic, ...],
    "power": Power,
    "lineage": Lineage | None,
    "summary": str,
    "slices": tuple[Slice, ...],
    "figures": tuple[str, ...],
    "documents": Documents | None,
    "judgements": Judgements | None,
    "exhibits": Exhibits | None,
    "problem": str | None,
    "remedy": str | None,
}
#: The keys that every verdict has.
REQUIRED = tuple(JSON_TYPES)[: list(JSON_TYPES).index("baselines") + 1]
#: The gate's options that are in the mapping ``options``; the kinds check their values.
BELOW = frozenset(name for name, known in OPTIONS.items() if known.in_report and name not in JSON_TYPES)


def unanswered(
    gate: Gate,
    candidate: TopicScores,
    baselines: Sequence[TopicScores],
    *,
    replicates: Sequence[TopicScores] = (),
    family: Family | None = None,
) -> Verdict:
    """A verdict with the question about these systems but no answer yet; ``ValueError`` if they have two measures."""
    systems = (candidate, *baselines, *replicates)
    measures = {system.measure: system.name for system in systems if system.measure is not None}
    if len(measures) > 1:
        measured = ", ".join(f"{measure} ({name})" for measure, name in measures.items())
        raise ValueError(f"expected scores in one measure, found {measured}")
    qrels = next((system.qrels_digest for system in systems if system.qrels_digest is not None), None)
    inputs = Inputs(qrels, candidate.digest, {baseline.name: baseline.digest for baseline in baselines})
    return Verdict(
        asked=gate,
        outcome="inconclusive",
        reason=None,
        measure=next(iter(measures), None),
        candidate=candidate.name,
        baselines=tuple(baseline.name for baseline in baselines),
        replicates=len(replicates),
        family=family,
        inputs=inputs if qrels or any(system.digest for system in systems) else None,
    )


def refused(question: Verdict, error: DataError, folder: Path | None = None) -> Verdict:
    """The verdict on data that cannot be compared; its problem names files in the ``folder`` by their paths there."""
    return replace(
        question,
        outcome="incomparable",
        reason=error.reason,
        problem=error.in_report(folder),
        remedy=None if error.remedy is None else str(error.remedy),
        error=error,
    )
