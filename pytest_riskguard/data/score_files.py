"""Files of per-topic scores: those of evaluation tools, and tables with a row for each topic."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_riskguard.data import memory
from pytest_riskguard.data.formats import read, system_name
from pytest_riskguard.data.given_file import GivenFile, InputData
from pytest_riskguard.data.headers import SYNONYMS, number, places
from pytest_riskguard.data.input_files import InputFile, Kind, Misfit
from pytest_riskguard.data.json_nodes import is_nested
from pytest_riskguard.data.measures import are_measures, known
from pytest_riskguard.data.named_columns import Table
from pytest_riskguard.data.scores import TopicScores, chosen
from pytest_riskguard.data.text_tables import csv_fits, csv_table, rows_of, table_of
from pytest_riskguard.errors import ScoresFormatError

_TABLE = "a table with the header topic,<measure>,... (commas, semicolons or tabs)"


def read_scores(
    given: Path | str | GivenFile | Any, measures: Sequence[str] | None = None, *, name: str | None = None
) -> tuple[TopicScores, ...]:
    """Read per-topic scores: a file in any format of ``data.formats``, plain or gzip, or data in memory.

    A folder of Parquet files, as Spark and Dask write them, is read as one. Data are a mapping topic -> measure ->
    value, a frame or rows with topic, measure and value, a frame with a column for each measure, or a ranx ``Run``
    that has been evaluated.

    Parameters
    ----------
    given : Path, GivenFile, or data
        Its ``part`` is the system where the file holds several; its ``columns`` map measures, and ``topic``, to
        columns of a table: no other column is read then.
    measures : sequence of str, optional
        Measures to read, in this order; all of them by default. What is not asked for in a table is not read.
    name : str, optional
        Default: the file's name without its endings, with ``#PART``. In data of several systems it says whose scores
        are read.

    Raises
    ------
    ScoresFormatError
        A file of no known format, a measure without a column, rows of another length, what a table refuses.
    MissingFileError
        The path cannot be read.
    TypeError
        Data of another shape.
    """
    if not isinstance(given, Path | str | GivenFile):
        data = InputData(name or "scores", reason=ScoresFormatError.reason)
        data.measures = measures
        return _named(data, memory.scores(given, data, system=name), name or "candidate")
    given = GivenFile.of(given)
    file = InputFile(given, error=ScoresFormatError)
    file.measures = measures
    return _named(file, read(file, "scores"), name or system_name(given))


def _named(given: InputData, scores: Sequence[TopicScores], name: str) -> tuple[TopicScores, ...]:
    by_measure = {str(one.measure): one for one in scores}
    return tuple(replace(by_measure[one], name=name) for one in chosen(given, [*by_measure]))


# Tables with a row for each topic and a column for each measure: what riskguard writes.


def scores_fits(file: InputFile, _kind: Kind) -> Misfit:
    """Whether the first column is named as one of topics; a file of another kind of text is nearest to this."""
    first, *others = re.split("[\t;,]", file.first_line)
    if file.looks_like_json or csv_fits(file, "scores") is None:
        return ""
    if "topic" in file.columns or (others and first.strip().strip('"').lower() in SYNONYMS["topic"]):
        return None
    return ""


def scores_table(file: InputFile, kind: Kind) -> Table:
    """All columns."""
    table = csv_table(file, kind)
    if "topic" not in places(table.names, kind, file.columns):
        raise file.refuse_line(1, file.first_line.encode(), _TABLE, "another first line")
    return table


# What tools print: a line for each topic and measure, and averages under the topic ``all``.


def trec_eval_fits(file: InputFile, _kind: Kind) -> Misfit:
    """Whether the first line is a measure, a topic and a value."""
    cells = file.first_line.split()
    return "" if any(map(known, cells[1:2])) else _misfit(cells, 0, "trec_eval")


def trec_eval_table(file: InputFile, kind: Kind) -> Table:
    """The output of ``trec_eval -q``."""
    return _of_lines(file, kind, ["measure", "topic", "value"])


def ir_measures_fits(file: InputFile, _kind: Kind) -> Misfit:
    """Whether the first line is a topic, a measure and a value."""
    cells = file.first_line.split("\t")
    return "" if math.isnan(number(cells[-1])) else _misfit(cells, 1, "ir_measures")


def ir_measures_table(file: InputFile, kind: Kind) -> Table:
    """The output of ``ir_measures -q``."""
    return _of_lines(file, kind, ["topic", "measure", "value"])


def _misfit(cells: Sequence[str], place: int, tool: str) -> Misfit:
    if len(cells) != 3:
        return ""
    if known(cells[place]) is None:
        return f"{cells[place]!r:.60} is not a measure of {tool}"
    return None


def _of_lines(file: InputFile, kind: Kind, header: Sequence[str]) -> Table:
    """A row for each line, without averages, which stand under the topic ``all``."""
    place, separator = header.index("topic"), "	" if "	" in file.first_line else None
    rows = (row for row in rows_of(file, separator) if row[1][place : place + 1] != ["all"])
    return table_of(file, kind, header, rows, first=0)


# JSON of ranx (measure, topic, number) or of pytrec_eval (topic, measure, number).


def ranx_scores_fits(file: InputFile, _kind: Kind) -> Misfit:
    """Whether the file is an object of objects, whose outer or inner keys are all measures."""
    value = file.json_or_none
    if not is_nested(value):
        return ""
    if not are_measures(value) and not are_measures(*value.values()):
        return "neither its outer nor its inner keys are all measures"
    return None


def ranx_scores_table(file: InputFile, kind: Kind) -> Table:
    """The scores of each topic."""
    return memory.table_of(file.json, file, kind)
