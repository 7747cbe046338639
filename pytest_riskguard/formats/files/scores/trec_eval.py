"""Per-topic scores as ``trec_eval -q`` prints them: measure, topic, value, and averages under the topic ``all``."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_riskguard.formats.columns import number
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.measure_names import from_ir_measures, from_trec_eval, known, standard_name
from pytest_riskguard.formats.records import Kind, Records, Score

_AVERAGE = "all"
#: What it also prints, and is not a score of a topic.
_TEXTS = frozenset({"runid"})


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has three columns, the first a measure of trec_eval's."""
    columns = file.first_line.split()
    if file.looks_like_json or len(columns) != 3:
        return Misfit(f"the first line has {len(columns)} columns, not 3 (measure topic value)")
    if known(columns[0], from_trec_eval, from_ir_measures) is None or from_ir_measures(columns[1]) is not None:
        return Misfit(f"{columns[0]!r:.60} is not a measure of trec_eval", 2)
    return None


def scores(file: InputFile) -> Records[Score]:
    """The scores of each topic, without the averages."""
    return Records(_scores(file))


def _scores(file: InputFile) -> Iterator[Score]:
    for line, content in file.lines():
        columns = content.decode().split()
        if not columns:
            continue
        if len(columns) != 3:
            raise file.refuse(line, f"expected 3 columns (measure topic value), found {len(columns)}")
        measure, topic, cell = columns
        if topic == _AVERAGE or measure in _TEXTS:
            continue
        value = number(cell)
        if value != value:
            raise file.refuse(line, f"expected a finite number as the value, found {cell!r:.60}")
        yield Score(topic, standard_name(measure), value, line)
