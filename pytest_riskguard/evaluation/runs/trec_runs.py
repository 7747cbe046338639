"""Runs in the format of TREC, ``topic Q0 docid rank score tag``, read and written a few topics at a time."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import IO, TypeVar

from pytest_riskguard.errors import DataError, RunFormatError
from pytest_riskguard.evaluation.runs.order import has_ties, untied
from pytest_riskguard.formats.escaping import ESCAPED, escaped, is_identifier, unescaped
from pytest_riskguard.formats.given_file import Ties
from pytest_riskguard.formats.input_files import DOCUMENTS, ROW_BYTES, RUN_BYTES, TOPICS
from pytest_riskguard.formats.metadata import Latency, latency_of
from pytest_riskguard.formats.text_files import LineReader

TOPICS_PER_CHUNK = 20
#: Topics with very many documents are passed on in smaller chunks.
DOCUMENTS_PER_CHUNK = 20_000
#: The largest 32-bit number: trec_eval holds scores in 32 bits, where larger ones are all infinite.
MAX_RUN_SCORE = (2 - 2**-23) * 2.0**127
DEFAULT_TAG = "riskguard"


class Documents(dict[str, float]):
    """The documents of a topic, docid -> score, in the order of the file; ``ranks`` is its rank column, if any."""

    ranks: list[bytes] | None = None


#: Some topics with all their documents.
Chunk = dict[str, Documents]

Result = TypeVar("Result")
_Topic = tuple[str, Documents]
_Row = tuple[bytes, bytes, bytes, float]  # topic, docid, rank, score
_Lines = LineReader[RunFormatError]
_COLUMNS = "6 columns (topic Q0 docid rank score tag)"
_MOST = f"{MAX_RUN_SCORE:.5g}, the largest number of 32 bits"


@dataclass(frozen=True, eq=False)
class Rankings:
    """A run in memory, as a live search returned it; made by ``rankings_as_run``.

    Attributes
    ----------
    by_topic : mapping topic -> tuple of (docid, score)
        Topics sorted as text, without those whose ranking is empty; documents as they are ranked: by score, then
        docid, both descending.
    digest : str
        ``sha256:...`` of the file that ``write_run`` writes with the default tag.
    contradicted : tuple of str
        Topics whose documents were returned in another order than that of their scores.
    again : Rankings, optional
        What the system returned when it was asked about the topics ``asked_again`` a second time.
    seconds : tuple of float
        How long each answer took; the scores do not depend on it.
    ties : 'as_returned' or 'docid'
        Which order counts where scores are equal.
    """

    by_topic: Mapping[str, tuple[tuple[str, float], ...]]
    digest: str
    contradicted: tuple[str, ...] = ()
    again: Rankings | None = None
    asked_again: tuple[str, ...] = ()
    seconds: tuple[float, ...] = field(default=(), compare=False)
    ties: Ties = field(default="docid", compare=False)

    @property
    def latency(self) -> Latency | None:
        """How long the answers took; None for a run that was not queried live."""
        return latency_of(self.seconds)

    def chunks(self) -> Iterator[Chunk]:
        """The rankings, about 20 topics at a time."""
        return _chunked((topic, Documents(ranking)) for topic, ranking in self.by_topic.items())


def fold_run(path: Path, work: Callable[[Iterator[Chunk]], Result]) -> tuple[Result, str]:
    """Pass the topics of a run file, plain or gzip, to ``work``, about 20 at a time, each topic complete.

    While the rows of each topic stand together, only one chunk is in memory. If a topic appears again later, the
    file is read a second time into compact arrays and ``work`` is called again, so it must not keep anything from a
    call that did not return. The tag column is not read. ``work`` takes an iterator of chunks, which it
    must exhaust; its result is returned with the digest (``sha256:...``) of the file, decompressed.

    ``RunFormatError`` for a row without six columns, a score that is not a finite number or larger than 32 bits can
    hold, a document twice in a topic, more than a limit of ``input_files`` allows, or no rows; ``MissingFileError``
    if the path cannot be read.
    """
    lines = _lines(path)
    try:
        return work(_chunked(_contiguous(lines))), lines.digest
    except _InterleavedError:
        pass
    return work(_chunked(_grouped(lines))), lines.digest


def rankings_as_run(rankings: Mapping[str, Iterable[tuple[str, float]]], *, as_returned: bool = False) -> Rankings:
    """Check rankings in memory (topic to pairs of docid and score) as strictly as a run file, and compute the digest.

    Ids are taken as text. A topic without documents counts as not answered. ``as_returned`` says that documents are
    in the order that people see: where scores give another one or, in 32 bits, none, whole numbers that fall with
    the rank take their place. Otherwise scores alone give the order. ``DataError`` for an id that a run file
    could not hold (empty, spaces around it, several lines, not encodable), a score that is not a finite number, an
    entry that is not a pair, or a document twice in a topic.
    """
    by_topic: dict[str, tuple[tuple[str, float], ...]] = {}
    contradicted = []
    for key, ranking in rankings.items():
        topic = _identifier(key, what="topic", where="rankings")
        if topic in by_topic:
            raise _bad_rankings(f"expected each topic once, found {topic!r} twice")
        documents = _checked_ranking(topic, ranking)
        falling = sorted(documents.items(), key=lambda item: (item[1], item[0]), reverse=True)
        if as_returned and (has_ties(documents.values()) or list(documents.items()) != falling):
            if list(documents.values()) != [score for _, score in falling]:
                contradicted.append(topic)
            falling = list(untied(list(documents)).items())
        by_topic[topic] = tuple(falling)
    ordered = {topic: by_topic[topic] for topic in sorted(by_topic) if by_topic[topic]}
    digest = hashlib.sha256()
    for line in _run_lines(ordered, DEFAULT_TAG):
        digest.update(line.encode())
    return Rankings(
        MappingProxyType(ordered),
        f"sha256:{digest.hexdigest()}",
        tuple(sorted(contradicted)),
        ties="as_returned" if as_returned else "docid",
    )


def write_run(target: Path | IO[bytes], run: Rankings, *, tag: str = DEFAULT_TAG) -> None:
    """Write rankings in the format of TREC: UTF-8, LF, ranks from 1, scores that read back exactly.

    A path is written uncompressed; for gzip, pass an open ``gzip.GzipFile``. ``tag`` is the sixth column.
    """
    if tag.split() != [tag]:
        raise _bad_rankings(f"run: expected a tag without spaces, found {tag!r}")
    if isinstance(target, Path):
        with target.open("wb") as file:
            write_run(file, run, tag=tag)
        return
    target.writelines(line.encode() for line in _run_lines(run.by_topic, tag))


class _InterleavedError(Exception):
    """A topic appeared again after another one."""


def _rows(lines: _Lines) -> Iterator[_Row]:
    numbered = iter(lines)
    for number, line in numbered:
        fields = line.split()
        if len(fields) != 6:
            if not fields:
                continue
            raise lines.refuse_lines(number, line, numbered, _wrong)
        try:
            score = float(fields[4])
        except ValueError:
            score = math.nan
        if not abs(score) <= MAX_RUN_SCORE or b"_" in fields[4]:  # one comparison for each row; NaN fails it too
            raise lines.refuse_lines(number, line, numbered, _wrong)
        if fields[1] == ESCAPED:
            yield _unescaped(fields[0]), _unescaped(fields[2]), fields[3], score
        else:
            yield fields[0], fields[2], fields[3], score


def _unescaped(field: bytes) -> bytes:
    return unescaped(field.decode()).encode()


def _wrong(line: bytes) -> tuple[str, str] | None:
    """What a line should hold and what it holds; None of a good line."""
    fields = line.split()
    if len(fields) != 6:
        return (_COLUMNS, str(len(fields))) if fields else None
    try:
        score = float(fields[4])
    except ValueError:
        score = math.nan
    if not math.isfinite(score) or b"_" in fields[4]:
        return "a finite number as the score (column 5)", fields[4].decode()
    return None if abs(score) <= MAX_RUN_SCORE else (f"a score (column 5) of at most {_MOST}", fields[4].decode())


def refuse_inverted(path: Path, topic: str) -> RunFormatError:
    """The error to raise for a run whose scores rise with the rank; it shows the first two rows of a topic."""
    lines = _lines(path)
    rows = ((number, line) for number, line in lines if line.split()[:1] == [topic.encode()])
    next(rows)
    number, line = next(rows)
    return lines.refuse_line(
        number,
        line,
        "scores (column 5) that fall as ranks rise, since documents are ranked by score alone",
        "scores that rise with the rank in most topics: every ranking is upside down; write scores that are higher "
        "for better documents (distances and ranks with a minus sign)",
    )


def _lines(path: Path) -> _Lines:
    return LineReader(path, error=RunFormatError, size=RUN_BYTES, line_size=ROW_BYTES)


def _chunked(topics: Iterable[_Topic]) -> Iterator[Chunk]:
    chunk: Chunk = {}
    documents_in_chunk = 0
    for topic, documents in topics:
        chunk[topic] = documents
        documents_in_chunk += len(documents)
        if len(chunk) >= TOPICS_PER_CHUNK or documents_in_chunk >= DOCUMENTS_PER_CHUNK:
            yield chunk
            chunk, documents_in_chunk = {}, 0
    if chunk:
        yield chunk


def _contiguous(lines: _Lines) -> Iterator[_Topic]:
    finished: set[bytes] = set()
    current: bytes | None = None
    most_topics, most_documents = TOPICS.value, DOCUMENTS.value
    documents, ranks = Documents(), list[bytes]()
    for topic, docid, rank, score in _rows(lines):
        if topic != current:
            if current is not None:
                documents.ranks = ranks
                yield current.decode(), documents
            if topic in finished:
                raise _InterleavedError
            finished.add(topic)
            if len(finished) > most_topics:
                raise lines.refuse_more(TOPICS, len(finished))
            current, documents, ranks = topic, Documents(), []
        document = docid.decode()
        if document in documents:
            raise lines.refuse_repeated(topic, docid)
        if len(documents) >= most_documents:
            raise lines.refuse_more(DOCUMENTS, len(documents) + 1)
        documents[document] = score
        ranks.append(rank)
    if current is None:
        raise lines.refuse_empty(_COLUMNS)
    documents.ranks = ranks
    yield current.decode(), documents


def _grouped(lines: _Lines) -> Iterator[_Topic]:
    docids: dict[bytes, bytearray] = {}  # each id and each rank followed by a line feed, which neither contains
    ranks: dict[bytes, bytearray] = {}
    scores: dict[bytes, array[float]] = {}
    most_topics, most_documents = TOPICS.value, DOCUMENTS.value
    for topic, docid, rank, score in _rows(lines):
        if topic not in docids:
            if len(docids) >= most_topics:
                raise lines.refuse_more(TOPICS, len(docids) + 1)
            docids[topic], ranks[topic], scores[topic] = bytearray(), bytearray(), array("d")
        docids[topic] += docid + b"\n"
        ranks[topic] += rank + b"\n"
        scores[topic].append(score)
        if len(scores[topic]) > most_documents:
            raise lines.refuse_more(DOCUMENTS, len(scores[topic]))
    for topic in list(docids):
        names = docids.pop(topic).decode().split("\n")[:-1]
        documents = Documents(zip(names, scores.pop(topic), strict=True))
        documents.ranks = bytes(ranks.pop(topic)).split(b"\n")[:-1]
        if len(documents) < len(names):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise lines.refuse_repeated(topic, twice.encode())
        yield topic.decode(), documents


def _run_lines(by_topic: Mapping[str, tuple[tuple[str, float], ...]], tag: str) -> Iterator[str]:
    for topic, ranking in by_topic.items():
        for rank, (document, score) in enumerate(ranking, start=1):
            second, topic_field, document_field = escaped("Q0", topic, document)
            yield f"{topic_field} {second} {document_field} {rank} {score!r} {tag}\n"


def _checked_ranking(topic: str, ranking: Iterable[tuple[str, float]]) -> dict[str, float]:
    documents: dict[str, float] = {}
    for entry in ranking:
        try:
            key, value = entry
            score = float(value)
        except (TypeError, ValueError, OverflowError):
            raise _bad_rankings(f"topic {topic!r}: expected (docid, score), found {entry!r}") from None
        document = _identifier(key, what="docid", where=f"topic {topic!r}")
        if not abs(score) <= MAX_RUN_SCORE:
            expected = f"a score of at most {_MOST}" if math.isfinite(score) else "a finite number as the score"
            raise _bad_rankings(f"topic {topic!r}: expected {expected} of {document!r}, found {score!r}")
        if document in documents:
            raise _bad_rankings(f"topic {topic!r}: expected each document once, found {document!r} twice")
        documents[document] = score
    return documents


def _identifier(value: object, *, what: str, where: str) -> str:
    text = str(value)
    if not is_identifier(text):
        raise _bad_rankings(f"{where}: expected a {what} on one line, without spaces around it, found {text!r}")
    return text


def _bad_rankings(problem: str) -> DataError:
    return DataError(problem, reason="bad_run")
