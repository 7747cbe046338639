"""Files of runs in the format of TREC, ``topic Q0 docid rank score tag``, read a few topics at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from pytest_riskguard.errors import RunFormatError
from pytest_riskguard.evaluation.runs.chunks import Chunk, Documents, chunked
from pytest_riskguard.evaluation.runs.row_blocks import RowBlock
from pytest_riskguard.evaluation.runs.trec_blocks import fold_blocks
from pytest_riskguard.evaluation.runs.trec_rows import lines_of, topic_of

Result = TypeVar("Result")


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


def refuse_inverted(path: Path, topic: str) -> RunFormatError:
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
