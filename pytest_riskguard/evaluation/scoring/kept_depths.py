"""How many ranks of each topic a reading of a run keeps whole, so that reports never read the run again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.measures import cutoff_of

if TYPE_CHECKING:
    from ir_measures import Measure

#: How many ranks are searched for unjudged documents, and shown, where the measure has no cutoff.
DEFAULT_DEPTH = 10
#: The most ranks that are searched, whatever the cutoff: judges do not go deeper.
MAX_DEPTH = 100
#: Shares of judged documents are those of so many ranks.
LEAST_DEPTH = 10
#: About how many documents are kept for their ranks alone: of many topics fewer each, but all that are searched,
KEPT_DOCUMENTS = 250_000
#: unless that were more than this.
MOST_KEPT = 20_000_000


def depth_of(measure: Measure) -> int:
    """How many ranks are searched for unjudged documents."""
    return min(cutoff_of(measure) or DEFAULT_DEPTH, MAX_DEPTH)


def kept_depth(measure: Measure, qrels: Qrels) -> int:
    """How many ranks of each topic a report about this measure knows whole."""
    wanted, topics = max(cutoff_of(measure) or 0, MAX_DEPTH), len(qrels.topics)
    depth = min(wanted, max(depth_of(measure), KEPT_DOCUMENTS // topics))
    return max(min(depth, MOST_KEPT // topics), LEAST_DEPTH)


def depth_for(measures: Sequence[Measure], qrels: Qrels) -> int:
    """How many ranks are kept for reports about any of these measures."""
    return max((kept_depth(measure, qrels) for measure in measures), default=LEAST_DEPTH)
