"""Per-topic scores of one system for one measure, what every gate compares."""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pytest_riskguard.data.checks import Rows
from pytest_riskguard.data.given_file import InputData
from pytest_riskguard.data.headers import SYNONYMS, WANTED, places
from pytest_riskguard.data.ids import FloatArray
from pytest_riskguard.data.measures import AVERAGES, MAX_SCORE, known, least_and_greatest, measure_name, out_of_range
from pytest_riskguard.errors import ScoringError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import CELLS, TOPICS
from pytest_riskguard.text import did_you_mean

if TYPE_CHECKING:
    from pytest_riskguard.data.input_files import InputFile
    from pytest_riskguard.data.named_columns import Table

#: A score in a file: topic, measure, value and line.
Row = tuple[str, str, float, int | str | None]

#: Beyond this difference a topic, or the average topic, scores noticeably differently in another order.
NOTICEABLE = 1e-3
#: Equal scores matter if they noticeably change more topics than this, and the average topic: of 28 real runs, only
#: the one with BM25 scores cut to whole numbers does (tests/data/test_run_scores.py). A share of the topics
#: would not do: among thousands of topics, hidden losses in one of a hundred are significant.
FEW_REORDERED = 2
#: Among all topics, one or this share is a few.
FEW = 0.05


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
    """

    name: str
    measure: str | None
    topics: tuple[str, ...]
    values: FloatArray
    queries: Mapping[str, str] = field(default_factory=dict)
    digest: str | None = None
    qrels_digest: str | None = None
    unanswered: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    without_relevant: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    from_run: bool = False
    judged: Judged | None = None
    as_written: Mapping[str, float] = field(default_factory=dict)
    contradicted: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        if len(self.topics) == 0:
            raise ScoringError(f"{self.name}: no topic at all", reason="no_common_topic")
        assert values.shape == (len(self.topics),)
        is_score = np.abs(values) <= MAX_SCORE
        if not is_score.all():
            place = int(np.argmin(is_score))
            what = f"the score of topic {self.topics[place]!r} is {float(values[place])!r}"
            raise ScoringError(f"{self.name}: {what}, expected a finite number of at most {MAX_SCORE:g} in size")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @property
    def a_few(self) -> float:
        """How many topics a baseline may leave unanswered with nobody's consent."""
        return max(1.0, FEW * len(self.topics))

    @cached_property
    def mean(self) -> float:
        """The mean over topics, all counted the same; their order never changes it."""
        return math.fsum(self.values.tolist()) / len(self.topics)

    @property
    def reordered(self) -> tuple[str, ...]:
        """The topics that score noticeably differently in the order as written."""
        changed = np.abs(self._written - self.values) > NOTICEABLE
        return tuple(compress(self.topics, changed))

    @cached_property
    def _written(self) -> FloatArray:
        """The values in the order as written."""
        pairs = zip(self.topics, self.values.tolist(), strict=True)
        return np.array([self.as_written.get(topic, value) for topic, value in pairs])

    @property
    def is_reordered(self) -> bool:
        """Whether the order as written noticeably changes the scores of more than a few topics, and the average."""
        change = float(np.mean(np.abs(self._written - self.values)))
        return change > NOTICEABLE and len(self.reordered) > FEW_REORDERED

    def in_written_order(self) -> TopicScores:
        """The scores that the run would have in the order as written."""
        return replace(self, values=self._written, as_written={})

    def scaled(self, factors: Mapping[str, float], *, reach: float) -> TopicScores:
        """The scores with those of some topics multiplied, up to the ``reach`` of the measure."""
        factor = np.array([factors.get(topic, 1.0) for topic in self.topics])
        return replace(self, values=np.where(factor == 1, self.values, np.minimum(self.values * factor, reach)))

    def only(self, keeps: Callable[[str], bool]) -> TopicScores:
        """The scores on some topics, of which there must be one; what is said of others is left out as well."""
        about = ("topics", "unanswered", "unknown", "without_relevant", "contradicted")
        kept: dict[str, Any] = {name: tuple(filter(keeps, getattr(self, name))) for name in about}
        values = self.values[[keeps(topic) for topic in self.topics]]
        return replace(self, values=values, **kept)


def named(text: str) -> str:
    """ir-measures' name of a measure, whichever tool wrote it; a measure of the user's own keeps its name."""
    text = text.strip()
    name = known(text) or text
    try:
        return measure_name(name)
    except UsageError:
        return name


def scores_of_rows(given: InputData, rows: Iterable[Row]) -> tuple[TopicScores, ...]:
    """The scores of one system, for each measure, under the names of ir-measures.

    The digest of data in memory is that of their table, as it is written. Raises what ``given`` refuses: no rows, a
    topic or a measure that is no text on one line, a value that is not finite or not in the measure's range, a topic
    twice or without a score of some measure, and more than the limits allow.
    """
    cells = [*rows]
    if not cells:
        raise given.refuse(None, "expected per-topic scores, found none")
    topics, measures, _, lines = zip(*cells, strict=True)
    table, every = Rows(given, lines), tuple(sorted({*topics}))
    given.at_most(CELLS, len(cells))
    given.at_most(TOPICS, len(every))
    table.ids(topics, "topic")
    table.ids(measures, "measure")
    names = {text: named(text) for text in dict.fromkeys(measures)}
    reach = {name: least_and_greatest(name) for name in names.values()}
    by_measure: dict[str, dict[str, float]] = {name: {} for name in names.values()}
    for row, (topic, text, value, _) in enumerate(cells):
        name = names[text]
        if (problem := out_of_range(name, reach[name], topic, value)) is not None:
            raise table.error(row, problem)
        if topic in by_measure[name]:
            raise table.error(row, f"expected each topic once, found {name} of topic {topic!r:.60} twice")
        by_measure[name][topic] = value
    scores = []
    for name, values in by_measure.items():
        if lacking := {*every} - values.keys():
            without = f"topic {min(lacking)!r:.60} without {name}"
            raise given.refuse(None, f"expected every measure for every topic, found {without}")
        scores.append(TopicScores(given.name, name, every, np.array([values[topic] for topic in every])))
    digest = given.digest or f"sha256:{hashlib.sha256(scores_table(scores)).hexdigest()}"
    return tuple(replace(one, digest=digest) for one in scores)


def score_rows_of(table: Table) -> dict[str, list[Row]]:
    """System -> its scores in a table.

    The table has a row for each topic and measure, of which those of averages are left out, or a row for each topic
    and a column for each measure, of which those asked for are read.
    """
    given = table.given.columns
    found = places(table.names, "scores", given)
    if absent := next((name for what, name in {"topic": "topic", **given}.items() if what not in found), None):
        listed = ", ".join(map(repr, table.names[:10])) or "none"
        raise table.given.refuse(None, f"expected a column {absent!r:.60}, found the columns {listed}")
    is_long = found.keys() >= {"measure", "value"}
    columns = {found["value"]: "value"} if is_long else _measures_of(table, found)
    by_system: dict[str, list[Row]] = {}
    for place, name in columns.items():
        table.places = found | {name: place}
        topics, values = table.text("topic").strings(), table.numbers(name).tolist()
        texts = table.text("measure").strings() if is_long else [name] * len(topics)
        systems = table.text("system").strings() if "system" in found else [""] * len(topics)
        for row, (system, topic, text, value) in enumerate(zip(systems, topics, texts, values, strict=True)):
            if not (is_long and topic in AVERAGES):
                by_system.setdefault(system, []).append((topic, text, value, table.line(row)))
    return by_system


def _measures_of(table: Table, found: Mapping[str, int]) -> dict[int, str]:
    """The columns of a table that hold a measure each, of those asked for, in this order."""
    measures = {place: named(what) for what, place in found.items() if what not in WANTED["scores"]}
    if not measures:
        others = {found["topic"], found.get("system")}
        names = {place: named(name) for place, name in enumerate(table.names) if place not in others}
        measures = {place: name for place, name in names.items() if name and name.lower() not in SYNONYMS["query"]}
    asked = chosen(table.given, [*measures.values()])
    return {place: name for wanted in asked for place, name in measures.items() if name == wanted}


def scores_of_table(table: Table) -> tuple[TopicScores, ...]:
    """The scores of the only system of a file, or of the one that ``FILE#SYSTEM`` names."""
    from pytest_riskguard.data.json_nodes import chosen as chosen_part

    file, parts = cast("InputFile", table.given), score_rows_of(table) or {"": []}
    rows = chosen_part(file, "system", (((system,), rows) for system, rows in parts.items()))
    return scores_of_rows(file, rows)


def chosen(given: InputData, measures: Sequence[str]) -> list[str]:
    """Those of the measures that are asked for, in this order; all where none is."""
    names = [*measures] if given.measures is None else list(map(named, given.measures))
    for name in names:
        if name not in measures:
            listed = ", ".join(map(repr, measures)) or "no measures"
            raise given.refuse(None, f"expected a measure {name!r}, found {listed}{did_you_mean(name, measures)}")
    return names


def scores_table(scores: Sequence[TopicScores]) -> bytes:
    """One system's scores as a table that ``read_scores`` reads back exactly.

    All have the same topics, which come sorted, and measures with different names, each a column; UTF-8, LF, values
    as ``repr``.
    """
    names, topics = [column.measure for column in scores], scores[0].topics
    assert all(column.topics == topics for column in scores)
    rows = zip(topics, *(map(repr, column.values.tolist()) for column in scores), strict=True)
    return tab_separated([("topic", *names), *rows]).encode()


def tab_separated(rows: Iterable[Iterable[object]]) -> str:
    """Rows as text, cells quoted where needed."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter="\t", lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def write_scores(path: Path, scores: Sequence[TopicScores]) -> None:
    """Write one system's scores as a table with tabs that ``read_scores`` reads back exactly."""
    path.write_bytes(scores_table(scores))
