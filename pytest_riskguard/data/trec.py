"""TREC's formats: runs ``topic Q0 docid rank score tag`` and judgements ``topic iteration docid grade``.

Columns are read a block of lines at a time. Where something is unusual the file is read line by line: that reading
gives every error its words. Columns 2 and 6 of a run and column 2 of judgements are not read, but for ids with white
space: a row with ``%`` in its second column has its topic and its document percent-encoded.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, unquote

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.ids import Ids, IntArray, begins_of, starts_of
from pytest_riskguard.data.input_files import InputFile, Misfit
from pytest_riskguard.data.qrels import Grades, Qrels, qrels_of_groups
from pytest_riskguard.data.ranking import NO_RANK, Ranks
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.runs import LARGEST, MAX_RUN_SCORE, ROWS_AT_ONCE, FloatArray, Run, run_of_groups
from pytest_riskguard.data.text_blocks import RefusedError, numbers, text_blocks
from pytest_riskguard.errors import DataError
from pytest_riskguard.limits import MAX_GRADE, ROW_BYTES

DEFAULT_TAG = "riskguard"
_RUN = "6 columns (topic Q0 docid rank score tag)"
_QRELS = "4 columns (topic iteration docid grade)"
#: What the second column of a row with encoded ids holds.
_ESCAPED = b"%"
#: Ranks of up to so many digits are read as columns.
_MOST_DIGITS = 7
_NO_RANKS = np.zeros(0, dtype=np.int32)


class _Growing:
    """A column that grows as a file is read, in place: parts that are joined at the end would be held twice."""

    def __init__(self, dtype: Any) -> None:
        self._array, self._size = np.zeros(2**10, dtype=dtype), 0

    def add(self, values: npt.NDArray[Any]) -> None:
        """More values."""
        start, self._size = self._size, self._size + len(values)
        if self._size > len(self._array):
            self._array.resize(max(self._size, len(self._array) * 9 // 8), refcheck=False)  # nobody else has seen it
        self._array[start : self._size] = values

    def whole(self) -> npt.NDArray[Any]:
        """All values, which are handed over: nothing is added afterwards."""
        array, self._array = self._array, self._array[:0].copy()
        array.resize(self._size, refcheck=False)
        return array


class _Columns:
    """The rows read so far: topic, document and a number of each, and its rank."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        #: Rows of one topic that stand together: its place, the first and the last of them.
        self._pieces: list[tuple[int, int, int]] = []
        self._size = 0
        self._text, self._lengths = _Growing(np.uint8), _Growing(np.int32)
        self._values, self._ranks = _Growing(np.float64), _Growing(np.int32)

    def add(self, topics: Ids, documents: Ids, values: FloatArray, ranks: Ranks) -> None:
        """More rows."""
        begins = np.flatnonzero(begins_of(topics))
        heads = [self.places.setdefault(name, len(self.places)) for name in topics.at(begins).strings()]
        bounds = [self._size + begin for begin in (*begins.tolist(), len(topics))]
        self._pieces += zip(heads, bounds, bounds[1:], strict=False)
        self._size += len(topics)
        self._text.add(documents.compact().text)
        for column, added in ((self._lengths, documents.lengths), (self._values, values), (self._ranks, ranks)):
            column.add(added)

    def joined(self) -> tuple[tuple[str, ...], IntArray, Ids, FloatArray, Ranks]:
        """The topics, sorted as text, where the rows of each begin, and the other columns, by topic."""
        names = tuple(sorted(self.places))
        place_of = dict(zip((self.places[name] for name in names), range(len(names)), strict=True))
        pieces = sorted(((place_of[place], start, stop) for place, start, stop in self._pieces), key=itemgetter(0))
        is_sorted = all(one[2] == other[1] for one, other in pairwise(pieces))

        def by_topic(column: npt.NDArray[Any]) -> Any:
            if is_sorted or not len(column):
                return column
            return np.concatenate([column[start:stop] for _, start, stop in pieces])

        sizes = np.zeros(len(names), dtype=np.int64)
        for place, start, stop in pieces:
            sizes[place] += stop - start
        lengths = self._lengths.whole()
        ids = Ids(self._text.whole(), by_topic(starts_of(lengths)), by_topic(lengths))
        del lengths  # memory, where topics were not sorted
        offsets = np.append(0, np.cumsum(sizes))
        return names, offsets, ids, by_topic(self._values.whole()), by_topic(self._ranks.whole())

    def __bool__(self) -> bool:
        return bool(self.places)


def trec_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the first line has the right number of columns; a file of another kind of text is nearest to this."""
    number, names = (6, _RUN) if kind == "rankings" else (4, _QRELS)
    columns = len(file.first_line.split())
    is_json = file.first_object is not None or file.json_or_none is not None  # a topic's id may begin with a bracket
    if columns == number and not is_json:
        return None
    return Misfit(f"the first line has {columns} columns, not {names}", 0 if file.looks_like_json else 1)


def trec_rankings(file: InputFile) -> Run:
    """The run in a file; the error of the file for content that is none."""
    columns = _Columns()
    try:
        for topics, second, documents, ranks, cells, _ in text_blocks(file, 6, longest=ROW_BYTES):
            scores = numbers(cells)
            if np.abs(scores).max(initial=0) > MAX_RUN_SCORE:
                raise RefusedError
            columns.add(*_unescaped(second, topics, documents), scores, _rank_numbers(ranks))
        digest = file.digest
    except RefusedError:
        columns, digest = _line_by_line(file, 6, _wrong_of_run)
    if not columns:
        raise file.refuse(None, f"expected {_RUN}, found an empty file")
    return run_of_groups(file, *columns.joined(), lines=partial(_lines_in, file, 6), digest=digest)


def trec_judgements(file: InputFile) -> Qrels:
    """The judgements in a file."""
    columns = _Columns()
    try:
        for topics, second, documents, cells in text_blocks(file, 4, longest=ROW_BYTES):
            grades = numbers(cells)
            if np.abs(grades).max(initial=0) > MAX_GRADE:
                raise RefusedError
            columns.add(*_unescaped(second, topics, documents), grades, _NO_RANKS)
        digest = file.digest
    except RefusedError:
        columns, digest = _line_by_line(file, 4, _wrong_of_qrels)
    if not columns:
        raise file.refuse(None, f"expected {_QRELS}, found an empty file")
    names, offsets, ids, grades, _ = columns.joined()
    return qrels_of_groups(file, names, offsets, ids, grades, lines=partial(_lines_in, file, 4), digest=digest)


def _lines_in(file: InputFile, fields: int) -> IntArray:
    """The line of each row, sorted by topic as ``_Columns.joined`` sorts rows; the file is read again."""
    topics, lines = zip(
        *(
            (unquote(cells[0].decode()) if cells[1] == _ESCAPED else cells[0].decode(), number)
            for number, line in file.lines(ROW_BYTES)
            if len(cells := line.split()) == fields
        ),
        strict=True,
    )
    return np.array(lines)[sorted(range(len(topics)), key=topics.__getitem__)]


def _unescaped(second: Ids, topics: Ids, documents: Ids) -> tuple[Ids, Ids]:
    """Topics and documents without their escapes."""
    marks = np.flatnonzero(second.lengths == len(_ESCAPED))
    marks = marks[second.text[second.starts[marks]] == _ESCAPED[0]]
    if not len(marks):
        return topics, documents
    found = []
    for ids in (topics, documents):
        names = ids.strings()
        for row in marks.tolist():
            names[row] = unquote(names[row])
        found.append(Ids.of(names))
    return found[0], found[1]


def _rank_numbers(ranks: Ids) -> Ranks:
    """Ranks as whole numbers, as Python reads them; ``NO_RANK`` for others."""
    words, lengths = ranks.words(0), ranks.lengths
    found, is_digits = np.zeros(len(ranks), dtype=np.int32), (lengths > 0) & (lengths <= _MOST_DIGITS)
    for place in range(min(_MOST_DIGITS, int(lengths.max(initial=0)))):
        inside = lengths > place
        digit = ((words >> np.uint64(8 * place)) & np.uint64(255)).astype(np.int32) - ord("0")
        is_digits &= ~inside | ((digit >= 0) & (digit <= 9))
        found = np.where(inside, 10 * found + digit, found)
    for row in np.flatnonzero(~is_digits).tolist():  # +3, 1_0, 12345678
        found[row] = _rank_number(ranks.at(slice(row, row + 1)).slices()[0])
    return found


def _rank_number(cell: bytes) -> int:
    try:
        number = int(cell)
    except ValueError:
        return NO_RANK
    return number if abs(number) < 2**31 else NO_RANK


#: What a line should hold and what it holds; None of a good line.
_Wrong = Callable[[list[bytes]], tuple[str, str] | None]


def _line_by_line(file: InputFile, fields: int, wrong: _Wrong) -> tuple[_Columns, str]:
    """The same rows, and the digest of the file; the error of the file names a line that is wrong, and others."""
    columns = _Columns()
    rows: list[tuple[str, str, float, int]] = []

    def keep() -> None:
        topics, documents, values, ranks = zip(*rows, strict=True)
        numbers_of = np.array(ranks if fields == 6 else (), dtype=np.int32)
        columns.add(Ids.of(topics), Ids.of(documents), np.array(values, dtype=np.float64), numbers_of)
        rows.clear()

    for number, line in file.lines(ROW_BYTES):
        cells = line.split()
        if not cells:
            continue
        if (problem := wrong(cells)) is not None:
            raise file.refuse_line(number, line, *problem)
        topic, document = cells[0].decode(), cells[2].decode()
        if cells[1] == _ESCAPED:
            topic, document = unquote(topic), unquote(document)
        rows.append((topic, document, float(cells[4 if fields == 6 else 3]), _rank_number(cells[3])))
        if len(rows) == ROWS_AT_ONCE:
            keep()
    if rows:
        keep()
    return columns, file.digest


def _wrong_of_run(cells: list[bytes]) -> tuple[str, str] | None:
    if len(cells) != 6:
        return _RUN, str(len(cells))
    score = _number(cells[4])
    if not math.isfinite(score):
        return "a finite number as the score (column 5)", cells[4].decode()
    return None if abs(score) <= MAX_RUN_SCORE else (f"a score (column 5) of at most {LARGEST}", cells[4].decode())


def _wrong_of_qrels(cells: list[bytes]) -> tuple[str, str] | None:
    if len(cells) != 4:
        return _QRELS, str(len(cells))
    if abs(_number(cells[3])) <= MAX_GRADE:
        return None
    return f"a number from {-MAX_GRADE} to {MAX_GRADE} as the grade", cells[3].decode()


def _number(cell: bytes) -> float:
    try:
        return math.nan if b"_" in cell else float(cell)
    except ValueError:
        return math.nan


def write_run(target: Path | IO[bytes], run: Run, *, tag: str = DEFAULT_TAG) -> None:
    """Write rankings in the format of TREC: UTF-8, LF, ranks from 1, scores that read back exactly.

    Documents stand by falling score, equal ones as ``run`` has them. A path is written uncompressed; for gzip, pass
    an open ``gzip.GzipFile``. ``tag`` is the sixth column.
    """
    if tag.split() != [tag]:
        raise DataError(f"run: expected a tag without spaces, found {tag!r}", reason="bad_run")
    if isinstance(target, Path):
        with target.open("wb") as file:
            write_run(file, run, tag=tag)
        return
    target.writelines(_lines_of(run, tag))


def with_text_digest(run: Run) -> Run:
    """The run under the digest of the text that ``write_run`` writes, as baselines store it."""
    digest = hashlib.sha256()
    for line in _lines_of(run, DEFAULT_TAG):
        digest.update(line)
    return run.with_source(digest=f"sha256:{digest.hexdigest()}")


def _lines_of(run: Run, tag: str) -> Iterator[bytes]:
    for topic, documents in run.by_topic().items():
        by_score = sorted(documents.items(), key=lambda pair: -pair[1])
        for rank, (document, score) in enumerate(by_score, start=1):
            second, topic_field, document_field = _escaped("Q0", topic, document)
            yield f"{topic_field} {second} {document_field} {rank} {score!r} {tag}\n".encode()


def write_qrels(grades: Grades) -> bytes:
    """Judgements in TREC's format: topics and documents sorted as text, whole grades without a decimal point."""
    lines = []
    for topic in sorted(grades):
        for document in sorted(grades[topic]):
            iteration, topic_field, document_field = _escaped("0", topic, document)
            lines.append(f"{topic_field} {iteration} {document_field} {grades[topic][document]!r}\n")
    return "".join(lines).encode()


def _escaped(second: str, topic: str, document: str) -> tuple[str, str, str]:
    """Second column, topic and document of a row as they are written."""
    if topic.split() == [topic] and document.split() == [document]:
        return second, topic, document
    return _ESCAPED.decode(), _encoded(topic), _encoded(document)


def _encoded(text: str) -> str:
    """Only white space and the percent sign are replaced, so that the id stays readable."""
    return "".join(quote(character) if character.isspace() or character == "%" else character for character in text)
