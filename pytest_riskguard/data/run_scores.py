"""Per-topic scores of a run.

The values are those of ``ir_measures.iter_calc`` for each measure alone on the whole run. Only topics with a relevant
document are scored; one that the run did not answer gets the value that ir-measures gives it, which is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_riskguard.data.formats import system_name
from pytest_riskguard.data.given_file import GivenFile, Ties
from pytest_riskguard.data.id_checks import refuse_judgements, refuse_other_ids
from pytest_riskguard.data.input_files import ContentError
from pytest_riskguard.data.judged_runs import LEAST_DEPTH, JudgedRun, depth_for
from pytest_riskguard.data.measures import bounds, has_kernel, parse_measure, provider_of
from pytest_riskguard.data.memory import JudgementsData, RankingsData
from pytest_riskguard.data.memory_runs import MemoryRun, as_memory_run
from pytest_riskguard.data.order import Order, order_of
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.rankings import Rankings
from pytest_riskguard.data.records import TopicKeys
from pytest_riskguard.data.remote import is_address, local_copy
from pytest_riskguard.data.row_blocks import RowBlock
from pytest_riskguard.data.run_files import open_file
from pytest_riskguard.data.run_reading import FloatArray, RunReader, RunReading
from pytest_riskguard.data.scores import NOTICEABLE, Repeated, TopicScores
from pytest_riskguard.data.scoring import check_labels, topics_named, values_by_order
from pytest_riskguard.data.trec_files import fold_blocks, refuse_inverted
from pytest_riskguard.errors import DataError, RunFormatError
from pytest_riskguard.limits import RUN_BYTES

if TYPE_CHECKING:
    from ir_measures import Measure

#: How many documents of two answers to one query are compared; their scores are too.
COMPARED_DEPTH = 10
#: The largest change of score between two answers, on average, as a share of the measure's range.
MAX_CHANGE = 0.1
#: Two topics of ten that score differently are not enough: with a measure of 0 or 1 (Success@1), that happens by
#: chance in one of twelve runs of a system that changes one topic in twenty.
FEW_CHANGED = 2

#: Two scores of a topic that differ by no more are the same.
SAME_SCORE = 1e-12

Run = Path | str | GivenFile | Rankings | MemoryRun | RankingsData


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """The scores of a run for each measure that was asked for, in order, and what the reading kept.

    ``ties`` says which order of equal scores counted.
    """

    scores: tuple[TopicScores, ...]
    run: JudgedRun
    ties: Ties = "docid"


def score_run(
    run: Run,
    qrels: Qrels | Path | str | GivenFile | JudgementsData,
    measures: Sequence[str],
    *,
    name: str | None = None,
    queries: Mapping[str, str] | None = None,
) -> tuple[TopicScores, ...]:
    """One run's scores, for each measure in order; the run is read once (twice if its topics are interleaved).

    Parameters
    ----------
    run : path, GivenFile, Rankings, or data in memory
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
    # scores need judged documents alone: more ranks are for reports
    return scored_run(run, qrels, measures, name=name, queries=queries, depth=LEAST_DEPTH).scores


def scored_run(
    run: Run,
    qrels: Qrels | Path | str | GivenFile | JudgementsData,
    measures: Sequence[str],
    *,
    name: str | None = None,
    queries: Mapping[str, str] | None = None,
    depth: int | None = None,
) -> ScoredRun:
    """As ``score_run``, with what the reading kept of the run for explanations.

    ``depth`` says how many ranks of each topic are kept whole, at least 10; by default as many as reports about the
    measures need (``depth_for``).
    """
    if isinstance(run, Path | str | GivenFile) and is_address(GivenFile.of(run).path):
        return _scored_copy(GivenFile.of(run), qrels, measures, name=name, queries=queries, depth=depth)
    qrels = qrels if isinstance(qrels, Qrels) else read_qrels(qrels)
    parsed = _checked(measures, qrels)
    name, opened, texts = _opened(run, qrels, name, queries)
    reader = _reader(
        qrels, parsed, depth or depth_for(parsed, qrels), opened.name if isinstance(opened, Path) else name
    )
    if isinstance(opened, Path):
        reading, digest = fold_blocks(opened, reader.read)
        reading = reading.named(digest, None)
        _check(reading, qrels, opened)
        return ScoredRun(_scores(reading, qrels, parsed, name, texts), reading.run)
    reading = reader.read(_blocks(opened)).named(opened.digest, opened.contradicted)
    _check(reading, qrels, name)
    scores = _scores(reading, qrels, parsed, name, texts)
    if opened.again is not None:
        second = reader.read(_blocks(opened.again))
        scores = _with_repeated(scores, second, opened, opened.again, qrels, parsed)
    return ScoredRun(scores, reading.run, opened.ties)


def _checked(measures: Sequence[str], qrels: Qrels) -> list[Measure]:
    """The measures that texts name, which can all be computed on these judgements; errors as ``score_run``."""
    parsed = [parse_measure(text) for text in ([measures] if isinstance(measures, str) else measures)]
    for measure in parsed:
        check_labels(measure, qrels)
    return parsed


def _reader(qrels: Qrels, measures: Sequence[Measure], depth: int, source: str) -> RunReader:
    return RunReader(qrels, [one for one in measures if not has_kernel(one)], depth=depth, source=source)


def values_of_rankings(rankings: Rankings, qrels: Qrels, measures: Sequence[str]) -> Iterator[tuple[str, str, float]]:
    """Topic, measure and value of every scored topic; what only a whole run shows is not checked."""
    parsed = _checked(measures, qrels)
    reading = _reader(qrels, parsed, LEAST_DEPTH, "rankings").read(_blocks(rankings))
    found = _measured(reading, qrels, parsed)
    every = [_of_all_topics(reading, qrels, *pair) for pair in zip(parsed, (one for one, _ in found), strict=True)]
    for place, topic in enumerate(qrels.topics):
        yield from (
            (topic, str(measure), float(values[place])) for measure, values in zip(parsed, every, strict=True)
        )


def _scored_copy(given: GivenFile, *scoring: Any, name: str | None, **more: Any) -> ScoredRun:
    """As ``scored_run``, for a run at an address."""
    try:
        with local_copy(given.path, RUN_BYTES) as path:
            name = name or system_name(given)
            return scored_run(replace(given, path=path), *scoring, name=name, **more)
    except ContentError as problem:
        raise RunFormatError(given.path, None, str(problem)) from None


def _blocks(rankings: Rankings) -> Iterator[RowBlock]:
    return map(RowBlock.of, rankings.chunks())


def _opened(
    run: Run, qrels: Qrels, name: str | None, queries: Mapping[str, str] | None
) -> tuple[str, Path | Rankings, Mapping[str, str]]:
    """The system's name, its run or the path of it, and the query texts: those given, else those of the data."""
    texts = queries or qrels.texts
    if isinstance(run, Path | str | GivenFile):
        given = GivenFile.of(run)
        return name or system_name(given), open_file(given, TopicKeys(texts)), texts
    if isinstance(run, Rankings):
        return name or "candidate", run, texts
    held = as_memory_run(run, name or "candidate")
    texts = texts or held.texts
    return name or held.name, held.rankings(TopicKeys(texts)), texts


def _scores(
    reading: RunReading, qrels: Qrels, measures: Sequence[Measure], name: str, texts: Mapping[str, str]
) -> tuple[TopicScores, ...]:
    """The scores of a run that was read, for each measure."""
    run = reading.run
    is_answered = np.zeros(len(qrels.topics), dtype=bool)
    is_answered[reading.places] = True
    unanswered = tuple(qrels.topics[place] for place in np.flatnonzero(~is_answered).tolist())
    return tuple(
        TopicScores(
            name=name,
            measure=str(measure),
            topics=qrels.topics,
            values=_of_all_topics(reading, qrels, measure, values),
            queries=MappingProxyType(dict(texts)),
            digest=run.digest,
            qrels_digest=qrels.digest,
            unanswered=unanswered,
            unknown=run.unknown,
            without_relevant=qrels.without_relevant,
            from_run=True,
            judged=run.judged,
            as_written=MappingProxyType(_changed(run.topics, values, as_written)),
            contradicted=run.contradicted,
        )
        for measure, (values, as_written) in zip(measures, _measured(reading, qrels, measures), strict=True)
    )


def _measured(reading: RunReading, qrels: Qrels, measures: Sequence[Measure]) -> list[tuple[FloatArray, FloatArray]]:
    """Each measure of the topics that a run answers, in the order of its provider and in the order as written."""
    run, found = reading.run, []
    for measure in measures:
        if str(measure) in reading.measures:
            column = reading.measures.index(str(measure))
            found.append((reading.values[:, column], reading.as_written[:, column]))
            continue
        order = order_of(str(provider_of(measure).NAME))
        is_as_written = run.ranks[order] is run.ranks[Order.WRITTEN]
        by_order = values_by_order(run, qrels, measure, [order] if is_as_written else [order, Order.WRITTEN])
        found.append((by_order[0], by_order[-1]))
    return found


def _of_all_topics(reading: RunReading, qrels: Qrels, measure: Measure, values: FloatArray) -> FloatArray:
    every = np.full(len(qrels.topics), float(measure.DEFAULT))
    every[reading.places] = values
    return every


def _changed(topics: Sequence[str], values: FloatArray, as_written: FloatArray) -> dict[str, float]:
    """Topic -> value in the order as written, where it is another."""
    rows = np.flatnonzero(np.abs(as_written - values) > SAME_SCORE)
    return {topics[row]: value for row, value in zip(rows.tolist(), as_written[rows].tolist(), strict=True)}


def _check(reading: RunReading, qrels: Qrels, source: Path | str) -> None:
    """``DataError`` for a run that is upside down, answers no scored topic, has other ids, or is the judgements."""
    run, file = reading.run, source.name if isinstance(source, Path) else source
    if isinstance(source, Path) and len(inverted := reading.upside_down):
        raise refuse_inverted(source, run.topics[inverted[0]])
    if not run.topics:
        instead = f"found only {topics_named(run.unknown)}" if run.unknown else "found none"
        expected = f"expected topics of {qrels.path_name} with a relevant document, such as"
        raise DataError(f"{file}: {expected} {topics_named(qrels.topics)}; {instead}", reason="no_common_topic")
    has_judged = run.has_judged[np.searchsorted(reading.places, reading.examined.places)]
    refuse_other_ids(file, qrels, run.judged, reading.examined, has_judged)
    refuse_judgements(file, qrels, reading.places, reading.as_judged)


def _with_repeated(
    scores: Sequence[TopicScores],
    second: RunReading,
    rankings: Rankings,
    again: Rankings,
    qrels: Qrels,
    measures: Sequence[Measure],
) -> tuple[TopicScores, ...]:
    """The scores with what the second answers score; ``DataError`` if that is too far from the first."""
    of_second = _measured(second, qrels, measures)
    with_repeated = []
    for measure, given, (values, _) in zip(measures, scores, of_second, strict=True):
        before = dict(zip(given.topics, given.values.tolist(), strict=True))
        after = dict(zip(second.run.topics, values.tolist(), strict=True))
        asked = (
            [one.get(topic, float(measure.DEFAULT)) for topic in rankings.asked_again] for one in (before, after)
        )
        with_repeated.append(replace(given, repeated=_repeated(given.name, measure, rankings, again, *asked)))
    return tuple(with_repeated)


def _repeated(
    name: str, measure: Measure, rankings: Rankings, again: Rankings, first: list[float], second: list[float]
) -> Repeated:
    """How far two answers agree about the topics asked again, given their scores."""
    asked = rankings.asked_again
    changed = [abs(one - other) > NOTICEABLE for one, other in zip(first, second, strict=True)]
    differing = tuple(
        topic
        for topic, is_changed in zip(asked, changed, strict=True)
        if is_changed or _top(rankings.by_topic, topic) != _top(again.by_topic, topic)
    )
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


def _top(run: Mapping[str, Sequence[tuple[str, float]]], topic: str) -> list[str]:
    return [document for document, _ in run.get(topic, ())[:COMPARED_DEPTH]]
