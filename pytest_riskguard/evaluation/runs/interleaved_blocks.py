"""Runs whose topics appear again after others: several passes over the file, each keeping the rows of some topics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pytest_riskguard.evaluation.runs.identifiers import Identifiers, IntArray, Words
from pytest_riskguard.evaluation.runs.row_blocks import RowBlock
from pytest_riskguard.evaluation.runs.text_blocks import TextBlocks
from pytest_riskguard.evaluation.runs.trec_columns import RefusedError, Rows, rows_of, scores_of
from pytest_riskguard.formats.limits import DOCUMENTS, LINES, ROW_BYTES, TOPICS

#: Rows that are held in memory at once, unless one topic has more.
ROWS_IN_MEMORY = 2**20
#: Rows of a block that is passed on, unless one topic has more.
_ROWS_IN_BLOCK = 2**15


@dataclass(frozen=True, eq=False)
class TopicSizes:
    """The topics of a run in the order of their first rows: ids, hashes of them, and how many rows each has."""

    names: tuple[bytes, ...]
    hashes: Words
    sizes: IntArray
    digest: str

    def groups(self) -> Iterator[slice]:
        """Topics one after the other that are held in memory together."""
        return _groups(self.sizes, ROWS_IN_MEMORY)


def topic_sizes(path: Path) -> TopicSizes:
    """Count the rows of each topic of a run, which need not stand together.

    ``RefusedError`` for what ``rows_of`` refuses, for more lines, topics or documents in a topic than the limits
    allow, and for two topics whose hashes are equal.
    """
    most_lines, most_topics = LINES.value, TOPICS.value
    numbers: dict[int, int] = {}  # by hash
    names: list[bytes] = []
    sizes: list[int] = []
    lines = 0
    with TextBlocks(path) as text:
        for rows in _blocks_of_rows(text):
            lines += rows.lines
            hashes, first, inverse = np.unique(rows.topics.hashes, return_index=True, return_inverse=True)
            if not rows.topics.same(np.arange(len(inverse)), rows.topics, first[inverse]).all():
                raise RefusedError
            counts = np.bincount(inverse, minlength=len(hashes)).tolist()
            found = rows.topics.at(first).slices()
            values = hashes.tolist()
            for place in np.argsort(first).tolist():
                number = numbers.setdefault(values[place], len(names))
                if number == len(names):
                    names.append(found[place])
                    sizes.append(0)
                elif names[number] != found[place]:
                    raise RefusedError
                sizes[number] += counts[place]
            if lines > most_lines or len(names) > most_topics:
                raise RefusedError
        if max(sizes, default=0) > DOCUMENTS.value:
            raise RefusedError
        ordered = np.array(list(numbers), dtype=np.uint64)  # a new hash got the next number
        return TopicSizes(tuple(names), ordered, np.array(sizes, dtype=np.int64), text.digest)


def interleaved_blocks(path: Path, topics: TopicSizes) -> Iterator[RowBlock]:
    """All topics of a run as blocks, each topic complete, in the order of their first rows.

    ``RefusedError`` for a document twice in a topic, a bad score, and a file that has changed.
    """
    for group in topics.groups():
        yield from _group(path, topics, group)


def _group(path: Path, topics: TopicSizes, group: slice) -> Iterator[RowBlock]:
    by_hash = np.argsort(topics.hashes[group])
    hashes = topics.hashes[group][by_hash]
    documents, ranks, scores, numbers = [], [], [], []
    with TextBlocks(path) as text:
        for rows in _blocks_of_rows(text):
            places = np.minimum(np.searchsorted(hashes, rows.topics.hashes), len(hashes) - 1)
            kept = np.flatnonzero(hashes[places] == rows.topics.hashes)
            documents.append(rows.documents.at(kept).compact())
            ranks.append(rows.ranks.at(kept).compact())
            scores.append(scores_of(rows.numbers.at(kept)))
            numbers.append(by_hash[places[kept]].astype(np.int32))
        if text.digest != topics.digest:
            raise RefusedError
    order = np.argsort(np.concatenate(numbers), kind="stable")
    whole = RowBlock(
        tuple(name.decode() for name in topics.names[group]),
        np.concatenate([[0], np.cumsum(topics.sizes[group])]),
        Identifiers.joined(documents).at(order),
        np.concatenate(scores)[order],
        Identifiers.joined(ranks).at(order),
    )
    del documents, ranks, scores, numbers, order
    for some in _groups(topics.sizes[group], _ROWS_IN_BLOCK):
        block = whole.topics_between(some.start, some.stop)
        if block.has_repeated_documents:
            raise RefusedError
        yield block


def _blocks_of_rows(text: TextBlocks) -> Iterator[Rows]:
    longest = ROW_BYTES.value
    while (block := text.read()) is not None:
        rows = rows_of(block.text, longest=longest)
        if len(rows.places):
            yield rows


def _groups(sizes: IntArray, most: int) -> Iterator[slice]:
    """Groups of neighbouring topics with at most so many rows together; a topic with more is alone."""
    ends = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(first, last)
        first = last
