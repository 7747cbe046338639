"""What is found about the labels that a verdict rests on: unjudged documents, and several judges."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import Count
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
