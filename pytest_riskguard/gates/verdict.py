"""The answer of a gate: frozen, complete, the same bytes for the same data on every way in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_riskguard.gates.explanation import Exhibits, Explanation, Judgements, TopicDocuments
from pytest_riskguard.gates.plain import from_plain, to_plain

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
class Notice:
    """Something worth knowing that did not decide; ``code`` is for tools, ``message`` for people."""

    code: str
    message: str


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
class Estimates:
    """The figures of the literature, in units of the measure; None where they do not exist.

    Where the baseline has replicates ``urisk`` and all that belongs to it is the excess over ``noise_urisk``, the
    mean URisk of the replicates. ``decision_p_value`` is the smallest ``1 - level`` at which this gate would fail.

    For a pool all that is said of two systems is of the candidate and the reference; ``zrisk`` and ``georisk`` map
    every system to its value, ``georisk_difference`` is the candidate's GeoRisk less the reference's, its error that
    of the jackknife.
    """

    candidate_mean: float | None = None
    baseline_mean: float | None = None
    mean_difference: float | None = None
    urisk: float | None = None
    frisk: float | None = None
    freward: float | None = None
    standard_error: float | None = None
    trisk: float | None = None
    p_value: float | None = None
    sign_flip_p_value: float | None = None
    mean_absolute_difference: float | None = None
    noise_urisk: float | None = None
    decision_p_value: float | None = None
    alpha_star: float | Literal["any"] | None = None
    flip_set: tuple[str, ...] | None = None
    zrisk: Mapping[str, float] | None = None
    georisk: Mapping[str, float] | None = None
    georisk_difference: float | None = None
    georisk_standard_error: float | None = None


@dataclass(frozen=True)
class ReportedInterval:
    """One interval of URisk, or of the difference of two GeoRisks; ``decisive`` marks the one whose limit decided."""

    method: str
    level: float
    lower: float
    upper: float
    decisive: bool


@dataclass(frozen=True)
class ResponsibleTopic:
    """A topic's part in the verdict; ``contribution`` = x_i/n, so losses and wins add up to URisk.

    ``weight`` is None where all topics count the same; ``exceeds`` names the limits of ``no_topic_collapse``;
    ``limit_without`` is the limit that decides, with this topic alone left out. In a
    pool ``contribution`` is the topic's part in the difference of GeoRisk, and the two z are those of candidate and
    reference: how far each lies above what the pool leads to expect.
    """

    topic: str
    query: str | None
    candidate: float
    baseline: float
    difference: float
    contribution: float
    share: float | None
    standardised: float
    flagged: bool
    flips_verdict: bool
    weight: float | None = None
    exceeds: tuple[str, ...] = ()
    candidate_z: float | None = None
    baseline_z: float | None = None
    limit_without: float | None = None


@dataclass(frozen=True)
class Power:
    """What this gate could have seen with 80 % power, its tolerance included, in units of the measure.

    ``topics_for_tolerance`` belongs to ``not_inferior``, which passes only on evidence: with so many topics a
    candidate such as this one would be shown not inferior, 4 times of 5. None where no number would do.
    """

    minimum_detectable_effect: float | None = None
    topics_for_tolerance: int | None = None


@dataclass(frozen=True)
class QuantilePair:
    """A point of the normal Q-Q plot of the bootstrap law of URisk, in standard errors from the estimate."""

    normal: float
    bootstrap: float


@dataclass(frozen=True)
class Diagnostics:
    """How normal the trade-off scores are (skewness, Shapiro-Wilk), and their mean (Q-Q points).

    ``law`` says how the bootstrap law is known: ``enumerated`` and ``lattice`` are exact step by step, ``smooth`` and
    ``grid`` to within a bound far below what is printed.
    """

    skewness: float
    shapiro_wilk_w: float | None
    shapiro_wilk_p_value: float | None
    law: str
    quantiles: tuple[QuantilePair, ...]


@dataclass(frozen=True)
class Family:
    """The gates that a gate was judged together with; ``level`` is what was left of its own after the correction.

    The gate fails exactly where ``adjusted_p_value`` is at most 1 less its own level, which is where its decisive
    interval at ``level`` lies below the bound.
    """

    correction: str
    size: int
    level: float
    adjusted_p_value: float


@dataclass(frozen=True)
class AgainstReference:
    """The candidate against one reference of a pool.

    ``level`` is what Holm's method left of the gate's for this one of several references, ``p_value`` the smallest
    ``1 - level`` at which the rule fails against it alone, ``adjusted_p_value`` the same among all references.
    """

    reference: str
    georisk_difference: float
    lower: float
    upper: float
    level: float
    p_value: float
    adjusted_p_value: float
    passes: bool


@dataclass(frozen=True)
class CurvePoint:
    """GeoRisk of candidate and reference at one alpha."""

    alpha: float
    candidate: float
    reference: float


@dataclass(frozen=True)
class ChainedRun:
    """A run of a baseline's chain: against the one before, and against the oldest (``cumulative``, ``urisk``)."""

    run: str
    mean: float
    mean_difference: float | None
    cumulative_mean_difference: float
    urisk: float


@dataclass(frozen=True)
class Lineage:
    """The changes that a baseline went through, oldest first, and last the candidate.

    ``lower`` and ``upper`` are the limits of the candidate's URisk against the oldest run, and ``risky`` says whether
    it is significantly below 0; None below 10 topics.
    """

    accepted: int
    runs: tuple[ChainedRun, ...]
    lower: float | None
    upper: float | None
    risky: bool | None


@dataclass(frozen=True)
class Yardstick:
    """A baseline that is computed topic by topic from stored ones: their ``mean``, ``median`` or ``max``.

    ``candidate_inside`` says whether the candidate is among them, which moves the maximum above all.
    """

    kind: str
    systems: tuple[str, ...]
    candidate_inside: bool


@dataclass(frozen=True)
class PoolFigures:
    """Where the candidate stands in its pool.

    Attributes
    ----------
    systems : tuple of str
        The pool, candidate first.
    reference : str
        As asked: a baseline, ``any`` or ``median``.
    decided_by : str
        The reference that ``baseline_mean``, wins, losses, intervals and topics are about.
    rank : int
        Of the candidate by GeoRisk; 1 is the highest, equal ones share the better rank.
    rank_probabilities : tuple of float
        Share of replicates in which it has rank 1, 2, ...: the first is the probability of being best.
    probability_below : mapping system -> float
        Share of replicates in which its GeoRisk is lower than that of each baseline.
    replicates : int
        How many were drawn.
    references : tuple of AgainstReference
    curve : tuple of CurvePoint
        At every alpha that was asked together with this one.
    """

    systems: tuple[str, ...]
    reference: str
    decided_by: str
    rank: int
    rank_probabilities: tuple[float, ...]
    probability_below: Mapping[str, float]
    replicates: int
    references: tuple[AgainstReference, ...]
    curve: tuple[CurvePoint, ...]


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
    warnings: tuple[Notice, ...]
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
