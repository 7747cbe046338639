"""A measure's values: by kernels where there is one, else by ir-measures' providers or a Python function, on dicts.

Judgements are as a measure takes them, gains as they are or binary labels; what a measure cannot take is refused.
"""

from __future__ import annotations

import functools
import logging
import math
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_riskguard import plugins
from pytest_riskguard.data import kernels
from pytest_riskguard.data.given_file import AS_GIVEN, LabelRules
from pytest_riskguard.data.ids import rows_of, topics_with
from pytest_riskguard.data.kernels import FloatArray, IntArray, JudgedRows, Kernel
from pytest_riskguard.data.measures import (
    MeasureFunction,
    bounds,
    cutoff_of,
    function_of,
    has_kernel,
    is_function,
    provider_of,
    within_bounds,
)
from pytest_riskguard.data.qrels import JudgementArrays, Qrels
from pytest_riskguard.data.ranking import Order, Ranks, order_of
from pytest_riskguard.data.runs import Run
from pytest_riskguard.errors import DataError, ScoringError, UsageError
from pytest_riskguard.text import listed

if TYPE_CHECKING:
    from ir_measures import Measure

    from pytest_riskguard.data.judged import JudgedRun

#: Grades by topic and document.
Grades = Mapping[str, Mapping[str, float]]
#: From the grades of documents and their ranks, 0 for none, to their parts of a score.
Parts = Callable[[FloatArray, IntArray], FloatArray]

#: How many rankings that no run holds ir-measures computes at a time.
RANKINGS_AT_ONCE = 100


def is_binary(measure: Measure) -> bool:
    """Whether a measure only asks which documents are relevant."""
    return "rel" in measure.SUPPORTED_PARAMS and isinstance(measure["rel"], int)


def check_labels(measure: Measure, qrels: Qrels) -> None:
    """``DataError`` for grades that a measure would have to cut off, or that are above the scale it assumes.

    ``UsageError`` for a measure that cannot be computed here.
    """
    provider_of(measure)
    expected = None
    if is_binary(measure) and qrels.rules.relevant_from is None:
        expected = "binary labels; say what counts as relevant: `collection: {relevant_from: 0.5}`"
    elif not (is_binary(measure) or has_kernel(measure) or function_of(measure) or measure.NAME == "NumQ"):
        expected = "whole grades; use nDCG, DCG, ERR or RBP"
    for part in (qrels.arrays, qrels.others):
        if expected is not None and (real := np.flatnonzero(part.grades % 1)).size:
            raise _found(qrels, part, int(real[0]), f"but {measure} needs {expected}")
    limit, grades = _highest(measure, qrels.rules), qrels.arrays.grades
    if limit is not None and (grade := float(grades.max(initial=limit))) > limit:
        enough = measure(max_rel=math.ceil(grade))
        problem = f"but {measure} expects grades of at most {limit:g}; write {enough}"
        raise _found(qrels, qrels.arrays, int(np.argmax(grades)), problem)


def _found(qrels: Qrels, part: JudgementArrays, row: int, problem: str) -> DataError:
    (topic, document), grade = part.name_of(row), float(part.grades[row])
    return DataError(
        f"{qrels.path_name}: found grade {grade:g} (topic {topic!r}, document {document!r}), {problem}",
        reason="bad_qrels",
    )


def _highest(measure: Measure, rules: LabelRules) -> float | None:
    """The highest grade that a measure takes; for ERR that of the declared scale, unless it names another."""
    if "max_rel" not in measure.SUPPORTED_PARAMS:
        return None
    if measure.NAME == "ERR" and rules.scale is not None and "max_rel" not in measure.params:
        return rules.scale[1]
    highest: Any = measure["max_rel"]
    return highest if isinstance(highest, int | float) else None


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


def kernel_of(measure: Measure, rules: LabelRules) -> Kernel:
    """What computes a measure that ``has_kernel`` knows, on judgements under these rules."""
    name, cutoff, p = str(measure.NAME), measure.params.get("cutoff"), measure.params.get("p", 0.8)
    judged_only = bool(measure.params.get("judged_only", False))
    value = _labels(measure, rules) if is_binary(measure) else _gains(measure, rules)
    match name:
        case "nDCG":
            formula: kernels.Formula = functools.partial(kernels.normalised_gain, cutoff=cutoff)
            return Kernel(value, formula, cutoff, ideal=cutoff, judged_only=judged_only)
        case "AP":
            return Kernel(value, kernels.average_precision, cutoff, ideal=None, judged_only=judged_only)
        case "R" | "SetR":
            return Kernel(value, kernels.recall, cutoff, ideal=None, judged_only=judged_only)
        case "Rprec":
            return Kernel(value, kernels.r_precision, ideal=None, judged_only=judged_only)
        case "Bpref":
            return Kernel(value, kernels.binary_preference, ideal=None, with_others=True)
        case "DCG":
            formula = kernels.discounted_gain
        case "P":
            formula = functools.partial(kernels.precision, cutoff=cutoff or 1)
        case "RR":
            formula = kernels.reciprocal_rank
        case "Success":
            formula = kernels.success
        case "Judged":
            formula = functools.partial(kernels.judged_share, cutoff=cutoff)
        case "ERR":
            formula = kernels.expected_reciprocal_rank
        case "RBP" if is_binary(measure):
            formula, cutoff = functools.partial(kernels.binary_bias, p=p), kernels.CWL_RANKS
        case _:
            assert name == "RBP"
            formula = functools.partial(kernels.graded_bias, p=p)
    return Kernel(value, formula, cutoff, judged_only=judged_only)


def _labels(measure: Measure, rules: LabelRules) -> Callable[[FloatArray], FloatArray]:
    """1 for grades of relevant documents, 0 for others, -1 for those that count as if not judged."""
    label: Any = measure["rel"]
    least, lowest = float(label), 0.0
    if rules.relevant_from is not None:
        least = rules.relevant_from if label == 1 else least
        lowest = math.nextafter(-1.0, 0.0)  # as in labels_for, which cuts grades to whole numbers: -0.5 is 0
    return lambda grades: np.where(grades >= least, 1.0, np.where(grades >= lowest, 0.0, -1.0))


def _gains(measure: Measure, rules: LabelRules) -> Callable[[FloatArray], FloatArray]:
    highest = _highest(measure, rules)
    gains: Mapping[int, int] = measure.params.get("gains") or {}

    def of_grades(grades: FloatArray) -> FloatArray:
        if measure.NAME == "Judged":
            return np.ones(len(grades))
        positive = np.maximum(grades, 0.0)
        if measure.NAME == "ERR":
            return (2.0**positive - 1) / 2.0 ** (highest or 0)
        if highest is not None:
            return np.minimum(positive, highest) / highest
        if measure.params.get("dcg") == "exp-log2":
            return 2.0**positive - 1
        for grade, gain in gains.items():
            positive[grades == grade] = gain  # one below 0 is no gain, as for grades
        if measure.params.get("judged_only"):
            positive[grades < 0] = -1.0
        return positive

    return of_grades


def parts_of(measure: Measure) -> Parts | None:
    """What documents add to a measure's score, given their labels or grades; None where they depend on each other.

    A factor that all documents of a topic share (the ideal gain, the number of relevant documents) is left open.
    """
    name, p = str(measure.NAME), measure.params.get("p", 0.8)
    # with judged_only a rank depends on which other documents are judged
    if name not in ("nDCG", "DCG", "P", "R", "SetR", "RBP") or measure.params.get("judged_only", False):
        return None
    kernel = kernel_of(measure, AS_GIVEN)
    last = kernel.cutoff or math.inf

    def parts(grades: FloatArray, ranks: IntArray) -> FloatArray:
        weights = np.ones(len(ranks))
        if name in ("nDCG", "DCG"):
            weights = 1 / np.log2(ranks + 1.0, out=weights, where=ranks > 0)
        if name == "RBP":
            weights = p ** np.maximum(ranks - 1.0, 0)
        return np.maximum(kernel.value(grades), 0) * weights * ((ranks > 0) & (ranks <= last))

    return parts


def values_by_order(run: JudgedRun, qrels: Qrels, measure: Measure, orders: Sequence[Order]) -> list[FloatArray]:
    """The measure of each topic of a run in each of several orders, by its kernel."""
    kernel = kernel_of(measure, qrels.rules)
    places = qrels.arrays.places_of(run.topics)
    ranks = [run.ranks_of_judgements(order, qrels) for order in orders]
    return [kernel.scores(judged_rows(qrels, places, of_order, run.retrieved)) for of_order in ranks]


def judged_rows(qrels: Qrels, places: IntArray, ranks: IntArray, retrieved: IntArray) -> JudgedRows:
    """The judged documents of topics at these places in the judgements, given the rank of each that there is."""
    rows = rows_of(qrels.arrays.offsets, places)
    topic = np.repeat(np.arange(len(places)), np.diff(qrels.arrays.offsets)[places])
    return JudgedRows(topic, ranks[rows], qrels.arrays.grades[rows], retrieved)


def values_of(measure: Measure, rows: JudgedRows, rules: LabelRules) -> FloatArray:
    """The measure's value for topics whose rankings no run holds, given by the grades and ranks of their documents.

    One without documents has 0, as a topic that a run does not answer. ``UsageError`` for a measure that a
    Python function computes: it may look at ids, and there are none.
    """
    if has_kernel(measure):
        return kernel_of(measure, rules).scores(rows)
    if function_of(measure) is not None:
        raise UsageError(f"{measure} is a function of documents, so it has no values for rankings that are made up")
    return _by_provider(measure, rows, rules)


def _by_provider(measure: Measure, rows: JudgedRows, rules: LabelRules) -> FloatArray:
    values, rows = np.zeros(len(rows.retrieved)), rows.at(np.argsort(rows.topic, kind="stable"))
    ends = np.searchsorted(rows.topic, np.arange(len(values) + 1))
    answered = np.flatnonzero(rows.retrieved > 0).tolist()
    for start in range(0, len(answered), RANKINGS_AT_ONCE):
        rankings: dict[str, dict[str, float]] = {}
        judged: dict[str, dict[str, float]] = {}
        for place in answered[start : start + RANKINGS_AT_ONCE]:
            of_topic = slice(int(ends[place]), int(ends[place + 1]))
            grades = [int(grade) if grade.is_integer() else grade for grade in rows.value[of_topic].tolist()]
            judged[str(place)] = {f"judged {row}": grade for row, grade in enumerate(grades)}
            ranking = [f"unjudged {rank}" for rank in range(int(rows.retrieved[place]))]
            for row, rank in enumerate(rows.rank[of_topic].tolist()):
                if rank:
                    ranking[rank - 1] = f"judged {row}"
            rankings[str(place)] = dict(zip(ranking, map(float, range(len(ranking), 0, -1)), strict=True))
        scores = evaluate(measure, labels_for(measure, judged, rules), rankings, "rankings")
        values[list(map(int, scores))] = list(scores.values())
    return values


def values_of_part(
    part: Run, ranks: Mapping[Order, Ranks], measures: Sequence[Measure], qrels: Qrels, source: str
) -> tuple[FloatArray, FloatArray]:
    """The values of measures without kernels (rows) for each topic of a part of a run (columns), all of them scored.

    Returns those in the order of each measure's provider, and those in the order as written.
    """
    answers, written = part.by_topic(), ranks[Order.WRITTEN]
    judged = {topic: qrels.grades[topic] for topic in answers}
    # Compat gives documents that are not retrieved the score 0: the others stay on their side of it
    lengths = np.diff(part.offsets)
    above = np.where(topics_with(part.scores >= 0, part.offsets), lengths + 1, 0)
    in_order = replace(part, scores=np.repeat(above, lengths) - written.astype(np.float64))
    values, others = np.empty((2, len(measures), len(answers)))
    for row, measure in enumerate(measures):
        labels = labels_for(measure, judged, qrels.rules)
        scores = evaluate(measure, labels, answers, source)
        values[row] = [scores[topic] for topic in answers]
        differs = topics_with(ranks[order_of(str(provider_of(measure).NAME))] != written, part.offsets)
        if differs.any():
            again = in_order.at(np.flatnonzero(differs)).by_topic()
            scores = scores | evaluate(measure, labels, again, source)
        others[row] = [scores[topic] for topic in answers]
    return values, others


def evaluate(
    measure: Measure, labels: Grades, rankings: Mapping[str, dict[str, float]], source: str
) -> dict[str, float]:
    """One value for each topic of ``rankings``, on labels that the measure takes."""
    if (function := function_of(measure)) is not None:
        return {
            topic: _called(measure, function, labels[topic], rankings[topic], topic, source) for topic in rankings
        }
    values: dict[str, float] = {}
    judged = {topic: dict(labels[topic]) for topic in rankings}
    # cwl_eval logs the grades of every 20 topics
    logger = logging.getLogger("ir_measures.cwl_eval")
    disabled, logger.disabled = logger.disabled, True
    try:
        metrics = list(provider_of(measure).evaluator([measure], judged).iter_calc(rankings))
    except Exception as problem:
        raise ScoringError(
            f"{source}: ir-measures could not compute {measure} ({type(problem).__name__}: {problem})"
        ) from problem
    finally:
        logger.disabled = disabled
    for metric in metrics:
        topic, value = metric.query_id, float(metric.value)
        if topic not in rankings or topic in values:
            what = "a second value" if topic in values else "a value"
            raise ScoringError(f"{source}: ir-measures unexpectedly gave {what} of {measure} for topic {topic!r}")
        if not within_bounds(measure, value):
            low, high = bounds(measure) or ("-inf", "inf")
            raise ScoringError(f"{source}: expected {measure} of topic {topic!r} in [{low}, {high}], found {value!r}")
        values[topic] = value
    if missing := sorted(rankings.keys() - values.keys()):
        raise ScoringError(
            f"{source}: ir-measures gave no value of {measure} for {topics_named(missing)}, where it may be "
            "undefined; use another measure"
        )
    return values


def _called(
    measure: Measure,
    function: MeasureFunction,
    grades: Mapping[str, float],
    documents: Mapping[str, float],
    topic: str,
    source: str,
) -> float:
    """What a function says of one ranking."""
    ranking = sorted(documents, key=lambda document: (documents[document], document), reverse=True)
    what = f"measure {measure}"
    if not is_function(str(measure)):
        what = f"plugin {plugins.added('riskguard_measures')[str(measure.NAME)][0]!r}: {what}"
    try:
        value = float(function(ranking[: cutoff_of(measure)], dict(grades)))
    except Exception as problem:
        place = traceback.extract_tb(problem.__traceback__)[-1]
        raise ScoringError(
            f"{source}: {what} failed on topic {topic!r} ({type(problem).__name__}: {problem}; "
            f"{Path(place.filename).name}:{place.lineno})"
        ) from problem
    if not within_bounds(measure, value):
        raise ScoringError(f"{source}: {what} gave {value:g}, expected a number from 0 to 1 (topic {topic!r})")
    return value


def topics_named(topics: Sequence[str]) -> str:
    """Topics in a message: ``topics 1, 2``."""
    return f"{'topics' if len(topics) > 1 else 'topic'} {listed(tuple(topics), most=5)}"
