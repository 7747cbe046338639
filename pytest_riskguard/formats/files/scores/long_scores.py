"""Per-topic scores with a row for each topic and measure, under named columns, as PyTerrier's ``perquery.csv``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_riskguard.formats.columns import named, number, places
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.measure_names import AVERAGES, standard_name
from pytest_riskguard.formats.records import Kind, Records, Score

_WANTED = ("measure", "topic", "value", "system")
_NEEDED = _WANTED[:3]


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line names columns for topic, measure and value."""
    header = [] if file.looks_like_json else file.first_line.split(_delimiter(file))
    columns = places([cell.strip('" ') for cell in header], _WANTED, given=file.columns)
    missing = _missing(columns)
    return Misfit(f"its first line names no column for {named(missing)}", len(columns) - 1) if missing else None


def _missing(columns: Mapping[str, int]) -> list[str]:
    return [what for what in _NEEDED if what not in columns]


def scores(file: InputFile) -> Records[Score]:
    """The scores of the one system in the file, or of the one that ``file.part`` names."""
    return Records(_scores(file))


def _scores(file: InputFile) -> Iterator[Score]:
    rows = file.table(_delimiter(file))
    _, header = next(rows, (1, []))
    columns = places(header, _WANTED, given=file.columns)
    if missing := _missing(columns):
        raise file.refuse(None, f"expected a header that names columns for {named(missing)}")
    by_system: dict[str, list[Score]] = {}
    for line, row in rows:
        if len(row) != len(header):
            raise file.refuse(line, f"expected {len(header)} columns as in the header, found {len(row)}")
        topic, measure, cell = (row[columns[what]].strip() for what in ("topic", "measure", "value"))
        if topic in AVERAGES:
            continue
        if not topic or not measure:
            raise file.refuse(line, f"expected a topic and a measure, found {topic!r:.60} and {measure!r:.60}")
        value = number(cell)
        if value != value:
            raise file.refuse(line, f"expected a finite number as the value, found {cell!r:.60}")
        system = row[columns["system"]].strip() if "system" in columns else ""
        by_system.setdefault(system, []).append(Score(topic, standard_name(measure), value, line))
    yield from file.chosen(by_system, "system")


def _delimiter(file: InputFile) -> str:
    return max("\t;,", key=file.first_line.count)
