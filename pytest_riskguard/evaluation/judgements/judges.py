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
