"""What is found about the labels that a verdict rests on: unjudged documents, and several judges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pytest_riskguard.formats.serialization import UNLESS_EMPTY
from pytest_riskguard.gates.findings import Count, Positive, Probability


@dataclass(frozen=True)
class UnjudgedTopic:
    """How many of the first ``depth`` documents of each ranking are unjudged."""

    topic: str
    candidate: int
    baseline: int


@dataclass(frozen=True)
class IfJudged:
    """What the gate would have said if unjudged documents had been judged.

    With the highest grade of their topic: none (``irrelevant``, as scored), all, or those that one of the two systems
    ranks higher. With the grades that give each topic the ``lowest`` or the ``highest`` difference that was found; or
    with ``other`` grades, the first that were found to change the outcome.
    """

    case: Literal["irrelevant", "relevant", "candidate_relevant", "baseline_relevant", "lowest", "highest", "other"]
    urisk: float
    outcome: Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True)
class LabelInterval:
    """URisk where topics are drawn at random and so are labels, with its interval and the gate's answer to that.

    ``share`` is the part of its variance that labels add. There is no ``outcome`` where the interval fails, but churn
    only warns: whether the gate would fail depends on the mean too.
    """

    urisk: float
    lower: float
    upper: float
    share: Probability
    outcome: Literal["pass", "fail"] | None


@dataclass(frozen=True)
class UnderJudge:
    """What the gate says if the grades of one judge count, where this judge gave one."""

    judge: str
    urisk: float
    outcome: Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True)
class UnderJudges:
    """The verdict under each judge, and under ``panels`` that could have judged instead.

    With up to four judges these are all panels of as many judges drawn from them with replacement, else those without
    one judge; ``agreeing`` is the probability that such a panel gives the verdict's outcome.
    """

    judges: tuple[UnderJudge, ...]
    depends: bool
    panels: Positive
    agreeing: Probability
    interval: LabelInterval | None = None


@dataclass(frozen=True)
class Judgements:
    """Unjudged documents in the first ``depth`` ranks, and whether the outcome was found to ``depend`` on them.

    Counts are of (topic, document) pairs; ``documents`` are those in either ranking. ``left_out`` is how many more
    topics there are than ``topics`` names. ``tried`` is how many ways of judging these documents were tried. It is
    ``certain`` whether the outcome depends on them if one of these changes it, or if there are no others.
    ``relevance_unused`` says that a stated relevance of unjudged documents has no meaning for this gate.
    """

    depth: int
    candidate: int
    baseline: int
    documents: int
    topics: tuple[UnjudgedTopic, ...]
    cases: tuple[IfJudged, ...]
    depends: bool
    left_out: Count = field(default=0, metadata=UNLESS_EMPTY)
    tried: Count = 0
    certain: bool = False
    judges: UnderJudges | None = None
    expected: LabelInterval | None = None
    relevance_unused: bool = field(default=False, metadata=UNLESS_EMPTY)
