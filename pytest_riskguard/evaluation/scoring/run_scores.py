"""Per-topic scores of a run, computed by ir-measures, some topics at a time.

The values are those of ``ir_measures.iter_calc`` for each measure alone on the whole run. Only topics with a relevant
document are scored; one that the run did not answer gets the value that ir-measures gives it, which is 0.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from pytest_riskguard.errors import DataError, ScoringError
from pytest_riskguard.evaluation.id_checks.chance_matches import ENOUGH_JUDGED, ChanceMatches
from pytest_riskguard.evaluation.id_checks.document_ids import JudgedTally, chance, mismatch
from pytest_riskguard.evaluation.id_checks.grades_as_scores import GradesAsScores, same_file
from pytest_riskguard.evaluation.judgements.grades import Grades, check_labels, labels_for, providers_for, scaled
from pytest_riskguard.evaluation.judgements.qrels import Qrels, read_qrels
from pytest_riskguard.evaluation.measures import bounds, cutoff_of, parse_measure, provider_of, within_bounds
from pytest_riskguard.evaluation.memory.memory_runs import MemoryRun, as_memory_run
from pytest_riskguard.evaluation.memory.shapes import JudgementsData, RankingsData
from pytest_riskguard.evaluation.runs.chunks import Chunk
from pytest_riskguard.evaluation.runs.order import RankColumn, Written, as_scored, as_written, has_ties, untied
from pytest_riskguard.evaluation.runs.passages import by_document
from pytest_riskguard.evaluation.runs.rankings import Rankings
from pytest_riskguard.evaluation.runs.run_files import open_run
from pytest_riskguard.evaluation.runs.trec_runs import fold_run, refuse_inverted
from pytest_riskguard.evaluation.scores import NOTICEABLE, Repeated, TopicScores
from pytest_riskguard.formats.given_file import GivenFile
from pytest_riskguard.formats.known import system_name
from pytest_riskguard.formats.topic_keys import TopicKeys
from pytest_riskguard.text import listed

if TYPE_CHECKING:
    from ir_measures import Measure, Metric

#: Two scores of a topic that differ by no more are the same.
SAME_SCORE = 1e-12

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
    qrels = qrels if isinstance(qrels, Qrels) else read_qrels(qrels)
    parsed = [parse_measure(text) for text in ([measures] if isinstance(measures, str) else measures)]
    for measure in parsed:
        check_labels(measure, qrels)
    name, opened, texts = _opened(run, qrels, name, queries)
    if isinstance(opened, Path):
        tally, digest, contradicted = _scored_file(opened, parsed, qrels)
    else:
        tally, digest, contradicted = _scored_rankings(opened, parsed, qrels, name)
    return tuple(
        TopicScores(
            name=name,
            measure=str(measure),
            topics=qrels.topics,
            values=np.array([values.get(topic, measure.DEFAULT) for topic in qrels.topics], dtype=np.float64),
            queries=MappingProxyType(dict(texts)),
            digest=digest,
            qrels_digest=qrels.digest,
            unanswered=tuple(topic for topic in qrels.topics if topic not in tally.answered),
            unknown=tuple(sorted(tally.unknown)),
            without_relevant=qrels.without_relevant,
            from_run=True,
            judged=tally.judged.total,
            as_written=MappingProxyType(others),
            contradicted=contradicted,
            repeated=again,
        )
        for measure, values, others, again in zip(parsed, tally.values, tally.as_written, tally.again, strict=True)
    )


def _opened(
    run: Run, qrels: Qrels, name: str | None, queries: Mapping[str, str] | None
) -> tuple[str, Path | Rankings, Mapping[str, str]]:
    """The system's name, its run or the path of it, and the query texts: those given, else those of the data."""
    texts = queries or qrels.texts
    if isinstance(run, Path | str | GivenFile):
        return name or system_name(GivenFile.of(run)), open_run(run, TopicKeys(texts)), texts
    if isinstance(run, Rankings):
        return name or "candidate", run, texts
    given = as_memory_run(run, name or "candidate")
    texts = texts or given.texts
    return name or given.name, given.rankings(TopicKeys(texts)), texts


#: What was read, the digest of the run, and the topics whose order contradicts their scores.
_Outcome = tuple["_Tally", str, tuple[str, ...]]


def _scored_file(path: Path, measures: Sequence[Measure], qrels: Qrels) -> _Outcome:
    tally, digest = fold_run(path, lambda chunks: _score(chunks, measures, qrels, path.name))
    if tally.is_inverted:
        raise refuse_inverted(path, tally.upside_down[0])
    _check_ids(path.name, qrels, tally)
    return tally, digest, tally.contradicted


def _repeated(
    rankings: Rankings, measures: Sequence[Measure], qrels: Qrels, tally: _Tally, name: str
) -> list[Repeated | None]:
    """What the second answers score, for each measure; ``DataError`` if that is too far from the first."""
    if rankings.again is None:
        return [None] * len(measures)
    asked = rankings.asked_again
    one, other = rankings.by_topic, rankings.again.by_topic
    second = _score(rankings.again.chunks(), measures, qrels, name)
    repeated: list[Repeated | None] = []
    for measure, before, after in zip(measures, tally.values, second.values, strict=True):
        scores = [[values.get(topic, float(measure.DEFAULT)) for topic in asked] for values in (before, after)]
        differing = tuple(
            topic
            for topic, first, again in zip(asked, *scores, strict=True)
            if abs(first - again) > NOTICEABLE or _top(one, topic) != _top(other, topic)
        )
        repeated.append(found := Repeated(asked, differing, tuple(scores[0]), tuple(scores[1])))
        changed = sum(abs(first - again) > NOTICEABLE for first, again in zip(*scores, strict=True))
        high = (bounds(measure) or (0.0, math.inf))[1]
        if changed > min(FEW_CHANGED, len(asked) - 1) and found.change > MAX_CHANGE * (
            high if math.isfinite(high) else max(map(abs, scores[0]), default=0.0)
        ):
            raise DataError(
                f"{name}: asked twice, it answered {len(differing)} of {len(asked)} topics differently "
                f"({_topics(differing)}), which changes their {measure} by {found.change:.4f} on average, more than "
                f"{MAX_CHANGE:.0%} of its range: a verdict would depend on chance; make it repeatable, or set "
                "`ask_twice: 0`",
                reason="bad_run",
            )
    return repeated


def _top(run: Mapping[str, Sequence[tuple[str, float]]], topic: str) -> list[str]:
    return [document for document, _ in run.get(topic, ())[:COMPARED_DEPTH]]


def _scored_rankings(rankings: Rankings, measures: Sequence[Measure], qrels: Qrels, name: str) -> _Outcome:
    tally = _score(rankings.chunks(), measures, qrels, name)
    _check_ids(name, qrels, tally)
    tally.again = _repeated(rankings, measures, qrels, tally, name)
    return tally, rankings.digest, rankings.contradicted


def _check_ids(source: str, qrels: Qrels, tally: _Tally) -> None:
    if not tally.answered:
        instead = f"found only {_topics(sorted(tally.unknown))}" if tally.unknown else "found none"
        expected = f"expected topics of {qrels.path_name} with a relevant document, such as {_topics(qrels.topics)}"
        raise DataError(f"{source}: {expected}; {instead}", reason="no_common_topic")
    if (problem := mismatch(source, tally.judged, qrels)) is not None:
        raise DataError(problem, reason="ids_do_not_match")
    if tally.judged.total.share < ENOUGH_JUDGED and tally.chance.is_chance:
        raise DataError(chance(source, tally.chance.sample, qrels), reason="ids_do_not_match")
    if tally.grades_as_scores.is_certain:
        raise DataError(same_file(source, qrels.path_name), reason="bad_run")


@dataclass
class _Tally:
    """The result of reading a run once: for each measure topic -> value, and topic -> value in the order as written.

    The latter holds the topics that it changes; ``rank_columns`` the topics of each kind.
    """

    chance: ChanceMatches
    values: list[dict[str, float]]
    as_written: list[dict[str, float]]
    again: list[Repeated | None] = field(init=False)
    answered: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    judged: JudgedTally = field(default_factory=JudgedTally)
    grades_as_scores: GradesAsScores = field(default_factory=GradesAsScores)
    rank_columns: dict[RankColumn, list[str]] = field(default_factory=lambda: {kind: [] for kind in RankColumn})

    def __post_init__(self) -> None:
        self.again = [None] * len(self.values)

    @property
    def contradicted(self) -> tuple[str, ...]:
        """The topics whose rank column contradicts their scores."""
        return tuple(sorted(self.rank_columns[RankColumn.CONTRADICTS] + self.upside_down))

    @property
    def upside_down(self) -> list[str]:
        """The topics whose scores rise with the rank, or number the lines."""
        return self.rank_columns[RankColumn.INVERTED] + self.rank_columns[RankColumn.STANDS_FOR_SCORES]

    @property
    def is_inverted(self) -> bool:
        """Whether most of the topics with different scores and a rank column are upside down."""
        topics = {kind: len(topics) for kind, topics in self.rank_columns.items()}
        other = topics[RankColumn.AGREES] + topics[RankColumn.CONTRADICTS] + topics[RankColumn.NUMBERS_NOTHING]
        return len(self.upside_down) > other


def _score(chunks: Iterable[Chunk], measures: Sequence[Measure], qrels: Qrels, source: str) -> _Tally:
    scored = frozenset(qrels.topics)
    tally = _Tally(ChanceMatches(qrels), [{} for _ in measures], [{} for _ in measures])
    for chunk in by_document(chunks, qrels.rules):
        tally.unknown.update(chunk.keys() - qrels.grades.keys())
        rankings = {topic: documents for topic, documents in chunk.items() if topic in scored}
        if not rankings:
            continue
        tally.answered.update(rankings)
        judged = {topic: qrels.grades[topic] for topic in rankings}
        tied: dict[str, Written] = {}
        for topic, documents in rankings.items():
            written = as_written(list(documents), list(documents.values()), documents.ranks)
            tally.rank_columns[written.rank_column].append(topic)
            tally.judged.add(topic, written.ranking, judged[topic])
            tally.chance.add(topic, written.ranking)
            tally.grades_as_scores.add(documents, judged[topic])
            if has_ties(written.scores):
                tied[topic] = written
        for measure, values, others in zip(measures, tally.values, tally.as_written, strict=True):
            labels = labels_for(measure, judged, qrels.rules)
            scores = evaluate(scaled(measure, qrels.rules), labels, rankings, source)
            values.update(scores)
            reordered = {
                topic: untied(written.ranking)
                for topic, written in tied.items()
                if _is_other_order(measure, written, rankings[topic], labels[topic])
            }
            if reordered:
                again = evaluate(scaled(measure, qrels.rules), labels, reordered, source)
                others.update((t, value) for t, value in again.items() if abs(value - scores[t]) > SAME_SCORE)
    return tally


def _is_other_order(
    measure: Measure, written: Written, documents: Mapping[str, float], grades: Mapping[str, float]
) -> bool:
    """Whether a measure sees other grades in the order as written than in the one that its provider ranks by."""
    last = cutoff_of(measure)
    if last is not None and not has_ties(written.scores[: last + 1]):
        return False
    ranked = as_scored(list(documents), list(documents.values()), provider_of(measure).NAME)
    return any(grades.get(a) != grades.get(b) for a, b in zip(ranked[:last], written.ranking[:last], strict=True))


def evaluate(
    measure: Measure, labels: Grades, rankings: Mapping[str, dict[str, float]], source: str
) -> dict[str, float]:
    """One value for each topic of ``rankings``, on labels that the measure takes."""
    values: dict[str, float] = {}
    metrics: list[Metric] = []
    try:
        with _quiet():
            for provider, judged in providers_for(measure, {topic: labels[topic] for topic in rankings}):
                plain = {topic: dict(grades) for topic, grades in judged.items()}
                answers = {topic: rankings[topic] for topic in judged}
                metrics += provider.evaluator([measure], plain).iter_calc(answers)
    except Exception as problem:
        raise ScoringError(
            f"{source}: ir-measures could not compute {measure} ({type(problem).__name__}: {problem})"
        ) from problem
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
            f"{source}: ir-measures gave no value of {measure} for {_topics(missing)}, where it may be "
            "undefined; use another measure"
        )
    return values


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence cwl_eval, which logs the grades of every 20 topics; ``check_labels`` has checked them all."""
    logger = logging.getLogger("ir_measures.cwl_eval")
    disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = disabled


def _topics(topics: Sequence[str]) -> str:
    return f"{'topics' if len(topics) > 1 else 'topic'} {listed(tuple(topics), most=5)}"
