"""Measures of one ranking, by ir-measures or as their definitions are written: what kernels are compared with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ir_measures

from pytest_riskguard.data.given_file import AS_GIVEN, LabelRules
from pytest_riskguard.data.measures import parse_measure, provider_of
from pytest_riskguard.data.runs import order_of
from pytest_riskguard.data.scoring import labels_for
from tests.data.plain_orders import ranked

if TYPE_CHECKING:
    from ir_measures import Measure


def err(grades: Sequence[float], highest: float) -> float:
    """Chapelle et al. 2009, Algorithm 2."""
    score, reaches = 0.0, 1.0
    for rank, grade in enumerate(grades, 1):
        satisfied = (2.0 ** max(grade, 0) - 1) / 2.0**highest
        score += reaches * satisfied / rank
        reaches *= 1 - satisfied
    return score


def dcg(gains: Sequence[float]) -> float:
    """Järvelin and Kekäläinen 2002, with the discount of trec_eval, which also holds at rank 1."""
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def gain_of(measure: Measure) -> Callable[[float], float]:
    """What a document of each grade gains."""
    gains: Mapping[float, float] = measure.params.get("gains") or {}
    highest: Any = measure.params.get("max_rel")
    if measure.params.get("dcg") == "exp-log2":
        return lambda grade: 2.0 ** max(grade, 0) - 1
    if measure.NAME == "RBP":
        return lambda grade: min(max(grade, 0), highest) / highest
    return lambda grade: max(gains.get(grade, grade), 0)


def by_hand(measure: Measure, ranking: Sequence[str], judged: Mapping[str, float], rules: LabelRules) -> float:
    """ERR, DCG, nDCG and graded RBP of any grades."""
    cutoff = measure.params.get("cutoff")
    if measure.NAME == "ERR":
        scale = 4 if rules.scale is None else rules.scale[1]
        highest: Any = measure.params.get("max_rel", scale)
        return err([judged.get(document, 0) for document in ranking[:cutoff]], highest)
    gain = gain_of(measure)
    gains = [gain(judged[document]) if document in judged else 0.0 for document in ranking[:cutoff]]
    if measure.NAME == "RBP":
        p: Any = measure["p"]
        return float((1 - p) * sum(g * p**place for place, g in enumerate(gains)))
    if measure.NAME == "DCG":
        return dcg(gains)
    ideal = dcg(sorted(map(gain, judged.values()), reverse=True)[:cutoff])
    return dcg(gains) / ideal if ideal else 0.0


def of_ir_measures(measure: Measure) -> Measure:
    """The measure as ir-measures has it."""
    if isinstance(measure, ir_measures.Measure):
        return measure
    return ir_measures.measures.registry[measure.NAME](**measure.params)


def scores(
    text: str | Measure,
    rankings: Mapping[str, Mapping[str, float]],
    grades: Mapping[str, Mapping[str, float]],
    rules: LabelRules = AS_GIVEN,
) -> dict[str, float]:
    """The measure of each topic, given its documents' scores and its grades as the file has them."""
    measure = parse_measure(text) if isinstance(text, str) else text
    provider, found = str(provider_of(measure).NAME), {}
    for topic, documents in rankings.items():
        judged = labels_for(measure, {topic: grades[topic]}, rules)[topic]
        is_real = measure.NAME == "nDCG" and not all(float(grade).is_integer() for grade in judged.values())
        if provider == "riskguard" or is_real:
            ranking = ranked(order_of(provider), list(documents), list(documents.values()))
            found[topic] = by_hand(measure, ranking, judged, rules)
        else:
            (metric,) = ir_measures.iter_calc([of_ir_measures(measure)], {topic: judged}, {topic: dict(documents)})
            found[topic] = metric.value
    return found
