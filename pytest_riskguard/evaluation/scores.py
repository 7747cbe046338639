"""Per-topic scores of one system for one measure, what every gate compares; and the tables that hold them on disk.

A table has a column ``topic`` and one column for each measure, with commas or tabs.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.errors import ScoresFormatError, ScoringError, UsageError
from pytest_riskguard.evaluation.measures import MIN_SIMILARITY, bounds, parse_measure, within_bounds
from pytest_riskguard.formats.text_files import LineReader, system_name
from pytest_riskguard.text import nearest

if TYPE_CHECKING:
    from ir_measures import Measure

    from pytest_riskguard.evaluation.document_ids import Judged

FloatArray = npt.NDArray[np.float64]

_EMPTY: Mapping[str, Any] = MappingProxyType({})

_Lines = LineReader[ScoresFormatError]
_TABLE = "a table with the header topic,<measure>,... (commas or tabs)"

#: No score of a retrieval system is larger; squares and weighted losses of such scores are still finite.
MAX_SCORE = 1e50
#: Beyond this difference a topic, or the average topic, scores noticeably differently in another order.
NOTICEABLE = 1e-3
#: Equal scores matter if they noticeably change more topics than this, and the average topic: of 28 real runs, only
#: the one with BM25 scores cut to whole numbers does (tests/evaluation/test_order.py). A share of the topics would
#: not do: among thousands of topics, hidden losses in one of a hundred are significant.
FEW_REORDERED = 2


@dataclass(frozen=True)
class Repeated:
    """Topics that a live system was asked about twice: which answers differ, and the scores of both."""

    topics: tuple[str, ...]
    differing: tuple[str, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]

    @property
    def change(self) -> float:
        """The average change of a topic's score, without its sign."""
        changes = [abs(one - other) for one, other in zip(self.first, self.second, strict=True)]
        return math.fsum(changes) / len(changes)

    @property
    def means(self) -> tuple[float, float]:
        """The mean score of the topics, of the first and of the second answers."""
        return math.fsum(self.first) / len(self.first), math.fsum(self.second) / len(self.second)

    def only(self, topics: Collection[str]) -> Repeated | None:
        """The same of these topics alone; None if there are none."""
        places = [place for place, topic in enumerate(self.topics) if topic in topics]
        if not places:
            return None
        return Repeated(
            tuple(self.topics[place] for place in places),
            tuple(topic for topic in self.differing if topic in topics),
            tuple(self.first[place] for place in places),
            tuple(self.second[place] for place in places),
        )


@dataclass(frozen=True, eq=False)
class TopicScores:
    """One system's score on every judged topic, for one measure.

    Attributes
    ----------
    name : str
        The system, as the verdict names it.
    measure : str or None
        As ir-measures prints it (``nDCG@10``); None for plain mappings.
    topics : tuple of str
        Sorted, each once.
    values : array, shape (n_topics,)
        In units of the measure, finite, in the order of ``topics``; read-only.
    queries : mapping topic -> query text
        Empty where no topics file was given.
    digest : str or None
        ``sha256:...`` of the run or score file, decompressed; None for plain mappings.
    qrels_digest : str or None
        The same for the qrels; None where scores came without them.
    unanswered, unknown, without_relevant : tuple of str
        Judged topics that the run did not answer (they score 0), topics of the run without judgements, and
        topics of the qrels without a relevant document (left out of averages).
    from_run : bool
        Whether the scores were computed from a run (then the judged topics are those of the qrels) rather than
        given as such (then both sides must name the same topics).
    judged : Judged or None
        How much of what the run retrieved is judged; None if there is no run.
    as_written : mapping topic -> value
        The score of a run in the order as written (see ``order``), for each topic where it differs.
    contradicted : tuple of str
        Topics of a run whose rank column, or whose order as returned, contradicts their scores.
    repeated : Repeated or None
        How far the answers of a live system agree that was asked twice.
    """

    name: str
    measure: str | None
    topics: tuple[str, ...]
    values: FloatArray
    queries: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    digest: str | None = None
    qrels_digest: str | None = None
    unanswered: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    without_relevant: tuple[str, ...] = ()
    from_run: bool = False
    judged: Judged | None = None
    as_written: Mapping[str, float] = field(default_factory=lambda: _EMPTY)
    contradicted: tuple[str, ...] = ()
    repeated: Repeated | None = None

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        if len(self.topics) == 0:
            raise ScoringError(f"{self.name}: no topic at all", reason="no_common_topic")
        if values.shape != (len(self.topics),):
            raise ValueError(
                f"{self.name}: expected one value per topic ({len(self.topics)}), found shape {values.shape}"
            )
        if not np.all(np.isfinite(values)):
            index = int(np.argmin(np.isfinite(values)))
            raise ScoringError(
                f"{self.name}: the score of topic {self.topics[index]!r} is {values[index]}, expected a finite number"
            )
        sizes = np.abs(values)
        if np.any(sizes > MAX_SCORE):
            raise ScoringError(
                f"{self.name}: the score of topic {self.topics[int(np.argmax(sizes))]!r} is {np.max(sizes):g} in "
                f"size, expected at most {MAX_SCORE:g}"
            )
        if list(self.topics) != sorted(set(self.topics)):
            raise ValueError(f"{self.name}: topics must be sorted and each appear once")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @property
    def mean(self) -> float:
        """The mean over topics, all counted the same; their order never changes it."""
        return math.fsum(self.values) / len(self.topics)

    @property
    def reordered(self) -> tuple[str, ...]:
        """The topics that score noticeably differently in the order as written."""
        values = zip(self.topics, self.values, strict=True)
        return tuple(t for t, value in values if abs(self.as_written.get(t, value) - value) > NOTICEABLE)

    @property
    def is_reordered(self) -> bool:
        """Whether the order as written noticeably changes the scores of more than a few topics, and the average."""
        if len(self.reordered) <= FEW_REORDERED:
            return False
        change = math.fsum(np.abs(self.in_written_order().values - self.values))
        return change > NOTICEABLE * len(self.topics)

    def in_written_order(self) -> TopicScores:
        """The scores that the run would have in the order as written."""
        values = [self.as_written.get(topic, value) for topic, value in zip(self.topics, self.values, strict=True)]
        return replace(self, values=np.array(values), as_written=_EMPTY)

    def without(self, topics: Collection[str]) -> TopicScores:
        """The scores on all other topics, of which there must be one."""
        places = [place for place, topic in enumerate(self.topics) if topic not in topics]
        return replace(
            self,
            topics=tuple(self.topics[place] for place in places),
            values=self.values[places],
            unanswered=tuple(topic for topic in self.unanswered if topic not in topics),
        )

    @classmethod
    def from_mapping(cls, scores: Mapping[str, float], *, name: str) -> TopicScores:
        """Scores given as ``{topic: value}``; topics are compared as text."""
        topics = [str(topic) for topic in scores]
        if len(set(topics)) != len(topics):
            twice = sorted({topic for topic in topics if topics.count(topic) > 1})
            raise ScoringError(f"{name}: topic {twice[0]!r} appears twice")
        by_topic = {topic: _number(name, topic, value) for topic, value in zip(topics, scores.values(), strict=True)}
        ordered = sorted(by_topic)
        return cls(name, None, tuple(ordered), np.array([by_topic[t] for t in ordered], dtype=np.float64))


def read_scores(
    path: Path,
    measures: Sequence[str] | None = None,
    *,
    name: str | None = None,
    content: bytes | None = None,
) -> tuple[TopicScores, ...]:
    """Read per-topic scores, CSV or TSV, plain or gzip.

    A header line with a tab in it means tabs, any other commas; a measure whose text holds a comma is quoted in a
    CSV. A column that ir-measures does not know is a measure of the user's own, without a range.

    Parameters
    ----------
    path : Path
    measures : sequence of str, optional
        Columns to read, in this order; all of them by default.
    name : str, optional
        Default: the file's name without its endings.
    content : bytes, optional
        What the file holds, plain, if it has been read already; the path then only names it.

    Raises
    ------
    ScoresFormatError
        No header, a measure without a column, a column or topic twice, rows of another length, a value that is not a
        finite number or lies outside the measure's range, more than a limit of ``input_files`` allows, or no topic.
    MissingFileError
        The path cannot be read.
    """
    path = Path(path)
    lines = LineReader(path, error=ScoresFormatError, content=content)
    table = _table(lines)
    number, header = next(table)
    columns = _columns(lines, number, header)
    names = list(columns) if measures is None else [_column(lines, number, columns, text) for text in measures]
    scores: dict[str, list[float]] = {}
    line_of: dict[str, int] = {}
    for number, row in table:
        if len(row) != len(header):
            raise _refuse(lines, number, row, f"{len(header)} columns as in the header", str(len(row)))
        topic = _topic(lines, number, row, line_of)
        lines.check_size(rows=len(line_of), columns=len(header))
        scores[topic] = [_score(lines, number, row, column, *columns[column]) for column in names]
    if not scores:
        raise lines.refuse(None, "expected at least one topic below the header, found none")
    topics = tuple(sorted(scores))
    return tuple(
        TopicScores(
            name=name or system_name(path),
            measure=measure,
            topics=topics,
            values=np.array([scores[topic][index] for topic in topics], dtype=np.float64),
            digest=lines.digest,
        )
        for index, measure in enumerate(names)
    )


def write_scores(target: Path | IO[bytes], scores: Sequence[TopicScores]) -> None:
    """Write one system's scores as a table that ``read_scores`` reads back exactly.

    UTF-8, tabs, LF, topics sorted, one column for each measure in the order given, values as ``repr``. ``ValueError``
    without scores, for scores on different topics, and for a measure twice or without a name; ``ScoringError`` for a
    topic that a table cannot hold.
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
    table = csv.writer(buffer, delimiter="\t", lineterminator="\n")
    table.writerow(["topic", *names])
    for index, topic in enumerate(scores[0].topics):
        table.writerow([topic, *(repr(float(column.values[index])) for column in scores)])
    content = buffer.getvalue().encode()
    if isinstance(target, Path):
        target.write_bytes(content)
    else:
        target.write(content)


def _number(name: str, topic: str, value: object) -> float:
    """A score as given to Python: a real number, numpy's included, but no text and no truth value."""
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass
    raise ScoringError(f"{name}: the score of topic {topic!r} is {value!r:.60}, expected a finite number")


def _table(lines: _Lines) -> Iterator[tuple[int, list[str]]]:
    """Rows with their line numbers, the header first; blank lines are left out."""
    filled = ((number, line) for number, line in lines if line.strip())
    number, line = next(filled, (0, b""))
    if not line:
        raise lines.refuse_empty(_TABLE)
    first = line.decode() + "\n"
    if first.split(",")[0].split("\t")[0].strip().strip('"') != "topic":
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


def _columns(lines: _Lines, number: int, header: list[str]) -> dict[str, tuple[int, Measure | None]]:
    """Name of each column of scores -> its place and its measure, where ir-measures knows it."""
    columns: dict[str, tuple[int, Measure | None]] = {}
    for place, cell in enumerate(header[1:], start=1):
        name, measure = _named(cell.strip())
        if not name:
            raise lines.refuse(number, f"expected a measure as the name of column {place + 1}, found {cell!r}")
        if name in columns:
            raise lines.refuse(number, f"expected each measure once, found {name!r} in two columns")
        columns[name] = (place, measure)
    if not columns:
        raise _refuse(lines, number, header, _TABLE, "no column of scores")
    return columns


def _named(text: str) -> tuple[str, Measure | None]:
    try:
        measure = parse_measure(text)
    except UsageError:
        return text, None
    return str(measure), measure


def _column(lines: _Lines, number: int, columns: dict[str, tuple[int, Measure | None]], text: str) -> str:
    name = _named(text.strip())[0]
    if name not in columns:
        near = nearest(name, columns, cutoff=MIN_SIMILARITY)
        hint = f"; the nearest is {near!r}" if near else ""
        raise lines.refuse(number, f"expected a column {name!r}, found {', '.join(map(repr, columns))}{hint}")
    return name


def _topic(lines: _Lines, number: int, row: list[str], line_of: dict[str, int]) -> str:
    topic = row[0].strip()
    if not topic or "\n" in topic or "\r" in topic:
        raise _refuse(lines, number, row, "a topic in the first column", repr(topic))
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
        low, high = bounds(measure) or (-math.inf, math.inf)
        raise _refuse(lines, number, row, f"{column} from {low:g} to {high:g}", cell)
    return value


def _refuse(lines: _Lines, number: int, row: list[str], expected: str, found: str) -> ScoresFormatError:
    # A line that does not belong to the table may be a conflict marker or a pointer that git left there.
    return lines.refuse_line(number, ",".join(row).encode(), expected, found)
