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
from pytest_riskguard.data.given_file import AS_GIVEN, LabelRules
from pytest_riskguard.data.headers import whole
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
        enough = measure(max_rel=math.ceil(grades.max(initial=limit)))
        refuse(qrels.arrays, grades > limit, f"expects grades of at most {limit:g}; write {enough}")


def _highest(measure: Measure, rules: LabelRules) -> float | None:
    """The highest grade that a measure takes; for ERR that of the declared scale, unless it names another."""
    if "max_rel" not in measure.SUPPORTED_PARAMS:
        return None
    if measure.NAME == "ERR" and rules.scale is not None and "max_rel" not in measure.params:
        return rules.scale[1]
    highest: Any = measure["max_rel"]
    return highest if isinstance(highest, int | float) else None


def _labels(measure: Measure, rules: LabelRules, grades: FloatArray) -> FloatArray:
    """Grades as a measure takes them.

    For a binary measure a document graded ``relevant_from`` or higher has the grade that the measure asks for, and
    others have 0, or less where a whole grade is negative. ``rel`` above 1 asks for a grade itself.
    """
    if not is_binary(measure) or rules.relevant_from is None:
        return grades
    label: Any = measure["rel"]
    least = rules.relevant_from if label == 1 else label
    return np.where(grades >= least, float(label), np.minimum(np.trunc(grades), 0.0))


def labels_for(measure: Measure, grades: Grades, rules: LabelRules) -> Grades:
    """The grades of some topics as a measure takes them; whole ones are integers."""
    if not is_binary(measure) or rules.relevant_from is None:
        return grades
    labels = {topic: _labels(measure, rules, np.array([*judged.values()])) for topic, judged in grades.items()}
    return {topic: dict(zip(grades[topic], map(int, of.tolist()), strict=True)) for topic, of in labels.items()}


def kernel_of(measure: Measure, rules: LabelRules) -> Kernel:
    """What computes a measure that ``has_kernel`` knows, on judgements under these rules."""
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
        judged_only=bool(params.get("judged_only", False)),
    )


def _worth(measure: Measure, rules: LabelRules, grades: FloatArray) -> FloatArray:
    """What documents with these grades count."""
    if is_binary(measure):
        labels, relevant = _labels(measure, rules, grades), float(measure["rel"])
        return np.where(labels >= relevant, 1.0, np.minimum(np.sign(labels), 0.0))
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
    if measure.params.get("judged_only"):
        gains[grades < 0] = -1.0
    return gains


def parts_of(measure: Measure) -> Parts | None:
    """What documents add to a measure's score, given their labels or grades; None where they depend on each other.

    A factor that all documents of a topic share (the ideal gain, the number of relevant documents) is left open.
    """
    # with judged_only a rank depends on which other documents are judged
    if measure.NAME not in ("nDCG", "DCG", "P", "R", "SetR", "RBP") or measure.params.get("judged_only", False):
        return None
    kernel = kernel_of(measure, AS_GIVEN)
    if measure.NAME == "nDCG":
        kernel = replace(kernel, formula=discounted_gain)

    def parts(grades: FloatArray, ranks: IntArray) -> FloatArray:
        return kernel.scores(JudgedRows(np.arange(len(ranks)), ranks, grades, ranks))  # each in a ranking of its own

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
    rankings = {
        str(place): {f"unjudged {rank}": count + 1.0 - rank for rank in range(1, count + 1)}
        for place, count in enumerate(rows.retrieved.tolist())
        if count
    }
    judged: dict[str, dict[str, float]] = {topic: {} for topic in rankings}
    columns = (rows.topic, rows.rank, rows.value)
    for row, (place, rank, grade) in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        if (topic := str(place)) in rankings:
            judged[topic][f"judged {row}"] = whole(grade)
            if rank:
                rankings[topic][f"judged {row}"] = rankings[topic].pop(f"unjudged {rank}")
    found = evaluate(measure, labels_for(measure, judged, rules), rankings, "rankings")
    return np.array([found.get(str(place), 0.0) for place in range(len(rows.retrieved))])


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
    above = np.where(topics_with(part.scores >= 0, part.offsets), lengths + 1.0, 0.0)
    in_order = replace(part, scores=np.repeat(above, lengths) - written)
    values, others = np.empty((2, len(measures), len(answers)))
    for row, measure in enumerate(measures):
        labels = labels_for(measure, judged, qrels.rules)
        scores = evaluate(measure, labels, answers, source)
        values[row] = list(scores.values())
        differs = topics_with(ranks[order_of(str(provider_of(measure).NAME))] != written, part.offsets)
        if differs.any():
            scores |= evaluate(measure, labels, in_order.at(np.flatnonzero(differs)).by_topic(), source)
        others[row] = list(scores.values())
    return values, others


def evaluate(
    measure: Measure, labels: Grades, rankings: Mapping[str, dict[str, float]], source: str
) -> dict[str, float]:
    """One value for each topic of ``rankings``, in their order, on labels that the measure takes."""
    if (function := function_of(measure)) is not None:
        return _of_function(measure, function, labels, rankings, source)
    judged = {topic: dict(labels[topic]) for topic in rankings}
    # cwl_eval logs the grades of every 20 topics
    logger = logging.getLogger("ir_measures.cwl_eval")
    disabled, logger.disabled = logger.disabled, True
    try:
        metrics = provider_of(measure).evaluator([measure], judged).iter_calc(rankings)
        values = {metric.query_id: float(metric.value) for metric in metrics}
    except Exception as problem:
        raise ScoringError(
            f"{source}: ir-measures could not compute {measure} ({type(problem).__name__}: {problem})"
        ) from problem
    finally:
        logger.disabled = disabled
    if missing := sorted(rankings.keys() - values.keys()):
        raise ScoringError(
            f"{source}: ir-measures gave no value of {measure} for {topics_named(missing)}, where it may be "
            "undefined; use another measure"
        )
    for topic in rankings:
        if not within_bounds(measure, value := values[topic]):
            low, high = bounds(measure) or ("-inf", "inf")
            raise ScoringError(f"{source}: expected {measure} of topic {topic!r} in [{low}, {high}], found {value!r}")
    return {topic: values[topic] for topic in rankings}


def _of_function(
    measure: Measure,
    function: MeasureFunction,
    labels: Grades,
    rankings: Mapping[str, Mapping[str, float]],
    source: str,
) -> dict[str, float]:
    values, what = {}, f"measure {measure}"
    if not is_function(str(measure)):
        what = f"plugin {plugins.added('riskguard_measures')[str(measure.NAME)][0]!r}: {what}"
    for topic, documents in rankings.items():
        ranking = sorted(documents, key=lambda document: (documents[document], document), reverse=True)
        try:
            value = float(function(ranking[: cutoff_of(measure)], dict(labels[topic])))
        except Exception as problem:
            place = traceback.extract_tb(problem.__traceback__)[-1]
            raise ScoringError(
                f"{source}: {what} failed on topic {topic!r} ({type(problem).__name__}: {problem}; "
                f"{Path(place.filename).name}:{place.lineno})"
            ) from problem
        if not within_bounds(measure, value):
            expected = "expected a number from 0 to 1"
            raise ScoringError(f"{source}: {what} gave {value:g}, {expected} (topic {topic!r})")
        values[topic] = value
    return values


def topics_named(topics: Sequence[str]) -> str:
    """Topics in a message: ``topics 1, 2``."""
    return f"{'topics' if len(topics) > 1 else 'topic'} {listed(tuple(topics), most=5)}"
