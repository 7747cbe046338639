"""Files of per-topic scores: those of evaluation tools, and tables with a row for each topic."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_riskguard.data import memory
from pytest_riskguard.data.checks import Input
from pytest_riskguard.data.formats import format_of, system_name
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.headers import SYNONYMS, number
from pytest_riskguard.data.input_files import InputFile, Misfit, is_folder
from pytest_riskguard.data.measure_names import are_measures, known
from pytest_riskguard.data.memory import InputData, ScoresData
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.scores import Row, TopicScores, chosen, named, scores_of, scores_of_rows
from pytest_riskguard.data.text_tables import csv_fits
from pytest_riskguard.errors import MissingFileError, ScoresFormatError

_TABLE = "a table with the header topic,<measure>,... (commas or tabs)"
#: What stands in the place of the topic where a tool prints an average.
_AVERAGE = "all"
#: How Spark and Dask number parts: ``part-00003-...parquet``, ``part.3.parquet``.
_PART_NUMBER = re.compile(r"part[-.](\d+)")


def read_scores(
    given: Path | str | GivenFile | ScoresData,
    measures: Sequence[str] | None = None,
    *,
    name: str | None = None,
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
        A file of no known format, a measure without a column, rows of another length, and what ``scores_of`` refuses.
    MissingFileError
        The path cannot be read.
    TypeError
        Data of another shape.
    """
    if not isinstance(given, Path | str | GivenFile):
        data = InputData(name or "scores", reason=ScoresFormatError.reason)
        return _named(data, memory.scores(given, data, system=name), measures, name or "candidate")
    given = GivenFile.of(given)
    name = name or system_name(given)
    file = InputFile(given, error=ScoresFormatError)
    if is_folder(given.path):
        return _named(file, _of_parts(file), measures, name)
    form = format_of(file, "scores", named=given.format or _format_of_columns(given.columns))
    if form.name == "scores" and not given.columns:
        return read_score_table(file, measures, name=name)
    return _named(file, form.reader("scores")(file), measures, name)


def _named(
    given: Input, scores: Sequence[TopicScores], measures: Sequence[str] | None, name: str
) -> tuple[TopicScores, ...]:
    by_measure = {str(one.measure): one for one in scores}
    return tuple(replace(by_measure[one], name=name) for one in chosen(given, by_measure, measures))


def _format_of_columns(columns: Mapping[str, str]) -> str | None:
    """The format of a table whose columns are named: a row for each measure has one for its value."""
    return None if not columns else "csv" if "value" in columns else "scores"


# Folders of Parquet files, the parts that engines write.


def _of_parts(folder: InputFile) -> tuple[TopicScores, ...]:
    """The scores in all files of a folder, each with rows."""
    scores: list[TopicScores] = []
    for path in _parts(folder):
        part = InputFile(replace(folder.given, path=path), error=ScoresFormatError)
        scores += format_of(part, "scores", named="parquet").reader("scores")(part)
    topics = [topic for one in scores for topic in one.topics]
    measures = [str(one.measure) for one in scores for _ in one.topics]
    return scores_of(folder, topics, measures, [value for one in scores for value in one.values.tolist()])


def _parts(folder: InputFile) -> list[Path]:
    """The files by name; notes of engines, which begin with ``_`` or ``.``, are left out."""
    try:
        entries = sorted(folder.path.iterdir())
    except OSError as problem:
        raise MissingFileError(folder.path, None, f"cannot be read ({problem.strerror})") from None
    if any(entry.name == "_temporary" for entry in entries):
        raise folder.refuse(None, "expected scores, found _temporary, of a job that did not end; run it again")
    parts = [entry for entry in entries if not entry.name.startswith(("_", "."))]
    for entry in parts:
        if entry.suffix != ".parquet" or entry.is_dir():
            raise folder.refuse(None, f"expected a folder of Parquet files alone, found {entry.name!r:.80} in it")
    if not parts:
        raise folder.refuse(None, "expected Parquet files, found none")
    numbers = {int(found[1]) for part in parts if (found := _PART_NUMBER.match(part.name))}
    if missing := {*range(max(numbers, default=-1) + 1)} - numbers:
        raise folder.refuse(
            None,
            f"expected parts without gaps in their numbers, found none of number {min(missing)}: it is missing, or "
            "had no rows; write the scores again in fewer parts, or in one",
        )
    return parts


# Tables with a row for each topic and a column for each measure: what riskguard writes.


def scores_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first column is named as one of topics; a file of another kind of text is nearest to this."""
    first, separator, _ = file.first_line.partition("\t" if "\t" in file.first_line else ",")
    if file.looks_like_json or csv_fits(file, "scores") is None:
        return Misfit("it has a row for each topic and measure")
    if separator and first.strip().strip('"').lower() in SYNONYMS["topic"]:
        return None
    return Misfit("its first line names no column of topics, then columns of scores", 2)


def scores_scores(file: InputFile) -> tuple[TopicScores, ...]:
    """All columns, or those that ``file.columns`` names."""
    return read_score_table(file)


def read_score_table(
    file: InputFile, measures: Sequence[str] | None = None, *, name: str = ""
) -> tuple[TopicScores, ...]:
    """The scores in a table; a header line with a tab in it means tabs, any other commas.

    The digest is that of the file's text, or of what was read where ``file.columns`` names columns.
    """
    table = file.table("\t" if "\t" in file.first_line else ",")
    line, header = next(table, (0, []))
    if not header:
        raise file.refuse(None, f"expected {_TABLE}, found an empty file")
    header = [cell.strip() for cell in header]
    if "topic" not in file.columns and header[0].lower() not in SYNONYMS["topic"]:
        raise file.refuse_line(line, file.first_line.encode(), _TABLE, "another first line")
    topic_place, places = _places(file, line, header)
    names = chosen(file, places, measures, line=line)
    rows: list[Row] = []
    for line, row in table:
        if len(row) != len(header):
            raise _bad_row(file, line, row, f"{len(header)} columns as in the header", str(len(row)))
        for column in names:
            cell = row[places[column]].strip()
            if (value := number(cell)) != value:
                raise _bad_row(file, line, row, f"a finite number in column {column!r}", repr(cell))
            rows.append((row[topic_place].strip(), column, value, line))
    digest = None if file.columns else file.digest
    return tuple(replace(one, name=name) for one in scores_of_rows(file, rows, digest=digest))


def _places(file: InputFile, line: int, header: Sequence[str]) -> tuple[int, dict[str, int]]:
    """The column of the topics, and of each measure, in the order of the table or of ``file.columns``."""
    for column in file.columns.values():
        if (count := header.count(column)) != 1:
            found = f"{count} of them" if count else "none"
            raise file.refuse(line, f"expected one column {column!r:.60}, which `columns` names, found {found}")
    topic_place = header.index(file.columns["topic"]) if "topic" in file.columns else 0
    columns = [(what, header.index(column)) for what, column in file.columns.items() if what != "topic"]
    places: dict[str, int] = {}
    for text, place in columns or [(text, place) for place, text in enumerate(header) if place != topic_place]:
        name = named(text)
        if not name:
            raise file.refuse(line, f"expected a measure as the name of column {place + 1}, found {text!r}")
        if name in places:
            raise file.refuse(line, f"expected each measure once, found {name!r} in two columns")
        places[name] = place
    if not places:
        raise _bad_row(file, line, header, _TABLE, "no column of scores")
    return topic_place, places


def _bad_row(file: InputFile, line: int, row: Sequence[str], expected: str, found: str) -> Exception:
    # A line that does not belong to the table may be a conflict marker or a pointer that git left there.
    return file.refuse_line(line, ",".join(row).encode(), expected, found)


# What tools print: a line for each topic and measure, and averages under the topic ``all``.


def trec_eval_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has three columns, the first a measure of trec_eval's."""
    columns = file.first_line.split()
    if file.looks_like_json or len(columns) != 3:
        return Misfit(f"the first line has {len(columns)} columns, not 3 (measure topic value)")
    if known(columns[0]) is None or known(columns[1]) is not None:
        return Misfit(f"{columns[0]!r:.60} is not a measure of trec_eval", 3)
    return None


def trec_eval_scores(file: InputFile) -> tuple[TopicScores, ...]:
    """The output of ``trec_eval -q``: measure, topic, value; the name of the run is no score."""
    lines = ((line, content.decode().split()) for line, content in file.lines())
    return scores_of_rows(file, _of_lines(file, lines, ("measure", "topic", "value")))


def ir_measures_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has three columns with tabs, the second a measure and the last a number."""
    columns = file.first_line.split("\t")
    if len(columns) != 3:
        return Misfit(f"the first line has {len(columns)} columns with tabs, not 3 (topic, measure, value)")
    if (value := number(columns[2])) != value:
        return Misfit("the third column of its first line is not a number", 1)
    if known(columns[1]) is None:
        return Misfit(f"{columns[1]!r:.60} is not a measure of ir_measures", 1)
    return None


def ir_measures_scores(file: InputFile) -> tuple[TopicScores, ...]:
    """The output of ``ir_measures -q``: topic, measure, value with tabs."""
    lines = ((line, content.decode().rstrip("\r").split("\t")) for line, content in file.lines() if content.strip())
    return scores_of_rows(file, _of_lines(file, lines, ("topic", "measure", "value")))


def _of_lines(file: InputFile, lines: Iterable[tuple[int, list[str]]], order: tuple[str, ...]) -> Iterator[Row]:
    for line, cells in lines:
        if not cells:
            continue
        if len(cells) != 3:
            raise file.refuse(line, f"expected 3 columns ({' '.join(order)}), found {len(cells)}")
        topic, measure, cell = (cells[order.index(what)].strip() for what in ("topic", "measure", "value"))
        if topic == _AVERAGE or measure == "runid":
            continue
        if (value := number(cell)) != value:
            raise file.refuse(line, f"expected a finite number as the value, found {cell!r:.60}")
        yield topic, measure, value, line


# JSON of ranx (measure, topic, number) or of pytrec_eval (topic, measure, number).


def ranx_scores_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file is an object of objects of numbers, whose outer or inner keys are all measures."""
    value = file.json_or_none
    if not isinstance(value, dict) or not value:
        return Misfit("it is not a JSON object", int(file.looks_like_json))
    for outer, inner in value.items():
        if not isinstance(inner, dict):
            return Misfit(f"{outer!r:.60} is not an object", 2)
        for key, score in inner.items():
            if isinstance(score, bool) or not isinstance(score, int | float):
                return Misfit(f"{key!r:.60} of {outer!r:.60} has no number", 3)
    if not are_measures(value) and not are_measures(*value.values()):
        return Misfit("neither its outer nor its inner keys are all measures", 3)
    return None


def ranx_scores_scores(file: InputFile) -> tuple[TopicScores, ...]:
    """The scores of each topic."""
    if (misfit := ranx_scores_fits(file, "scores")) is not None:
        raise file.refuse(None, f"expected JSON with the scores of each topic: {misfit.reason}")
    pairs = [(outer, inner, float(score)) for outer, of in file.json.items() for inner, score in of.items()]
    if are_measures(file.json):
        pairs = [(topic, measure, value) for measure, topic, value in pairs]
    return scores_of_rows(file, ((*pair, None) for pair in pairs))
