"""Runs of every format: TREC's are streamed, all others are read as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pytest_riskguard.data.checks import Input
from pytest_riskguard.data.content import InputFile
from pytest_riskguard.data.formats import format_of
from pytest_riskguard.data.given_file import GivenFile, Ties
from pytest_riskguard.data.input_files import is_folder
from pytest_riskguard.data.order import RankColumn, as_listed, as_written
from pytest_riskguard.data.rankings import Rankings, rankings_as_run
from pytest_riskguard.data.records import AmbiguousTextError, Ranking, Records, TopicKeys
from pytest_riskguard.data.remote import is_address
from pytest_riskguard.data.row_blocks import Chunk, Documents
from pytest_riskguard.data.trec_files import fold_run
from pytest_riskguard.errors import DataError, FileError, MissingFileError, RunFormatError
from pytest_riskguard.limits import DOCUMENTS, RUN_BYTES, TOPICS


def open_run(given: Path | str | GivenFile, keys: TopicKeys | None = None) -> Path | Rankings | GivenFile:
    """The path of a run in TREC's format, to be streamed; the rankings of a run in any other, or in its own order.

    A run at an address is returned as it is: it is read when it is scored.

    ``keys`` finds the topics of formats that know queries by their texts. ``RunFormatError`` for a file of no known
    format or with bad content, ``MissingFileError`` if it cannot be read, ``UsageError`` for an unknown format.
    """
    given = GivenFile.of(given)
    return given if is_address(given.path) else open_file(given, keys)


def open_file(given: GivenFile, keys: TopicKeys | None = None) -> Path | Rankings:
    """As ``open_run``, for a path that is no address."""
    if is_folder(given.path):
        raise MissingFileError(
            given.path,
            None,
            "expected a run in one file, found a folder; put its parts into one file, or score them where they are "
            "and give the folder of scores",
        )
    file = InputFile(given.path, error=RunFormatError, part=given.part, limit=RUN_BYTES, columns=given.columns)
    known = format_of(file, "rankings", named=given.format)
    if known.name == "trec":
        return _listed(given.path) if given.ties == "as_returned" else given.path
    rankings = rankings_of(file, known.reader("rankings")(file), keys, given.ties)
    if not rankings.by_topic:
        raise file.refuse(None, "expected rankings, found none")
    return rankings


def rankings_of(
    given: Input,
    records: Records[Ranking],
    keys: TopicKeys | None = None,
    ties: Ties | None = None,
    *,
    is_part: bool = False,
) -> Rankings:
    """The rankings that a reader gave; the error of ``given`` for bad content.

    ``is_part`` says that there are more, so that nothing is said about most of them.
    """
    ties = ties or ("as_returned" if records.is_ordered else "docid")
    rankings = _by_topic(given, records, keys or TopicKeys())
    answers = {topic: _answer(ranking, ties) for topic, ranking in rankings.items()}
    contradicted = () if ties == "as_returned" or is_part else _contradicted(given, rankings)
    try:
        run = rankings_as_run(answers, as_returned=ties == "as_returned")
    except FileError:
        raise
    except DataError as problem:
        raise given.refuse(None, str(problem)) from None
    return replace(run, contradicted=contradicted) if contradicted else run


def _listed(path: Path) -> Rankings:
    """A run of TREC's format in the order of its rank column."""

    def rankings(chunks: Iterator[Chunk]) -> dict[str, list[tuple[str, float]]]:
        return {topic: in_order(documents) for chunk in chunks for topic, documents in chunk.items()}

    def in_order(documents: Documents) -> list[tuple[str, float]]:
        listed = as_listed(list(documents), list(documents.values()), documents.ranks)
        return [(document, documents[document]) for document in listed]

    by_topic, _ = fold_run(path, rankings)
    return rankings_as_run(by_topic, as_returned=True)


def _by_topic(given: Input, records: Records[Ranking], keys: TopicKeys) -> dict[str, Ranking]:
    rankings: dict[str, Ranking] = {}
    most_topics, most_documents = TOPICS.value, DOCUMENTS.value
    for ranking in _in_order(given, records, keys):
        topic = _topic(given, records, ranking, keys)
        if topic in rankings:
            raise given.refuse(ranking.line, f"expected each topic once, found {topic!r} again")
        rankings[topic] = ranking
        if len(rankings) > most_topics:
            raise given.refuse(None, TOPICS.problem(len(rankings)))
        if len(ranking.documents) > most_documents:
            raise given.refuse(None, DOCUMENTS.problem(len(ranking.documents)))
    return rankings


def _answer(ranking: Ranking, ties: Ties) -> Iterable[tuple[str, float]]:
    """The documents with their scores; where the order counts, the ranks beside scores say it."""
    scores = ranking.scores or [float(place) for place in range(len(ranking.documents), 0, -1)]
    pairs = list(zip(ranking.documents, scores, strict=True))
    if ties == "as_returned" and ranking.ranks is not None and len(set(ranking.ranks)) == len(pairs):
        return [pairs[place] for place in sorted(range(len(pairs)), key=ranking.ranks.__getitem__)]
    return pairs


def _contradicted(given: Input, rankings: Mapping[str, Ranking]) -> tuple[str, ...]:
    """The topics whose ranks contradict their scores; the error of the file if most rankings are upside down."""
    topics: dict[RankColumn, list[str]] = {kind: [] for kind in RankColumn}
    for topic, (_, documents, scores, _, ranks) in rankings.items():
        if scores and ranks is not None:
            written = as_written(documents, list(scores), [b"%d" % rank for rank in ranks])
            topics[written.rank_column].append(topic)
    upside_down = topics[RankColumn.INVERTED]
    if len(upside_down) > len(topics[RankColumn.AGREES]) + len(topics[RankColumn.CONTRADICTS]):
        raise given.refuse(
            rankings[upside_down[0]].line,
            "expected scores that fall as ranks rise, found scores that rise with the rank in most topics: every "
            "ranking is upside down; write scores that are higher for better documents (distances and ranks with a "
            "minus sign), or say `ties: as_returned`, with which the ranks count",
        )
    return tuple(sorted(topics[RankColumn.CONTRADICTS] + upside_down))


def _in_order(given: Input, records: Records[Ranking], keys: TopicKeys) -> Iterable[Ranking]:
    """The rankings with their topics, also where only their order says which topic each is of."""
    if not records.by_order:
        return records.rows
    rankings = list(records.rows)
    try:
        topics = keys.in_order(len(rankings))
    except ValueError as problem:
        raise given.refuse(
            None,
            f"expected an id beside each ranking, or as many rankings as the topics file has topics; found {problem}",
        ) from None
    return [ranking._replace(topic=topic) for ranking, topic in zip(rankings, topics, strict=True)]


def _topic(given: Input, records: Records[Ranking], ranking: Ranking, keys: TopicKeys) -> str:
    if not records.by_text:
        return ranking.topic
    try:
        return keys.id_of(ranking.topic)
    except AmbiguousTextError as problem:
        raise given.refuse(ranking.line, f"expected queries that name one topic each; {problem}") from None
