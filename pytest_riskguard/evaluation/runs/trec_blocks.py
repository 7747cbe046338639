"""Runs in TREC's format as blocks of whole topics, in one pass while the rows of each topic stand together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from pytest_riskguard.evaluation.runs.chunks import chunked
from pytest_riskguard.evaluation.runs.row_blocks import RowBlock
from pytest_riskguard.evaluation.runs.text_blocks import TextBlocks
from pytest_riskguard.evaluation.runs.trec_columns import Columns, RefusedError, columns_of
from pytest_riskguard.evaluation.runs.trec_rows import InterleavedError, contiguous, grouped, lines_of
from pytest_riskguard.formats.limits import DOCUMENTS, LINES, ROW_BYTES, TOPICS

#: The rows of a topic that goes on in the next block are parsed again if they are less than this part of a block.
_CARRIED = 8

Result = TypeVar("Result")
Work = Callable[[Iterator[RowBlock]], Result]


def fold_blocks(path: Path, work: Work[Result]) -> tuple[Result, str]:
    """Pass the topics of a run file, plain or gzip, to ``work`` as blocks, each topic complete.

    While the rows of each topic stand together, one block is in memory, of some tens of thousands of rows unless a
    topic has more. ``work`` must exhaust the iterator that it gets. It may be called again, if topics are interleaved
    or something is wrong, so it must not keep anything from a call that did not return. Columns 2 and 6 are not read.

    Parameters
    ----------
    path : Path
    work : callable
        Takes an iterator of blocks.

    Returns
    -------
    What ``work`` returned, and the digest (``sha256:...``) of the file, decompressed.

    Raises
    ------
    RunFormatError
        A row without six columns, a score that is not a finite number or larger than 32 bits can hold, a document
        twice in a topic, more than a limit of ``input_files`` allows, or no rows.
    MissingFileError
        The path cannot be read.
    """
    try:
        with TextBlocks(path) as text:
            return work(_some_rows(_whole_topics(_parts(text)))), text.digest
    except (InterleavedError, RefusedError):
        return _fold_lines(path, work)


def _fold_lines(path: Path, work: Work[Result]) -> tuple[Result, str]:
    """The same, line by line: for topics whose rows are apart, and so that an error names the line."""
    lines = lines_of(path)
    try:
        return work(map(RowBlock.of, chunked(contiguous(lines)))), lines.digest
    except InterleavedError:
        return work(map(RowBlock.of, chunked(grouped(lines)))), lines.digest


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


def _parts(text: TextBlocks) -> Iterator[_Part]:
    """The rows of a file, block by block."""
    longest, most_lines, lines = ROW_BYTES.value, LINES.value, 0
    before: bytes | None = None  # the topic of the last row
    carried = b""
    while (block := text.read(carried)) is not None:
        columns, carried = columns_of(block.text, longest=longest), b""
        lines += columns.lines
        if lines > most_lines:
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
        yield _Part(columns.topics_between(known, len(columns.topics), with_rows_before=True), is_whole=bool(carried))
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
