"""Per-topic scores as a table with a row for each topic and a column for each measure; ``data`` reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_riskguard.data.columns import (
    SYNONYMS,
    WANTED,
    NamedRows,
    known_columns,
    missing_columns,
    number,
    of_length,
    with_header,
)
from pytest_riskguard.data.content import InputFile, Misfit
from pytest_riskguard.data.measure_names import (
    from_ir_measures,
    from_ranx,
    from_trec_eval,
    known,
    standard_name,
)
from pytest_riskguard.data.records import Kind, Records, Score


def scores_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first column is named as one of topics; a file of another kind of text is nearest to this."""
    if file.looks_like_json:
        return Misfit("it is JSON")
    line = file.first_line
    first, tab, _ = line.partition("\t") if "\t" in line else line.partition(",")
    if tab and first.strip().strip('"').lower() in SYNONYMS["topic"]:
        return None
    return Misfit("its first line names no column of topics, then columns of scores", 1)


# Per-topic scores as ``trec_eval -q`` prints them: measure, topic, value, and averages under the topic ``all``.


_TREC_EVAL_AVERAGE = "all"
#: What it also prints, and is not a score of a topic.
_TEXTS = frozenset({"runid"})


def trec_eval_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has three columns, the first a measure of trec_eval's."""
    columns = file.first_line.split()
    if file.looks_like_json or len(columns) != 3:
        return Misfit(f"the first line has {len(columns)} columns, not 3 (measure topic value)")
    if known(columns[0], from_trec_eval, from_ir_measures) is None or from_ir_measures(columns[1]) is not None:
        return Misfit(f"{columns[0]!r:.60} is not a measure of trec_eval", 2)
    return None


def trec_eval_scores(file: InputFile) -> Records[Score]:
    """The scores of each topic, without the averages."""
    return Records(_trec_eval_scores(file))


def _trec_eval_scores(file: InputFile) -> Iterator[Score]:
    for line, content in file.lines():
        columns = content.decode().split()
        if not columns:
            continue
        if len(columns) != 3:
            raise file.refuse(line, f"expected 3 columns (measure topic value), found {len(columns)}")
        measure, topic, cell = columns
        if topic == _TREC_EVAL_AVERAGE or measure in _TEXTS:
            continue
        value = number(cell)
        if value != value:
            raise file.refuse(line, f"expected a finite number as the value, found {cell!r:.60}")
        yield Score(topic, standard_name(measure), value, line)


# Per-topic scores as ``ir_measures -q`` prints them: topic, measure, value with tabs, or JSON Lines of the same.


_IR_MEASURES_AVERAGE = "all"
_KEYS = ("query_id", "measure", "value")


def ir_measures_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has three columns with tabs, the last a number, or is an object with the three keys."""
    if file.looks_like_json:
        first = file.first_object
        return None if first is not None and set(_KEYS) <= first.keys() else Misfit("it has other keys", 1)
    columns = file.first_line.split("\t")
    if len(columns) != 3:
        return Misfit(f"the first line has {len(columns)} columns with tabs, not 3 (topic, measure, value)")
    if (value := number(columns[2])) != value:
        return Misfit("the third column of its first line is not a number", 1)
    if known(columns[1], from_ir_measures, from_trec_eval) is None:
        return Misfit(f"{columns[1]!r:.60} is not a measure of ir_measures", 1)
    return None


def ir_measures_scores(file: InputFile) -> Records[Score]:
    """The scores of each topic, without the averages."""
    return Records(_json_lines(file) if file.looks_like_json else _lines(file))


def _lines(file: InputFile) -> Iterator[Score]:
    for line, content in file.lines():
        columns = content.decode().rstrip("\r").split("\t")
        if not content.strip():
            continue
        if len(columns) != 3:
            raise file.refuse(line, f"expected 3 columns (topic, measure, value), found {len(columns)}")
        yield from _score(file, line, columns[0], columns[1], number(columns[2]), columns[2])


def _json_lines(file: InputFile) -> Iterator[Score]:
    for line, row in file.json_lines():
        if not isinstance(row, dict) or not set(_KEYS) <= row.keys():
            raise file.refuse(line, f"expected an object with {', '.join(_KEYS)}")
        topic, measure, value = (row[key] for key in _KEYS)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        yield from _score(file, line, str(topic), str(measure), float(value) if is_number else float("nan"), value)


def _score(file: InputFile, line: int, topic: str, measure: str, value: float, shown: object) -> Iterator[Score]:
    topic, measure = topic.strip(), measure.strip()
    if topic == _IR_MEASURES_AVERAGE:
        return
    if not topic or not measure:
        raise file.refuse(line, f"expected a topic and a measure, found {topic!r:.60} and {measure!r:.60}")
    if value != value:
        raise file.refuse(line, f"expected a finite number as the value, found {shown!r:.60}")
    yield Score(topic, standard_name(measure), value, line)


# Per-topic scores with a row for each topic and measure, under named columns, as PyTerrier's ``perquery.csv``.


def perquery_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line names columns for topic, measure and value."""
    header = [] if file.looks_like_json else file.first_line.split(_delimiter(file))
    cells = [cell.strip('" ') for cell in header]
    problem = missing_columns(cells, "scores", _given(file))
    return None if problem is None else Misfit(f"its first line: {problem}", known_columns(cells, "scores") - 1)


def perquery_scores(file: InputFile) -> Records[Score]:
    """The scores of the one system in the file, or of the one that ``file.part`` names."""
    header, rows = with_header(file.table(_delimiter(file)))
    by_system = NamedRows(header, of_length(len(header), rows, file), "scores", file.refuse, _given(file)).scores()
    return Records(file.chosen(by_system, "system"))


def _given(file: InputFile) -> dict[str, str]:
    """The columns that are named; the names of others are those of measures."""
    return {what: name for what, name in file.columns.items() if what in WANTED["scores"]}


def _delimiter(file: InputFile) -> str:
    return max("\t;,", key=file.first_line.count)


# Per-topic scores as JSON: of ranx (measure, topic, number) or pytrec_eval (topic, measure, number).


#: Keys of ``Report.to_dict``, which has averages alone.
_REPORT = frozenset({"stat_test", "metrics", "model_names"})


def ranx_scores_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file is an object of objects of numbers, whose outer or inner keys are all measures."""
    if not file.looks_like_json:
        return Misfit("it is not JSON")
    value = file.json_or_none
    if not isinstance(value, dict) or not value:
        return Misfit("it is not a JSON object", 1)
    if value.keys() >= _REPORT:
        return Misfit("a report of ranx holds only averages; write `run.scores` of each run to a file", 4)
    for outer, inner in value.items():
        if not isinstance(inner, dict):
            return Misfit(f"{outer!r:.60} is not an object", 2)
        for key, score in inner.items():
            if isinstance(score, bool) or not isinstance(score, int | float):
                return Misfit(f"{key!r:.60} of {outer!r:.60} has no number", 3)
    if not are_measures(value) and not are_measures(*value.values()):
        return Misfit("neither its outer nor its inner keys are all measures", 3)
    return None


def ranx_scores_scores(file: InputFile) -> Records[Score]:
    """The scores of each topic."""
    return Records(_ranx_scores_scores(file))


def _ranx_scores_scores(file: InputFile) -> Iterator[Score]:
    if (misfit := ranx_scores_fits(file, "scores")) is not None:
        raise file.refuse(None, f"expected JSON with the scores of each topic: {misfit.reason}")
    value: dict[str, dict[str, float]] = file.json
    if are_measures(value):
        yield from (Score(t, standard_name(name), float(n)) for name, ns in value.items() for t, n in ns.items())
    else:
        yield from (Score(t, standard_name(name), float(n)) for t, ns in value.items() for name, n in ns.items())


def are_measures(*objects: Mapping[str, Any]) -> bool:
    """Whether every key of every object names a measure, however a tool writes it."""
    names = {name for keys in objects for name in keys}
    return bool(names) and all(known(name, from_ir_measures, from_trec_eval, from_ranx) for name in names)
