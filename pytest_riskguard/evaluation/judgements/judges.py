"""Grades that several judges gave the same documents: put together, with how often the judges disagree."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence

from pytest_riskguard.formats.columns import whole
from pytest_riskguard.formats.given_file import JudgeRule
from pytest_riskguard.formats.records import Agreement

#: topic -> document -> judge -> grade
ByJudge = Mapping[str, Mapping[str, Mapping[str, float]]]

_RULES: Mapping[JudgeRule, Callable[[Sequence[float]], float]] = {
    "median": statistics.median,
    "mean": statistics.fmean,
    "max": max,
    "min": min,
}


def regraded(
    grades: Mapping[str, Mapping[str, float]], by_judge: ByJudge, panel: Sequence[str], rule: JudgeRule
) -> dict[str, dict[str, float]]:
    """The grades that a panel of judges gives; a document that none of them graded keeps the one that it has.

    A judge who is named twice counts twice. Topics and documents stay in their order.
    """
    changed = {topic: dict(judged) for topic, judged in grades.items()}
    for topic, documents in by_judge.items():
        for document, given in documents.items():
            if values := [given[judge] for judge in panel if judge in given]:
                changed[topic][document] = whole(_RULES[rule](values))
    return changed


def shared_documents(by_judge: ByJudge) -> ByJudge | None:
    """The grades of documents that several judges graded; None where there are none."""
    shared = {
        topic: {document: given for document, given in documents.items() if len(given) > 1}
        for topic, documents in by_judge.items()
    }
    return {topic: documents for topic, documents in shared.items() if documents} or None


def put_together(by_judge: ByJudge, rule: JudgeRule) -> tuple[dict[str, dict[str, float]], Agreement | None]:
    """One grade for each document, and how far the judges agree; None where there is one judge at most."""
    grades: dict[str, dict[str, float]] = {}
    judges: set[str] = set()
    shared = disputed = 0
    for topic, documents in by_judge.items():
        grades[topic] = {}
        for document, given in documents.items():
            values = list(given.values())
            judges.update(given)
            shared += len(values) > 1
            disputed += len(set(values)) > 1
            grades[topic][document] = whole(_RULES[rule](values))
    return grades, Agreement(len(judges), shared, disputed, rule) if len(judges) > 1 else None
