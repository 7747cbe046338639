"""Rows of TREC's runs, line by line: this reading gives every error its message."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pytest_riskguard.data.row_blocks import LARGEST, MAX_RUN_SCORE, Documents
from pytest_riskguard.data.text_files import ESCAPED, LineReader, unescaped
from pytest_riskguard.errors import RunFormatError
from pytest_riskguard.limits import DOCUMENTS, ROW_BYTES, RUN_BYTES, TOPICS

_Topic = tuple[str, Documents]
_Row = tuple[bytes, bytes, bytes, float]  # topic, docid, rank, score
_Lines = LineReader[RunFormatError]
_COLUMNS = "6 columns (topic Q0 docid rank score tag)"


class InterleavedError(Exception):
    """A topic appears again after another one."""


def lines_of(path: Path) -> _Lines:
    """The lines of a run."""
    return LineReader(path, error=RunFormatError, size=RUN_BYTES, line_size=ROW_BYTES)


def contiguous(lines: _Lines) -> Iterator[_Topic]:
    """The topics of a run whose rows stand together; ``InterleavedError`` where one appears again."""
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
                raise InterleavedError
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


def grouped(lines: _Lines) -> Iterator[_Topic]:
    """The topics of a run, held in memory as a whole."""
    docids: dict[bytes, bytearray] = {}  # all ids of a topic as one text, and where each of them ends
    ends: dict[bytes, array[int]] = {}
    ranks: dict[bytes, bytearray] = {}  # each followed by a line feed, which none contains
    scores: dict[bytes, array[float]] = {}
    most_topics, most_documents = TOPICS.value, DOCUMENTS.value
    for topic, docid, rank, score in _rows(lines):
        if topic not in docids:
            if len(docids) >= most_topics:
                raise lines.refuse_more(TOPICS, len(docids) + 1)
            docids[topic], ranks[topic] = bytearray(), bytearray()
            ends[topic], scores[topic] = array("q"), array("d")
        docids[topic] += docid
        ends[topic].append(len(docids[topic]))
        ranks[topic] += rank + b"\n"
        scores[topic].append(score)
        if len(scores[topic]) > most_documents:
            raise lines.refuse_more(DOCUMENTS, len(scores[topic]))
    for topic in list(docids):
        text, cuts = bytes(docids.pop(topic)), ends.pop(topic)
        names = [text[start:end].decode() for start, end in zip([0, *cuts], cuts, strict=False)]
        documents = Documents(zip(names, scores.pop(topic), strict=True))
        documents.ranks = bytes(ranks.pop(topic)).split(b"\n")[:-1]
        if len(documents) < len(names):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise lines.refuse_repeated(topic, twice.encode())
        yield topic.decode(), documents


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


def topic_of(line: bytes) -> str:
    """The topic of a row; empty for a blank line."""
    fields = [*line.split()[:2], b"", b""]
    return unescaped(fields[0].decode()) if fields[1] == ESCAPED else fields[0].decode()


def _unescaped(field: bytes) -> bytes:
    return unescaped(field.decode()).encode()


def _wrong(line: bytes) -> tuple[str, str] | None:
    """What a line should hold and what it holds; None for a good line."""
    fields = line.split()
    if len(fields) != 6:
        return (_COLUMNS, str(len(fields))) if fields else None
    try:
        score = float(fields[4])
    except ValueError:
        score = math.nan
    if not math.isfinite(score) or b"_" in fields[4]:
        return "a finite number as the score (column 5)", fields[4].decode()
    return None if abs(score) <= MAX_RUN_SCORE else (f"a score (column 5) of at most {LARGEST}", fields[4].decode())
