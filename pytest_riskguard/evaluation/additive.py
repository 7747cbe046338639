"""Measures that are a sum over documents: what each document adds, as a function of its grade and its rank."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pytest_riskguard.evaluation.judging import cutoff_of

if TYPE_CHECKING:
    from ir_measures import Measure

Part = Callable[[int, int], float]
"""Grade and rank of a document to its part in the score, up to a factor that all documents of a topic share."""


def part_of(measure: Measure) -> Part | None:
    """What a document adds to a measure's score; None where documents depend on each other.

    The factor that is left open (the ideal gain, the number of relevant documents) belongs to the topic's judgements:
    it is the same for every ranking of the topic.
    """
    if measure.params.get("judged_only", False):  # a document's rank then depends on what others are judged
        return None
    gain = _GAINS.get(str(measure.NAME))
    if gain is None:
        return None
    last = cutoff_of(measure) or math.inf
    gain_of, discount_at = gain(measure), _discount(measure)
    return lambda grade, rank: gain_of(grade) * discount_at(rank) if rank <= last else 0.0


def _discounted_gain(measure: Measure) -> Callable[[int], float]:
    if measure.params.get("dcg") == "exp-log2":
        return lambda grade: 2.0 ** max(grade, 0) - 1
    gains: Mapping[int, int] = measure.params.get("gains") or {}
    return lambda grade: float(max(gains.get(grade, grade), 0))


def _relevant(measure: Measure) -> Callable[[int], float]:
    least: Any = measure["rel"]
    return lambda grade: float(grade >= least)


def _discount(measure: Measure) -> Callable[[int], float]:
    if measure.NAME == "nDCG":
        return lambda rank: 1 / math.log2(rank + 1)
    persistence = float(measure["p"]) if measure.NAME == "RBP" else 1.0
    return lambda rank: persistence ** (rank - 1)


_GAINS = {"nDCG": _discounted_gain, "P": _relevant, "R": _relevant, "SetR": _relevant, "RBP": _relevant}
