"""Scores of rankings that no run holds: a topic's documents at other ranks, or with other judgements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.array_scores import has_kernel, kernel_of
from pytest_riskguard.data.columns import whole
from pytest_riskguard.data.given_file import LabelRules
from pytest_riskguard.data.grades import labels_for
from pytest_riskguard.data.ids import IntArray
from pytest_riskguard.data.kernels import CountedRows
from pytest_riskguard.data.measures import cutoff_of
from pytest_riskguard.data.provider_scores import evaluate

if TYPE_CHECKING:
    from ir_measures import Measure

FloatArray = npt.NDArray[np.float64]

#: How many variants ir-measures computes at a time.
VARIANTS_AT_ONCE = 100


@dataclass(frozen=True, eq=False)
class Variants:
    """Rankings of topics together with their judgements; documents without a judgement have no name.

    Attributes
    ----------
    offsets : array, shape (n_variants + 1,)
        The judged documents of variant i are the rows ``offsets[i]:offsets[i + 1]``.
    grades : array of float64, shape (n_rows,)
        As the file gives them.
    ranks : array of int64, shape (n_rows,)
        From 1; 0 for a document that is not retrieved.
    retrieved : array of int64, shape (n_variants,)
        How many documents are ranked, judged or not.
    """

    offsets: IntArray
    grades: FloatArray
    ranks: IntArray
    retrieved: IntArray

    def __len__(self) -> int:
        return len(self.retrieved)

    @classmethod
    def of(cls, variants: Sequence[tuple[Sequence[float], Sequence[int], int]]) -> Variants:
        """Variants one by one: the grades and the ranks of the judged documents, and how many are retrieved."""
        return cls(
            np.cumsum([0, *(len(grades) for grades, _, _ in variants)], dtype=np.int64),
            np.array([grade for grades, _, _ in variants for grade in grades], dtype=np.float64),
            np.array([rank for _, ranks, _ in variants for rank in ranks], dtype=np.int64),
            np.array([retrieved for _, _, retrieved in variants], dtype=np.int64),
        )


def values_of(measure: Measure, variants: Variants, rules: LabelRules) -> FloatArray:
    """The measure's value for each variant; shape (n_variants,).

    A variant without documents has the value of a topic that a run does not answer.
    """
    values = _by_kernel(measure, variants, rules) if has_kernel(measure) else _by_provider(measure, variants, rules)
    values[variants.retrieved == 0] = measure.DEFAULT
    return values


def _by_kernel(measure: Measure, variants: Variants, rules: LabelRules) -> FloatArray:
    kernel, count = kernel_of(measure, rules), len(variants)
    values = kernel.values(variants.grades)
    of_row = np.repeat(np.arange(count, dtype=np.int64), np.diff(variants.offsets))
    best_first = np.lexsort((-variants.grades, of_row))
    totals = kernel.totals(of_row[best_first], values[best_first], count)
    by_rank = np.lexsort((variants.ranks, of_row))
    by_rank = by_rank[variants.ranks[by_rank] > 0]
    retrieved = np.maximum(variants.retrieved, 1)  # shares of nothing are replaced
    rows = CountedRows(of_row[by_rank], variants.ranks[by_rank], values[by_rank], retrieved)
    return kernel.scores(rows.where(kernel.sees(rows.value, rows.rank)), totals)


def _by_provider(measure: Measure, variants: Variants, rules: LabelRules) -> FloatArray:
    values = np.zeros(len(variants))
    answered = np.flatnonzero(variants.retrieved > 0)
    for places in np.split(answered, range(VARIANTS_AT_ONCE, len(answered), VARIANTS_AT_ONCE)):
        rankings: dict[str, dict[str, float]] = {}
        judged: dict[str, dict[str, float]] = {}
        for place in places.tolist():
            judged[str(place)], ranking = _rebuilt(measure, variants, place)
            rankings[str(place)] = dict(zip(ranking, map(float, range(len(ranking), 0, -1)), strict=True))
        if rankings:
            scores = evaluate(measure, labels_for(measure, judged, rules), rankings, "rankings")
            values[places] = [scores[topic] for topic in rankings]
    return values


def _rebuilt(measure: Measure, variants: Variants, place: int) -> tuple[dict[str, float], list[str]]:
    """A variant as ir-measures takes it, with ids made up."""
    rows = slice(int(variants.offsets[place]), int(variants.offsets[place + 1]))
    ids = [f"judged {row}" for row in range(rows.stop - rows.start)]
    grades = [whole(grade) for grade in variants.grades[rows].tolist()]
    ranking = [f"unjudged {rank}" for rank in range(int(variants.retrieved[place]))]
    for document, rank in zip(ids, variants.ranks[rows].tolist(), strict=True):
        if rank:
            ranking[rank - 1] = document
    return dict(zip(ids, grades, strict=True)), ranking[: cutoff_of(measure)]
