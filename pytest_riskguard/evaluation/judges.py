"""Grades that several judges gave the same documents: put together, with how often the judges disagree."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_riskguard.formats.given_file import JudgeRule
from pytest_riskguard.text import counted

#: topic -> document -> judge -> grade
ByJudge = Mapping[str, Mapping[str, Mapping[str, float]]]

_RULES: Mapping[JudgeRule, Callable[[Sequence[float]], float]] = {
    "median": statistics.median,
    "mean": statistics.fmean,
    "max": max,
    "min": min,
}


@dataclass(frozen=True)
class Agreement:
    """How far several judges agree.

    Attributes
    ----------
    judges : int
    shared : int
        Documents (of a topic) with grades by several judges.
    disputed : int
        Those of them with different grades.
    rule : 'median', 'mean', 'max' or 'min'
        How their grades became one.
    """

    judges: int
    shared: int
    disputed: int
    rule: JudgeRule

    def __str__(self) -> str:
        """As a sentence without a full stop."""
        share = f" ({self.disputed / self.shared:.0%})" if self.shared else ""
        disagree = f"disagree on {self.disputed:,} of {counted(self.shared, 'document')} that several graded{share}"
        return f"{self.judges} judges {disagree}; the {self.rule} of their grades counts"


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


def whole(grade: float) -> float:
    """A grade as TREC's files write it: 3, not 3.0."""
    return int(grade) if float(grade).is_integer() else float(grade)
