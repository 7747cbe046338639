"""Per-topic scores of a run.

The values are those of ``ir_measures.iter_calc`` for each measure alone on the whole run. Only topics with a relevant
document are scored; one that the run did not answer gets the value that ir-measures gives it, which is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_riskguard.errors import DataError, RunFormatError
from pytest_riskguard.evaluation.judgements.qrels import Qrels, read_qrels
from pytest_riskguard.evaluation.measures import bounds
from pytest_riskguard.evaluation.memory import JudgementsData, RankingsData
from pytest_riskguard.evaluation.memory_runs import MemoryRun, as_memory_run
from pytest_riskguard.evaluation.runs.rankings import Rankings
from pytest_riskguard.evaluation.runs.row_blocks import RowBlock
from pytest_riskguard.evaluation.runs.run_files import open_file
from pytest_riskguard.evaluation.scores import NOTICEABLE, Repeated, TopicScores
from pytest_riskguard.evaluation.scoring.kept_depths import LEAST_DEPTH
from pytest_riskguard.evaluation.scoring.kept_topics import RunPart, judged_run
from pytest_riskguard.evaluation.scoring.provider_scores import topics_named
from pytest_riskguard.evaluation.scoring.run_parts import (
    ScoredRun,
    checked_measures,
    depth_for,
    measured,
    of_all_topics,
    part_reader,
    put_together,
    read_part,
)
from pytest_riskguard.formats.given_file import GivenFile
from pytest_riskguard.formats.input_files import ContentError
from pytest_riskguard.formats.known import system_name
from pytest_riskguard.formats.limits import RUN_BYTES
from pytest_riskguard.formats.records import TopicKeys
from pytest_riskguard.formats.remote_files import is_address, local_copy

if TYPE_CHECKING:
    from ir_measures import Measure

#: How many documents of two answers to one query are compared; their scores are too.
COMPARED_DEPTH = 10
#: The largest change of score between two answers, on average, as a share of the measure's range.
MAX_CHANGE = 0.1
#: Two topics of ten that score differently are not enough: with a measure of 0 or 1 (Success@1), that happens by
#: chance in one of twelve runs of a system that changes one topic in twenty.
FEW_CHANGED = 2

Run = Path | str | GivenFile | Rankings | MemoryRun | RankingsData


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
        A file in any format of ``formats.known``, plain or gzip; or what ``run`` takes or returns.
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
    measures need (``kept_depths``).
    """
    if isinstance(run, Path | str | GivenFile) and is_address(GivenFile.of(run).path):
        return _scored_copy(GivenFile.of(run), qrels, measures, name=name, queries=queries, depth=depth)
    qrels = qrels if isinstance(qrels, Qrels) else read_qrels(qrels)
    measures = [measures] if isinstance(measures, str) else measures
    parsed = checked_measures(measures, qrels)
    depth = depth or depth_for(parsed, qrels)
    name, opened, texts = _opened(run, qrels, name, queries)
    if isinstance(opened, Path):
        part = read_part(opened, qrels, measures, depth=depth)
        return put_together([part], qrels, measures, source=opened, name=name, queries=texts)
    part = part_reader(qrels, parsed, depth=depth, source=name).read(_blocks(opened))
    scored = put_together(
        [part],
        qrels,
        measures,
        source=name,
        name=name,
        digest=opened.digest,
        queries=texts,
        contradicted=opened.contradicted,
    )
    scored = replace(scored, ties=opened.ties)
    return scored if opened.again is None else _with_repeated(scored, part, opened, opened.again, qrels, parsed)


def values_of_rankings(rankings: Rankings, qrels: Qrels, measures: Sequence[str]) -> Iterator[tuple[str, str, float]]:
    """Topic, measure and value of every scored topic; what only a whole run shows is not checked."""
    parsed = checked_measures(measures, qrels)
    part = part_reader(qrels, parsed, depth=LEAST_DEPTH, source="rankings").read(_blocks(rankings))
    found = measured(part, judged_run(part, qrels, ()), qrels, parsed)
    every = [of_all_topics(part, qrels, measure, values) for measure, (values, _) in zip(parsed, found, strict=True)]
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


def _with_repeated(
    scored: ScoredRun, part: RunPart, rankings: Rankings, again: Rankings, qrels: Qrels, measures: Sequence[Measure]
) -> ScoredRun:
    """The scores with what the second answers score; ``DataError`` if that is too far from the first."""
    name = scored.scores[0].name if scored.scores else ""
    second = part_reader(qrels, measures, depth=part.depth, source=name).read(_blocks(again))
    run = judged_run(second, qrels, ())
    scores = []
    for measure, first, (values, _) in zip(
        measures, scored.scores, measured(second, run, qrels, measures), strict=True
    ):
        before = dict(zip(first.topics, first.values.tolist(), strict=True))
        after = dict(zip(run.topics, values.tolist(), strict=True))
        asked = (
            [one.get(topic, float(measure.DEFAULT)) for topic in rankings.asked_again] for one in (before, after)
        )
        scores.append(replace(first, repeated=_repeated(name, measure, rankings, again, *asked)))
    return replace(scored, scores=tuple(scores))


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
            f"{MAX_CHANGE:.0%} of its range: a verdict would depend on chance; make it repeatable, or set "
            "`ask_twice: 0`",
            reason="bad_run",
        )
    return found


def _top(run: Mapping[str, Sequence[tuple[str, float]]], topic: str) -> list[str]:
    return [document for document, _ in run.get(topic, ())[:COMPARED_DEPTH]]
