"""Runs of every format: TREC's are streamed, all others are read as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_riskguard.errors import DataError, FileError, RunFormatError
from pytest_riskguard.evaluation.runs import Rankings, rankings_as_run
from pytest_riskguard.formats.content import InputFile
from pytest_riskguard.formats.detection import format_of
from pytest_riskguard.formats.given_file import GivenFile
from pytest_riskguard.formats.input_files import RUN_BYTES
from pytest_riskguard.formats.records import Ranking, Records
from pytest_riskguard.formats.topic_keys import AmbiguousTextError, TopicKeys


def open_run(given: Path | str | GivenFile, keys: TopicKeys | None = None) -> Path | Rankings:
    """The path of a run in TREC's format, to be streamed; the rankings of a run in any other.

    ``keys`` finds the topics of formats that know queries by their texts. ``RunFormatError`` for a file of no known
    format or with bad content, ``MissingFileError`` if it cannot be read, ``UsageError`` for an unknown format.
    """
    given = GivenFile.of(given)
    file = InputFile(given.path, error=RunFormatError, part=given.part, limit=RUN_BYTES)
    known = format_of(file, "rankings", named=given.format)
    if known.name == "trec":
        return given.path
    records: Records[Ranking] = known.reader("rankings")(file)
    ties = given.ties or ("as_returned" if records.is_ordered else "docid")
    answers: dict[str, Iterator[tuple[str, float]]] = {}
    for ranking in _in_order(file, records, keys or TopicKeys()):
        topic = _topic(file, records, ranking, keys or TopicKeys())
        if topic in answers:
            raise file.refuse(ranking.line, f"expected each topic once, found {topic!r} again")
        scores = ranking.scores or [float(rank) for rank in range(len(ranking.documents), 0, -1)]
        answers[topic] = zip(ranking.documents, scores, strict=True)
    if not answers:
        raise file.refuse(None, "expected rankings, found none")
    try:
        return rankings_as_run(answers, as_returned=ties == "as_returned")
    except FileError:
        raise
    except DataError as problem:
        raise file.refuse(None, str(problem)) from None


def _in_order(file: InputFile, records: Records[Ranking], keys: TopicKeys) -> Iterable[Ranking]:
    """The rankings with their topics, also where only their order says which topic each is of."""
    if not records.by_order:
        return records.rows
    rankings = list(records.rows)
    try:
        topics = keys.in_order(len(rankings))
    except ValueError as problem:
        raise file.refuse(
            None,
            f"expected an id beside each ranking, or as many rankings as the topics file has topics; found {problem}",
        ) from None
    return [ranking._replace(topic=topic) for ranking, topic in zip(rankings, topics, strict=True)]


def _topic(file: InputFile, records: Records[Ranking], ranking: Ranking, keys: TopicKeys) -> str:
    if not records.by_text:
        return ranking.topic
    try:
        return keys.id_of(ranking.topic)
    except AmbiguousTextError as problem:
        raise file.refuse(ranking.line, f"expected queries that name one topic each; {problem}") from None
