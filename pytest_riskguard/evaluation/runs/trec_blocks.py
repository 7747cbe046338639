"""Runs in TREC's format as blocks of whole topics, in one pass while the rows of each topic stand together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from pytest_riskguard.errors import RunFormatError
from pytest_riskguard.evaluation.runs.chunks import chunked
from pytest_riskguard.evaluation.runs.interleaved_blocks import interleaved_blocks, topic_sizes
from pytest_riskguard.evaluation.runs.row_blocks import RowBlock
from pytest_riskguard.evaluation.runs.text_blocks import CHANGED, TextBlocks, row_before
from pytest_riskguard.evaluation.runs.trec_columns import Columns, RefusedError, columns_of
from pytest_riskguard.evaluation.runs.trec_rows import InterleavedError, contiguous, grouped, lines_of
from pytest_riskguard.formats.input_files import GZIP, open_regular
from pytest_riskguard.formats.limits import DOCUMENTS, LINES, ROW_BYTES, TOPICS

#: Bytes of a file that are not worth reading in two parts.
_SMALLEST_PIECE = 2**20
#: The rows of a topic that goes on in the next block are parsed again if they are less than this part of a block.
_CARRIED = 8

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
    try:
        return _fold_columns(path, work)
    except RefusedError:
        return _fold_lines(path, work)


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


def _fold_columns(path: Path, work: Work[Result]) -> tuple[Result, str]:
    try:
        with TextBlocks(path) as text:
            return work(_some_rows(_whole_topics(_between(text, 0, None)))), text.digest
    except InterleavedError:
        topics = topic_sizes(path)
    return work(interleaved_blocks(path, topics)), topics.digest


def _fold_lines(path: Path, work: Work[Result]) -> tuple[Result, str]:
    """The same, line by line, so that the error names the line."""
    lines = lines_of(path)
    try:
        return work(map(RowBlock.of, chunked(contiguous(lines)))), lines.digest
    except InterleavedError:
        return work(map(RowBlock.of, chunked(grouped(lines)))), lines.digest


def _fold_part(path: Path, work: Work[Result], start: int, stop: int | None) -> Result:
    try:
        with TextBlocks(path, row_before(path, start), is_hashed=False) as text:
            return work(_whole_topics(_between(text, start, stop)))
    except RefusedError:
        pass
    for _ in contiguous(lines_of(path)):  # gives the error its message
        pass
    raise RunFormatError(path, None, CHANGED)


def _some_rows(blocks: Iterator[RowBlock]) -> Iterator[RowBlock]:
    """The same blocks; ``RefusedError`` if there are none."""
    block = next(blocks, None)
    if block is None:
        raise RefusedError
    yield block
    del block  # which the caller is done with
    yield from blocks


class _Part(NamedTuple):
    """Some rows; ``begins`` is where topics begin, not where blocks do."""

    columns: Columns
    is_whole: bool  # whether the next part begins with another topic


def _between(text: TextBlocks, start: int, stop: int | None) -> Iterator[_Part]:
    """The rows of topics that begin within some bytes."""
    longest, most_lines, lines = ROW_BYTES.value, LINES.value, 0
    is_part = bool(start) or stop is not None
    before: bytes | None = None  # the topic of the last row
    is_inside, carried = False, b""
    while (block := text.read(carried)) is not None:
        columns, carried = columns_of(block.text, longest=longest), b""
        lines += columns.lines
        if lines > most_lines and not is_part:
            raise RefusedError
        if not columns.topics:
            continue
        if not block.is_last and len(columns.topics) > 1:
            place = int(columns.places[-1])
            if len(block.text) - place < len(block.text) // _CARRIED:  # cheaper to parse again than to put together
                carried = block.text[place:]
                lines -= carried.count(b"\n")
                columns = columns.topics_between(0, len(columns.topics) - 1, with_rows_before=True)
        known = int(columns.topics[0] == before)
        before = columns.topics[-1]
        places = columns.places + block.offset
        first = max(known, int(np.searchsorted(places, start)))
        last = len(places) if stop is None else max(known, int(np.searchsorted(places, stop)))
        yield _Part(columns.topics_between(first, last, with_rows_before=is_inside), is_whole=bool(carried))
        is_inside |= first < last
        if last < len(places):
            return
        del columns  # before the next ones are made


def _whole_topics(parts: Iterable[_Part]) -> Iterator[RowBlock]:
    """Blocks of whole topics; ``InterleavedError`` if one appears again."""
    most_topics, most_documents = TOPICS.value, DOCUMENTS.value
    known: set[bytes] = set()
    current: bytes | None = None  # the topic whose rows may go on
    pending: list[Columns] = []  # its rows so far
    rows = 0
    for columns, is_whole in parts:
        known_before = len(known)
        known.update(columns.topics)
        if len(known) < known_before + len(columns.topics):
            raise InterleavedError
        if len(known) > most_topics or rows > most_documents:
            raise RefusedError
        size, names = len(columns.scores), columns.topics
        bounds = [rows + head for head in columns.begins.tolist()]
        if current is not None:
            bounds, names = [0, *bounds], (current, *names)
        if is_whole or not names:
            bounds.append(rows + size)
            cut, names, current = size, names, None
        else:
            cut, names, current = max(bounds[-1] - rows, 0), names[:-1], names[-1]
        if names:
            yield _row_block(names, bounds, [*pending, columns.rows(0, cut)], most_documents)
            pending, rows = [], 0
        if cut < size:
            pending.append(columns.rows(cut, size))
            rows += size - cut
        del columns
    if current is not None:
        yield _row_block((current,), [0, rows], pending, most_documents)


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
