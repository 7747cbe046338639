"""Data in memory as tables with named columns: mappings by topic, frames, rows with named fields, objects of ranx.

No library is imported unless an object of it comes in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import replace
from numbers import Integral
from typing import Any, SupportsFloat
from uuid import UUID

from pytest_riskguard.data.given_file import TIES, InputData, Ties
from pytest_riskguard.data.headers import SYNONYMS, places
from pytest_riskguard.data.input_files import Kind
from pytest_riskguard.data.measures import are_measures
from pytest_riskguard.data.named_columns import READERS, Table, table_of_rows
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.scores import TopicScores, score_rows_of, scores_of_rows
from pytest_riskguard.errors import RunFormatError, ScoresFormatError
from pytest_riskguard.text import clean

# Which shape data in memory have.


def is_of_ranx(data: object) -> bool:
    """Whether an object is one of ranx' or of a class derived from it."""
    return any(base.__module__.partition(".")[0] == "ranx" for base in type(data).__mro__)


def is_frame(data: object) -> bool:
    """Whether an object has named columns; its class is asked, since polars warns when a lazy frame is."""
    return hasattr(type(data), "columns")


def is_series(data: object) -> bool:
    """Whether an object is one column, with an index or without one."""
    kind = type(data)
    return kind.__name__ == "Series" or (hasattr(kind, "index") and hasattr(kind, "to_dict") and not is_frame(data))


def is_data(value: object) -> bool:
    """Whether an object may be data in memory: anything but a path, text, a number or a function."""
    is_iterable = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    return is_iterable or is_of_ranx(value) or is_frame(value) or is_series(value)


def shown(value: object) -> str:
    """A value for a message."""
    return "nothing" if value is None else f"{clean(repr(value), limit=60)} ({type(value).__name__})"


# Values, rows and frames as tables.


def _plain(cell: Any) -> Any:
    """A cell as Python has it: None for nothing, numbers of any library as ``int`` and ``float``, UUIDs as text."""
    kind = type(cell)
    if cell is None or kind in (str, int, float, bool):
        return cell
    if kind.__name__ == "NAType":  # of pandas
        return None
    if isinstance(cell, UUID | str) or kind.__module__.startswith("ir_measures"):  # a measure
        return str(cell)
    if isinstance(cell, Integral):
        return int(cell)
    if isinstance(cell, SupportsFloat) and kind.__name__ not in ("bool", "bool_"):  # of numpy
        with suppress(TypeError, ValueError, OverflowError):  # an array, say
            return float(cell)
    return cell


def table_of(data: Any, given: InputData, kind: Kind) -> Table:
    """The columns of a frame, rows with named fields, or a mapping by topic; ``TypeError`` for anything else."""
    if is_of_ranx(data):
        data = getattr(data, "scores", {}) if kind == "scores" else data.to_dict()
    if is_frame(data):
        return _of_frame(given, data)
    if is_series(data) or not is_data(data):
        shapes = "a mapping by topic, a frame with named columns, or rows with named fields"
        raise TypeError(f"{given.name}: expected {shapes}; found {shown(data)}")
    if isinstance(data, Mapping):
        if kind in _MAPPINGS:
            return _of_mapping(data, given, kind)
        about = [value if isinstance(value, Mapping) else {"query": value} for value in data.values()]
        data = [{"topic": key, **value} for key, value in zip(data, about, strict=True)]
    rows = []
    for number, row in enumerate(data, 1):
        fields = getattr(row, "__dict__", row)
        if hasattr(row, "_asdict"):  # a named tuple
            fields = row._asdict()
        if not isinstance(fields, Mapping):
            expected = "rows with named fields, such as ir_measures.ScoredDoc or dicts"
            raise TypeError(f"{given.name}: expected {expected}; found {shown(row)} as row {number}")
        rows.append({str(name): _plain(cell) for name, cell in fields.items()})
    return table_of_rows(given, rows)


def _of_frame(given: InputData, frame: Any) -> Table:
    """The columns of a frame; if levels of pandas' index have names, they are columns too.

    ``TypeError`` for a frame that is not in memory.
    """
    import narwhals as nw
    from narwhals.exceptions import NarwhalsError

    try:
        if hasattr(frame, "reset_index") and any(frame.index.names):
            frame = frame.reset_index()
        eager = nw.from_native(frame, eager_only=True)
    except TypeError:
        found = f"found {type(frame).__module__.partition('.')[0]} {type(frame).__name__}"
        remedy = "collect it first, such as with `.collect()`"
        raise TypeError(f"{given.name}: expected a frame in memory, {found}; {remedy}") from None
    except (NarwhalsError, ValueError) as problem:  # two of one name
        raise given.refuse(None, f"expected columns with different names: {clean(str(problem))}") from None

    def column(place: int) -> Any:
        series = eager[eager.columns[place]]
        with suppress(Exception):  # no pyarrow, or what it cannot hold
            from pytest_riskguard.data.arrow import column_of

            if series.dtype != nw.Object and not isinstance(found := column_of(series.to_arrow()), list):
                return found
        return list(map(_plain, series.to_list()))

    return Table(given, map(str, eager.columns), column)


#: Mappings by topic: the columns of what they hold of each, and its shapes.
_MAPPINGS: Mapping[Kind, tuple[str, str]] = {
    "rankings": ("document score rank", "a mapping document -> score, or a sequence of documents or pairs,"),
    "judgements": ("document grade", "a mapping document -> grade, or a set of relevant documents,"),
    "scores": ("measure value", "a mapping measure -> value"),
}


def _of_mapping(data: Mapping[Any, Any], given: InputData, kind: Kind) -> Table:
    """A table with the rows of each topic."""
    names, expected = _MAPPINGS[kind]
    columns, rows = ["topic", *names.split()], []
    for topic, about in data.items():
        if (cells := _cells(about, kind)) is None:
            raise given.refuse(None, f"expected {expected} for topic {topic!r:.60}, found {shown(about)}")
        rows += [(topic, *row) for row in cells]
    if kind == "scores" and are_measures(data):  # as ranx has them, by measure
        columns[:2] = ["measure", "topic"]

    def where() -> list[str]:
        return [f"{_plain(inner)!r:.60} of {columns[0]} {_plain(topic)!r:.60}" for topic, inner, *_ in rows]

    return Table(given, columns, lambda place: [_plain(row[place]) for row in rows], where)


def _cells(about: Any, kind: Kind) -> Iterable[tuple[Any, ...]] | None:
    """A topic's documents or measures with their numbers, and the ranks of documents; None for another shape."""
    if isinstance(about, Mapping):
        return ((name, number, None) for name, number in about.items())
    if kind == "scores" or isinstance(about, str | bytes) or not isinstance(about, Iterable):
        return None
    if kind == "judgements":
        return ((document, 1) for document in about)
    if isinstance(about, Set):
        return None
    entries = list(about)
    if entries and all(isinstance(entry, tuple | list) and len(entry) == 2 for entry in entries):
        return ((document, score, None) for document, score in entries)
    return ((document, None, rank) for rank, document in enumerate(entries))


# What they hold. ``TypeError`` for data of another shape, the error of ``given`` for what a file could not hold.


def read(data: Any, given: InputData, kind: Kind) -> Any:
    """Rankings, judgements or topics in memory."""
    return READERS[kind](table_of(data, given, kind))


def scores(data: Any, given: InputData, *, system: str | None = None) -> tuple[TopicScores, ...]:
    """Per-topic scores of one system, for named measures; ``system`` names it, where there are several.

    A mapping is topic -> measure -> value, as pytrec_eval has it, or measure -> topic -> value, as ranx does. A table
    has a row for each topic and measure, or a row for each topic and a column for each measure.
    """
    by_system = score_rows_of(table_of(data, given, "scores"))
    if len(by_system) > 1 and system not in by_system:
        problem = f"expected the scores of one system, found those of {', '.join(by_system)}: say whose with `name=`"
        raise given.refuse(None, problem)
    return scores_of_rows(given, by_system.get(system or "") or next(iter(by_system.values()), []))


def topic_scores(values: Mapping[Any, Any] | Iterable[tuple[Any, Any]], what: str) -> TopicScores:
    """``{topic: value}``, or such pairs, for a measure without a name."""
    given = InputData(what, reason=ScoresFormatError.reason)
    items = values.items() if isinstance(values, Mapping) else values
    pairs = [(_plain(topic), _plain(value)) for topic, value in items]
    places = [f"topic {topic!r:.60}" for topic, _ in pairs]
    table = Table(given, ["topic", "value"], lambda place: [pair[place] for pair in pairs], places)
    (found,) = scores_of_rows(given, score_rows_of(table).get("", []))
    return replace(found, measure=None, digest=None)


def _topic_values(series: Any, what: str) -> list[tuple[Any, Any]]:
    """The topics in the index of a series, with their values.

    ``TypeError`` for one without an index of topics, such as row numbers, which would pair topics by their places.
    """
    index: Any = getattr(series, "index", None)
    is_numbered = type(index).__name__ == "RangeIndex" and (index.name, index.start, index.step) == (None, 0, 1)
    if index is None or callable(index) or is_numbered or index.nlevels != 1:
        raise TypeError(
            f"{what}: expected an index of topics, found {'row numbers' if is_numbered else 'another one'}; give "
            "a mapping topic -> score, or set it with `frame.set_index('qid')`; if numbers are the topics, name it "
            "`series.rename_axis('topic')`"
        )
    return list(zip(index.to_list(), series.to_list(), strict=True))


# Systems that are objects in Python: rankings, or per-topic scores, whichever the object holds.


def run(data: Any, *, name: str | None = None, ties: Ties | None = None) -> Run:
    """A system's rankings in memory, to be scored and judged as a run file is.

    Parameters
    ----------
    data : mapping, frame, ranx Run, or iterable of rows
        A mapping topic -> document -> score, topic -> pairs of document and score, or topic -> documents in their
        order; a frame of pandas, polars or PyArrow with columns for topic (or query text), document, and score or
        rank, under the names that search tools give them; or rows with such fields, as ``ir_measures.ScoredDoc``.
    name : str, optional
        What verdicts call the system; default: the name of a ranx ``Run``, else its part (``candidate``).
    ties : 'as_returned' or 'docid', optional
        Which order counts where scores are equal or contradict it: that of the data, or, by default, that of the
        document ids, as in trec_eval. Documents without scores always keep their order.

    Raises
    ------
    TypeError
        Data of another shape.
    ValueError
        Another value of ``ties``.
    DataError
        No column for something that is needed, an id or a score that a run file cannot hold, a document twice in a
        topic, or no rankings at all.
    """
    if ties is not None and ties not in TIES:
        raise ValueError(f"ties: expected one of {', '.join(TIES)}, found {ties!r}")
    label = name or (getattr(data, "name", None) if is_of_ranx(data) else None) or ""
    given = InputData(label or "run", reason=RunFormatError.reason)
    given.ties = ties
    found: Run = read(data, given, "rankings")
    return found.with_source(name=label)


def as_run(data: Any, name: str = "") -> Run:
    """Rankings in memory under their own name, or under this one if they have none."""
    found = data if isinstance(data, Run) else run(data)
    return found if found.source.name else found.with_source(name=name)


def system_in_memory(data: Any, what: str, measure: str | None = None) -> TopicScores | Run:
    """The scores or the rankings of a system, from whatever holds them; of several measures the one asked for.

    ``TypeError`` for data of no known shape, ``DataError`` for what they hold.
    """
    if isinstance(data, TopicScores):
        return data
    if isinstance(data, Run) or is_of_ranx(data):
        return as_run(data, what)
    if not is_data(data):
        expected = "scores (a mapping topic -> score, a series, a frame) or rankings (a mapping, a frame, rows)"
        raise TypeError(f"{what}: expected {expected}; found {shown(data)}; `score_run` reads run files")
    if is_series(data):
        return topic_scores(_topic_values(data, what), what)
    given = InputData(what, reason=ScoresFormatError.reason)
    if isinstance(data, Mapping):
        answer = next(iter(data.values()), 0.0)
        if isinstance(answer, str | bytes) or not isinstance(answer, Iterable):
            return topic_scores(data, what)
        return as_run(data, what)
    data = list(data) if isinstance(data, Iterator) else data
    if places(table_of(data, given, "rankings").names, "rankings", {}).keys() & {"document", "rank"}:
        return as_run(data, what)
    found = scores(data, given, system=what)
    columns = found if len(found) == 1 else [column for column in found if column.measure == measure]
    if not columns:
        several = ", ".join(str(column.measure) for column in found)
        raise given.refuse(None, f"found scores of several measures ({several}): say which with `measure=`")
    is_nameless = str(columns[0].measure).strip().lower() in SYNONYMS["value"]
    return replace(columns[0], measure=None, digest=None) if is_nameless else columns[0]
