"""What every table checks of the columns that a reader found: ids, their lengths, what stands twice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.given_file import LabelRules, Ties
from pytest_riskguard.data.ids import Ids, IntArray, Places, begins_of
from pytest_riskguard.data.records import TopicKeys
from pytest_riskguard.errors import DataError
from pytest_riskguard.limits import LINE_BYTES, ROW_BYTES, Limit

Text = Ids | Sequence[str]
Numbers = npt.NDArray[np.floating] | npt.NDArray[np.integer] | Sequence[float | None]
Lines = npt.NDArray[np.integer] | Sequence[int | None]

#: An odd number without a pattern in its bits: the same document in two topics has different keys.
_SPREAD = np.uint64(0xD6E8FEB86659FD93)


class Input(Protocol):
    """Where columns come from, a file or an object in memory: its name, and the error to raise for a row.

    ``keys`` finds the topics of data that know queries by their texts, ``labels`` says what the settings of a
    collection say of its judgements, ``ties`` which order of documents counts, where that is said; ``is_part`` that
    there is more than these columns, so that nothing is said about the whole.
    """

    keys: TopicKeys | None
    labels: LabelRules
    ties: Ties | None
    is_part: bool

    @property
    def name(self) -> str:
        """What errors and verdicts call it."""

    def refuse(self, line: int | None, problem: str) -> DataError:
        """The error to raise; ``line`` is None if it concerns the whole."""


class Rows:
    """The rows of a table on their way in, and the error to raise for one of them."""

    def __init__(self, given: Input, lines: Lines | Callable[[], Lines] | None) -> None:
        self.given, self._lines = given, lines

    def at(self, rows: IntArray) -> Rows:
        """Some of the rows."""
        return Rows(
            self.given, None if self._lines is None else lambda: np.asarray(self._all_lines(), dtype=object)[rows]
        )

    def _all_lines(self) -> Lines:
        """The line of each row; they may have to be found first."""
        assert self._lines is not None
        return self._lines() if callable(self._lines) else self._lines

    def line(self, row: int) -> int | None:
        """The line of a row, if it has one."""
        line = None if self._lines is None else self._all_lines()[row]
        return None if line is None else int(line)

    def error(self, row: int, problem: str) -> DataError:
        """The error to raise."""
        return self.given.refuse(self.line(row), problem)

    def limit(self, limit: Limit, found: int) -> None:
        """Refuse a table that holds more than a limit allows."""
        if found > limit.value:
            raise self.given.refuse(None, limit.problem(found))

    def ids(self, column: Text, what: str, *, is_text: bool = False) -> Ids:
        """A column of ids, none too long, each on one line without spaces around it; texts may be any."""
        try:
            ids = column if isinstance(column, Ids) else Ids.of(column)
        except UnicodeEncodeError:
            row, text = next(
                (row, text) for row, text in enumerate(cast(Sequence[str], column)) if not _is_whole(text)
            )
            raise self.error(row, f"expected text as the {what}, found half of a character in {text!r:.60}") from None
        limit = LINE_BYTES if is_text else ROW_BYTES
        self._lengths(ids, limit)
        if is_text:
            return ids
        for row in np.flatnonzero(ids.odd).tolist():
            (text,) = ids.at(slice(row, row + 1)).strings()
            if not is_identifier(text):
                raise self.error(row, f"expected a {what} on one line, without spaces around it, found {text!r:.60}")
        return ids

    def _lengths(self, ids: Ids, limit: Limit) -> None:
        most = limit.value
        if int(ids.lengths.max(initial=0)) > most:
            row = int(np.argmax(ids.lengths > most))
            start = ids.at(slice(row, row + 1)).text[int(ids.starts[row]) :][:80].tobytes().decode(errors="replace")
            raise self.error(row, f"{start[:20] + '…'!r}: {limit.problem(int(ids.lengths[row]))}")


def is_identifier(text: str) -> bool:
    """Whether an id can be one of a run: it stands on one line, without spaces around it, and can be encoded."""
    return _is_whole(text) and text.strip() == text and len(text.splitlines()) == 1 and "\0" not in text


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def grouped(ids: Ids) -> tuple[IntArray, tuple[str, ...]]:
    """The id of each row by its place among all, sorted as text, and these; rows of an id mostly stand together."""
    if not len(ids):
        return np.zeros(0, dtype=np.int64), ()
    begins = np.flatnonzero(begins_of(ids))
    heads = ids.at(begins).strings()
    names = tuple(sorted(set(heads)))
    places = {name: place for place, name in enumerate(names)}
    lengths = np.diff(np.append(begins, len(ids)))
    return np.repeat(np.fromiter(map(places.__getitem__, heads), np.int64, len(heads)), lengths), names


def repeated(topics: Places, documents: Ids) -> tuple[int, int] | None:
    """Two rows with the same topic and document, the second of them the first there is; None without any."""
    keys = documents.hashes ^ (topics.astype(np.uint64) * _SPREAD)
    ordered = np.sort(keys)
    equal = ordered[1:] == ordered[:-1]
    if not equal.any():
        return None
    seen: dict[tuple[int, bytes], int] = {}
    some = np.flatnonzero(np.isin(keys, ordered[1:][equal]))
    pairs = zip(topics[some].tolist(), documents.at(some).slices(), strict=True)
    for row, pair in zip(some.tolist(), pairs, strict=True):
        if (first := seen.setdefault(pair, row)) != row:
            return first, row
    return None


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
