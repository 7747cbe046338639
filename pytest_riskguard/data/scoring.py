"""Scores by a measure: formulas over all topics at once, else ir-measures' providers or a Python function.

Judgements are as a measure takes them, gains as they are or binary labels; what a measure cannot take is refused.
Values of formulas are those of trec_eval (``m_map.c`` and so on), MS MARCO's script, ``judged`` and gdeval,
but for rounding. Logarithms come from Python's ``math``, whose C library they call too.
"""

from __future__ import annotations

import functools
import logging
import math
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_riskguard.data.given_file import AS_GIVEN, LabelRules
from pytest_riskguard.data.ids import BoolArray, FloatArray, IntArray, offsets_of, topics_with
from pytest_riskguard.data.measures import bounds, cutoff_of, function_of, has_kernel, out_of_range, provider_of
from pytest_riskguard.data.qrels import Grades, JudgementArrays, Qrels
from pytest_riskguard.data.runs import Order, Run, lines_of, ranking
from pytest_riskguard.errors import DataError, ScoringError, UsageError
from pytest_riskguard.frozen import frozen

if TYPE_CHECKING:
    from ir_measures import Measure


Formula = Callable[..., FloatArray]


@frozen(eq=False)
class JudgedRows:
    """The judged documents of topics, with the ranks at which a run has them.

    Attributes
    ----------
    topic : array of int64, shape (n_rows,)
        The place of the row's topic, from 0, in any order.
    rank : array of int64, shape (n_rows,)
        From 1, among all documents that the run has for the topic; 0 if it is not retrieved.
    value : array of float64, shape (n_rows,)
        The document's grade; inside a kernel, what the document counts.
    retrieved : array of int64, shape (n_topics,)
        How many documents the run has for each topic, judged or not.
    """

    topic: IntArray
    rank: IntArray
    value: FloatArray
    retrieved: IntArray

    def at(self, rows: IntArray | BoolArray) -> JudgedRows:
        """Some of the rows, of the same topics."""
        return replace(self, topic=self.topic[rows], rank=self.rank[rows], value=self.value[rows])

    def by_rank(self) -> JudgedRows:
        """The same by topic and by rank."""
        return self.at(np.argsort(self.topic << 32 | self.rank, kind="stable"))

    def ideal(self) -> JudgedRows:
        """The same as the best of all rankings has them: by falling value, ranked from 1."""
        rows = self.at(np.lexsort((-self.value, self.topic)))
        return replace(rows, rank=rows.places() + 1)

    def sums(self, of_row: FloatArray | None = None) -> FloatArray:
        """The sum of each topic's rows, added one after the other; without numbers how many there are."""
        return np.bincount(self.topic, of_row, len(self.retrieved)).astype(np.float64, copy=False)

    def places(self) -> IntArray:
        """The place of each row in its topic, from 0, if rows go by topic."""
        return lines_of(offsets_of(np.bincount(self.topic)))


@frozen
class Kernel:
    """A measure with its parameters.

    Attributes
    ----------
    formula : function
        From the documents that are found within the cutoff, by rank, all that are judged, and this kernel to the
        measure of each topic.
    value : function
        From grades to what their documents count: a gain, or a label (1 relevant, 0 not).
    cutoff : int, optional
        How many ranks count; None for all.
    p : float
        The persistence of RBP.
    """

    formula: Formula
    value: Callable[[FloatArray], FloatArray]
    cutoff: int | None = None
    p: float = 0.8

    def scores(self, rows: JudgedRows) -> FloatArray:
        """The measure of each topic, shape (n_topics,)."""
        judged = replace(rows, value=self.value(rows.value))
        judged = judged.at(judged.value > 0)
        found = judged.at((judged.rank > 0) & (judged.rank <= (self.cutoff or math.inf)))
        return self.formula(found.by_rank(), judged, self)


def share(part: FloatArray | IntArray, whole: FloatArray | IntArray) -> FloatArray:
    """Part divided by whole; 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def discounted_gain(found: JudgedRows, *_: object) -> FloatArray:
    """``DCG``: gains divided by ``log2(rank + 1)``."""
    logarithms = np.array([math.log2(rank + 1) for rank in range(int(found.rank.max(initial=0)) + 1)])
    return found.sums(found.value / logarithms[found.rank])


def normalised_gain(found: JudgedRows, judged: JudgedRows, kernel: Kernel) -> FloatArray:
    """``nDCG``: DCG as a share of the ideal ranking's."""
    ideal = judged.ideal()
    return share(discounted_gain(found), discounted_gain(ideal.at(ideal.rank <= (kernel.cutoff or math.inf))))


def average_precision(found: JudgedRows, judged: JudgedRows, _: Kernel) -> FloatArray:
    """``AP``: the sum of precisions at the ranks of relevant documents, divided by how many there are."""
    return share(found.sums((found.places() + 1) / found.rank), judged.sums())


def reciprocal_rank(found: JudgedRows, *_: object) -> FloatArray:
    """``RR``: one divided by the rank of the first relevant document."""
    return found.sums((found.places() == 0) / found.rank)


def precision(found: JudgedRows, _: JudgedRows, kernel: Kernel) -> FloatArray:
    """``P``: how many documents are relevant, divided by the cutoff."""
    assert kernel.cutoff is not None
    return found.sums() / kernel.cutoff


def recall(found: JudgedRows, judged: JudgedRows, _: Kernel) -> FloatArray:
    """``R``: how many documents are relevant, divided by how many there are."""
    return share(found.sums(), judged.sums())


def r_precision(found: JudgedRows, judged: JudgedRows, kernel: Kernel) -> FloatArray:
    """``Rprec``: recall in as many ranks as there are relevant documents."""
    return recall(found.at(found.rank <= judged.sums()[found.topic]), judged, kernel)


def success(found: JudgedRows, *_: object) -> FloatArray:
    """``Success``: whether there is a relevant document."""
    return np.minimum(found.sums(), 1.0)


def judged_share(found: JudgedRows, _: JudgedRows, kernel: Kernel) -> FloatArray:
    """``Judged``: how many of the documents within the cutoff are judged, with whatever grade."""
    return share(found.sums(), np.minimum(found.retrieved, kernel.cutoff or math.inf))


def rank_biased_precision(found: JudgedRows, _: JudgedRows, kernel: Kernel) -> FloatArray:
    """``RBP(max_rel=...)``: gains times a power of ``p``; the first rank weighs ``1 - p``.

    A. Moffat and J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 2008, Eq. 4.
    """
    return (1 - kernel.p) * found.sums(found.value * kernel.p ** (found.rank - 1.0))


def expected_reciprocal_rank(found: JudgedRows, *_: object) -> FloatArray:
    """``ERR``: a document's gain is the probability that it satisfies a user who has come so far.

    O. Chapelle et al., "Expected Reciprocal Rank for Graded Relevance", CIKM 2009, Eq. 4 and Algorithm 2.
    """
    places = found.places()
    scores, reaches = np.zeros(len(found.retrieved)), np.ones(len(found.retrieved))
    for place in range(int(places.max(initial=-1)) + 1):
        at = found.at(places == place)
        scores[at.topic] += reaches[at.topic] * at.value / at.rank
        reaches[at.topic] *= 1 - at.value
    return scores


#: By ir-measures' names.
FORMULAS: Mapping[str, Formula] = {
    "nDCG": normalised_gain,
    "DCG": discounted_gain,
    "AP": average_precision,
    "RR": reciprocal_rank,
    "P": precision,
    "R": recall,
    "Rprec": r_precision,
    "Success": success,
    "Judged": judged_share,
    "ERR": expected_reciprocal_rank,
    "RBP": rank_biased_precision,
}


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

    def refuse(part: JudgementArrays, is_wrong: BoolArray, problem: str, remedy: str) -> None:
        if is_wrong.any():
            row = int(np.argmax(is_wrong))
            (topic, document), grade = part.names()[row], float(part.grades[row])
            found = f"found grade {grade:g} (topic {topic!r}, document {document!r})"
            raise DataError(f"{qrels.path_name}: {found}, but {measure} {problem}", reason="bad_qrels", remedy=remedy)

    expected = remedy = ""
    if is_binary(measure) and qrels.rules.relevant_from is None:
        expected, remedy = "needs binary labels", "say what counts as relevant: `collection: {relevant_from: 0.5}`"
    elif not (is_binary(measure) or has_kernel(measure) or function_of(measure)):
        expected, remedy = "needs whole grades", "use nDCG, DCG, ERR or RBP"
    for part in (qrels.arrays, qrels.others):
        if expected:
            refuse(part, part.grades % 1 != 0, expected, remedy)
    limit, grades = _highest(measure, qrels.rules), qrels.arrays.grades
    if limit is not None:
        enough = f"max_rel={math.ceil(grades.max(initial=limit))}"
        refuse(qrels.arrays, grades > limit, f"expects grades of at most {limit:g}", f"give it {enough}")


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
        known = "is known of measures of grades and ranks alone, such as nDCG"
        raise UsageError(f"{measure}: what it would be under other judgements {known}")
    name, params = str(measure.NAME), measure.params
    worth = functools.partial(_worth, measure, rules)
    return Kernel(FORMULAS[name], worth, params.get("cutoff"), p=params.get("p", 0.8))


def _worth(measure: Measure, rules: LabelRules, grades: FloatArray) -> FloatArray:
    """What documents with these grades count."""
    if is_binary(measure):
        return np.where(grades >= _least(measure, rules), 1.0, 0.0)
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
    if measure.NAME not in ("nDCG", "DCG", "P", "R", "RBP") or not has_kernel(measure):
        return None
    kernel = kernel_of(measure, AS_GIVEN)
    if measure.NAME == "nDCG":
        kernel = replace(kernel, formula=discounted_gain)

    def parts(grades: FloatArray, ranks: IntArray) -> FloatArray:
        # Each document is the only judged one of a topic of its own, of which the run has documents up to its rank.
        return kernel.scores(JudgedRows(np.arange(len(ranks)), ranks, grades, ranks))

    return parts


def values_of_part(part: Run, measure: Measure, qrels: Qrels, source: str) -> FloatArray:
    """The values of a measure without a kernel for each topic of a part of a run; shape (2, n_topics).

    The first row is for documents in the order of the measure's provider, the second for the order as written. All
    topics of the part are scored ones.
    """
    ranks = ranking(part)
    written, lengths = ranks[Order.WRITTEN], np.diff(part.offsets)
    answers = part.by_topic()
    labels = labels_for(measure, {topic: qrels.grades[topic] for topic in answers}, qrels.rules)
    values = [*evaluate(measure, labels, answers, source).values()]
    as_written = values
    if not all(np.array_equal(order, written) for order in ranks.values()):
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
                ranked = sorted(documents, key=lambda document: (documents[document], document), reverse=True)
                values[topic] = float(function(ranked[: cutoff_of(measure)], dict(labels[topic])))
    except Exception as problem:
        place = traceback.extract_tb(problem.__traceback__)[-1]
        cause = f"{type(problem).__name__}: {problem}; {Path(place.filename).name}:{place.lineno}"
        raise ScoringError(f"{source}: measure {measure} failed{where} ({cause})") from problem
    found = {topic: values.get(topic, math.nan) for topic in rankings}
    for topic, value in found.items():
        if (wrong := out_of_range(measure, bounds(measure), topic, value)) is not None:
            raise ScoringError(f"{source}: {wrong}; use another measure")
    return found
