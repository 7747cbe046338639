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

from pytest_riskguard.data.given_file import AS_GIVEN, LabelRules
from pytest_riskguard.data.ids import rows_of, topics_with
from pytest_riskguard.data.kernels import (
    CWL_RANKS,
    FORMULAS,
    BoolArray,
    FloatArray,
    IntArray,
    JudgedRows,
    Kernel,
    binary_bias,
    discounted_gain,
)
from pytest_riskguard.data.measures import (
    bounds,
    cutoff_of,
    function_of,
    has_kernel,
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


def is_binary(measure: Measure) -> bool:
    """Whether a measure only asks which documents are relevant."""
    return "rel" in measure.SUPPORTED_PARAMS and isinstance(measure["rel"], int)


def check_labels(measure: Measure, qrels: Qrels) -> None:
    """``DataError`` for grades that a measure would have to cut off, or that are above the scale it assumes.

    ``UsageError`` for a measure that cannot be computed here.
    """
    provider_of(measure)

    def refuse(part: JudgementArrays, is_wrong: BoolArray, problem: str) -> None:
        if is_wrong.any():
            row = int(np.argmax(is_wrong))
            (topic, document), grade = part.name_of(row), float(part.grades[row])
            found = f"found grade {grade:g} (topic {topic!r}, document {document!r})"
            raise DataError(f"{qrels.path_name}: {found}, but {measure} {problem}", reason="bad_qrels")

    expected = None
    if is_binary(measure) and qrels.rules.relevant_from is None:
        expected = "needs binary labels; say what counts as relevant: `collection: {relevant_from: 0.5}`"
    elif not (is_binary(measure) or has_kernel(measure) or function_of(measure)):
        expected = "needs whole grades; use nDCG, DCG, ERR or RBP"
    for part in (qrels.arrays, qrels.others):
        if expected is not None:
            refuse(part, part.grades % 1 != 0, expected)
    limit, grades = _highest(measure, qrels.rules), qrels.arrays.grades
    if limit is not None:
        enough = f"max_rel={math.ceil(grades.max(initial=limit))}"
        refuse(qrels.arrays, grades > limit, f"expects grades of at most {limit:g}; give it {enough}")


def _highest(measure: Measure, rules: LabelRules) -> float | None:
    """The highest grade that a measure takes; for ERR that of the declared scale, unless it names another."""
    if "max_rel" not in measure.SUPPORTED_PARAMS:
        return None
    if measure.NAME == "ERR" and rules.scale is not None and "max_rel" not in measure.params:
        return rules.scale[1]
    highest: Any = measure["max_rel"]
    return highest if isinstance(highest, int | float) else None


def _least(measure: Measure, rules: LabelRules) -> float:
    """The lowest grade that a binary measure counts as relevant; ``rel`` above 1 asks for a grade itself."""
    least: Any = measure["rel"]
    return rules.relevant_from if least == 1 and rules.relevant_from is not None else least


def labels_for(measure: Measure, grades: Grades, rules: LabelRules) -> Grades:
    """The grades of some topics as a measure takes them; whole ones are integers.

    Where a rule says what is relevant, such a document has the grade that a binary measure asks for, and others have
    0, or less where a whole grade is negative.
    """
    if not is_binary(measure) or rules.relevant_from is None:
        return grades
    label, least = measure["rel"], _least(measure, rules)
    return {
        topic: {document: label if grade >= least else min(int(grade), 0) for document, grade in judged.items()}
        for topic, judged in grades.items()
    }


def kernel_of(measure: Measure, rules: LabelRules) -> Kernel:
    """What computes a measure on judgements under these rules; ``UsageError`` for one without a kernel."""
    if not has_kernel(measure):
        problem = (
            "what it would be under other judgements is known of measures of grades and ranks alone, such as nDCG"
        )
        raise UsageError(f"{measure}: {problem}")
    name, params = str(measure.NAME), measure.params
    formula, cutoff = FORMULAS[name], params.get("cutoff")
    if name == "RBP" and is_binary(measure):
        formula, cutoff = binary_bias, CWL_RANKS
    return Kernel(
        formula,
        functools.partial(_worth, measure, rules),
        cutoff,
        p=params.get("p", 0.8),
        with_others=name == "Bpref",
    )


def _worth(measure: Measure, rules: LabelRules, grades: FloatArray) -> FloatArray:
    """What documents with these grades count."""
    if is_binary(measure):
        return np.where(grades >= _least(measure, rules), 1.0, np.minimum(np.sign(np.trunc(grades)), 0.0))
    if measure.NAME == "Judged":
        return np.ones(len(grades))
    gains, highest = np.maximum(grades, 0.0), _highest(measure, rules)
    if measure.NAME == "ERR":
        return (2.0**gains - 1) / 2.0 ** (highest or 0)
    if highest is not None:
        return gains / highest
    if measure.params.get("dcg") == "exp-log2":
        return 2.0**gains - 1
    for grade, gain in (measure.params.get("gains") or {}).items():
        gains[grades == grade] = gain  # one below 0 is no gain, as for grades
    return gains


def parts_of(measure: Measure) -> Parts | None:
    """What documents add to a measure's score, given their labels or grades; None where they depend on each other.

    A factor that all documents of a topic share (the ideal gain, the number of relevant documents) is left open.
    """
    if measure.NAME not in ("nDCG", "DCG", "P", "R", "SetR", "RBP") or not has_kernel(measure):
        return None
    kernel = kernel_of(measure, AS_GIVEN)
    if measure.NAME == "nDCG":
        kernel = replace(kernel, formula=discounted_gain)

    def parts(grades: FloatArray, ranks: IntArray) -> FloatArray:
        return kernel.scores(JudgedRows(np.arange(len(ranks)), ranks, grades, ranks))  # each in a ranking of its own

    return parts


def kernel_values(run: JudgedRun, qrels: Qrels, measure: Measure, order: Order) -> FloatArray:
    """The measure of each topic of a run whose documents stand in an order, by its kernel."""
    places, ranks = qrels.arrays.places_of(run.topics), run.ranks_of_judgements(order, qrels)
    return kernel_of(measure, qrels.rules).scores(judged_rows(qrels, places, ranks, run.retrieved))


def judged_rows(qrels: Qrels, places: IntArray, ranks: IntArray, retrieved: IntArray) -> JudgedRows:
    """The judged documents of topics at these places in the judgements, given the rank of each that there is."""
    rows = rows_of(qrels.arrays.offsets, places)
    topic = np.repeat(np.arange(len(places)), np.diff(qrels.arrays.offsets)[places])
    return JudgedRows(topic, ranks[rows], qrels.arrays.grades[rows], retrieved)


def values_of_part(
    part: Run, ranks: Mapping[Order, Ranks], measure: Measure, qrels: Qrels, source: str
) -> FloatArray:
    """The values of a measure without a kernel for each topic of a part of a run, all of them scored.

    In the order of the measure's provider, then in the order as written; shape (2, n_topics).
    """
    written, lengths = ranks[Order.WRITTEN], np.diff(part.offsets)
    answers = part.by_topic()
    labels = labels_for(measure, {topic: qrels.grades[topic] for topic in answers}, qrels.rules)
    values = [*evaluate(measure, labels, answers, source).values()]
    as_written = values
    if not np.array_equal(ranks[order_of(str(provider_of(measure).NAME))], written):
        # Compat gives documents that are not retrieved the score 0: the others stay on their side of it
        above = np.where(topics_with(part.scores >= 0, part.offsets), lengths + 1.0, 0.0)
        in_order = replace(part, scores=np.repeat(above, lengths) - written)
        as_written = [*evaluate(measure, labels, in_order.by_topic(), source).values()]
    return np.array([values, as_written])


def evaluate(
    measure: Measure, labels: Grades, rankings: Mapping[str, dict[str, float]], source: str
) -> dict[str, float]:
    """One value for each topic of ``rankings``, in their order, on labels that the measure takes."""
    function, values, where = function_of(measure), {}, ""
    logging.getLogger("ir_measures.cwl_eval").disabled = True  # it writes of the grades of every 20 topics
    try:
        if function is None:
            judged = {topic: dict(labels[topic]) for topic in rankings}
            metrics = provider_of(measure).evaluator([measure], judged).iter_calc(rankings)
            values = {metric.query_id: float(metric.value) for metric in metrics}
        else:
            for topic, documents in rankings.items():
                where = f" on topic {topic!r}"
                ranking = sorted(documents, key=lambda document: (documents[document], document), reverse=True)
                values[topic] = float(function(ranking[: cutoff_of(measure)], dict(labels[topic])))
    except Exception as problem:
        place = traceback.extract_tb(problem.__traceback__)[-1]
        cause = f"{type(problem).__name__}: {problem}; {Path(place.filename).name}:{place.lineno}"
        raise ScoringError(f"{source}: measure {measure} failed{where} ({cause})") from problem
    found = {topic: values.get(topic, math.nan) for topic in rankings}
    for topic, value in found.items():
        if not within_bounds(measure, value):
            low, high = bounds(measure)
            expected = f"expected {measure} of topic {topic!r} in [{low}, {high}]"
            raise ScoringError(f"{source}: {expected}, found {value:g}; use another measure")
    return found


def topics_named(topics: Sequence[str]) -> str:
    """Topics in a message: ``topics 1, 2``."""
    return f"{'topics' if len(topics) > 1 else 'topic'} {listed(tuple(topics), most=5)}"
