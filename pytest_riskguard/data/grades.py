"""Judgements as a measure takes them: gains as they are, or binary labels; what a measure cannot take is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_riskguard.data.given_file import LabelRules
from pytest_riskguard.data.measures import provider_of
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.errors import DataError

if TYPE_CHECKING:
    from ir_measures import Measure

#: Grades by topic and document.
Grades = Mapping[str, Mapping[str, float]]

#: Measures that take grades which are not whole numbers; and those that ask only whether there is a grade.
_GAIN_MEASURES = frozenset({"nDCG", "DCG", "ERR", "RBP"})
_WITHOUT_GRADES = frozenset({"Judged", "NumQ"})


def is_binary(measure: Measure) -> bool:
    """Whether a measure only asks which documents are relevant."""
    return "rel" in measure.SUPPORTED_PARAMS and isinstance(measure["rel"], int)


def check_labels(measure: Measure, qrels: Qrels) -> None:
    """``DataError`` for grades that a measure would have to cut off, or that are above the scale it assumes.

    ``UsageError`` for a measure that cannot be computed here.
    """
    provider_of(measure)
    name = str(measure.NAME)
    if qrels.is_real:
        if is_binary(measure):
            if qrels.rules.relevant_from is None:
                raise _real(
                    measure, qrels, "binary labels; say what counts as relevant: `collection: {relevant_from: 0.5}`"
                )
        elif name not in _GAIN_MEASURES | _WITHOUT_GRADES:
            raise _real(measure, qrels, "whole grades; use nDCG, DCG, ERR or RBP")
    limit = _highest(measure, qrels.rules)
    if limit is None or qrels.arrays.grades.max() <= limit:  # None: the measure assumes no scale of grades
        return
    judgements = ((grade, topic, docid) for topic in qrels.topics for docid, grade in qrels.grades[topic].items())
    grade, topic, document = max(judgements)
    if grade > limit:
        whole = int(-(-grade // 1))
        raise DataError(
            f"{qrels.path_name}: {measure} expects grades of at most {limit:g}, found {grade:g} (topic "
            f"{topic!r}, document {document!r}); write {measure(max_rel=whole)}",
            reason="bad_qrels",
        )


def _real(measure: Measure, qrels: Qrels, expected: str) -> DataError:
    topic, document, grade = next(
        (topic, document, grade)
        for topic, judged in qrels.grades.items()
        for document, grade in judged.items()
        if isinstance(grade, float)
    )
    return DataError(
        f"{qrels.path_name}: found grade {grade!r} (topic {topic!r}, document {document!r}), but {measure} needs "
        f"{expected}",
        reason="bad_qrels",
    )


def _highest(measure: Measure, rules: LabelRules) -> float | None:
    """The highest grade that a measure takes; that of the declared scale, unless the measure names another."""
    if "max_rel" not in measure.SUPPORTED_PARAMS:
        return None
    if measure.NAME == "ERR" and rules.scale is not None and "max_rel" not in measure.params:
        return rules.scale[1]
    highest: Any = measure["max_rel"]
    return highest if isinstance(highest, int | float) else None


def scaled(measure: Measure, rules: LabelRules) -> Measure:
    """The measure with the declared scale where it assumes one; reports keep the name that was asked for."""
    highest = _highest(measure, rules)
    if measure.NAME != "ERR" or highest is None or highest == measure["max_rel"]:
        return measure
    from pytest_riskguard.data.providers import ScaledERR

    scaled_err: Measure = ScaledERR(**{**measure.params, "max_rel": highest})
    return scaled_err


def labels_for(measure: Measure, grades: Grades, rules: LabelRules) -> Grades:
    """The grades of some topics as a measure takes them.

    For a binary measure a document graded ``relevant_from`` or higher has the grade that the measure asks for, and
    others have 0, or less where a whole grade is negative. ``rel`` above 1 asks for a grade itself.
    """
    if not is_binary(measure) or rules.relevant_from is None:
        return grades
    label: Any = measure["rel"]
    least = rules.relevant_from if label == 1 else label
    return {
        topic: {document: label if grade >= least else min(int(grade), 0) for document, grade in judged.items()}
        for topic, judged in grades.items()
    }


def providers_for(measure: Measure, grades: Grades) -> list[tuple[Any, Grades]]:
    """The providers that compute a measure, each with its topics: ir-measures' own take whole grades only."""
    provider = provider_of(measure)
    if measure.NAME != "nDCG" or provider.NAME == "riskguard":
        return [(provider, grades)]
    from pytest_riskguard.data.providers import REAL_PROVIDER

    real = {topic for topic, judged in grades.items() if any(isinstance(grade, float) for grade in judged.values())}
    if not real:
        return [(provider, grades)]
    whole = {topic: judged for topic, judged in grades.items() if topic not in real}
    return [
        (REAL_PROVIDER, {topic: judged for topic, judged in grades.items() if topic in real}),
        *([(provider, whole)] if whole else []),
    ]
