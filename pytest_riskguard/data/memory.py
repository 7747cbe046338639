"""What an error says of data in memory: the name they go by, and the row."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from numbers import Integral
from os import PathLike
from typing import Any, Protocol, SupportsFloat, cast
from uuid import UUID

from pytest_riskguard.data.checks import is_identifier
from pytest_riskguard.data.columns import SYNONYMS, WANTED, NamedRows, NumberedRow, missing_columns, named, places
from pytest_riskguard.data.given_file import AS_GIVEN, Ties
from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.measure_names import AVERAGES, are_measures, standard_name
from pytest_riskguard.data.records import Judgement, Kind, Ranking, Records, Score, TopicKeys, TopicRow
from pytest_riskguard.data.scores import TopicScores, scores_of_rows
from pytest_riskguard.errors import DataError, ScoringError
from pytest_riskguard.text import clean


class Input(Protocol):
    """Where rows come from, a file or an object in memory: its name, and the error to raise for one of its rows."""

    @property
    def name(self) -> str:
        """What errors and verdicts call it."""

    def refuse(self, line: int | None, problem: str) -> DataError:
        """The error to raise; ``line`` is None if it concerns the whole."""


class InputData:
    """An object in memory; ``reason`` is that of the ``DataError`` to raise for its content."""

    def __init__(self, name: str, *, reason: str) -> None:
        self.name, self._reason = name, reason
        self.keys: TopicKeys | None = None
        self.labels, self.ties = AS_GIVEN, cast("Ties | None", None)

    def refuse(self, line: int | None, problem: str) -> DataError:
        """The error to raise; ``line`` is the row, from 1."""
        where = self.name if line is None else f"{self.name}, row {line}"
        return DataError(f"{where}: {problem}", reason=self._reason)


# Single values in memory: ids, numbers, and what stands for nothing.


#: Names of types whose values are not numbers although ``float`` takes them: Python's and numpy's truth values.
_TRUTH = frozenset({"bool", "bool_"})
#: Names of the types of pandas' missing values.
_NOTHING = frozenset({"NAType", "NaTType", "NoneType"})


def identifier(given: Input, row: int | None, value: object, what: str) -> str:
    """An id as text: text on one line, a whole number or a UUID."""
    if isinstance(value, Integral | UUID) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise given.refuse(row, f"expected text or a whole number as the {what}, found {shown(value)}")
    if not is_identifier(value):
        raise given.refuse(row, f"expected a {what} on one line, without spaces around it, found {value!r:.60}")
    return str(value)


def number(value: object) -> float:
    """A finite number; NaN for anything else, text and truth values included."""
    if not isinstance(value, SupportsFloat) or type(value).__name__ in _TRUTH:
        return math.nan
    try:
        converted = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return converted if math.isfinite(converted) else math.nan


def plain(value: object) -> object:
    """A cell as Python has it: None for nothing, whole and other numbers of any library as ``int`` and ``float``."""
    if value is None or isinstance(value, str | float) or type(value) in (int, bool):
        return value
    if is_missing(value):
        return None
    if isinstance(value, UUID):
        return str(value)
    if not isinstance(value, SupportsFloat) or type(value).__name__ in _TRUTH:
        return value
    try:
        return int(value) if isinstance(value, Integral) else float(value)
    except (TypeError, ValueError, OverflowError):  # an array, say
        return value


def is_missing(value: object) -> bool:
    """Whether a cell holds nothing: None, NaN, or pandas' NA."""
    return type(value).__name__ in _NOTHING or (isinstance(value, float) and math.isnan(value))


def shown(value: object) -> str:
    """A value for a message."""
    return "nothing" if is_missing(value) else f"{clean(repr(value), limit=60)} ({type(value).__name__})"


# Tables in memory: columns with names, as frames and rows with named fields have them.


@dataclass(frozen=True)
class Table:
    """Columns under their names; ``column`` gives the values of one by its place."""

    given: Input
    names: tuple[str, ...]
    column: Callable[[int], Any]
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_documents(self) -> bool:
        """Whether one of the columns holds documents or their ranks."""
        return bool(places(self.names, ["document", "rank"]))

    def named_rows(self, kind: Kind) -> NamedRows:
        """The rows, to be read as those of a file are; refuses a table without the columns that are needed."""
        if (problem := missing_columns(self.names, kind, self.columns)) is not None:
            listed = ", ".join(map(repr, self.names[:10])) or "none"
            raise self.given.refuse(None, f"expected named columns, but {problem}; found the columns {listed}")
        used = sorted(places(self.names, WANTED[kind], kind, self.columns).values())
        if kind == "topics":  # further columns are tags
            used = [*range(len(self.names))]
        return NamedRows(
            [self.names[place] for place in used], self._rows(used), kind, self.given.refuse, self.columns
        )

    def _rows(self, used: Sequence[int]) -> Iterator[NumberedRow]:
        columns = [_cells(self.column(place)) for place in used]
        yield from enumerate(zip(*columns, strict=True), 1)


def _cells(column: Any) -> list[Any]:
    if isinstance(column, Ids):
        return column.strings()
    return [plain(cell) for cell in (column.tolist() if hasattr(column, "tolist") else column)]


def table_judgements(table: Table) -> Records[Judgement]:
    """A row for each judged document; rows without a grade are left out."""
    return table.named_rows("judgements").judgements()


def table_rankings(table: Table) -> Records[Ranking]:
    """A row for each document; where there are no scores, the rank counts."""
    return table.named_rows("rankings").rankings()


def table_topics(table: Table) -> Records[TopicRow]:
    """A row for each topic; further columns are tags."""
    return table.named_rows("topics").topics()


def table_scores(table: Table, system: str | None = None) -> tuple[TopicScores, ...]:
    """One system's scores: a row for each topic and measure, or a row for each topic and a column for each measure.

    ``system`` says whose rows count in a table of several systems; rows of averages are left out.
    """
    columns = places(table.names, ["measure", "topic", "value", "system"])
    if columns.keys() >= {"measure", "topic", "value"}:
        return scores_of_rows(table.given, _long_scores(table, columns, _rows_of(table, columns, system)))
    columns = places(table.names, ["topic", "system"])
    return scores_of_rows(table.given, _wide_scores(table, columns, _rows_of(table, columns, system)))


def _rows_of(table: Table, columns: Mapping[str, int], system: str | None) -> Iterator[tuple[int, str]]:
    """The rows of one system, each with its number and its topic."""
    if "topic" not in columns:
        listed = ", ".join(map(repr, table.names[:10])) or "none"
        raise table.given.refuse(None, f"expected a column for {named(['topic'])}; found the columns {listed}")
    topics = table.column(columns["topic"])
    systems = [str(name) for name in table.column(columns["system"])] if "system" in columns else [""] * len(topics)
    present = dict.fromkeys(systems)
    if len(present) > 1 and system not in present:
        listed = ", ".join(present)
        problem = f"expected the scores of one system, found those of {listed}: say whose with `name=`"
        raise table.given.refuse(None, problem)
    for row, (key, owner) in enumerate(zip(topics, systems, strict=True), 1):
        topic = identifier(table.given, row, key, "topic")
        if topic not in AVERAGES and (len(present) == 1 or owner == system):
            yield row, topic


def _long_scores(table: Table, columns: Mapping[str, int], rows: Iterable[tuple[int, str]]) -> Iterator[Score]:
    measures, values = table.column(columns["measure"]), table.column(columns["value"])
    for row, topic in rows:
        measure = str(measures[row - 1])
        yield _score(table.given, row, topic, measure, values[row - 1])._replace(measure=standard_name(measure))


def _wide_scores(table: Table, columns: Mapping[str, int], rows: Iterable[tuple[int, str]]) -> Iterator[Score]:
    measured = [
        (name, table.column(place))
        for place, name in enumerate(table.names)
        if place not in columns.values() and name.strip().lower() not in SYNONYMS["query"]
    ]
    for row, topic in rows:
        yield from (_score(table.given, row, topic, name, cells[row - 1]) for name, cells in measured)


def _score(given: Input, row: int, topic: str, measure: str, value: Any) -> Score:
    finite = number(value)
    if finite != finite:
        expected = f"expected a finite number as the {measure} of topic {topic!r}"
        raise given.refuse(row, f"{expected}, found {shown(value)}")
    return Score(topic, measure, finite, row)


# Mappings with an entry for each topic: pytrec_eval's and ranx's shape, ids in order, relevant documents.


_Data = Mapping[Any, Any]


def mapping_judgements(given: Input, data: _Data) -> Records[Judgement]:
    """Topic -> document -> grade; or topic -> the relevant documents, whose grade is 1."""
    return Records(list(_judgements(given, data)))


def _judgements(given: Input, data: _Data) -> Iterator[Judgement]:
    for key, judged in data.items():
        topic = identifier(given, None, key, "topic")
        if isinstance(judged, Mapping):
            grades = list(judged.items())
        elif isinstance(judged, set | frozenset | list | tuple):
            grades = [(document, 1) for document in judged]
        else:
            expected = "a mapping document -> grade, or a set of relevant documents"
            raise _unexpected(given, f"{expected}, for topic {topic!r}", judged)
        for document, grade in grades:
            value = number(grade)
            if value != value:
                where = f"of {document!r:.60} in topic {topic!r}"
                raise given.refuse(None, f"expected a number as the grade {where}, found {shown(grade)}")
            yield Judgement(topic, identifier(given, None, document, "document"), value)


def mapping_rankings(given: Input, data: _Data) -> Records[Ranking]:
    """Topic -> document -> score; or topic -> pairs of document and score, hits, or documents in their order."""
    rows = [_ranking(given, identifier(given, None, key, "topic"), answer) for key, answer in data.items()]
    return Records(rows, is_ordered=all(row.scores is None for row in rows))


def _ranking(given: Input, topic: str, answer: object) -> Ranking:
    if isinstance(answer, Mapping):
        pairs: list[Any] = list(answer.items())
    elif isinstance(answer, str | bytes | set | frozenset) or not isinstance(answer, Iterable):
        expected = "a mapping document -> score, or a sequence of documents"
        raise _unexpected(given, f"{expected}, for topic {topic!r}", answer)
    else:
        pairs = list(answer)
        if pairs and all(isinstance(entry, Mapping) for entry in pairs):
            pairs = [_hit(given, topic, entry) for entry in pairs]
            if all(score is None for _, score in pairs):
                pairs = [document for document, _ in pairs]
        if pairs and all(isinstance(entry, str | Integral) for entry in pairs):
            return Ranking(topic, [identifier(given, None, entry, "document") for entry in pairs])
    documents, scores = [], []
    for entry in pairs:
        try:
            document, score = entry
        except (TypeError, ValueError):
            found = f"topic {topic!r}: expected (docid, score), found {entry!r:.60}"
            raise given.refuse(None, found) from None
        value = number(score)
        if value != value:
            where = f"of {document!r:.60} in topic {topic!r}"
            raise given.refuse(None, f"expected a finite number as the score {where}, found {shown(score)}")
        documents.append(identifier(given, None, document, "document"))
        scores.append(value)
    return Ranking(topic, documents, scores)


def _hit(given: Input, topic: str, hit: Mapping[Any, Any]) -> tuple[Any, Any]:
    """The document and the score of a hit, None where it has none."""
    names = [name for name in hit if isinstance(name, str)]
    columns = places(names, ["document", "score"], "rankings")
    if "document" not in columns:
        listed = ", ".join(map(repr, names[:10]))
        problem = f"a {named(['document'], 'rankings')} in each hit of topic {topic!r}, found {listed}"
        raise given.refuse(None, f"expected {problem}")
    return hit[names[columns["document"]]], hit[names[columns["score"]]] if "score" in columns else None


def mapping_topics(given: Input, data: _Data) -> Records[TopicRow]:
    """Topic -> query text; or topic -> mapping with the text, and perhaps a weight and tags, by their names."""
    return Records([_topic(given, identifier(given, None, key, "topic"), value) for key, value in data.items()])


def _topic(given: Input, topic: str, value: object) -> TopicRow:
    if isinstance(value, str):
        return TopicRow(topic, value)
    if not isinstance(value, Mapping):
        raise _unexpected(given, f"a query text for topic {topic!r}", value)
    names = list(map(str, value))
    columns = {what: names[place] for what, place in places(names, ["query", "weight"]).items()}
    text = value.get(columns.get("query"))
    if not isinstance(text, str):
        raise _unexpected(given, f"a query text under `query` for topic {topic!r}", text)
    weight = number(value[columns["weight"]]) if "weight" in columns else None
    if weight is not None and not weight > 0:
        raise given.refuse(None, f"expected a weight above 0 for topic {topic!r}, found {value[columns['weight']]!r}")
    tags = {str(n): "" if is_missing(v) else str(v) for n, v in value.items() if str(n) not in columns.values()}
    return TopicRow(topic, text, tags, weight)


def mapping_scores(given: Input, data: _Data) -> tuple[TopicScores, ...]:
    """Topic -> measure -> value, as pytrec_eval gives it, or measure -> topic -> value, as ranx does."""
    if data and all(isinstance(name, str) for name in data) and are_measures(data):
        by_topic: dict[Any, dict[str, Any]] = {}
        for measure, values in data.items():
            if not isinstance(values, Mapping):
                raise _unexpected(given, f"a mapping topic -> value for {measure}", values)
            for topic, value in values.items():
                by_topic.setdefault(topic, {})[measure] = value
        data = by_topic
    return scores_of_rows(given, _scores(given, data))


def _scores(given: Input, data: _Data) -> Iterator[Score]:
    for key, values in data.items():
        topic = identifier(given, None, key, "topic")
        if not isinstance(values, Mapping):
            raise _unexpected(given, f"a mapping measure -> value for topic {topic!r}", values)
        for measure, value in values.items():
            plain = number(value)
            if plain != plain:
                wanted = f"expected a finite number as the {measure} of topic {topic!r}"
                raise given.refuse(None, f"{wanted}, found {shown(value)}")
            yield Score(topic, standard_name(str(measure)), plain)


def _unexpected(given: Input, expected: str, value: object) -> Exception:
    return given.refuse(None, f"expected {expected}, found {shown(value)}")


# Rows with named fields as tables: ir_measures' ``ScoredDoc``, ``Qrel`` and ``Metric``, mappings, dataclasses.


def table_of_rows(given: Input, rows: Iterable[object]) -> Table:
    """The columns of rows with named fields; a mapping without one of them has nothing there.

    ``TypeError`` for rows without names.
    """
    kept = list(rows)
    names: dict[str, None] = {}
    classes: dict[type, Sequence[str]] = {}
    for number, row in enumerate(kept, 1):
        if isinstance(row, Mapping):
            names.update(dict.fromkeys(map(str, row)))
        elif type(row) not in classes:
            classes[type(row)] = _fields(given, number, row)
            names.update(dict.fromkeys(classes[type(row)]))
    listed = tuple(names)
    return Table(given, listed, lambda place: [_value(row, listed[place]) for row in kept])


def _fields(given: Input, number: int, row: object) -> Sequence[str]:
    names = getattr(type(row), "_fields", None)
    if isinstance(names, tuple):
        return names
    if is_dataclass(row):
        return [field.name for field in fields(row)]
    if hasattr(row, "__dict__"):
        return [name for name in vars(row) if not name.startswith("_")]
    expected = "rows with named fields, such as ir_measures.ScoredDoc or dicts, or a mapping with the topics as keys"
    raise TypeError(f"{given.name}: expected {expected}; found {shown(row)} as row {number}")


def _value(row: object, name: str) -> object:
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)


# Frames of pandas, polars and PyArrow as tables, and pandas' series, through narwhals.


class Frame(Protocol):
    """For type checkers: a frame of pandas, polars, PyArrow, or another library that narwhals knows."""

    @property
    def columns(self) -> Any:
        """Their names, or the columns themselves."""


class Series(Protocol):
    """For type checkers: a series with an index, as pandas has it."""

    @property
    def index(self) -> Any:
        """One topic for each value."""

    def to_dict(self) -> Any:
        """The values by their index."""


def is_frame(data: object) -> bool:
    """Whether an object has named columns; its class is asked, since polars warns when a lazy frame is."""
    return hasattr(type(data), "columns") and not isinstance(data, Mapping)


def is_series(data: object) -> bool:
    """Whether an object is one column, with an index or without one."""
    kind = type(data)
    return kind.__name__ == "Series" or (hasattr(kind, "index") and hasattr(kind, "to_dict") and not is_frame(data))


def table_of_frame(given: Input, frame: Any) -> Table:
    """The columns of a frame; the levels of pandas' index that have names are columns too.

    ``TypeError`` for a frame that is not in memory.
    """
    import narwhals as nw
    from narwhals.exceptions import NarwhalsError

    frame = _with_index(frame)
    if type(frame).__name__ == "RecordBatch":
        import pyarrow  # the batch has loaded it

        frame = pyarrow.Table.from_batches([frame])
    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError:
        remedy = "collect it first, such as with `.collect()`"
        raise TypeError(f"{given.name}: expected a frame in memory, found {_kind(frame)}; {remedy}") from None
    except (NarwhalsError, ValueError) as problem:
        raise given.refuse(None, f"expected columns with different names: {clean(str(problem))}") from None
    columns = list(eager.columns)
    return Table(given, tuple(map(str, columns)), lambda place: eager.get_column(columns[place]).to_list())


def mapping_of_series(series: Any, what: str) -> dict[Hashable, object]:
    """The values of a series by its index.

    ``TypeError`` for one without an index of topics, such as row numbers, which would pair topics by their places;
    ``ScoringError`` for a topic twice.
    """
    if not hasattr(series, "index") or callable(series.index):
        raise TypeError(
            f"{what}: expected a topic for each score, found {_kind(series)}, which has no index; give a frame with "
            "a column of topics and one of scores, or a mapping topic -> score"
        )
    if series.index.nlevels != 1:
        levels = ", ".join(map(str, series.index.names))
        raise TypeError(
            f"{what}: expected an index of topics, found one of {series.index.nlevels} levels ({levels}); "
            "`.reset_index()` makes a frame of it"
        )
    index = series.index
    if type(index).__name__ == "RangeIndex" and (index.name, index.start, index.step) == (None, 0, 1):
        raise TypeError(
            f"{what}: expected an index of topics, found row numbers; set it first, such as with "
            "`frame.set_index('qid')`; if the numbers are the topics, name it: `series.rename_axis('topic')`"
        )
    topics = series.index.to_list()
    twice = len(topics) - len(set(topics))
    if twice:
        repeated = next(topic for place, topic in enumerate(topics) if topic in topics[:place])
        raise ScoringError(f"{what}: expected each topic once in the index, found {repeated!r} again")
    return dict(zip(topics, series.to_list(), strict=True))


def _with_index(frame: Any) -> Any:
    """The frame with the named levels of its index as columns; without topics, with its unnamed index as topics."""
    index = getattr(frame, "index", None)
    if index is None or not hasattr(frame, "reset_index"):
        return frame
    if any(name is not None for name in index.names):
        with suppress(ValueError):  # there is a column of that name already
            return frame.reset_index()
        return frame
    is_numbered = type(index).__name__ == "RangeIndex"
    if is_numbered or places(map(str, frame.columns), ["topic", "query"]):
        return frame
    return frame.reset_index(names="topic")


def _kind(value: object) -> str:
    return f"{type(value).__module__.partition('.')[0]} {type(value).__name__}"


# ranx' ``Run`` and ``Qrels`` as mappings; ranx is not imported, since an object of it has done so.


def is_of_ranx(data: object) -> bool:
    """Whether an object is one of ranx' or of a class derived from it."""
    return any(base.__module__.partition(".")[0] == "ranx" for base in type(data).__mro__)


def mapping_of(data: Any, *, wanted: str, what: str) -> Mapping[str, Mapping[str, float]]:
    """Topic -> document -> number; ``TypeError`` for a ``Run`` where ``Qrels`` are expected, or the reverse."""
    kinds = [base.__name__ for base in type(data).__mro__]
    if wanted not in kinds:
        raise TypeError(f"{what}: expected a ranx {wanted}, found a ranx {type(data).__name__}")
    mapping: Mapping[str, Mapping[str, float]] = data.to_dict()
    return mapping


def scores_of(run: Any, *, what: str) -> Mapping[str, Mapping[str, float]]:
    """Measure -> topic -> value, of a ``Run`` that has been evaluated."""
    by_measure: Mapping[str, Mapping[str, float]] = getattr(run, "scores", {})
    if not by_measure:
        raise TypeError(f"{what}: expected per-topic scores, found a ranx {type(run).__name__} without any")
    return by_measure


# Which shape data in memory have, and the reader for it; no library is imported unless an object of it comes in.


class Row(Protocol):
    """For type checkers: a row with named fields, as those of ir_measures and ir_datasets."""

    @property
    def query_id(self) -> Any:
        """The topic."""


Rows = Iterable[Row] | Iterable[Mapping[str, Any]]

#: Rankings in memory, for type checkers; ranx' ``Run``, which has no types, is one too.
RankingsData = Mapping[Any, Iterable[Any]] | Frame | Rows
#: Judgements in memory; ranx' ``Qrels`` are too.
JudgementsData = Mapping[Any, Iterable[Any]] | Frame | Rows
#: Topics in memory.
TopicsData = Mapping[Any, str | Mapping[str, Any]] | Frame | Rows
#: Per-topic scores in memory, for named measures.
ScoresData = Mapping[Any, Mapping[Any, float]] | Frame | Rows
#: Per-topic scores for one measure, or rankings.
SystemData = Mapping[Any, float | Iterable[Any]] | Series | Frame | Rows

_RANKINGS = (
    "a mapping topic -> {document: score} or topic -> [document, ...], a frame with columns for topic, document and "
    "score, a ranx Run, or rows such as ir_measures.ScoredDoc"
)
_SYSTEM = (
    "scores (a mapping topic -> score, a series, a frame) or rankings (a mapping topic -> {document: score}, ...)"
)
_JUDGEMENTS = (
    "a mapping topic -> {document: grade}, a frame with columns for topic, document and grade, ranx Qrels, or rows "
    "such as ir_measures.Qrel"
)
_TOPICS = "a mapping topic -> query text, a frame with columns for topic and query, or rows with these fields"
_SCORES = (
    "a mapping topic -> {measure: value}, a frame with topics, measures and values, an evaluated ranx Run, or "
    "rows such as ir_measures.Metric"
)


_OfMapping = Callable[[Input, Mapping[Any, Any]], Any]
_OfTable = Callable[[Table], Any]


def is_data(value: object) -> bool:
    """Whether an object may be data in memory: anything but a path, text, a number or a function."""
    if is_of_ranx(value) or is_frame(value) or is_series(value) or isinstance(value, Mapping):
        return True
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def settled(data: Any) -> Any:
    """The data, which may be looked at more than once: an iterator is read."""
    return list(data) if isinstance(data, Iterator) else data


def are_topic_scores(data: Any, what: str) -> bool:
    """Whether data hold per-topic scores rather than rankings; read an iterator by ``settled`` before.

    ``TypeError`` for what is neither; ``what`` is what the error calls it.
    """
    if not is_data(data):
        hint = "; `score_run` reads run files" if isinstance(data, str | PathLike) else ""
        raise TypeError(f"{what}: expected {_SYSTEM}; found {shown(data)}{hint}")
    if is_series(data):
        return True
    if is_of_ranx(data):
        return False
    if isinstance(data, Mapping):
        answer = next(iter(data.values()), 0.0)
        return not isinstance(answer, Mapping | Iterable) or isinstance(answer, str | bytes)
    table = _table(data, InputData(what, reason="bad_run"))
    return table is not None and not table.has_documents


def rankings(data: Any, given: Input) -> Records[Ranking]:
    """Rankings in memory; ``TypeError`` for data of another shape, the error of ``given`` for what they hold."""
    if is_of_ranx(data):
        return mapping_rankings(given, mapping_of(data, wanted="Run", what=given.name))
    records: Records[Ranking] = _read(data, given, mapping_rankings, table_rankings, _RANKINGS)
    return records


def judgements(data: Any, given: Input) -> Records[Judgement]:
    """Judgements in memory; errors as ``rankings``."""
    if is_of_ranx(data):
        return mapping_judgements(given, mapping_of(data, wanted="Qrels", what=given.name))
    records: Records[Judgement] = _read(data, given, mapping_judgements, table_judgements, _JUDGEMENTS)
    return records


def topics(data: Any, given: Input) -> Records[TopicRow]:
    """Topics in memory; errors as ``rankings``."""
    records: Records[TopicRow] = _read(data, given, mapping_topics, table_topics, _TOPICS)
    return records


def scores(data: Any, given: Input, *, system: str | None = None) -> tuple[TopicScores, ...]:
    """Per-topic scores of one system, for named measures; errors as ``rankings``."""
    if is_of_ranx(data):
        return mapping_scores(given, scores_of(data, what=given.name))
    if not isinstance(data, Mapping) and (table := _table(data, given)) is not None:
        return table_scores(table, system)
    found: tuple[TopicScores, ...] = _read(data, given, mapping_scores, table_scores, _SCORES)
    return found


def topic_values(series: Any, what: str) -> dict[Any, Any]:
    """The values of a series by their topics."""
    return mapping_of_series(series, what)


def _read(data: Any, given: Input, of_mapping: _OfMapping, of_table: _OfTable, expected: str) -> Any:
    if isinstance(data, Mapping):
        return of_mapping(given, data)
    if (table := _table(data, given)) is not None:
        return of_table(table)
    raise TypeError(f"{given.name}: expected {expected}; found {shown(data)}")


def _table(data: Any, given: Input) -> Table | None:
    if is_series(data):
        return None
    if is_frame(data):
        return table_of_frame(given, data)
    if isinstance(data, Iterable) and not isinstance(data, str | bytes | Mapping):
        return table_of_rows(given, data)
    return None
