"""Files of runs in TREC's format, ``topic Q0 docid rank score tag``, read a block of text at a time.

The text is hashed and read ahead in a second thread. While the rows of each topic stand together, one block of whole
topics is in memory; otherwise, and where something is wrong, the file is read line by line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from pytest_riskguard.data.input_files import ContentError, blocks
from pytest_riskguard.data.row_blocks import Chunk, Documents, RowBlock, chunked
from pytest_riskguard.data.trec_columns import Columns, RefusedError, columns_of
from pytest_riskguard.data.trec_rows import InterleavedError, contiguous, grouped, lines_of, topic_of
from pytest_riskguard.errors import FileError
from pytest_riskguard.limits import DOCUMENTS, LINES, ROW_BYTES, RUN_BYTES, TOPICS

_BOM = b"\xef\xbb\xbf"
#: Smaller files are read without a second thread.
_SMALL = 2**20


class TextBlock(NamedTuple):
    """Whole lines, the last with a line feed, and whether nothing follows."""

    text: bytes
    is_last: bool


class TextBlocks:
    """The text of one file, about a million bytes at a time, without its byte order mark.

    To be used in a ``with`` statement. ``RefusedError`` for content that reading line by line finds wrong,
    ``MissingFileError`` for a path that is no readable regular file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._hash, self._is_begun, self._is_done = hashlib.sha256(), False, False
        self._raw = _ahead(path, self._hash)
        self._rest = b""  # the line begun at the end of what has been read
        self._longest = ROW_BYTES.value

    def __enter__(self) -> TextBlocks:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    @property
    def digest(self) -> str:
        """``sha256:<hex>`` of the decompressed bytes of a file that was read from its beginning to its end."""
        if not self._is_done:
            raise RuntimeError(f"{self.path}: the digest is known only after the whole file has been read")
        return f"sha256:{self._hash.hexdigest()}"

    def read(self, carried: bytes = b"") -> TextBlock | None:
        """The next lines, after those ``carried`` over from the end of the last block; None at the end."""
        for block in self._raw:
            if not self._is_begun:
                self._is_begun, block = True, block.removeprefix(_BOM)
            cut = block.rfind(b"\n") + 1
            if not cut:
                self._rest += block
                if len(self._rest) > self._longest:
                    raise RefusedError
                continue
            text = b"".join((carried, self._rest, memoryview(block)[:cut]))
            self._rest = block[cut:]
            return TextBlock(text, is_last=False)
        self._is_done = True
        text = carried + self._rest + (b"\n" if self._rest else b"")
        self._rest = b""
        return TextBlock(text, is_last=True) if text else None


def _ahead(path: Path, digest: hashlib._Hash) -> Generator[bytes]:
    """The bytes of a file; while one block is at work, the next one is read and hashed in another thread.

    Whoever began it must close it: that waits for the thread, which must not happen when garbage is collected.
    """
    raw = blocks(path, RUN_BYTES)

    def step() -> bytes:
        try:
            block = next(raw, b"")
        except ContentError:
            raise RefusedError from None
        digest.update(block)
        return block

    block = step()
    if len(block) < _SMALL:
        while block:
            yield block
            block = step()
        return
    from concurrent.futures import ThreadPoolExecutor  # loads much that small files do not need

    with ThreadPoolExecutor(1) as pool:
        while block:
            following = pool.submit(step)
            yield block
            block = following.result()


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
    return fold_blocks(path, lambda blocks: work(chunked(_topics(blocks))))


def _topics(blocks: Iterator[RowBlock]) -> Iterator[tuple[str, Documents]]:
    for block in blocks:
        yield from block.chunk().items()


def refuse_inverted(path: Path, topic: str) -> FileError:
    """The error to raise for a run whose scores rise with the rank; it shows the second row of a topic."""
    lines = lines_of(path)
    rows = ((number, line) for number, line in lines if topic_of(line) == topic)
    next(rows, None)
    number, line = next(rows, (1, b""))  # nothing if the file has changed since
    return lines.refuse_line(
        number,
        line,
        "scores (column 5) that fall as ranks rise, since documents are ranked by score alone",
        "scores that rise with the rank in most topics: every ranking is upside down; write scores that are higher "
        "for better documents (distances and ranks with a minus sign)",
    )
