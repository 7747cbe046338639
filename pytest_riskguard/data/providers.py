"""Measures that ir-measures cannot compute, or not for all grades: ERR, nDCG, DCG and graded RBP.

``gdeval.pl``, which ir-measures runs for ERR and nDCG with exponential gain, cuts topic ids at their last dash (so
that topics us-1 and de-1 silently score 0), fails on ids with letters and on grades above 4, rounds to five decimals
and needs Perl. The values here are those it would print, not rounded. For nDCG, DCG and graded RBP grades need not be
whole numbers; where all grades of a topic are, ir-measures computes its nDCG, and this gives the same to 1e-12. This
module imports ir-measures when it is loaded, which others do when they need it.
"""

from __future__ import annotations

import functools
import math
import operator
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import ir_measures
from ir_measures import Metric, providers
from ir_measures.measures import Measure
from ir_measures.providers import base
from ir_measures.util import QrelsConverter, RunConverter

from pytest_riskguard import plugins
from pytest_riskguard.data.measures import gain_of
from pytest_riskguard.data.ranking import Order, order_of

# ir-measures types its public functions only; what it leaves untyped is used through these.
_anything: Any = base.Any
_choices: Any = base.Choices
_param_info: Any = ir_measures.ParamInfo
_register: Any = providers.register
_as_qrels: Any = QrelsConverter
_as_run: Any = RunConverter
_ERR: Any = type(ir_measures.ERR)
_NDCG: Any = type(ir_measures.nDCG)
_RBP: Any = type(ir_measures.RBP)

#: The name of riskguard's providers: documents are ranked by score in 64 bits, then docid, both descending.
PROVIDER_NAME = "riskguard"


def as_scored(documents: Sequence[str], scores: Sequence[float], provider: str) -> Sequence[str]:
    """Document ids as a provider ranks them by their scores."""
    order = order_of(provider)
    compared = array("f", scores).tolist() if order is Order.SINGLE_DESCENDING else list(scores)
    return [document for _, document in sorted(zip(compared, documents, strict=True), reverse=True)]


#: From a measure, the documents of a topic from rank 1 on and its judgements to the value.
Value = Callable[[Any, Sequence[str], Mapping[str, float]], float]


class RankedEvaluator(providers.Evaluator):
    """Scores runs for some measures; ``order_of`` names the provider that ranks documents in the same way."""

    def __init__(
        self,
        measures: Iterable[Any],
        qrels: Any,
        value: Value,
        order_of: Callable[[Any], str] = lambda _measure: PROVIDER_NAME,
    ) -> None:
        self._qrels: dict[str, dict[str, float]] = _as_qrels(qrels).as_dict_of_dict()
        super().__init__(list(measures), set(self._qrels))
        self._value, self._order_of = value, order_of

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        for topic, documents in _as_run(run).as_dict_of_dict().items():
            judged = self._qrels.get(topic)
            if judged is None:
                continue
            for measure in self.measures:
                ranking = as_scored(list(documents), list(documents.values()), self._order_of(measure))
                yield Metric(query_id=topic, measure=measure, value=self._value(measure, ranking, judged))


def plain_sum(parts: Iterable[float]) -> float:
    """The sum of numbers added one after the other, as trec_eval does.

    Python's ``sum`` makes up for rounding from 3.12 on, so that a score would depend on the version of Python.
    """
    return functools.reduce(operator.add, parts, 0.0)


#: Highest grade of TREC's Web track, the constant of gdeval.
DEFAULT_MAX_GRADE = 4


def expected_reciprocal_rank(
    grades: Sequence[float], *, max_grade: float = DEFAULT_MAX_GRADE, cutoff: int | None = None
) -> float:
    """Expected reciprocal of the rank at which a user is satisfied: in [0, 1), higher is better.

    ``grades`` are of the documents in ranked order; unjudged ones and negative grades count as 0. A document of grade
    g satisfies the user with probability ``(2**g - 1) / 2**max_grade``; a ``ValueError`` for a grade above that.
    O. Chapelle et al., "Expected Reciprocal Rank for Graded Relevance", CIKM 2009, Eq. 4 and Algorithm 2.
    """
    score, reaches = 0.0, 1.0
    for rank, grade in enumerate(grades[:cutoff], start=1):
        if grade > max_grade:
            raise ValueError(f"grade {grade} is above the highest grade of the scale, {max_grade}")
        satisfied = _gain(grade) / 2.0**max_grade
        score += reaches * satisfied / rank
        reaches *= 1 - satisfied
    return score


def exponential_ndcg(grades: Sequence[float], judged: Iterable[float], *, cutoff: int | None = None) -> float:
    """Normalised discounted cumulative gain with gain ``2**g - 1`` and discount ``log2(rank + 1)``: in [0, 1].

    ``judged`` is every grade of the topic; sorted in descending order, and cut off too, they are the ideal ranking. 0
    for a topic without a relevant document. C. Burges et al., "Learning to Rank using Gradient Descent", ICML 2005,
    section 6, as gdeval computes it.
    """
    ideal = _dcg(sorted(judged, reverse=True)[:cutoff])
    return _dcg(grades[:cutoff]) / ideal if ideal > 0 else 0.0


def _dcg(grades: Sequence[float]) -> float:
    return plain_sum(_gain(grade) / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def _gain(grade: float) -> float:
    return float(2.0 ** max(grade, 0)) - 1


class GradedERR(_ERR):  # type: ignore[misc]
    """ir-measures' ERR, whose scale can be set: ``ERR(max_rel=5)@20``; ``ERR@20`` is the same as before."""

    SUPPORTED_PARAMS = {  # noqa: RUF012 - the base class declares it so
        **_ERR.SUPPORTED_PARAMS,
        "max_rel": _param_info(dtype=int, default=DEFAULT_MAX_GRADE, desc="highest grade of the scale"),
    }


class ScaledERR(GradedERR):
    """ERR on a declared scale, whose highest grade need not be whole."""

    SUPPORTED_PARAMS = {  # noqa: RUF012 - the base class declares it so
        **_ERR.SUPPORTED_PARAMS,
        "max_rel": _param_info(dtype=(int, float), default=DEFAULT_MAX_GRADE, desc="highest grade of the scale"),
    }


class GradedProvider(providers.Provider):
    """ERR and nDCG(dcg='exp-log2') for any topic id, without Perl.

    Documents are ranked as gdeval ranks them: by score, then docid, both descending, scores as 64-bit
    numbers.
    """

    NAME = PROVIDER_NAME
    SUPPORTED_MEASURES = [  # noqa: RUF012 - the base class declares it so
        GradedERR(cutoff=_anything()),
        _NDCG(
            cutoff=_anything(),
            dcg=_choices("exp-log2"),
            gains=_choices(base.NOT_PROVIDED),
            judged_only=_choices(False),
        ),
    ]

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> RankedEvaluator:
        return RankedEvaluator(measures, qrels, _graded_value)


def _graded_value(measure: Any, ranking: Sequence[str], judged: Mapping[str, float]) -> float:
    cutoff = measure.params.get("cutoff")
    grades = [judged.get(document, 0) for document in ranking]
    if measure.NAME == "ERR":
        max_grade = measure.params.get("max_rel", DEFAULT_MAX_GRADE)
        return expected_reciprocal_rank(grades, max_grade=max_grade, cutoff=cutoff)
    return exponential_ndcg(grades, judged.values(), cutoff=cutoff)


_graded: Any = GradedProvider
GRADED_PROVIDER: Any = _register(_graded())


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
        return RankedEvaluator(measures, qrels, _gain_value, _order_of)


class RealProvider(GainProvider):
    """What ir-measures computes for whole grades only."""

    SUPPORTED_MEASURES = [  # noqa: RUF012 - the base class declares it so
        *GainProvider.SUPPORTED_MEASURES,
        _NDCG(cutoff=_anything(), dcg=_choices("log2"), gains=_anything(), judged_only=_anything()),
    ]


def _order_of(measure: Any) -> str:
    """The provider that ranks documents in the same way: for nDCG the one that takes whole grades."""
    return "pytrec_eval" if measure.NAME == "nDCG" else PROVIDER_NAME


def _gain_value(measure: Any, ranking: Sequence[str], judged: Mapping[str, float]) -> float:
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
GAIN_PROVIDER: Any = _gains()
REAL_PROVIDER: Any = _real_gains()


@functools.cache
def added_measures() -> dict[str, Any]:
    """The measures of all plugins by name; each takes a cutoff, as in ``name@10``."""
    return {name: _measure(name, function) for name, (_, function) in plugins.added("riskguard_measures").items()}


def _measure(name: str, function: Any) -> Any:
    content = {
        "__name__": name,
        "NAME": name,
        "PRETTY_NAME": name,
        "SHORT_DESC": (getattr(function, "__doc__", None) or name).partition("\n")[0],
        "SUPPORTED_PARAMS": {"cutoff": _param_info(dtype=int, required=False, desc="ranking cutoff threshold")},
        # not a module of this package: no cache covers the code
        "__module__": str(getattr(function, "__module__", "plugin")),
    }
    return type(name, (Measure,), content)()


class AddedProvider(providers.Provider):
    """Computes what plugins add."""

    NAME = PROVIDER_NAME

    def supports(self, measure: Any) -> bool:
        """Whether a plugin adds this measure."""
        return measure.NAME in added_measures()

    def _evaluator(self, asked: Iterable[Any], qrels: Any) -> RankedEvaluator:
        return RankedEvaluator(asked, qrels, _added_value)


def _added_value(measure: Any, ranking: Sequence[str], judged: Mapping[str, float]) -> float:
    plugin, function = plugins.added("riskguard_measures")[measure.NAME]
    value = plugins.called(
        plugin,
        f"measure {measure.NAME}",
        lambda: float(function(list(ranking[: measure.params.get("cutoff")]), dict(judged))),
    )
    if not (math.isfinite(value) and 0 <= value <= 1):
        raise plugins.PluginError(plugin, f"measure {measure.NAME} gave {value:g}, expected a number from 0 to 1")
    return float(value)


_added: Any = AddedProvider
ADDED_PROVIDER: Any = _added()
