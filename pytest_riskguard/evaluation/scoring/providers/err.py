"""Expected reciprocal rank and nDCG with exponential gain, instead of ir-measures' Perl script.

``gdeval.pl`` cuts topic ids at their last dash (so that topics us-1 and de-1 silently score 0), fails on
ids with letters and on grades above 4, rounds to five decimals and needs Perl. The values here are those it
would print, not rounded. This module imports ir-measures when it is loaded, which others do when they need it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import ir_measures
from ir_measures import providers
from ir_measures.providers import base

from pytest_riskguard.evaluation.scoring.providers.ranked_evaluator import PROVIDER_NAME, RankedEvaluator, plain_sum

#: Highest grade of TREC's Web track, the constant of gdeval.
DEFAULT_MAX_GRADE = 4

# ir-measures types its public functions only; what it leaves untyped is used through these.
_anything: Any = base.Any
_choices: Any = base.Choices
_param_info: Any = ir_measures.ParamInfo
_register: Any = providers.register
_ERR: Any = type(ir_measures.ERR)
_NDCG: Any = type(ir_measures.nDCG)


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
        return RankedEvaluator(measures, qrels, _value)


def _value(measure: Any, ranking: Sequence[str], judged: Mapping[str, float]) -> float:
    cutoff = measure.params.get("cutoff")
    grades = [judged.get(document, 0) for document in ranking]
    if measure.NAME == "ERR":
        max_grade = measure.params.get("max_rel", DEFAULT_MAX_GRADE)
        return expected_reciprocal_rank(grades, max_grade=max_grade, cutoff=cutoff)
    return exponential_ndcg(grades, judged.values(), cutoff=cutoff)


_provider: Any = GradedProvider
PROVIDER: Any = _register(_provider())
