"""Parts of a run that are read separately, on any machine, and the scores of the whole run from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.document_ids import same_file
from pytest_riskguard.evaluation.examined_ids import refuse_other_ids
from pytest_riskguard.evaluation.judgements.grades import check_labels
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.measures import parse_measure, provider_of
from pytest_riskguard.evaluation.runs.order import Order, order_of
from pytest_riskguard.evaluation.runs.trec_blocks import fold_blocks
from pytest_riskguard.evaluation.runs.trec_runs import refuse_inverted
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.scoring.array_scores import has_kernel, values_by_order
from pytest_riskguard.evaluation.scoring.judged_runs import JudgedRun
from pytest_riskguard.evaluation.scoring.kept_depths import depth_for
from pytest_riskguard.evaluation.scoring.kept_topics import (
    FloatArray,
    RunPart,
    grades_as_scores,
    joined,
    judged,
    judged_run,
    topics_with_judged,
    upside_down,
)
from pytest_riskguard.evaluation.scoring.part_reading import PartReader
from pytest_riskguard.evaluation.scoring.provider_scores import topics_named
from pytest_riskguard.formats.given_file import Ties

if TYPE_CHECKING:
    from ir_measures import Measure

__all__ = ["RunPart", "ScoredRun", "depth_for", "put_together", "read_part"]

#: Two scores of a topic that differ by no more are the same.
SAME_SCORE = 1e-12


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """The scores of a run for each measure that was asked for, in order, and what the reading kept.

    ``ties`` says which order of equal scores counted.
    """

    scores: tuple[TopicScores, ...]
    run: JudgedRun
    ties: Ties = "docid"


def checked_measures(measures: Sequence[str], qrels: Qrels) -> list[Measure]:
    """The measures that texts name, which can all be computed on these judgements; errors as ``score_run``."""
    parsed = [parse_measure(text) for text in ([measures] if isinstance(measures, str) else measures)]
    for measure in parsed:
        check_labels(measure, qrels)
    return parsed


def part_reader(qrels: Qrels, measures: Sequence[Measure], *, depth: int, source: str) -> PartReader:
    """What reads a run for these measures."""
    return PartReader(qrels, [one for one in measures if not has_kernel(one)], depth=depth, source=source)


def read_part(
    path: Path,
    qrels: Qrels,
    measures: Sequence[str],
    *,
    depth: int | None = None,
) -> RunPart:
    """Read a run in the format of TREC.

    Parameters
    ----------
    path : Path
    qrels : Qrels
    measures : sequence of str
        As ir-measures writes them.
    depth : int, optional
        How many ranks are kept whole, at least 10; by default as many as reports need (``depth_for``).

    Raises
    ------
    UsageError, DataError
        As ``score_run``, but for what only the whole run shows: ids that are not those of the judgements, and
        rankings that are upside down.
    """
    parsed = checked_measures(measures, qrels)
    reader = part_reader(qrels, parsed, depth=depth or depth_for(parsed, qrels), source=path.name)
    part, digest = fold_blocks(path, reader.read)
    return joined([part], digest=digest)


def put_together(
    parts: Sequence[RunPart],
    qrels: Qrels,
    measures: Sequence[str],
    *,
    source: Path | str,
    name: str,
    digest: str | None = None,
    queries: Mapping[str, str] | None = None,
    contradicted: Sequence[str] | None = None,
) -> ScoredRun:
    """The scores of a run from its parts, in any order.

    Parameters
    ----------
    parts : sequence of RunPart
        All topics of the run, each in one part, read with the same judgements, measures and depth.
    qrels, measures
        What the parts were read with.
    source, name
        The run's file, or its name in messages; the system, as the verdict names it.
    digest : str, optional
        ``sha256:...`` of the whole run; a single part knows it.
    queries : mapping topic -> query text, optional
        Default: those that come with the judgements.
    contradicted : sequence of str, optional
        Topics whose order contradicts their scores, sorted, where rankings have no rank column that says so.

    Raises
    ------
    DataError
        As ``score_run``; for parts that were read with other judgements, measures or depths, or share a topic.
    """
    whole = joined(parts, digest=digest)
    parsed = [parse_measure(text) for text in measures]
    _check(whole, qrels, source)
    run = judged_run(whole, qrels, contradicted)
    unanswered = _unanswered(whole, qrels)
    texts = MappingProxyType(dict(qrels.texts if queries is None else queries))
    scores = [
        TopicScores(
            name=name,
            measure=str(measure),
            topics=qrels.topics,
            values=of_all_topics(whole, qrels, measure, values),
            queries=texts,
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
        for measure, (values, as_written) in zip(parsed, measured(whole, run, qrels, parsed), strict=True)
    ]
    return ScoredRun(tuple(scores), run)


def measured(
    part: RunPart,
    run: JudgedRun,
    qrels: Qrels,
    measures: Sequence[Measure],
) -> list[tuple[FloatArray, FloatArray]]:
    """Each measure of the topics that a run answers, in the order of its provider and in the order as written."""
    found = []
    for measure in measures:
        if str(measure) in part.measures:
            row = part.measures.index(str(measure))
            found.append((part.values[row], part.as_written[row]))
            continue
        order = order_of(str(provider_of(measure).NAME))
        is_as_written = run.ranks[order] is run.ranks[Order.WRITTEN]
        by_order = values_by_order(run, qrels, measure, [order] if is_as_written else [order, Order.WRITTEN])
        found.append((by_order[0], by_order[-1]))
    return found


def _unanswered(part: RunPart, qrels: Qrels) -> tuple[str, ...]:
    is_answered = np.zeros(len(qrels.topics), dtype=bool)
    is_answered[part.places] = True
    return tuple(qrels.topics[place] for place in np.flatnonzero(~is_answered).tolist())


def of_all_topics(part: RunPart, qrels: Qrels, measure: Measure, values: FloatArray) -> FloatArray:
    """The values of all scored topics, given those of the topics that a run answers."""
    every = np.full(len(qrels.topics), float(measure.DEFAULT))
    every[part.places] = values
    return every


def _changed(topics: Sequence[str], values: FloatArray, as_written: FloatArray) -> dict[str, float]:
    """Topic -> value in the order as written, where it is another."""
    rows = np.flatnonzero(np.abs(as_written - values) > SAME_SCORE)
    return {topics[row]: value for row, value in zip(rows.tolist(), as_written[rows].tolist(), strict=True)}


def _check(part: RunPart, qrels: Qrels, source: Path | str) -> None:
    """``DataError`` for a run that is upside down, answers no scored topic, has other ids, or is the judgements."""
    file = source.name if isinstance(source, Path) else source
    if isinstance(source, Path) and len(inverted := upside_down(part)):
        raise refuse_inverted(source, qrels.topics[part.places[inverted[0]]])
    if not len(part.places):
        instead = f"found only {topics_named(part.unknown)}" if part.unknown else "found none"
        expected = f"expected topics of {qrels.path_name} with a relevant document, such as"
        raise DataError(f"{file}: {expected} {topics_named(qrels.topics)}; {instead}", reason="no_common_topic")
    has_judged = np.zeros(len(qrels.topics), dtype=bool)
    has_judged[part.places] = topics_with_judged(part)
    refuse_other_ids(file, qrels, judged(part), part.examined, has_judged)
    if grades_as_scores(part, qrels).is_certain:
        raise DataError(same_file(file, qrels.path_name), reason="bad_run")
