"""Per-topic scores: tables with a column for each measure line by line, other formats through their readers."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING

import numpy as np

from pytest_riskguard.data import memory
from pytest_riskguard.data.columns import SYNONYMS
from pytest_riskguard.data.content import InputFile
from pytest_riskguard.data.detection import format_of
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.input_files import is_folder
from pytest_riskguard.data.known import system_name
from pytest_riskguard.data.measures import MIN_SIMILARITY, bounds, parse_measure, within_bounds
from pytest_riskguard.data.memory import Input, InputData, ScoresData
from pytest_riskguard.data.records import Records, Score
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.text_files import LineReader
from pytest_riskguard.errors import FileError, MissingFileError, ScoresFormatError, ScoringError, UsageError
from pytest_riskguard.limits import CELLS, TOPICS
from pytest_riskguard.text import nearest

if TYPE_CHECKING:
    from ir_measures import Measure

_Lines = LineReader[ScoresFormatError]
_NO_COLUMNS: Mapping[str, str] = MappingProxyType({})
#: How Spark and Dask number parts: ``part-00003-...parquet``, ``part.3.parquet``.
_PART_NUMBER = re.compile(r"part[-.](\d+)")
_TABLE = "a table with the header topic,<measure>,... (commas or tabs)"


def read_scores(
    given: Path | str | GivenFile | ScoresData,
    measures: Sequence[str] | None = None,
    *,
    name: str | None = None,
) -> tuple[TopicScores, ...]:
    """Read per-topic scores: a file in any format of ``data.known``, plain or gzip, or data in memory.

    A folder of Parquet files, as Spark and Dask write them, is read as one. Data are a mapping topic -> measure ->
    value, a frame or rows with topic, measure and value, a frame with a column for each measure, or a ranx ``Run``
    that has been evaluated.

    Measures are named as ir-measures names them, whichever tool wrote them (``ndcg_cut_10`` is ``nDCG@10``), except
    the columns of a table. What ir-measures does not know is a measure of the user's own, without a range. The digest
    of another format, and of a table with ``columns``, is that of the table that ``write_scores`` writes.

    Parameters
    ----------
    given : Path, GivenFile, or data
        Its ``part`` is the system where the file holds several; its ``columns`` map measures, and ``topic``, to
        columns of a table: no other column is read then.
    measures : sequence of str, optional
        Measures to read, in this order; all of them by default.
    name : str, optional
        Default: the file's name without its endings, with ``#PART``. In data of several systems it says whose scores
        are read.

    Raises
    ------
    ScoresFormatError
        A file of no known format, a measure without a column, a column or topic twice, rows of another length, a
        value that is not a finite number or lies outside the measure's range, a topic without a score of some
        measure, more than a limit of ``input_files`` allows, or no topic.
    MissingFileError
        The path cannot be read.
    TypeError
        Data of another shape.
    """
    if not isinstance(given, Path | str | GivenFile):
        return _read_data(given, measures, name)
    given = GivenFile.of(given)
    if is_folder(given.path):
        return _of_records(_Folder(given.path), _of_parts(given), measures, name or system_name(given))
    file = InputFile(given.path, error=ScoresFormatError, part=given.part, columns=given.columns)
    known = format_of(file, "scores", named=given.format or _format_of_columns(given.columns))
    name = name or system_name(given)
    if known.name == "scores":
        return read_score_table(given.path, measures, name=name, columns=given.columns)
    return _of_records(file, known.reader("scores")(file), measures, name)


class _Folder:
    """A folder of Parquet files that hold one system's scores together, as Spark and Dask write them."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.name

    def refuse(self, line: int | None, problem: str) -> ScoresFormatError:
        """The error to raise."""
        return ScoresFormatError(self.path, line, problem)

    def parts(self) -> list[Path]:
        """The files, in the order of their names; notes of engines, which begin with ``_`` or ``.``, are left out."""
        try:
            entries = sorted(self.path.iterdir())
        except OSError as problem:
            raise MissingFileError(self.path, None, f"cannot be read ({problem.strerror})") from None
        for entry in entries:
            is_note = entry.name.startswith(("_", "."))
            if entry.is_dir() and entry.name == "_temporary":
                raise self.refuse(None, "expected scores, found _temporary, of a job that did not end; run it again")
            if not is_note and (entry.is_dir() or entry.suffix != ".parquet"):
                raise self.refuse(None, f"expected a folder of Parquet files alone, found {entry.name!r:.80} in it")
        parts = [entry for entry in entries if not entry.name.startswith(("_", "."))]
        if not parts:
            raise self.refuse(None, "expected Parquet files, found none")
        self._refuse_missing(parts)
        return parts

    def _refuse_missing(self, parts: Sequence[Path]) -> None:
        numbers = {int(found[1]) for part in parts if (found := _PART_NUMBER.match(part.name))}
        missing = sorted({*range(max(numbers, default=-1) + 1)} - numbers)
        if missing:
            raise self.refuse(
                None,
                f"expected parts without gaps in their numbers, found none of number {missing[0]}: it is missing, or "
                "had no rows; write the scores again in fewer parts, or in one",
            )


def _of_parts(given: GivenFile) -> Records[Score]:
    """The scores in all parts of a folder, each with rows, and each topic in one of them."""
    rows: list[Score] = []
    part_of: dict[str, str] = {}
    folder = _Folder(given.path)
    for part in folder.parts():
        file = InputFile(part, error=ScoresFormatError, part=given.part, columns=given.columns)
        known = format_of(file, "scores", named="parquet")
        found = [row._replace(line=None) for row in known.reader("scores")(file).rows]
        if not found:
            problem = "expected rows in each part, found none: write the scores again in fewer parts, or in one"
            raise file.refuse(None, problem)
        for topic in {row.topic for row in found}:
            other = part_of.setdefault(topic, part.name)
            if other != part.name:
                problem = f"expected each topic in one part, found {topic!r:.60} in {other} and {part.name}"
                raise folder.refuse(None, problem)
        rows += found
    return Records(rows)


def _read_data(data: ScoresData, measures: Sequence[str] | None, name: str | None) -> tuple[TopicScores, ...]:
    given = InputData(name or "scores", reason=ScoresFormatError.reason)
    return _of_records(given, memory.scores(data, given, system=name), measures, name or "candidate")


def _of_records(
    file: Input, records: Records[Score], measures: Sequence[str] | None, name: str
) -> tuple[TopicScores, ...]:
    by_measure = _by_measure(file, records)
    topics = tuple(sorted(next(iter(by_measure.values()))))
    _refuse_gaps(file, by_measure, topics)
    table = [_scores(name, measure, topics, values, None) for measure, values in by_measure.items()]
    digest = digest_of(table)
    names = [*by_measure] if measures is None else [_column(file, None, by_measure, text) for text in measures]
    return tuple(_scores(name, measure, topics, by_measure[measure], digest) for measure in names)


def _format_of_columns(columns: Mapping[str, str]) -> str | None:
    """The format of a table whose columns are named: a row for each measure has one for its value."""
    return None if not columns else "perquery" if "value" in columns else "scores"


def read_score_table(
    path: Path,
    measures: Sequence[str] | None = None,
    *,
    name: str | None = None,
    content: bytes | None = None,
    columns: Mapping[str, str] = _NO_COLUMNS,
) -> tuple[TopicScores, ...]:
    """Read a table with a row for each topic and a column for each measure, as ``read_scores``.

    A header line with a tab in it means tabs, any other commas; a measure whose text holds a comma is quoted in a
    CSV. With ``columns`` only those are read, and the digest is that of the table that ``write_scores`` writes.
    """
    lines = LineReader(Path(path), error=ScoresFormatError, content=content)
    table = _table(lines, columns)
    number, header = next(table)
    topic_place, places = _columns(lines, number, header, columns)
    names = list(places) if measures is None else [_column(lines, number, places, text) for text in measures]
    name = name or system_name(Path(path))
    scores: dict[str, list[float]] = {}
    line_of: dict[str, int] = {}
    for number, row in table:
        if len(row) != len(header):
            raise _refuse(lines, number, row, f"{len(header)} columns as in the header", str(len(row)))
        topic = _topic(lines, number, row, topic_place, line_of)
        lines.check_size(rows=len(line_of), columns=len(header))
        scores[topic] = [_score(lines, number, row, column, *places[column]) for column in names]
    if not scores:
        raise lines.refuse(None, "expected at least one topic below the header, found none")
    topics = tuple(sorted(scores))
    read = [
        _scores(name, measure, topics, {topic: values[index] for topic, values in scores.items()}, lines.digest)
        for index, measure in enumerate(names)
    ]
    if not columns:
        return tuple(read)
    whole = read if measures is None else read_score_table(path, content=content, columns=columns)
    digest = digest_of(whole)
    return tuple(_scores(name, s.measure, topics, dict(zip(topics, s.values, strict=True)), digest) for s in read)


def digest_of(scores: Sequence[TopicScores]) -> str:
    """``sha256:...`` of the table that ``write_scores`` writes."""
    buffer = io.BytesIO()
    write_scores(buffer, scores)
    return f"sha256:{hashlib.sha256(buffer.getvalue()).hexdigest()}"


def write_scores(target: Path | IO[bytes], scores: Sequence[TopicScores], *, delimiter: str = "\t") -> None:
    """Write one system's scores as a table that ``read_scores`` reads back exactly.

    UTF-8, LF, tabs unless there is a ``delimiter``; topics sorted, one column for each measure in the order given,
    values as ``repr``. ``ValueError`` without scores, for scores on different topics, and for a measure twice or
    without a name; ``ScoringError`` for a topic that a table cannot hold.
    """
    if not scores or any(column.topics != scores[0].topics for column in scores):
        raise ValueError("expected scores of at least one measure, all on the same topics")
    names = [column.measure for column in scores]
    if None in names or len(set(names)) != len(names):
        raise ValueError(f"expected measures with names, each once, got {names}")
    for topic in scores[0].topics:
        if topic != topic.strip() or not topic or "\n" in topic or "\r" in topic:
            raise ScoringError(f"expected topics on one line, without spaces around them, found {topic!r}")
    buffer = io.StringIO(newline="")
    table = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    table.writerow(["topic", *names])
    for index, topic in enumerate(scores[0].topics):
        table.writerow([topic, *(repr(float(column.values[index])) for column in scores)])
    content = buffer.getvalue().encode()
    if isinstance(target, Path):
        target.write_bytes(content)
    else:
        target.write(content)


def _by_measure(file: Input, records: Records[Score]) -> dict[str, dict[str, float]]:
    """Measure -> topic -> value, in the order of the file; of measures that ir-measures has, only possible values."""
    named: dict[str, tuple[str, Measure | None]] = {}
    by_measure: dict[str, dict[str, float]] = {}
    most_topics, most_cells = TOPICS.value, CELLS.value
    for cells, row in enumerate(records.rows, 1):
        if row.measure not in named:
            named[row.measure] = _named(row.measure)
        name, measure = named[row.measure]
        values = by_measure.setdefault(name, {})
        topic = row.topic
        for what, text in (("topic", topic), ("measure", name)):
            if not text or text != text.strip() or any(character in text for character in "\n\r\0"):
                expected = f"expected a {what} on one line, without spaces around it"
                raise file.refuse(row.line, f"{expected}, found {text!r:.60}")
        if topic in values:
            raise file.refuse(row.line, f"expected each topic once, found {name} of topic {topic!r:.60} twice")
        if not math.isfinite(row.value):
            raise file.refuse(
                row.line, f"expected a finite number as {name} of topic {topic!r:.60}, found {row.value}"
            )
        if measure is not None and not within_bounds(measure, row.value):
            raise file.refuse(
                row.line, f"expected {_range(name, measure)}, found {row.value!r} (topic {topic!r:.60})"
            )
        values[topic] = row.value
        if len(values) > most_topics:
            raise file.refuse(None, TOPICS.problem(len(values)))
        if cells > most_cells:
            raise file.refuse(None, CELLS.problem(cells))
    if not by_measure:
        raise file.refuse(None, "expected per-topic scores, found none")
    return by_measure


def _refuse_gaps(file: Input, by_measure: Mapping[str, Mapping[str, float]], topics: Sequence[str]) -> None:
    first = next(iter(by_measure))
    for measure, values in by_measure.items():
        if gap := min(values.keys() ^ {*topics}, default=None):
            has, lacks = (first, measure) if gap in topics else (measure, first)
            raise file.refuse(
                None, f"expected every measure for every topic, found {has} of topic {gap!r:.60} without {lacks}"
            )


def _scores(
    name: str, measure: str | None, topics: tuple[str, ...], values: Mapping[str, float], digest: str | None
) -> TopicScores:
    array = np.array([values[topic] for topic in topics], dtype=np.float64)
    return TopicScores(name=name, measure=measure, topics=topics, values=array, digest=digest)


def _table(lines: _Lines, columns: Mapping[str, str]) -> Iterator[tuple[int, list[str]]]:
    """Rows with their line numbers, the header first; blank lines are left out."""
    filled = ((number, line) for number, line in lines if line.strip())
    number, line = next(filled, (0, b""))
    if not line:
        raise lines.refuse_empty(_TABLE)
    first = line.decode() + "\n"
    first_cell = first.split(",")[0].split("\t")[0].strip().strip('"')
    if "topic" not in columns and first_cell.lower() not in SYNONYMS["topic"]:
        raise lines.refuse_line(number, line, _TABLE, "another first line")

    def text() -> Iterator[str]:
        nonlocal number
        yield first
        for line_number, line in filled:
            number = line_number
            yield line.decode() + "\n"

    try:
        for row in csv.reader(text(), delimiter="\t" if "\t" in first else ",", strict=True):
            yield number, row
    except csv.Error as problem:
        raise lines.refuse(number, f"expected quotes around whole cells only: {problem}") from None


def _columns(
    lines: _Lines, number: int, header: list[str], given: Mapping[str, str]
) -> tuple[int, dict[str, tuple[int, Measure | None]]]:
    """The place of the topics; name of each column of scores -> its place and its measure, where it is known."""
    cells = [cell.strip() for cell in header]
    wanted = {measure: column for measure, column in given.items() if measure != "topic"}
    for column in given.values():
        if cells.count(column) != 1:
            times = "none" if column not in cells else f"{cells.count(column)} of them"
            raise lines.refuse(number, f"expected one column {column!r:.60}, which `columns` names, found {times}")
    topic_place = cells.index(given["topic"]) if "topic" in given else 0
    others = [(place, cell) for place, cell in enumerate(cells) if place != topic_place]
    named = [(cells.index(column), measure) for measure, column in wanted.items()] if wanted else others
    columns: dict[str, tuple[int, Measure | None]] = {}
    for place, cell in named:
        name, measure = _named(cell)
        if not name:
            raise lines.refuse(number, f"expected a measure as the name of column {place + 1}, found {cell!r}")
        if name in columns:
            raise lines.refuse(number, f"expected each measure once, found {name!r} in two columns")
        columns[name] = (place, measure)
    if not columns:
        raise _refuse(lines, number, header, _TABLE, "no column of scores")
    return topic_place, columns


def _named(text: str) -> tuple[str, Measure | None]:
    try:
        measure = parse_measure(text)
    except UsageError:
        return text, None
    return str(measure), measure


def _column(lines: _Lines | Input, number: int | None, columns: Mapping[str, object], text: str) -> str:
    name = _named(text.strip())[0]
    if name not in columns:
        near = nearest(name, columns, cutoff=MIN_SIMILARITY)
        hint = f"; the nearest is {near!r}" if near else ""
        what = "column" if number is not None else "measure"
        raise lines.refuse(number, f"expected a {what} {name!r}, found {', '.join(map(repr, columns))}{hint}")
    return name


def _topic(lines: _Lines, number: int, row: list[str], place: int, line_of: dict[str, int]) -> str:
    topic = row[place].strip()
    if not topic or "\n" in topic or "\r" in topic:
        where = "the first column" if place == 0 else f"column {place + 1}"
        raise _refuse(lines, number, row, f"a topic in {where}", repr(topic))
    if topic in line_of:
        raise _refuse(lines, number, row, "each topic once", f"topic {topic!r} also on line {line_of[topic]}")
    line_of[topic] = number
    return topic


def _score(lines: _Lines, number: int, row: list[str], column: str, place: int, measure: Measure | None) -> float:
    cell = row[place].strip()
    try:
        value = math.nan if "_" in cell else float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _refuse(lines, number, row, f"a finite number in column {column!r}", repr(cell))
    if measure is not None and not within_bounds(measure, value):
        raise _refuse(lines, number, row, _range(column, measure), cell)
    return value


def _range(name: str, measure: Measure) -> str:
    low, high = bounds(measure) or (-math.inf, math.inf)
    return f"{name} from {low:g} to {high:g}"


def _refuse(lines: _Lines, number: int, row: list[str], expected: str, found: str) -> FileError:
    # A line that does not belong to the table may be a conflict marker or a pointer that git left there.
    return lines.refuse_line(number, ",".join(row).encode(), expected, found)
