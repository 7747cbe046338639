"""Per-topic scores of a run.

The values are those of ``ir_measures.iter_calc`` for each measure alone on the whole run. Only topics with a relevant
document are scored; one that the run did not answer gets the value that ir-measures gives it, which is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_riskguard.data import memory
from pytest_riskguard.data.formats import system_name
from pytest_riskguard.data.given_file import AS_GIVEN, TIES, GivenFile, InputData, LabelRules, Ties
from pytest_riskguard.data.id_checks import refuse_judgements, refuse_other_ids
from pytest_riskguard.data.ids import FloatArray
from pytest_riskguard.data.judged import JudgedRun, depth_for, judged_run, rank_order, scored_topics
from pytest_riskguard.data.measures import has_kernel, parse_measure
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.runs import Order, Run, keyed, read_run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.scoring import check_labels, kernel_of, values_of_part
from pytest_riskguard.errors import DataError, QrelsFormatError, RunFormatError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.text import listed

if TYPE_CHECKING:
    from ir_measures import Measure


#: Two scores of a topic that differ by no more are the same.
SAME_SCORE = 1e-12

RunData = Path | str | GivenFile | Run | Any


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
    qrels: Qrels | Path | str | GivenFile | Any,
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
    qrels: Qrels | Path | str | GivenFile | Any,
    measures: Sequence[str],
    *,
    name: str | None = None,
    queries: Mapping[str, str] | None = None,
    depth: int | None = None,
    is_part: bool = False,
) -> ScoredRun:
    """As ``score_run``, with the run beside its judgements, for explanations.

    ``depth`` says how many ranks of each topic are kept whole, at least 10; by default as many as reports about the
    measures need (``depth_for``). Of a part of a run nothing is checked that only a whole one shows.
    """
    qrels = qrels if isinstance(qrels, Qrels) else read_qrels(qrels)
    parsed = [parse_measure(text) for text in ([measures] if isinstance(measures, str) else measures)]
    for measure in parsed:
        check_labels(measure, qrels)
    texts = queries or qrels.texts
    if isinstance(run, Path | str | GivenFile):
        given = GivenFile.of(run)
        name, opened = name or system_name(given), read_run(given, texts)
    else:
        opened = memory.as_run(run)
        name = name or opened.source.name or "candidate"
        opened = keyed(InputData(name, reason="bad_run"), opened, texts)
        texts = texts or opened.source.texts
    source = opened.source.file or name
    depth = depth or depth_for(parsed, qrels)
    judged, found = _scored(opened, qrels, parsed, source, depth, is_checked=not is_part)
    answered, known = {*judged.topics}, {*qrels.topics, *qrels.without_relevant}
    unanswered = tuple(topic for topic in qrels.topics if topic not in answered)
    unknown = tuple(topic for topic in opened.topics if topic not in known)
    scores = tuple(
        TopicScores(
            name=name,
            measure=str(measure),
            topics=qrels.topics,
            values=values,
            queries=dict(texts),
            digest=judged.digest,
            qrels_digest=qrels.digest,
            unanswered=unanswered,
            unknown=unknown,
            without_relevant=qrels.without_relevant,
            from_run=True,
            judged=judged.judged,
            as_written={
                qrels.topics[place]: float(as_written[place])
                for place in np.flatnonzero(np.abs(as_written - values) > SAME_SCORE)
            },
            contradicted=tuple(topic for topic in opened.source.contradicted if topic in answered),
        )
        for measure, (values, as_written) in zip(parsed, found, strict=True)
    )
    return ScoredRun(scores, judged, opened.source.ties)


def _scored(
    run: Run, qrels: Qrels, measures: Sequence[Measure], source: Path | str, depth: int, *, is_checked: bool
) -> tuple[JudgedRun, FloatArray]:
    """A run beside its judgements, and each measure of all scored topics, shape (n_measures, 2, n_topics).

    First in the order of its provider, then in the order as written. ``DataError`` for a run that answers no
    scored topic, has other ids, or is the judgements, if that ``is_checked``.
    """
    given, name = run.topics, source.name if isinstance(source, Path) else source
    place: dict[str, Any] = {"name": name, "where": source}
    run = scored_topics(run, qrels)
    if is_checked and not run.topics:
        instead = f"found only {_named(given)}" if given else "found none"
        expected = f"expected topics of {qrels.path_name} with a relevant document, such as"
        raise DataError(f"{expected} {_named(qrels.topics)}; {instead}", reason="no_common_topic", **place)
    values = np.array([np.full((2, len(qrels.topics)), float(measure.DEFAULT)) for measure in measures])
    judged = judged_run(run, qrels, set(map(rank_order, measures)), depth)
    places = judged.places
    if is_checked:
        refuse_other_ids(place, qrels, judged)
        refuse_judgements(place, qrels, run, judged)
    rows_in = cache(lambda order: judged.judged_rows(order, qrels))
    for measure, of_measure in zip(measures, values, strict=True):
        if not has_kernel(measure):
            for topics, part in run.parts():
                of_measure[:, places[topics]] = values_of_part(part, measure, qrels, name)
            continue
        kernel, order = kernel_of(measure, qrels.rules), rank_order(measure)
        rows = rows_in(order)
        of_measure[:, places] = kernel.scores(rows)[places]
        if judged.ranks[order] is not judged.ranks[Order.WRITTEN]:
            written = rows_in(Order.WRITTEN)
            moved = np.zeros(len(qrels.topics), dtype=np.bool_)
            moved[rows.topic[rows.rank != written.rank]] = True
            of_measure[1, moved] = kernel.scores(written.at(moved[written.topic]))[moved]
    return judged, values


def _named(topics: Sequence[str]) -> str:
    """Topics in a message: ``topics 1, 2``."""
    return f"{'topics' if len(topics) > 1 else 'topic'} {listed(topics, most=3)}"


# Where the data lie: a pure function of frames, for engines that work on several machines.


def score_frame(
    rankings: Any,
    judgements: Any,
    measures: Sequence[str],
    *,
    ties: Ties | None = None,
    labels: LabelRules | None = None,
) -> Any:
    """Per-topic scores of a frame of rankings, as a frame of the same library.

    The scores of a topic depend on its own rows alone: however queries are divided among calls, their scores are
    those of ``score_run`` on all of them, to the last bit. What only a whole run shows is not checked, such as
    document ids that are not those of the judgements, or rankings that are upside down.

    Parameters
    ----------
    rankings : frame of pandas, Polars, PyArrow, or another library that narwhals knows
        A row for each document, with columns for topic, document, and score or rank, under the names that search
        tools give them. It may have no rows.
    judgements : frame
        Columns for topic, document and grade. Those of the same topics: a topic with a relevant document that
        ``rankings`` do not answer is scored 0, and one without is left out.
    measures : sequence of str
        As ir-measures writes them: ``nDCG@10``, ``AP(rel=2)``.
    ties : 'as_returned' or 'docid', optional
        As ``run`` takes it.
    labels : LabelRules, optional
        What the settings of a ``collection`` say of judgements.

    Returns
    -------
    frame with the columns ``topic``, ``measure`` and ``value``
        A row for each measure and topic, topics sorted as text. ``read_scores`` takes it, and files of it.

    Raises
    ------
    UsageError
        A measure that does not exist or cannot be computed here.
    DataError
        A column that is missing, an id, score or grade that files could not hold, a document twice in a topic, a
        grade above the scale of a measure.
    TypeError
        What is not a frame in memory.
    """
    if ties is not None and ties not in TIES:
        raise UsageError(f"ties: expected one of {', '.join(TIES)}, found {ties!r}")
    measures = [measures] if isinstance(measures, str) else measures
    for name in measures:
        parse_measure(name)
    judged = InputData("judgements", reason=QrelsFormatError.reason)
    ranked = InputData("rankings", reason=RunFormatError.reason)
    judged.is_part = ranked.is_part = True
    judged.labels, ranked.ties = labels or AS_GIVEN, ties
    qrels: Qrels = memory.read(judgements, judged, "judgements")
    scores = (
        scored_run(memory.read(rankings, ranked, "rankings"), qrels, measures, is_part=True).scores
        if qrels.topics
        else ()
    )
    import narwhals as nw

    library = nw.get_native_namespace(nw.from_native(rankings, eager_only=True))
    columns = {
        "topic": [topic for one in scores for topic in one.topics],
        "measure": [one.measure for one in scores for _ in one.topics],
        "value": [value for one in scores for value in one.values.tolist()],
    }
    types = {"topic": nw.String(), "measure": nw.String(), "value": nw.Float64()}
    return nw.from_dict(columns, types, backend=library).to_native()
