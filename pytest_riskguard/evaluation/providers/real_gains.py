"""Measures of gain on grades that need not be whole numbers: nDCG, DCG and graded RBP.

Where all grades of a topic are whole, ir-measures computes its nDCG, and this gives the same to 1e-12. Documents are
ranked as the provider of ir-measures ranks them. Like ``err``, this module imports ir-measures when it is loaded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import ir_measures
from ir_measures import Metric, providers
from ir_measures.measures import Measure
from ir_measures.providers import base
from ir_measures.util import QrelsConverter, RunConverter

from pytest_riskguard.evaluation.measures import gain_of
from pytest_riskguard.evaluation.order import as_scored

_anything: Any = base.Any
_choices: Any = base.Choices
_param_info: Any = ir_measures.ParamInfo
_as_qrels: Any = QrelsConverter
_as_run: Any = RunConverter
_NDCG: Any = type(ir_measures.nDCG)
_RBP: Any = type(ir_measures.RBP)


def dcg(gains: Sequence[float], *, cutoff: int | None = None) -> float:
    """Discounted cumulative gain: the gains by rank, each divided by ``log2(rank + 1)``.

    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 2002, with the
    discount of trec_eval, which also holds at rank 1.
    """
    return sum((gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:cutoff], start=1)), start=0.0)


def ndcg(gains: Sequence[float], judged: Iterable[float], *, cutoff: int | None = None) -> float:
    """``dcg`` as a share of that of the ideal ranking of all gains ``judged``; 0 for a topic without any gain."""
    ideal = dcg(sorted(judged, reverse=True), cutoff=cutoff)
    return dcg(gains, cutoff=cutoff) / ideal if ideal > 0 else 0.0


def rbp(gains: Sequence[float], *, p: float, cutoff: int | None = None) -> float:
    """Rank-biased precision with gains in [0, 1]: ``(1 - p)`` times the sum of ``gain * p**(rank - 1)``.

    A. Moffat and J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 2008, Eq. 4.
    """
    return (1 - p) * sum((gain * p**place for place, gain in enumerate(gains[:cutoff])), start=0.0)


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

    NAME = "riskguard"
    SUPPORTED_MEASURES = [  # noqa: RUF012 - the base class declares it so
        _DCG(cutoff=_anything(), dcg=_anything()),
        GradedRBP(
            cutoff=_anything(), p=_anything(), rel=_choices(base.NOT_PROVIDED), max_rel=_anything(required=True)
        ),
    ]

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> GainEvaluator:
        return GainEvaluator(list(measures), _as_qrels(qrels).as_dict_of_dict())


class RealProvider(GainProvider):
    """What ir-measures computes for whole grades only."""

    SUPPORTED_MEASURES = [  # noqa: RUF012 - the base class declares it so
        *GainProvider.SUPPORTED_MEASURES,
        _NDCG(cutoff=_anything(), dcg=_choices("log2"), gains=_anything(), judged_only=_anything()),
    ]


class GainEvaluator(providers.Evaluator):
    """Scores runs for some measures and one set of judgements."""

    def __init__(self, measures: list[Any], qrels: dict[str, dict[str, float]]) -> None:
        super().__init__(measures, set(qrels))
        self._qrels = qrels

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        for topic, documents in _as_run(run).as_dict_of_dict().items():
            judged = self._qrels.get(topic)
            if judged is None:
                continue
            for measure in self.measures:
                order = "pytrec_eval" if measure.NAME == "nDCG" else GainProvider.NAME
                ranking = as_scored(list(documents), list(documents.values()), order)
                yield Metric(query_id=topic, measure=measure, value=_value(measure, ranking, judged))


def _value(measure: Any, ranking: Sequence[str], judged: Mapping[str, float]) -> float:
    cutoff = measure.params.get("cutoff")
    if measure.NAME == "nDCG" and measure.params.get("judged_only", False):
        # as trec_eval: a negative grade is no judgement here
        ranking = [document for document in ranking if judged.get(document, -1) >= 0]
    gain = gain_of(measure)
    gains = [gain(judged.get(document, 0)) for document in ranking]
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
