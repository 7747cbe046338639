"""Checks of the columns that a reader found, the same for every table; topics that are known by their texts."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.given_file import InputData, Queries
from pytest_riskguard.data.ids import Ids, IntArray, begins_of, has_twice, offsets_of, pair_hashes, topic_of_rows
from pytest_riskguard.errors import DataError
from pytest_riskguard.limits import LINE_BYTES, ROW_BYTES

Text = Ids | Sequence[str]
Numbers = npt.NDArray[np.floating] | npt.NDArray[np.integer] | Sequence[float | None]
Lines = npt.NDArray[np.integer] | Sequence[int | str | None]
#: The line of each row, what finds them, or nothing.
GivenLines = Lines | Callable[[], Lines] | None

#: About how many rows are worked on at a time.
ROWS_AT_ONCE = 2**16


class Rows:
    """Where the rows of a table stand in their source, and the error to raise for one of them."""

    def __init__(self, given: InputData, lines: GivenLines) -> None:
        self.given, self.lines = given, lines

    def at(self, rows: IntArray | slice) -> Rows:
        """Some of the rows, whose lines may have to be found first."""
        lines = self.lines
        if lines is None:
            return self
        return Rows(self.given, lambda: np.asarray(lines() if callable(lines) else lines, dtype=object)[rows])

    def line(self, row: int) -> int | str | None:
        """The line of a row, if it has one."""
        lines = self.lines() if callable(self.lines) else self.lines
        line = None if lines is None else lines[row]
        return line if line is None or isinstance(line, str) else int(line)

    def error(self, row: int, problem: str, remedy: str | None = None) -> DataError:
        """The error to raise."""
        return self.given.refuse(self.line(row), problem, remedy)

    def ids(self, column: Text, what: str, *, is_text: bool = False) -> Ids:
        """A column of ids, none too long, each on one line without spaces around it; texts may be any."""
        try:
            ids = column if isinstance(column, Ids) else Ids.of(column)
        except UnicodeEncodeError as problem:
            assert not isinstance(column, Ids)
            row = column.index(problem.object)
            found = f"half of a character in {problem.object!r:.60}"
            raise self.error(row, f"expected text as the {what}, found {found}") from None
        limit = LINE_BYTES if is_text else ROW_BYTES
        if int(ids.lengths.max(initial=0)) > limit.value:
            row = int(np.argmax(ids.lengths > limit.value))
            raise self.error(row, f"{ids[row][:20] + '…'!r}: {limit.problem(int(ids.lengths[row]))}")
        if is_text:
            return ids
        odd = np.flatnonzero(ids.odd)
        for row, text in zip(odd.tolist(), ids.at(odd).strings(), strict=True):
            if text.strip() != text or len(text.splitlines()) != 1 or "\0" in text:
                raise self.error(row, f"expected a {what} on one line, without spaces around it, found {text!r:.60}")
        return ids

    def once(self, names: Sequence[str], offsets: IntArray, documents: Ids) -> None:
        """Refuse a document that stands twice in a topic; rows are by topic."""
        for topics, part in parts(offsets):
            of_row = topic_of_rows(offsets[topics.start : topics.stop + 1])
            if not has_twice(pair_hashes(of_row, documents.at(part))):  # which rules out nearly every repetition
                continue
            seen: dict[tuple[int, str], int] = {}
            pairs = zip(of_row.tolist(), documents.at(part).strings(), strict=True)
            for row, pair in enumerate(pairs, part.start):
                if (first := seen.setdefault(pair, row)) != row:
                    line = self.line(first)
                    where = "twice" if line == self.line(row) else f"also on line {line}"
                    found = f"{pair[1]!r:.60} of topic {names[topics][pair[0]]!r:.60} {where}"
                    raise self.error(
                        row, f"expected each document once per topic, found {found}", "keep one of the two"
                    )


class Groups(NamedTuple):
    """Rows by topic.

    Attributes
    ----------
    names : tuple of str
        The topics, sorted as text.
    offsets : array, shape (n_topics + 1,)
        Topic i has the rows ``rows[offsets[i]:offsets[i + 1]]``.
    rows : array of int64 or slice
        A slice of all where rows already stand by topic.
    """

    names: tuple[str, ...]
    offsets: IntArray
    rows: IntArray | slice


def pieces(ids: Ids) -> tuple[list[str], IntArray]:
    """Each id that differs from the one before, and how often it stands there."""
    begins = np.flatnonzero(begins_of(ids))
    return ids.at(begins).strings(), np.diff(np.append(begins, len(ids)))


def grouped(heads: Sequence[str], sizes: IntArray) -> Groups:
    """Rows by topic, given the topic of each piece of the rows, and how many it has."""
    names = tuple(sorted(set(heads)))
    place_of = {name: place for place, name in enumerate(names)}
    places = np.fromiter(map(place_of.__getitem__, heads), np.int64, len(heads))
    offsets = offsets_of(np.bincount(places, sizes).astype(np.int64))
    is_sorted = (places[1:] >= places[:-1]).all()
    return Groups(names, offsets, slice(None) if is_sorted else np.argsort(np.repeat(places, sizes), kind="stable"))


def parts(offsets: IntArray) -> Iterator[tuple[slice, slice]]:
    """Topics and their rows, some at a time."""
    start = 0
    while start < len(offsets) - 1:
        most = int(offsets[start]) + ROWS_AT_ONCE
        stop = max(start + 1, int(np.searchsorted(offsets, most, side="right")) - 1)
        yield slice(start, stop), slice(int(offsets[start]), int(offsets[stop]))
        start = stop


def digest_of(texts: Sequence[Ids], *columns: npt.NDArray[Any]) -> str:
    """``sha256:...`` of columns."""
    digest = hashlib.sha256()
    for ids in texts:
        compact = ids.compact()
        digest.update(compact.lengths.astype("<i8").tobytes() + b"\0")
        digest.update(compact.text.tobytes() + b"\0")
    for column in columns:
        digest.update(column.astype(column.dtype.newbyteorder("<"), copy=False).tobytes() + b"\0")
    return f"sha256:{digest.hexdigest()}"


# Topics of tools that know queries by their texts: found through the topics file, else named by the texts.


#: Characters of a text that is its topic's id as it stands; longer ones are cut, and a digest follows.
MAX_ID_LENGTH = 60
_CUT, _DIGITS = 48, 8


def normal(text: str) -> str:
    """A query text as texts are compared: composed characters, single spaces, none around."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def derived_id(text: str) -> str:
    """The id of a query without one: its text, cut if it is long; the same text always has the same id."""
    text = normal(text)
    if len(text) <= MAX_ID_LENGTH:
        return text
    return f"{text[:_CUT].rstrip()}~{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}"


def topics_of_texts(given: InputData, texts: Iterable[str], queries: Queries | None) -> list[str]:
    """The topic with each of these query texts, or an id derived from the text where no topic has it.

    ``queries`` maps the topics of a collection to their texts; the error of ``given`` if two have one of the texts.
    """
    known: dict[str, list[str]] = {}
    for topic, text in (queries or {}).items():
        known.setdefault(normal(text), []).append(topic)
    found: list[str] = []
    for text in texts:
        topics = known.get(normal(text), [derived_id(text)])
        if len(topics) > 1:
            shown = ", ".join(map(repr, topics[:3]))
            problem = f"the query {text!r:.60} is the text of {len(topics)} topics ({shown})"
            raise given.refuse(None, f"expected an id, or the text of one topic, beside each row; found {problem}")
        found += topics
    return found
