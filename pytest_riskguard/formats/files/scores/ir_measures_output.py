"""Per-topic scores as ``ir_measures -q`` prints them: topic, measure, value with tabs, or JSON Lines of the same."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_riskguard.formats.columns import number
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.measure_names import from_ir_measures, from_trec_eval, known, standard_name
from pytest_riskguard.formats.records import Kind, Records, Score

_AVERAGE = "all"
_KEYS = ("query_id", "measure", "value")


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
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


def scores(file: InputFile) -> Records[Score]:
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
    if topic == _AVERAGE:
        return
    if not topic or not measure:
        raise file.refuse(line, f"expected a topic and a measure, found {topic!r:.60} and {measure!r:.60}")
    if value != value:
        raise file.refuse(line, f"expected a finite number as the value, found {shown!r:.60}")
    yield Score(topic, standard_name(measure), value, line)
