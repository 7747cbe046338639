"""Measures of all topics at once, from what one reading of a run keeps.

Every value is equal as a float to the one that the measure's provider computes, except where a docstring of
``kernels`` states a bound. A measure without a kernel goes through ir-measures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_riskguard.data import kernels
from pytest_riskguard.data.given_file import LabelRules
from pytest_riskguard.data.grades import is_binary, scaled
from pytest_riskguard.data.judged import JudgedRun
from pytest_riskguard.data.kernels import CountedRows, FloatArray, IntArray, Kernel
from pytest_riskguard.data.measures import gain_of, provider_of
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.ranking import Order, order_of

if TYPE_CHECKING:
    from ir_measures import Measure

#: About how many rows of variants are computed at once: more would need memory, fewer more calls.
_ROWS_AT_ONCE = 2**14

#: Measures with a kernel, and the providers whose values it gives.
_PROVIDERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("AP", "Bpref", "P", "R", "Rprec", "Success"), frozenset({"pytrec_eval"})),
    **dict.fromkeys(("DCG", "ERR"), frozenset({"riskguard"})),
    "Judged": frozenset({"judged"}),
    "RR": frozenset({"pytrec_eval", "msmarco"}),
    "RBP": frozenset({"cwl_eval", "riskguard"}),
    "nDCG": frozenset({"pytrec_eval", "riskguard"}),
}
_FORMULAS: Mapping[str, Callable[[CountedRows, FloatArray, int | None], FloatArray]] = {
    "AP": kernels.average_precision,
    "Bpref": kernels.binary_preference,
    "Judged": kernels.judged_share,
    "P": kernels.precision,
    "R": kernels.recall,
    "RR": kernels.reciprocal_rank,
    "Rprec": kernels.r_precision,
    "Success": kernels.success,
}


def has_kernel(measure: Measure) -> bool:
    """Whether ``array_values`` computes a measure; ``UsageError`` for one that cannot be computed here."""
    if measure.NAME == "nDCG" and measure.params.get("gains") and measure.params.get("judged_only"):
        return False  # providers disagree about which documents are judged where gains are negative
    return str(provider_of(measure).NAME) in _PROVIDERS.get(str(measure.NAME), ())


def array_values(run: JudgedRun, qrels: Qrels, measure: Measure, order: Order | None = None) -> FloatArray:
    """The measure of each topic of a run, equal to what its provider computes.

    Parameters
    ----------
    run : JudgedRun
    qrels : Qrels
        The judgements that the run was read with.
    measure : Measure
        One that ``has_kernel`` knows; labels and scale are those that the rules of the judgements say.
    order : Order, optional
        Default: the one of the measure's provider.

    Returns
    -------
    array of float64, shape (n_topics of the run,)
    """
    (values,) = values_by_order(run, qrels, measure, [_order(measure) if order is None else order])
    return values


def values_by_order(run: JudgedRun, qrels: Qrels, measure: Measure, orders: Sequence[Order]) -> list[FloatArray]:
    """``array_values`` in each of several orders; what judgements alone say is computed once."""
    kernel = kernel_of(measure, qrels.rules)
    arrays = qrels.arrays
    values = kernel.values(arrays.grades)
    totals = kernel.totals(arrays.topic_of_row, values[arrays.best_first], len(arrays.topics))
    totals = totals[_places(run, qrels)]
    return [kernel.scores(_seen_rows(run, kernel, values, order), totals) for order in orders]


def _seen_rows(run: JudgedRun, kernel: Kernel, values: FloatArray, order: Order) -> CountedRows:
    """The judged documents that can change a measure, given the value of each judgement."""
    rows = run.rows_of_judged(order)
    value = values[run.judgements[rows]]
    seen = kernel.sees(value, run.ranks[order][rows].astype(np.int64))
    rows, value = rows[seen], value[seen]
    topic, rank = (column[rows].astype(np.int64) for column in (run.topic_of_row, run.ranks[order]))
    return CountedRows(topic, rank, value, run.retrieved)


def if_judged(
    run: JudgedRun,
    qrels: Qrels,
    measure: Measure,
    topics: IntArray,
    offsets: IntArray,
    rows: IntArray,
    grades: FloatArray,
) -> FloatArray:
    """The measure of some topics if unjudged documents had these grades.

    Each variant is one topic with other judgements; a topic may have many variants.

    Parameters
    ----------
    run, qrels, measure
        As for ``array_values``; documents are ranked as the measure's provider ranks them.
    topics : array of int64, shape (n_variants,)
        The topic of each variant: its place in ``run.topics``.
    offsets : array of int64, shape (n_variants + 1,)
        The documents that variant i judges are those from ``offsets[i]`` to ``offsets[i + 1]``.
    rows : array of int64, shape (n_documents,)
        Rows of the run, each unjudged and of the variant's topic, in any order; -1 for a document that the run did
        not retrieve, which may be one that it missed.
    grades : array of float64, shape (n_documents,)
        As the file of judgements would give them.

    Returns
    -------
    array of float64, shape (n_variants,)
    """
    kernel = kernel_of(measure, qrels.rules)
    variants = _Variants(run, qrels, kernel, _order(measure))
    scores = np.empty(len(topics))
    sizes = variants.sizes[topics] + np.diff(offsets) + variants.needed[topics]
    ends = np.cumsum(sizes)
    start = 0
    while start < len(topics):
        begun = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, begun + _ROWS_AT_ONCE, side="right")))
        documents = slice(offsets[start], offsets[stop])
        scores[start:stop] = variants.scores(
            topics[start:stop], np.diff(offsets[start : stop + 1]), rows[documents], grades[documents]
        )
        start = stop
    return scores


class _Variants:
    """A run's topics with some documents judged anew."""

    def __init__(self, run: JudgedRun, qrels: Qrels, kernel: Kernel, order: Order) -> None:
        self._run, self._kernel, self._ranks = run, kernel, run.ranks[order]
        self._arrays, self._places = qrels.arrays, _places(run, qrels)
        self._values = kernel.values(self._arrays.grades)
        self._rows = _seen_rows(run, kernel, self._values, order)
        judged = np.diff(self._arrays.offsets)
        self._needed = judged if kernel.ideal_ranks is None else np.minimum(judged, kernel.ideal_ranks)
        self.sizes, self.needed = self._rows.counts(), self._needed[self._places]
        self._begins = np.cumsum(self.sizes) - self.sizes

    def scores(self, topics: IntArray, counts: IntArray, rows: IntArray, grades: FloatArray) -> FloatArray:
        """The measure of each variant, of whose documents there are ``counts``."""
        old = _spans(self._begins[topics], self.sizes[topics])
        variants = np.arange(len(topics), dtype=np.int64)
        retrieved = rows >= 0
        new_variant, new_rank = np.repeat(variants, counts), self._ranks[rows].astype(np.int64)
        new_value = self._kernel.values(grades)
        seen = retrieved & self._kernel.sees(new_value, new_rank)  # of the others, only those that are seen are held
        variant = np.concatenate([np.repeat(variants, self.sizes[topics]), new_variant[seen]])
        rank = np.concatenate([self._rows.rank[old], new_rank[seen]])
        value = np.concatenate([self._rows.value[old], new_value[seen]])
        order = np.argsort(variant << 32 | rank, kind="stable")
        changed = CountedRows(variant[order], rank[order], value[order], self._run.retrieved[topics])
        return self._kernel.scores(changed, self._totals(self._places[topics], counts, grades, new_value))

    def _totals(self, places: IntArray, counts: IntArray, grades: FloatArray, values: FloatArray) -> FloatArray:
        """What judgements say of topics, given by their places in the judgements, with documents added to each.

        They are computed once for all variants of a topic whose documents have the same grades in any order.
        """
        first, index = _different(places, counts, grades)
        of_first = _spans((np.cumsum(counts) - counts)[first], counts[first])
        places, counts = places[first], counts[first]
        judged = self._needed[places]
        old = self._arrays.best_first[_spans(self._arrays.offsets[places], judged)]
        variants = np.arange(len(places), dtype=np.int64)
        topic = np.concatenate([np.repeat(variants, judged), np.repeat(variants, counts)])
        all_grades = np.concatenate([self._arrays.grades[old], grades[of_first]])
        best_first = np.lexsort((-all_grades, topic))
        all_values = np.concatenate([self._values[old], values[of_first]])[best_first]
        totals: FloatArray = self._kernel.totals(topic[best_first], all_values, len(places))[index]
        return totals


def _different(places: IntArray, counts: IntArray, grades: FloatArray) -> tuple[IntArray, IntArray]:
    """The first of all variants that add the same grades to the same topic, and which of these each variant is."""
    levels, codes = np.unique(grades, return_inverse=True)
    base = int(counts.max(initial=0)) + 1
    if (len(levels) + 1) * math.log2(base) + math.log2(len(places) + int(places.max(initial=0)) + 1) > 62:
        each = np.arange(len(places), dtype=np.int64)  # a number that tells them apart would be too large
        return each, each
    powers = base ** np.arange(len(levels), dtype=np.int64)
    summed = np.append(0, np.cumsum(powers[codes.ravel()]))  # may overflow: differences are right all the same
    ends = np.cumsum(counts)
    keys = places * base ** len(levels) + summed[ends] - summed[ends - counts]
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return first.astype(np.int64, copy=False), index.ravel().astype(np.int64, copy=False)


def _spans(begins: IntArray, sizes: IntArray) -> IntArray:
    """The rows of several ranges, one range after the other."""
    ends = np.cumsum(sizes)
    shifts: IntArray = np.repeat(begins - (ends - sizes), sizes)
    return np.arange(len(shifts), dtype=np.int64) + shifts


def _places(run: JudgedRun, qrels: Qrels) -> IntArray:
    """Where the run's topics stand in the judgements."""
    return qrels.arrays.places_of(run.topics)


def _order(measure: Measure) -> Order:
    return order_of(str(provider_of(measure).NAME))


def kernel_of(measure: Measure, rules: LabelRules) -> Kernel:
    """What computes a measure that ``has_kernel`` knows, on judgements under these rules."""
    measure = scaled(measure, rules)
    name, cutoff = str(measure.NAME), measure.params.get("cutoff")
    judged_only = bool(measure.params.get("judged_only", False))
    if name == "Judged":
        return kernels.Labels(-math.inf, -math.inf, kernels.judged_share, cutoff)
    if is_binary(measure):
        least, lowest = _grades_of_labels(measure, rules)
        formula = kernels.rank_biased_precision(float(measure["p"])) if name == "RBP" else _FORMULAS[name]
        if name == "RBP":
            cutoff = kernels.CWL_RANKS
        return kernels.Labels(least, lowest, formula, cutoff, judged_only, relevant_only=name != "Bpref")
    if name == "ERR":
        highest: Any = measure["max_rel"]
        return kernels.Cascade(lambda grade: (float(2.0 ** max(grade, 0)) - 1) / 2.0**highest, cutoff)
    gain = gain_of(measure)
    if name == "RBP":
        return kernels.BiasedGain(gain, cutoff, float(measure["p"]))
    if judged_only:
        return kernels.JudgedOnlyGain(lambda grade: gain(grade) if grade >= 0 else -1.0, cutoff)
    return kernels.DiscountedGain(gain, cutoff, is_share=name == "nDCG", is_rising=not measure.params.get("gains"))


def _grades_of_labels(measure: Measure, rules: LabelRules) -> tuple[float, float]:
    """The lowest grade of a relevant document, and the lowest that counts as judged, as in ``labels_for``."""
    label: Any = measure["rel"]
    if rules.relevant_from is None:
        return float(label), 0.0
    least = rules.relevant_from if label == 1 else float(label)
    return least, math.nextafter(-1.0, 0.0)  # grades are cut to whole numbers there: -0.5 is 0
