"""What is found about the labels that a verdict rests on: unjudged documents, and several judges."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import Count, Positive, Probability
from pytest_riskguard.serialization import UNWRITTEN


@frozen
class IfJudged:
    """What the gate would have said if documents had been judged otherwise: by one judge alone, who is the ``case``.

    Or if unjudged ones had been judged with the highest grade of their topic: none (``irrelevant``, as scored), all
    (``relevant``), or those that one system ranks higher (``candidate_relevant``, ``baseline_relevant``). Or with the
    grades that give each topic the ``lowest`` or the ``highest`` difference that was found; or with ``other`` grades,
    the first that were found to change the outcome.
    """

    case: str
    urisk: float
    outcome: Literal["pass", "fail", "inconclusive"]


@frozen
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


@frozen
class UnderJudges:
    """The verdict under each judge, and under ``panels`` that could have judged instead.

    With up to four judges these are all panels of as many judges drawn from them with replacement, else those without
    one judge; ``agreeing`` is the probability that such a panel gives the verdict's outcome.
    """

    judges: tuple[IfJudged, ...]
    depends: bool = False
    panels: Positive = 1
    agreeing: Probability = 1.0
    interval: LabelInterval | None = None


@frozen
class Judgements:
    """Unjudged documents in the first ``depth`` ranks, and whether the outcome was found to ``depend`` on them.

    Counts are of (topic, document) pairs; ``documents`` are those in either ranking. ``tried`` is how many ways of
    judging these documents were tried. It is ``certain`` whether the outcome depends on them if one of these changes
    it, or if there are no others.
    """

    depth: int = field(default=0, metadata=UNWRITTEN, kw_only=True)
    documents: int
    cases: tuple[IfJudged, ...]
    depends: bool
    candidate: int = field(default=0, metadata=UNWRITTEN)
    baseline: int = field(default=0, metadata=UNWRITTEN)
    tried: Count = field(default=0, metadata=UNWRITTEN)
    certain: bool = False
    judges: tuple[IfJudged, ...] = ()
    panels: UnderJudges | None = field(default=None, metadata=UNWRITTEN)
