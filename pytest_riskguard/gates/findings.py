"""What explains a verdict: groups of topics, slices, documents, judgements, and the data of charts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any, Literal

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.kinds import METHODS
from pytest_riskguard.serialization import UNLESS_EMPTY, Bounds, Words, unless_empty, unwritten

#: The options of gates on single topics that are limits.
LIMITS = ("max_loss", "max_share", "protected", "max_empty", "max_shorter", "max_changed_first", "min_overlap")
Count = Annotated[int, Bounds(ge=0)]
Positive = Annotated[int, Bounds(ge=1)]
Probability = Annotated[float, Bounds(ge=0, le=1)]
Level = Annotated[float, Bounds(gt=0, lt=1)]
Alpha = Annotated[float, Bounds(ge=0)]
#: The most topics that one list of a verdict names, so that a report on a million topics stays small.
MAX_LISTED = 5_000

#: As ``risk.checks.ROUNDING_ERROR`` and ``risk.urisk.COUNTED``, for whoever shows a verdict without loading numpy.
ROUNDING_ERROR, COUNTED = 1e-12, 1e-6


@frozen
class Slice:
    """The comparison on the topics of one tag, at the gate's alpha and level; limits and p-values need 10 topics.

    ``risky``: ``adjusted_p_value`` (by ``family: auto``, over all slices that have one) is at most ``1 - level``. The
    topics ``responsible`` are the most harmful first; none are named where a verdict leaves some out.
    """

    tag: str
    value: str
    count: int
    wins: int
    losses: int
    mean_difference: float
    urisk: float
    lower: float | None
    upper: float | None
    adjusted_p_value: float | None
    risky: bool | None
    responsible: tuple[str, ...] = ()


@frozen
class RankedDocument:
    """A document in both rankings; ``grade`` is None if it is unjudged, a rank if the run does not hold it.

    ``effect`` is its part in the topic's difference, in units of the measure.
    """

    document: str
    grade: float | None
    baseline_rank: Positive | None
    candidate_rank: Positive | None
    effect: float = unless_empty(0.0)

    @property
    def best_rank(self) -> float:
        """The better of its two ranks."""
        return min(self.baseline_rank or math.inf, self.candidate_rank or math.inf)


@frozen
class TopicDocuments:
    """The documents of a topic in the first ranks of either system, and further relevant ones that moved.

    ``exact``: the effects add up to the topic's difference, as for sums over documents (nDCG, DCG); otherwise each is
    what moving this document alone back would undo.
    """

    topic: str
    exact: bool
    documents: tuple[RankedDocument, ...]

    @property
    def moved(self) -> list[RankedDocument]:
        """Documents whose move has an effect, largest loss first."""
        return sorted(
            (row for row in self.documents if row.effect),
            key=lambda row: (round(row.effect, 12), row.best_rank, row.document),
        )


@frozen
class Documents:
    """What both systems returned for the topics responsible, and for the largest wins.

    Of each ranking ``depth`` ranks are listed; ``titles`` and ``urls`` are by document, where they are known.
    """

    depth: Positive
    topics: tuple[TopicDocuments, ...]
    titles: Mapping[str, str] = field(default_factory=dict)
    urls: Mapping[str, str] = field(default_factory=dict)


@frozen
class Exhibits:
    """Topics with their figures, column by column, and curves over alpha: what charts draw.

    All topics, or where these are more than ``2 * MAX_LISTED``, the ``MAX_LISTED`` with the lowest contributions and
    as many with the highest. ``contributions`` of all topics add up to the estimate; ``standardised`` is TR_i,
    flagged beyond ``critical_value``.

    ``curves`` are ``urisk`` with the limits of the decisive interval, ``lower`` and ``upper``, or GeoRisk of each
    system of a pool, at each of the ``alphas``; there are none where no alpha varies.
    """

    topics: tuple[str, ...]
    queries: tuple[str | None, ...]
    candidate: tuple[float, ...]
    baseline: tuple[float, ...]
    contributions: tuple[float, ...]
    standardised: tuple[float, ...]
    critical_value: float | None
    tags: Mapping[str, tuple[str, ...]]
    alphas: tuple[float, ...] = ()
    curves: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, topics: Sequence[ResponsibleTopic]) -> Exhibits:
        """The columns of these topics alone."""
        names = ("topic", "query", "candidate", "baseline", "contribution", "standardised")
        columns: Any = (*(tuple(getattr(row, name) for row in topics) for name in names), None, {})
        return cls(*columns)

    def flagged(self, place: int) -> bool:
        """Whether the topic's TR_i lies beyond the critical value."""
        return self.critical_value is not None and abs(self.standardised[place]) > self.critical_value


@frozen
class TopicCounts:
    """How many topics there are, moved, and are left out of long lists, and which the candidate did not answer."""

    count: Count = 0
    changed: Count = 0
    wins: Count = 0
    losses: Count = 0
    ties: Count = 0
    missing_in_candidate: tuple[str, ...] = ()
    left_out: Mapping[str, Count] = field(default_factory=dict, metadata=UNLESS_EMPTY)
    clusters: Count = unless_empty(0)
    effective: float | None = unwritten(None)


@frozen
class Estimates:
    """The figures of the literature, in units of the measure; None where they do not exist.

    With replicates of the baseline, URisk is the
    excess over ``noise_urisk``, their mean URisk. ``collapsed`` is how many topics lost more than they may. In a
    pool, figures of two systems are of candidate and reference, ``zrisk`` and ``georisk`` of every system.
    ``surprises`` are how many queries are beyond each limit of ``no_surprise``, whose scores are RBO@10.
    """

    candidate_mean: float | None = None
    baseline_mean: float | None = None
    mean_difference: float | None = None
    urisk: float | None = None
    standard_error: float | None = None
    trisk: float | None = None
    p_value: float | None = None
    break_even_p_value: Probability | None = None
    noise_urisk: float | None = None
    decision_p_value: Probability | None = None
    collapsed: Count | None = None
    alpha_star: Alpha | Literal["any"] | None = None
    flip_set: tuple[str, ...] | None = None
    zrisk: Mapping[str, float] | None = None
    georisk: Mapping[str, float] | None = None
    georisk_difference: float | None = None
    surprises: Mapping[str, Count] | None = unless_empty(None)


@frozen
class ReportedInterval:
    """One interval of URisk, or of the difference of two GeoRisks; ``decisive`` marks the one whose limit decided."""

    method: Annotated[str, Words(METHODS[1:])]
    level: float
    lower: float
    upper: float
    decisive: bool


@frozen
class ResponsibleTopic:
    """A topic's part in the verdict; ``contribution`` is x_i/n, so losses and wins add up to URisk (or GeoRisk).

    ``exceeds`` names limits of ``no_topic_collapse`` or ``no_surprise``.
    """

    topic: str
    query: str | None
    candidate: float
    baseline: float
    difference: float
    contribution: float
    share: float | None
    flagged: bool
    exceeds: tuple[Annotated[str, Words(LIMITS)], ...] = ()
    standardised: float = unwritten(0.0)


@frozen
class Power:
    """What this gate can detect with 80 % power, tolerance included, in units of the measure.

    With ``topics_for_tolerance`` topics ``not_inferior``, or ``equivalent``, would pass such a candidate with 80 %
    power; None if none suffice. ``churn_failure_rate``: how often a change whose differences have the same sizes,
    each as likely a win as a loss, fails this gate (warns, where churn only warns); None at alpha 0, and where it is
    not known.
    """

    minimum_detectable_effect: float | None = None
    topics_for_tolerance: int | None = None
    churn_failure_rate: Probability | None = None


@frozen
class ChainedRun:
    """A run of a baseline's chain; ``urisk`` is against the oldest."""

    run: str
    mean: float
    urisk: float


@frozen
class Lineage:
    """The accepted runs of a baseline, oldest first, then the candidate.

    Limits are of the candidate's URisk against the oldest run; None below 10 topics.
    """

    runs: Annotated[tuple[ChainedRun, ...], Bounds(min_length=3)]
    lower: float | None = unwritten(None)
    upper: float | None = unwritten(None)

    @property
    def accepted(self) -> int:
        """How many changes were accepted since the oldest run."""
        return len(self.runs) - 2

    @property
    def in_total(self) -> float:
        """How far the candidate's mean is from that of the oldest run."""
        return self.runs[-1].mean - self.runs[0].mean


@frozen
class IfJudged:
    """What the gate would have said if unjudged documents had been judged with the highest grade of their topic.

    By ``case``: none of them (``irrelevant``, as scored), all (``relevant``), or those that one system ranks higher
    (``candidate_relevant``, ``baseline_relevant``); ``lowest`` and ``highest`` where each topic has the lowest, or
    the highest, difference that was found.
    """

    case: str
    urisk: float
    outcome: Literal["pass", "fail", "inconclusive"]


@frozen
class Judgements:
    """Unjudged documents in the first ranks, and whether the outcome ``depends`` on them: a case changes it.

    Counts are of (topic, document) pairs: of ``documents`` in either ranking, and of those in each.
    """

    documents: Count
    depends: bool
    cases: tuple[IfJudged, ...] = ()
    candidate: Count = unwritten(0)
    baseline: Count = unwritten(0)
