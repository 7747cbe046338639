"""A file of one format as a file of another: what is written is read back, and what is missing then was lost."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from pytest_riskguard.data import writing
from pytest_riskguard.data.collection import read_topics
from pytest_riskguard.data.content import InputFile
from pytest_riskguard.data.formats import Format, format_for, format_of, kinds_of
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.memory import InputData
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.records import KINDS, Kind, TopicKeys
from pytest_riskguard.data.runs import read_run, run_of_rankings
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.scores import TopicScores, write_scores
from pytest_riskguard.data.topics import Topics, write_topics
from pytest_riskguard.data.trec import write_qrels, write_run
from pytest_riskguard.errors import DataError, FileError, UsageError
from pytest_riskguard.limits import RUN_BYTES
from pytest_riskguard.text import counted, listed

#: What a conversion must not change.
_CHANGED: Mapping[Kind, str] = {
    "judgements": "grades",
    "rankings": "the order or scores of documents",
    "scores": "scores",
}
Grades = Mapping[str, Mapping[str, float]]
Documents = Mapping[str, tuple[tuple[str, float], ...]]
ByMeasure = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Converted:
    """The content of the new file, what it holds in words, and what it lacks that the old one had."""

    content: bytes
    source: Format
    target: Format
    holds: str
    lost: tuple[str, ...]


@dataclass(frozen=True)
class _Data:
    """What a file holds: one of these, with the query texts."""

    grades: Grades = field(default_factory=dict)
    rankings: Documents = field(default_factory=dict)
    topics: Topics | None = None
    scores: ByMeasure = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def convert(
    given: GivenFile, out: Path, *, kind: Kind | None = None, to: str | None = None, topics: Topics | None = None
) -> Converted:
    """The content of ``out``, whose name decides on the format unless ``to`` names it; nothing is written.

    ``topics`` has the ids and texts of queries, for formats that know these by texts. ``UsageError`` if the file may
    hold several kinds of data and ``kind`` is not given, if no format or several fit, or the format cannot hold the
    data; ``FileError`` for a file that cannot be read.
    """
    file = InputFile(given.path, error=FileError, part=given.part, limit=RUN_BYTES)
    kind = kind or _kind(file, given)
    source = format_of(file, kind, named=given.format)
    target = format_for(kind, out.name, named=to)
    texts = {} if topics is None else topics.queries
    data = _READERS[kind](given, {} if kind == "topics" else texts)
    try:
        content = _written(target, kind, data, out.name)
        lost = _lost(kind, data, content, target)
    except (ValueError, DataError) as problem:
        raise UsageError(f"{target.name} cannot hold what {given.path.name} holds: {problem}") from None
    return Converted(content, source, target, _in_words(kind, data), (*data.notes, *lost))


def _kind(file: InputFile, given: GivenFile) -> Kind:
    kinds = kinds_of(file, named=given.format)
    if len(kinds) == 1:
        return kinds[0]
    what = f"may hold {' or '.join(kinds)}" if kinds else "has no known format"
    choices = " or ".join(f"--kind {kind}" for kind in kinds or KINDS)
    raise UsageError(f"{given.path}: {what}; say which it holds with {choices}")


def _judgements(given: GivenFile, texts: Mapping[str, str]) -> _Data:
    qrels = read_qrels(given, TopicKeys(texts))
    notes = () if qrels.agreement is None else (f"who gave which grade: {qrels.agreement}",)
    return _Data(grades=qrels.grades, texts={**qrels.texts, **_only(texts, qrels.grades)}, notes=notes)


def _rankings(given: GivenFile, texts: Mapping[str, str]) -> _Data:
    run = read_run(given, TopicKeys(texts))
    by_topic = {topic: _by_score(documents) for topic, documents in run.by_topic().items()}
    return _Data(rankings=by_topic, texts=_only({**run.texts, **texts}, by_topic), notes=run.source.notes)


def _by_score(documents: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(documents.items(), key=lambda pair: -pair[1]))


def _topics(given: GivenFile, texts: Mapping[str, str]) -> _Data:
    topics = read_topics(given)
    if texts:  # of a file that has texts alone: the ids are found by them
        keys = TopicKeys(texts)
        topics = replace(topics, topics=[keys.id_of(text) for text in topics.queries.values()])
    return _Data(topics=topics, texts=topics.queries)


def _scores(given: GivenFile, _texts: Mapping[str, str]) -> _Data:
    scores = read_scores(given)
    return _Data(scores={str(one.measure): dict(zip(one.topics, one.values.tolist(), strict=True)) for one in scores})


_READERS: Mapping[Kind, Callable[[GivenFile, Mapping[str, str]], _Data]] = {
    "judgements": _judgements,
    "rankings": _rankings,
    "topics": _topics,
    "scores": _scores,
}


def _only(texts: Mapping[str, str], topics: Mapping[str, object]) -> dict[str, str]:
    return {topic: text for topic, text in texts.items() if topic in topics}


def _written(target: Format, kind: Kind, data: _Data, name: str) -> bytes:
    buffer = io.BytesIO()
    if kind == "scores":
        _write_score_table(buffer, data.scores, delimiter="," if ".csv" in name.lower()[-7:] else "\t")
    elif target.name == "trec" and kind == "rankings":
        rows = (
            (topic, [name for name, _ in pairs], [score for _, score in pairs], None, None)
            for topic, pairs in data.rankings.items()
        )
        write_run(buffer, run_of_rankings(InputData(name, reason="bad_run"), rows))
    elif target.name == "trec":
        buffer.write(write_qrels(data.grades))
    elif data.topics is not None:
        if target.name == "tsv":
            buffer.write(write_topics(data.topics))
        else:
            known = writing.topics(data.topics.queries, data.topics.tags, data.topics.weights)
            buffer.write(writing.WRITERS[target.name](known))
    else:
        held = (
            writing.judgements(data.grades, data.texts)
            if kind == "judgements"
            else writing.rankings(data.rankings, data.texts)
        )
        buffer.write(writing.WRITERS[target.name](held))
    return buffer.getvalue()


def _write_score_table(buffer: io.BytesIO, by_measure: ByMeasure, *, delimiter: str) -> None:
    columns = [
        TopicScores("", measure, tuple(sorted(values)), np.array([values[topic] for topic in sorted(values)]))
        for measure, values in by_measure.items()
    ]
    write_scores(buffer, columns, delimiter=delimiter)


def _lost(kind: Kind, data: _Data, content: bytes, target: Format) -> list[str]:
    """What a reader of the new file misses, in words; ``ValueError`` if that is more than a format may leave out."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "converted"
        path.write_bytes(content)
        back = _READERS[kind](GivenFile(path, format=target.name), {})
    before, after = _keyed(kind, data), _keyed(kind, back)
    if missing := sorted(before.keys() ^ after.keys()):
        raise ValueError(f"topics would change ({listed(tuple(missing), most=5)})")
    if kind != "topics" and before != after:
        raise ValueError(f"{_CHANGED[kind]} would change")
    lost = []
    if any(
        " ".join(text.split()) != " ".join(back.texts.get(topic, "").split()) for topic, text in data.texts.items()
    ):
        lost.append("query texts")
    if data.topics is not None and back.topics is not None:
        if _filled(data.topics) != _filled(back.topics):
            lost.append("tags")
        if data.topics.weights != back.topics.weights:
            lost.append("weights")
    return lost


def _filled(topics: Topics) -> dict[str, dict[str, str]]:
    """The tags of each topic that has any, without those that are empty."""
    filled = {topic: {name: tag for name, tag in tags.items() if tag} for topic, tags in topics.tags.items()}
    return {topic: tags for topic, tags in filled.items() if tags}


def _keyed(kind: Kind, data: _Data) -> Mapping[str, object]:
    match kind:
        case "judgements":
            return data.grades
        case "rankings":
            return {topic: list(documents) for topic, documents in data.rankings.items()}
        case "topics":
            return data.texts
        case "scores":
            return data.scores


def _in_words(kind: Kind, data: _Data) -> str:
    keyed = _keyed(kind, data)
    if kind == "scores":
        topics = len(next(iter(data.scores.values())))
        return f"scores of {counted(topics, 'topic')} with {listed(tuple(keyed), most=5)}"
    if kind == "topics":
        return counted(len(keyed), "topic")
    rows = sum(map(len, data.grades.values())) + sum(map(len, data.rankings.values()))
    return f"{counted(rows, 'judgement' if kind == 'judgements' else 'document')} of {counted(len(keyed), 'topic')}"
