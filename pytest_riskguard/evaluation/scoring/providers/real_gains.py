"""Measures of gain on grades that need not be whole numbers: nDCG, DCG and graded RBP.

Where all grades of a topic are whole, ir-measures computes its nDCG, and this gives the same to 1e-12. Documents are
ranked as the provider of ir-measures ranks them. Like ``err``, this module imports ir-measures when it is loaded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import ir_measures
from ir_measures import providers
from ir_measures.measures import Measure
from ir_measures.providers import base

from pytest_riskguard.evaluation.measures import gain_of
from pytest_riskguard.evaluation.scoring.providers.ranked_evaluator import PROVIDER_NAME, RankedEvaluator, plain_sum

_anything: Any = base.Any
_choices: Any = base.Choices
_param_info: Any = ir_measures.ParamInfo
_NDCG: Any = type(ir_measures.nDCG)
_RBP: Any = type(ir_measures.RBP)


def dcg(gains: Sequence[float], *, cutoff: int | None = None) -> float:
    """Discounted cumulative gain: the gains by rank, each divided by ``log2(rank + 1)``.

    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 2002, with the
    discount of trec_eval, which also holds at rank 1.
    """
    return plain_sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:cutoff], start=1))


def ndcg(gains: Sequence[float], judged: Iterable[float], *, cutoff: int | None = None) -> float:
    """``dcg`` as a share of that of the ideal ranking of all gains ``judged``; 0 for a topic without any gain."""
    ideal = dcg(sorted(judged, reverse=True), cutoff=cutoff)
    return dcg(gains, cutoff=cutoff) / ideal if ideal > 0 else 0.0


def rbp(gains: Sequence[float], *, p: float, cutoff: int | None = None) -> float:
    """Rank-biased precision with gains in [0, 1]: ``(1 - p)`` times the sum of ``gain * p**(rank - 1)``.

    A. Moffat and J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 2008, Eq. 4.
    """
    return (1 - p) * plain_sum(gain * p**place for place, gain in enumerate(gains[:cutoff]))


class DCG(Measure):
    """Discounted cumulative gain, not normalised, which ir-measures does not have."""

    __name__ = "DCG"
    NAME = __name__
    PRETTY_NAME = "Discounted Cumulative Gain"
    SHORT_DESC = "The total gain of a ranking, discounted by rank."
    SUPPORTED_PARAMS = {  # noqa: RUF012 - the base class declares it so
        "cutoff": _param_info(dtype=int, required=False, desc="ranking cutoff threshold"),
        "dcg": _param_info(dtype=str, choices=["log2", "exp-log2"], default="log2", desc="DCG formulation"),
    }


_DCG: Any = DCG


class GradedRBP(_RBP):  # type: ignore[misc]
    """ir-measures' RBP, which takes ``max_rel`` instead of ``rel``: a document's gain is then its share of that."""

    SUPPORTED_PARAMS = {  # noqa: RUF012 - the base class declares it so
        **_RBP.SUPPORTED_PARAMS,
        "max_rel": _param_info(dtype=int, required=False, desc="highest grade of the scale"),
    }


class GainProvider(providers.Provider):
    """DCG and graded RBP of any grades."""

    NAME = PROVIDER_NAME
    SUPPORTED_MEASURES = [  # noqa: RUF012 - the base class declares it so
        _DCG(cutoff=_anything(), dcg=_anything()),
        GradedRBP(
            cutoff=_anything(), p=_anything(), rel=_choices(base.NOT_PROVIDED), max_rel=_anything(required=True)
        ),
    ]

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> RankedEvaluator:
        return RankedEvaluator(measures, qrels, _value, _order_of)


class RealProvider(GainProvider):
    """What ir-measures computes for whole grades only."""

    SUPPORTED_MEASURES = [  # noqa: RUF012 - the base class declares it so
        *GainProvider.SUPPORTED_MEASURES,
        _NDCG(cutoff=_anything(), dcg=_choices("log2"), gains=_anything(), judged_only=_anything()),
    ]


def _order_of(measure: Any) -> str:
    """The provider that ranks documents in the same way: for nDCG the one that takes whole grades."""
    return "pytrec_eval" if measure.NAME == "nDCG" else PROVIDER_NAME


def _value(measure: Any, ranking: Sequence[str], judged: Mapping[str, float]) -> float:
    cutoff = measure.params.get("cutoff")
    if measure.NAME == "nDCG" and measure.params.get("judged_only", False):
        # as trec_eval: a negative grade does not count as a judgement here
        ranking = [document for document in ranking if judged.get(document, -1) >= 0]
    gain = gain_of(measure)
    gains = [gain(judged[document]) if document in judged else 0.0 for document in ranking]
    if measure.NAME == "RBP":
        return rbp(gains, p=float(measure["p"]), cutoff=cutoff)
    if measure.NAME == "DCG":
        return dcg(gains, cutoff=cutoff)
    return ndcg(gains, map(gain, judged.values()), cutoff=cutoff)


_gains: Any = GainProvider
_real_gains: Any = RealProvider
#: Computes what ir-measures does not have; and besides, nDCG of topics with grades that are not whole.
PROVIDER: Any = _gains()
REAL_PROVIDER: Any = _real_gains()
