"""Per-topic scores of a run.

The values are those of ``ir_measures.iter_calc`` for each measure alone on the whole run. Only topics with a relevant
document are scored; one that the run did not answer gets the value that ir-measures gives it, which is 0.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.formats import system_name
from pytest_riskguard.data.given_file import GivenFile, Ties
from pytest_riskguard.data.id_checks import refuse_judgements, refuse_other_ids
from pytest_riskguard.data.judged import (
    LEAST_DEPTH,
    JudgedRun,
    Judging,
    depth_for,
    judged_parts,
    rank_order,
    scored_topics,
)
from pytest_riskguard.data.measures import bounds, has_kernel, parse_measure
from pytest_riskguard.data.memory import InputData, JudgementsData, RankingsData, as_run
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.ranking import Order
from pytest_riskguard.data.records import TopicKeys
from pytest_riskguard.data.runs import Run, keyed, read_run
from pytest_riskguard.data.scores import NOTICEABLE, Repeated, TopicScores
from pytest_riskguard.data.scoring import check_labels, topics_named, values_by_order, values_of_part
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen

if TYPE_CHECKING:
    from ir_measures import Measure

FloatArray = npt.NDArray[np.float64]

#: How many documents of two answers to one query are compared; their scores are too.
COMPARED_DEPTH = 10
#: The largest change of score between two answers, on average, as a share of the measure's range.
MAX_CHANGE = 0.1
#: Two topics of ten that score differently are not enough: with a measure of 0 or 1 (Success@1), that happens by
#: chance in one of twelve runs of a system that changes one topic in twenty.
FEW_CHANGED = 2
#: Two scores of a topic that differ by no more are the same.
SAME_SCORE = 1e-12

RunData = Path | str | GivenFile | Run | RankingsData


@frozen(eq=False)
class ScoredRun:
    """The scores of a run for each measure that was asked for, in order, and the run beside its judgements.

    ``ties`` says which order of equal scores counted.
    """

    scores: tuple[TopicScores, ...]
    run: JudgedRun
    ties: Ties = "docid"


def score_run(
    run: RunData,
    qrels: Qrels | Path | str | GivenFile | JudgementsData,
    measures: Sequence[str],
    *,
    name: str | None = None,
    queries: Mapping[str, str] | None = None,
) -> tuple[TopicScores, ...]:
    """One run's scores, for each measure in order.

    Parameters
    ----------
    run : path, GivenFile, Run, or data in memory
        A file in any format of ``data.formats``, plain or gzip; or what ``run`` takes or returns.
    qrels : Qrels, or what ``read_qrels`` takes
    measures : sequence of str
        As ir-measures writes them: ``nDCG@10``, ``AP(rel=2)``.
    name : str, optional
        Default: the file's name without its endings; ``candidate`` for rankings in memory without a name.
    queries : mapping topic -> query text, optional
        Default: those that come with the judgements or the run.

    Raises
    ------
    UsageError
        A measure that does not exist or cannot be computed here.
    DataError
        The run is damaged or answers no judged topic; its ids are not those of the judgements; a grade is above the
        scale of a measure; ir-measures failed. ``TypeError`` for data in memory of another shape.
    """
    return scored_run(run, qrels, measures, name=name, queries=queries).scores


def scored_run(
    run: RunData,
    qrels: Qrels | Path | str | GivenFile | JudgementsData,
    measures: Sequence[str],
    *,
    name: str | None = None,
    queries: Mapping[str, str] | None = None,
    depth: int | None = None,
) -> ScoredRun:
    """As ``score_run``, with the run beside its judgements, for explanations.

    ``depth`` says how many ranks of each topic are kept whole, at least 10; by default as many as reports about the
    measures need (``depth_for``).
    """
    qrels = qrels if isinstance(qrels, Qrels) else read_qrels(qrels)
    parsed = [parse_measure(text) for text in ([measures] if isinstance(measures, str) else measures)]
    for measure in parsed:
        check_labels(measure, qrels)
    texts = queries or qrels.texts
    if isinstance(run, Path | str | GivenFile):
        given = GivenFile.of(run)
        name, opened = name or system_name(given), read_run(given, TopicKeys(texts))
    else:
        opened = as_run(run)
        name = name or opened.source.name or "candidate"
        opened = keyed(InputData(name, reason="bad_run"), opened, TopicKeys(texts))
        texts = texts or opened.source.texts
    scorer = _Scorer(qrels, parsed, opened.source.file or name, depth or depth_for(parsed, qrels))
    judged, found = scorer.scored(opened)
    is_answered = np.zeros(len(qrels.topics), dtype=bool)
    is_answered[qrels.arrays.places_of(judged.topics)] = True
    unanswered = tuple(qrels.topics[place] for place in np.flatnonzero(~is_answered).tolist())
    scores = tuple(
        TopicScores(
            name=name,
            measure=str(measure),
            topics=qrels.topics,
            values=of_all_topics(judged, qrels, measure, values),
            queries=MappingProxyType(dict(texts)),
            digest=judged.digest,
            qrels_digest=qrels.digest,
            unanswered=unanswered,
            unknown=judged.unknown,
            without_relevant=qrels.without_relevant,
            from_run=True,
            judged=judged.judged,
            as_written=MappingProxyType(_changed(judged.topics, values, as_written)),
            contradicted=judged.contradicted,
        )
        for measure, (values, as_written) in zip(parsed, found, strict=True)
    )
    if opened.source.again is not None:
        scores = _with_repeated(scores, scorer, opened, opened.source.again)
    return ScoredRun(scores, judged, opened.source.ties)


#: The values of a measure in the order of its provider, and in the order as written.
_Values = tuple[FloatArray, FloatArray]


class _Scorer:
    """Scores runs with some measures; ``source`` is what messages call them."""

    def __init__(self, qrels: Qrels, measures: Sequence[Measure], source: str, depth: int) -> None:
        self.qrels, self.measures, self._source, self._depth = qrels, measures, source, depth

    def scored(self, run: Run, *, is_checked: bool = False) -> tuple[JudgedRun, list[_Values]]:
        """A run beside its judgements, and the values of each measure for the topics that it answers.

        ``DataError`` for a run that answers no scored topic, has other ids, or is the judgements, unless that
        ``is_checked``.
        """
        unknown = tuple(topic for topic in run.topics if topic not in self.qrels.grades)
        run = scored_topics(run, self.qrels)
        if not run.topics and not is_checked:
            instead = f"found only {topics_named(unknown)}" if unknown else "found none"
            expected = f"expected topics of {self.qrels.path_name} with a relevant document, such as"
            problem = f"{self._source}: {expected} {topics_named(self.qrels.topics)}; {instead}"
            raise DataError(problem, reason="no_common_topic")
        others = [measure for measure in self.measures if not has_kernel(measure)]
        by_provider = np.empty((2, len(others), len(run.topics)))
        judging = Judging({rank_order(measure) for measure in self.measures}, self._depth)
        arrays, is_judgements = self.qrels.arrays, True
        for topics, part, ranked, judgements in judged_parts(run, self.qrels):
            judging.add(part, ranked, judgements)
            has_grades = np.array_equal(arrays.grades[judgements], part.scores)
            is_judgements &= has_grades and bool((judgements >= 0).all())
            if others:
                by_provider[:, :, topics] = values_of_part(part, ranked.ranks, others, self.qrels, self._source)
        judged = judging.judged_run(run, self.qrels, unknown)
        if not is_checked:
            refuse_other_ids(self._source, self.qrels, judged)
            if is_judgements:
                refuse_judgements(self._source, self.qrels, arrays.places_of(run.topics), np.diff(run.offsets))
        found: list[_Values] = []
        for measure in self.measures:
            if measure in others:
                values, as_written = by_provider[:, others.index(measure)]
            else:
                order = rank_order(measure)
                is_written = judged.ranks[order] is judged.ranks[Order.WRITTEN]
                orders = [order] if is_written else [order, Order.WRITTEN]
                of_orders = values_by_order(judged, self.qrels, measure, orders)
                values, as_written = of_orders[0], of_orders[-1]
            found.append((values, as_written))
        return judged, found


def values_of_run(run: Run, qrels: Qrels, measures: Sequence[str]) -> Iterator[tuple[str, str, float]]:
    """Topic, measure and value of every scored topic; what only a whole run shows is not checked."""
    if not qrels.topics:
        return
    parsed = [parse_measure(text) for text in measures]
    for measure in parsed:
        check_labels(measure, qrels)
    judged, found = _Scorer(qrels, parsed, "rankings", LEAST_DEPTH).scored(run, is_checked=True)
    every = [
        of_all_topics(judged, qrels, measure, values) for measure, (values, _) in zip(parsed, found, strict=True)
    ]
    for place, topic in enumerate(qrels.topics):
        yield from (
            (topic, str(measure), float(values[place])) for measure, values in zip(parsed, every, strict=True)
        )


def of_all_topics(judged: JudgedRun, qrels: Qrels, measure: Measure, values: FloatArray) -> FloatArray:
    """The values of a measure for all scored topics, from those that a run answers."""
    every = np.full(len(qrels.topics), float(measure.DEFAULT))
    every[qrels.arrays.places_of(judged.topics)] = values
    return every


def _changed(topics: Sequence[str], values: FloatArray, as_written: FloatArray) -> dict[str, float]:
    """Topic -> value in the order as written, where it is another."""
    rows = np.flatnonzero(np.abs(as_written - values) > SAME_SCORE)
    return {topics[row]: value for row, value in zip(rows.tolist(), as_written[rows].tolist(), strict=True)}


def _with_repeated(scores: Sequence[TopicScores], scorer: _Scorer, first: Run, again: Run) -> tuple[TopicScores, ...]:
    """The scores with what the second answers score; ``DataError`` if that is too far from the first."""
    second, of_second = scorer.scored(again, is_checked=True)
    asked = first.source.asked_again
    tops = _tops(first), _tops(again)
    moved = {topic for topic in asked if tops[0].get(topic) != tops[1].get(topic)}
    with_repeated = []
    for measure, given, (values, _) in zip(scorer.measures, scores, of_second, strict=True):
        before = dict(zip(given.topics, given.values.tolist(), strict=True))
        after = dict(zip(second.topics, values.tolist(), strict=True))
        pair = ([one.get(topic, float(measure.DEFAULT)) for topic in asked] for one in (before, after))
        with_repeated.append(replace(given, repeated=_repeated(given.name, measure, asked, moved, *pair)))
    return tuple(with_repeated)


def _repeated(
    name: str,
    measure: Measure,
    asked: tuple[str, ...],
    moved: Collection[str],
    first: list[float],
    second: list[float],
) -> Repeated:
    """How far two answers agree about the topics asked again, given their scores and whose documents moved."""
    changed = [abs(one - other) > NOTICEABLE for one, other in zip(first, second, strict=True)]
    pairs = zip(asked, changed, strict=True)
    differing = tuple(topic for topic, is_changed in pairs if is_changed or topic in moved)
    found = Repeated(asked, differing, tuple(first), tuple(second))
    high = (bounds(measure) or (0.0, math.inf))[1]
    if sum(changed) > min(FEW_CHANGED, len(asked) - 1) and found.change > MAX_CHANGE * (
        high if math.isfinite(high) else max(map(abs, first), default=0.0)
    ):
        raise DataError(
            f"{name}: asked twice, it answered {len(differing)} of {len(asked)} topics differently "
            f"({topics_named(differing)}), which changes their {measure} by {found.change:.4f} on average, more than "
            f"{MAX_CHANGE:.0%} of its range: a verdict would depend on chance; make it repeatable",
            reason="bad_run",
        )
    return found


def _tops(run: Run) -> dict[str, list[str]]:
    """The first documents of each topic."""
    return {
        topic: sorted(documents, key=documents.__getitem__, reverse=True)[:COMPARED_DEPTH]
        for topic, documents in run.by_topic().items()
    }
