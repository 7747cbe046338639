"""A block of lines of a TREC run as columns, parsed for all lines together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.ids import WORD_BYTES, Ids, IntArray
from pytest_riskguard.data.row_blocks import MAX_RUN_SCORE
from pytest_riskguard.data.text_files import ESCAPED, unescaped

_FIELDS = 6
_LINE_FEED, _SPACE = ord("\n"), ord(" ")
#: Numbers of up to so many characters are read together.
_MOST_CHARACTERS = 64
_PLUS, _UNDERSCORE = ord("+"), ord("_")
#: What separates fields of bytes, by code. Other control characters belong to them.
_SEPARATES = np.array([code in b" \t\n\r\x0b\x0c" for code in range(_SPACE + 1)])

FloatArray = npt.NDArray[np.float64]


class RefusedError(Exception):
    """Something is wrong with a file, or may be: reading line by line says what."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows of a run, in the order of the lines.

    Attributes
    ----------
    begins : array of int64, shape (n_topics,)
        The rows whose topic is not that of the row before; the first is 0.
    places : array of int64, shape (n_topics,)
        Where in the text the topics of these rows stand.
    topics : tuple of bytes, shape (n_topics,)
    documents, ranks : Ids, shape (n_rows,)
        They share a text.
    scores : array of float64, shape (n_rows,)
    lines : int
        How many line feeds the text has.
    """

    begins: IntArray
    places: IntArray
    topics: tuple[bytes, ...]
    documents: Ids
    scores: FloatArray
    ranks: Ids
    lines: int = 0

    def rows(self, first: int, last: int) -> Columns:
        """The rows ``first:last``, without their topics."""
        some, none = slice(first, last), self.begins[:0]
        return Columns(none, none, (), self.documents.at(some), self.scores[some], self.ranks.at(some))

    def topics_between(self, first: int, last: int, *, with_rows_before: bool) -> Columns:
        """The topics ``first:last`` with all their rows, and maybe the rows before them."""
        size = len(self.scores)
        if with_rows_before and (first, last) == (0, len(self.begins)):
            return self
        bounds = [*self.begins.tolist(), size]
        begin = 0 if with_rows_before else bounds[first]
        rows = self.rows(begin, bounds[last])
        return replace(
            rows,
            begins=self.begins[first:last] - begin,
            places=self.places[first:last],
            topics=self.topics[first:last],
        )

    @classmethod
    def joined(cls, parts: list[Columns]) -> Columns:
        """Rows of several blocks one after the other, without their topics."""
        if len(parts) == 1:
            return parts[0]
        trimmed = [_trimmed(part) for part in parts]
        text = np.concatenate([part.documents.text for part in trimmed])
        begins = np.cumsum([0, *(len(part.documents.text) for part in trimmed[:-1])])
        documents, ranks = (
            Ids(
                text,
                np.concatenate([column.starts + begin for column, begin in zip(columns, begins, strict=True)]),
                np.concatenate([column.lengths for column in columns]),
            )
            for columns in ([part.documents for part in trimmed], [part.ranks for part in trimmed])
        )
        none = parts[0].begins[:0]
        return cls(none, none, (), documents, np.concatenate([part.scores for part in trimmed]), ranks)


def columns_of(text: bytes, *, longest: int) -> Columns:
    """The rows of a text that ends with a line feed, ids without their escapes; blank lines are no rows.

    ``RefusedError`` for anything that reading line by line would refuse in these lines alone, and for scores that are
    written in a way that hardly any run has: bytes that are not text, lines of more than ``longest`` bytes, a row
    without six columns, a score that is not a finite number or larger than 32 bits can hold.
    """
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError:
            raise RefusedError from None
    characters = np.frombuffer(text, dtype=np.uint8)
    starts, ends, lines = _places(characters, _FIELDS, longest)
    topics, second, documents, ranks, numbers, _tags = (
        Ids(characters, *places) for places in zip(starts, ends - starts, strict=True)
    )
    marks = second.lengths == len(ESCAPED)
    if marks.any() and (marks := marks & (second.text[second.starts] == ESCAPED[0])).any():
        topics, documents, ranks = _unescaped(np.flatnonzero(marks), topics, documents, ranks)
    begins = np.flatnonzero(_differs_from_before(topics))
    names = tuple(topics.at(begins).slices())
    return Columns(begins, starts[0][begins], names, documents, _scores(numbers), ranks, lines)


def _scores(numbers: Ids) -> FloatArray:
    """Numbers as ``float`` reads them."""
    if not len(numbers):
        return np.zeros(0)
    width = int(numbers.lengths.max())
    if width > _MOST_CHARACTERS:
        raise RefusedError
    text = np.concatenate([numbers.text, np.zeros(width, dtype=np.uint8)])
    cells = np.lib.stride_tricks.sliding_window_view(text, width)[numbers.starts]
    cells = np.where(np.arange(width) < numbers.lengths[:, None], cells, np.uint8(0))
    if ((cells == _UNDERSCORE) | ((cells > 0) & (cells < _PLUS))).any():  # which Python's numbers may have
        raise RefusedError
    try:
        scores: FloatArray = cells.view(f"S{width}").ravel().astype(np.float64)
    except ValueError:
        raise RefusedError from None
    if not (scores.max() <= MAX_RUN_SCORE and scores.min() >= -MAX_RUN_SCORE):
        raise RefusedError
    return scores


def _places(characters: npt.NDArray[np.uint8], count: int, longest: int) -> tuple[IntArray, IntArray, int]:
    """Where fields start and end, as two arrays of shape (count, n_rows), and how many lines there are."""
    edges = np.flatnonzero(characters <= _SPACE)
    if len(edges) and len(edges) % count == 0:
        ends = np.ascontiguousarray(edges.reshape(-1, count).T)
        starts = np.empty_like(ends)
        starts[0, 0] = 0
        np.add(ends[-1, :-1], 1, out=starts[0, 1:])
        np.add(ends[:-1], 1, out=starts[1:])
        if (
            (ends > starts).all()
            and (characters[ends[-1]] == _LINE_FEED).all()
            and np.count_nonzero(characters == _SPACE) == len(edges) - ends.shape[1]
        ):
            if (ends[-1] - starts[0]).max() > longest:
                raise RefusedError
            return starts, ends, ends.shape[1]
    return _places_anywhere(edges, characters[edges], count, longest)


def _places_anywhere(
    edges: IntArray, kinds: npt.NDArray[np.uint8], count: int, longest: int
) -> tuple[IntArray, IntArray, int]:
    """The same for lines with blanks of any number and kind, and for blank lines."""
    if (kinds == 0).any():
        raise RefusedError
    separates = _SEPARATES[kinds]
    if not separates.all():
        edges, kinds = edges[separates], kinds[separates]
    feeds = kinds == _LINE_FEED
    if np.diff(edges[feeds], prepend=-1).max(initial=0) > longest + 1:
        raise RefusedError
    starts = np.concatenate([[0], edges[:-1] + 1])
    fields = np.flatnonzero(edges > starts)
    lines = (np.cumsum(feeds) - feeds)[fields]
    if len(fields) % count:
        raise RefusedError
    lines = lines.reshape(-1, count)
    if (lines[:, 0] != lines[:, -1]).any() or (lines[1:, 0] == lines[:-1, 0]).any():
        raise RefusedError
    starts, ends = (np.ascontiguousarray(place[fields].reshape(-1, count).T) for place in (starts, edges))
    return starts, ends, int(np.count_nonzero(feeds))


def _unescaped(rows: IntArray, *columns: Ids) -> list[Ids]:
    """Topics, documents and ranks with the ids of some rows decoded; these stand after the end of the text."""
    topics, documents, ranks = columns
    added, size = [topics.text], len(topics.text)
    changed = []
    for ids in (topics, documents):
        names = Ids.of([unescaped(name) for name in ids.at(rows).strings()])
        starts, lengths = ids.starts.copy(), ids.lengths.copy()
        starts[rows], lengths[rows] = names.starts + size, names.lengths
        added.append(names.text)
        size += len(names.text)
        changed.append((starts, lengths))
    text = np.concatenate(added)
    return [Ids(text, *places) for places in (*changed, (ranks.starts, ranks.lengths))]


def _differs_from_before(ids: Ids) -> npt.NDArray[np.bool_]:
    """For each id, whether it differs from the one before; the first does."""
    differs = np.ones(len(ids), dtype=np.bool_)
    words, lengths = ids.words(0), ids.lengths
    np.not_equal(words[1:], words[:-1], out=differs[1:])
    differs[1:] |= lengths[1:] != lengths[:-1]
    if lengths.max(initial=0) > WORD_BYTES:
        alike = np.flatnonzero(~differs & (lengths > WORD_BYTES))
        differs[alike] = ~ids.same(alike, ids, alike - 1)
    return differs


def _trimmed(part: Columns) -> Columns:
    """The same rows without the text before and after them."""
    begin = min(int(column.starts.min(initial=len(column.text))) for column in (part.documents, part.ranks))
    end = max(int((column.starts + column.lengths).max(initial=0)) for column in (part.documents, part.ranks))
    text = part.documents.text[begin:end]
    documents, ranks = (Ids(text, column.starts - begin, column.lengths) for column in (part.documents, part.ranks))
    return replace(part, documents=documents, ranks=ranks)
