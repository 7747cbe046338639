"""Per-topic scores of one system for one measure, what every gate compares."""

from __future__ import annotations

import csv
import hashlib
import io
import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from numbers import Real
from operator import lt
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.input_files import bytes_beyond
from pytest_riskguard.data.measure_names import standard_name
from pytest_riskguard.data.measures import MIN_SIMILARITY, least_and_greatest, measure_name
from pytest_riskguard.errors import ScoringError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import CELLS, ROW_BYTES, TOPICS
from pytest_riskguard.text import nearest

if TYPE_CHECKING:
    from pytest_riskguard.data.checks import Input

FloatArray = npt.NDArray[np.float64]
#: A score in a file: topic, measure, value and line.
Row = tuple[str, str, float, int | None]

_EMPTY: Mapping[str, Any] = MappingProxyType({})

#: No score of a retrieval system is larger; squares and weighted losses of such scores are still finite.
MAX_SCORE = 1e50
#: Beyond this difference a topic, or the average topic, scores noticeably differently in another order.
NOTICEABLE = 1e-3
#: Equal scores matter if they noticeably change more topics than this, and the average topic: of 28 real runs, only
#: the one with BM25 scores cut to whole numbers does (tests/data/test_run_scores.py). A share of the topics
#: would not do: among thousands of topics, hidden losses in one of a hundred are significant.
FEW_REORDERED = 2
#: Among all topics, one or this share is a few.
FEW = 0.05
#: A score in a file may lie so far outside the range of its measure.
ROUNDING = 1e-9


@frozen
class Judged:
    """How much of what a run retrieved is judged.

    Attributes
    ----------
    answered : int
        Scored topics that the run answers.
    topics : int
        How many of these retrieve at least one judged document, at any rank.
    share : float
        Of the documents in the first 10 ranks of all these topics, the share that is judged.
    """

    answered: int
    topics: int
    share: float


@frozen
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


@frozen(eq=False)
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
    accepted : tuple of str
        Unanswered topics that count as 0 all the same: accepted when a baseline was stored, or judged only since.
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
    accepted: tuple[str, ...] = ()
    from_run: bool = False
    judged: Judged | None = None
    as_written: Mapping[str, float] = field(default_factory=lambda: _EMPTY)
    contradicted: tuple[str, ...] = ()
    repeated: Repeated | None = None

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        if len(self.topics) == 0:
            raise ScoringError(f"{self.name}: no topic at all", reason="no_common_topic")
        assert values.shape == (len(self.topics),)
        assert all(map(lt, self.topics, self.topics[1:]))
        is_score = np.abs(values) <= MAX_SCORE
        if not is_score.all():
            place = int(np.argmin(is_score))
            found = f"the score of topic {self.topics[place]!r} is {values[place]:g}"
            raise ScoringError(f"{self.name}: {found}, expected a finite number of at most {MAX_SCORE:g} in size")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @property
    def a_few(self) -> float:
        """How many topics a baseline may leave unanswered with nobody's consent."""
        return max(1.0, FEW * len(self.topics))

    @property
    def mean(self) -> float:
        """The mean over topics, all counted the same; their order never changes it."""
        return math.fsum(self.values) / len(self.topics)

    @property
    def reordered(self) -> tuple[str, ...]:
        """The topics that score noticeably differently in the order as written."""
        if not self.as_written:
            return ()
        changed = np.flatnonzero(np.abs(self._written - self.values) > NOTICEABLE)
        return tuple(self.topics[place] for place in changed.tolist())

    @cached_property
    def _written(self) -> FloatArray:
        """The values in the order as written."""
        written, end = np.array(self.values), len(self.topics)
        for topic, value in self.as_written.items():
            place = bisect_left(self.topics, topic)
            if place < end and self.topics[place] == topic:
                written[place] = value
        return written

    @property
    def is_reordered(self) -> bool:
        """Whether the order as written noticeably changes the scores of more than a few topics, and the average."""
        if len(self.reordered) <= FEW_REORDERED:
            return False
        change = math.fsum(np.abs(self._written - self.values))
        return change > NOTICEABLE * len(self.topics)

    def in_written_order(self) -> TopicScores:
        """The scores that the run would have in the order as written."""
        return replace(self, values=self._written, as_written=_EMPTY)

    def scaled(self, factors: Mapping[str, float], *, reach: float) -> TopicScores:
        """The scores with those of some topics multiplied, up to the ``reach`` of the measure."""
        factor = np.array([factors.get(topic, 1.0) for topic in self.topics])
        return replace(self, values=np.where(factor == 1, self.values, np.minimum(self.values * factor, reach)))

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


def _number(name: str, topic: str, value: object) -> float:
    """A score as given to Python: a real number, numpy's included, but no text and no truth value."""
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass
    raise ScoringError(f"{name}: the score of topic {topic!r} is {value!r:.60}, expected a finite number")


def named(text: str) -> str:
    """ir-measures' name of a measure, whichever tool wrote it; a measure of the user's own keeps its name."""
    name = standard_name(text.strip())
    try:
        return measure_name(name)
    except UsageError:
        return name


def scores_of(
    given: Input,
    topics: Sequence[str],
    measures: Sequence[str],
    values: npt.ArrayLike,
    *,
    lines: Sequence[int | None] | None = None,
    digest: str | None = None,
) -> tuple[TopicScores, ...]:
    """The scores of one system, for each measure, from columns with a row for each topic and measure.

    Measures are named as ir-measures names them. ``lines`` has the line of each row; ``digest`` is by default that of
    the table that ``write_scores`` writes. Raises what ``given`` refuses: no rows, a topic or a measure that is no
    text on one line, a value that is not finite or not in the measure's range, a topic twice or without a score of
    some measure, and more than the limits allow.
    """
    if not len(topics):
        raise given.refuse(None, "expected per-topic scores, found none")

    def refuse(row: int, problem: str) -> Exception:
        return given.refuse(None if lines is None else lines[row], problem)

    for what, texts in (("topic", topics), ("measure", measures)):
        for text in dict.fromkeys(texts):
            if not text or text != text.strip() or any(character in text for character in "\n\r\0"):
                problem = f"expected a {what} on one line, without spaces around it, found {text!r:.60}"
                raise refuse(texts.index(text), problem)
            if size := bytes_beyond(text, ROW_BYTES.value):
                raise refuse(texts.index(text), f"{text[:20] + '…'!r}: {ROW_BYTES.problem(size)}")
    names = {text: named(text) for text in dict.fromkeys(measures)}
    every, columns = sorted({*topics}), [*dict.fromkeys(names.values())]
    for limit, found in ((TOPICS, len(every)), (CELLS, len(topics))):
        if found > limit.value:
            raise given.refuse(None, limit.problem(found))
    places = {topic: place for place, topic in enumerate(every)}
    row_of = np.array([places[topic] for topic in topics])
    column_of = np.array([columns.index(names[text]) for text in measures])
    values = np.array(values, dtype=np.float64)
    low, high = np.array([least_and_greatest(name) for name in columns]).T[:, column_of]
    is_possible = np.isfinite(values) & (values >= low - ROUNDING) & (values <= high + ROUNDING)
    if not is_possible.all():
        row = int(np.argmin(is_possible))
        expected = f"{columns[column_of[row]]} from {low[row]:g} to {high[row]:g}"
        if not np.isfinite(values[row]):
            expected = f"a finite number as {columns[column_of[row]]}"
        raise refuse(row, f"expected {expected}, found {float(values[row])!r} (topic {topics[row]!r:.60})")
    _, first = np.unique(column_of * len(every) + row_of, return_index=True)
    if len(first) < len(topics):
        row = int(np.setdiff1d(np.arange(len(topics)), first)[0])
        found_twice = f"{columns[column_of[row]]} of topic {topics[row]!r:.60} twice"
        raise refuse(row, f"expected each topic once, found {found_twice}")
    table = np.full((len(columns), len(every)), np.nan)
    table[column_of, row_of] = values
    if (gaps := np.argwhere(np.isnan(table))).size:
        lacks, topic = gaps[0]
        has = columns[int(np.argmax(~np.isnan(table[:, topic])))]
        without = f"{has} of topic {every[topic]!r:.60} without {columns[lacks]}"
        raise given.refuse(None, f"expected every measure for every topic, found {without}")
    pairs = zip(columns, table, strict=True)
    scores = [TopicScores(given.name, measure, tuple(every), of_measure) for measure, of_measure in pairs]
    digest = digest or digest_of(scores)
    return tuple(replace(one, digest=digest) for one in scores)


def scores_of_rows(given: Input, rows: Iterable[Row], *, digest: str | None = None) -> tuple[TopicScores, ...]:
    """As ``scores_of``, from rows."""
    columns: Any = [*zip(*rows, strict=True)] or [()] * 4
    return scores_of(given, *columns[:3], lines=columns[3], digest=digest)


def chosen(
    given: Input, columns: Iterable[str], measures: Sequence[str] | None, *, line: int | None = None
) -> list[str]:
    """Those of the columns that are asked for, in this order; all without ``measures``. ``line`` is the header's."""
    known = [*columns]
    names = known if measures is None else list(map(named, measures))
    for name in names:
        if name not in known:
            near = nearest(name, known, cutoff=MIN_SIMILARITY)
            hint = f"; the nearest is {near!r}" if near else ""
            raise given.refuse(line, f"expected a measure {name!r}, found {', '.join(map(repr, known))}{hint}")
    return names


def digest_of(scores: Sequence[TopicScores]) -> str:
    """``sha256:...`` of the table that ``write_scores`` writes."""
    buffer = io.BytesIO()
    write_scores(buffer, scores)
    return f"sha256:{hashlib.sha256(buffer.getvalue()).hexdigest()}"


def write_scores(target: Path | IO[bytes], scores: Sequence[TopicScores], *, delimiter: str = "\t") -> None:
    """Write one system's scores as a table that ``read_scores`` reads back exactly.

    All have the same topics, which come sorted, and measures with different names, each a column; UTF-8, LF, values
    as ``repr``. ``ScoringError`` for a topic that a table cannot hold.
    """
    names, topics = [column.measure for column in scores], scores[0].topics
    assert None not in names
    assert len({*names}) == len(names)
    assert all(column.topics == topics for column in scores)
    for topic in topics:
        if topic != topic.strip() or not topic or "\n" in topic or "\r" in topic:
            raise ScoringError(f"expected topics on one line, without spaces around them, found {topic!r}")
    buffer = io.StringIO(newline="")
    table = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    table.writerow(["topic", *names])
    table.writerows(zip(topics, *(map(repr, column.values.tolist()) for column in scores), strict=True))
    content = buffer.getvalue().encode()
    if isinstance(target, Path):
        target.write_bytes(content)
    else:
        target.write(content)
