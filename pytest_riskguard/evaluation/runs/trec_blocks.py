"""Runs in TREC's format as blocks of whole topics, in one pass while the rows of each topic stand together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np

from pytest_riskguard.errors import RunFormatError
from pytest_riskguard.evaluation.runs.chunks import chunked
from pytest_riskguard.evaluation.runs.row_blocks import RowBlock
from pytest_riskguard.evaluation.runs.text_blocks import TextBlock, TextBlocks, row_before
from pytest_riskguard.evaluation.runs.trec_columns import Columns, RefusedError, columns_of
from pytest_riskguard.evaluation.runs.trec_rows import InterleavedError, contiguous, grouped, lines_of
from pytest_riskguard.formats.input_files import DOCUMENTS, GZIP, ROW_BYTES, TOPICS, open_regular

#: Bytes of a file that are not worth reading in two parts.
_SMALLEST_PIECE = 2**20

Result = TypeVar("Result")
Work = Callable[[Iterator[RowBlock]], Result]


def fold_blocks(path: Path, work: Work[Result], *, start: int = 0, stop: int | None = None) -> tuple[Result, str]:
    """Pass the topics of a run file, plain or gzip, to ``work`` as blocks, each topic complete.

    While the rows of each topic stand together, one block is in memory, of some tens of thousands of rows unless a
    topic has more. ``work`` must exhaust the iterator that it gets. It may be called again, if topics are interleaved
    or something is wrong, so it must not keep anything from a call that did not return. Columns 2 and 6 are not read.

    Parameters
    ----------
    path : Path
    work : callable
        Takes an iterator of blocks.
    start, stop : int, optional
        Only topics whose first row begins at one of these bytes, of an uncompressed file. Limits are those of a whole
        file, and lines are not counted; ``checked_digest`` does that.

    Returns
    -------
    What ``work`` returned, and the digest (``sha256:...``) of the file, decompressed; empty for a part of it.

    Raises
    ------
    RunFormatError
        A row without six columns, a score that is not a finite number or larger than 32 bits can hold, a document
        twice in a topic, more than a limit of ``input_files`` allows, or no rows; a part of a gzip file.
    InterleavedError
        A topic appears again in the part that is read, which then says nothing about any topic.
    MissingFileError
        The path cannot be read.
    """
    if start or stop is not None:
        return _fold_part(path, work, start, stop), ""
    text = TextBlocks(path)
    try:
        return work(_some_rows(_whole_topics(_between(text, 0, None)))), text.digest
    except (RefusedError, InterleavedError):
        pass
    lines = lines_of(path)
    try:
        return work(map(RowBlock.of, chunked(contiguous(lines)))), lines.digest
    except InterleavedError:
        pass
    return work(map(RowBlock.of, chunked(grouped(lines)))), lines.digest


def piece_offsets(path: Path, count: int) -> tuple[tuple[int, int | None], ...]:
    """Parts of a run, as ``start`` and ``stop`` of ``fold_blocks``, that together hold each topic once.

    At most ``count``, of about the same size; one for a gzip file and for a small one.
    """
    with open_regular(path) as file:
        is_packed = file.read(2) == GZIP
        size = file.seek(0, os.SEEK_END)
    pieces = 1 if is_packed else min(count, size // _SMALLEST_PIECE)
    if pieces < 2:
        return ((0, None),)
    cuts = [size * piece // pieces for piece in range(pieces)]
    return tuple(zip(cuts, [*cuts[1:], None], strict=True))


def _fold_part(path: Path, work: Work[Result], start: int, stop: int | None) -> Result:
    text = TextBlocks(path, row_before(path, start))
    try:
        return work(_whole_topics(_between(text, start, stop)))
    except RefusedError:
        pass
    for _ in contiguous(lines_of(path)):  # words the error
        pass
    raise RunFormatError(path, None, "expected a file that nobody changes, found another content when read again")


def _some_rows(blocks: Iterator[RowBlock]) -> Iterator[RowBlock]:
    """The same blocks; ``RefusedError`` if there are none."""
    block = next(blocks, None)
    if block is None:
        raise RefusedError
    yield block
    yield from blocks


def _between(text: Iterable[TextBlock], start: int, stop: int | None) -> Iterator[Columns]:
    """The rows of topics that begin within some bytes; ``begins`` is where topics begin, not where blocks do."""
    longest = ROW_BYTES.value
    before: bytes | None = None  # the topic of the last row
    is_inside = False
    for block in text:
        columns = columns_of(block.text, longest=longest)
        if not columns.topics:
            continue
        known = int(columns.topics[0] == before)
        before = columns.topics[-1]
        places = columns.places + block.offset
        first = max(known, int(np.searchsorted(places, start)))
        last = len(places) if stop is None else max(known, int(np.searchsorted(places, stop)))
        yield columns.topics_between(first, last, with_rows_before=is_inside)
        is_inside |= first < last
        if last < len(places):
            return


def _whole_topics(blocks: Iterable[Columns]) -> Iterator[RowBlock]:
    """Blocks of whole topics; ``InterleavedError`` if one appears again."""
    most_topics, most_documents = TOPICS.value, DOCUMENTS.value
    known: set[bytes] = set()
    current: bytes | None = None
    parts: list[Columns] = []  # the rows of the current topic
    rows = 0
    for columns in blocks:
        known_before = len(known)
        known.update(columns.topics)
        if len(known) < known_before + len(columns.topics):
            raise InterleavedError
        if len(known) > most_topics or rows > most_documents:
            raise RefusedError
        size = len(columns.scores)
        if not columns.topics:
            parts.append(columns)
            rows += size
            continue
        heads = columns.begins.tolist()
        offsets, names = [rows + head for head in heads], columns.topics[:-1]
        if current is not None:
            offsets, names = [0, *offsets], (current, *names)
        if names:
            yield _row_block(names, offsets, [*parts, columns.rows(0, heads[-1])], most_documents)
        current, parts, rows = columns.topics[-1], [columns.rows(heads[-1], size)], size - heads[-1]
    if current is not None:
        yield _row_block((current,), [0, rows], parts, most_documents)


def _row_block(topics: tuple[bytes, ...], offsets: list[int], parts: list[Columns], most_documents: int) -> RowBlock:
    columns = Columns.joined(parts)
    block = RowBlock(
        tuple(topic.decode() for topic in topics),
        np.array(offsets, dtype=np.int64),
        columns.documents,
        columns.scores,
        columns.ranks,
    )
    if np.diff(block.offsets).max() > most_documents or block.has_repeated_documents:
        raise RefusedError
    return block
