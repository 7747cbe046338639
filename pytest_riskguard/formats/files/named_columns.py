"""Tables with a header that names their columns: comma, semicolon or tab between them, cells quoted where needed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from pytest_riskguard.formats.columns import named, number, places
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.records import Judgement, Kind, Ranking, Records, TopicRow

_DELIMITERS = "\t;,"
_NEEDED: Mapping[Kind, tuple[str, ...]] = {
    "judgements": ("document", "grade"),
    "rankings": ("document",),
    "topics": ("topic", "query"),
}
_WANTED: Mapping[Kind, tuple[str, ...]] = {
    "judgements": ("document", "topic", "query", "grade"),
    "rankings": ("document", "topic", "query", "rank", "score"),
    "topics": ("topic", "query", "weight"),
}


def fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the first line names the columns that are needed."""
    delimiter = _delimiter(file)
    if delimiter is None:
        return Misfit("the first line has no comma, semicolon or tab")
    columns = places(_cells(file.first_line, delimiter), _WANTED[kind])
    missing = [what for what in _NEEDED[kind] if what not in columns]
    if kind != "topics" and not columns.keys() & {"topic", "query"}:
        missing.append("topic")
    if kind == "rankings" and not columns.keys() & {"rank", "score"}:
        missing.append("score")
    if not missing:
        return None
    return Misfit(f"its first line names no column for {named(missing)}", 2 if columns else 0)


def judgements(file: InputFile) -> Records[Judgement]:
    """A row for each judged document; rows without a grade are left out."""
    table = _Table(file, "judgements")
    return Records(_judgements(table), by_text=table.by_text, texts=table.texts)


def _judgements(table: _Table) -> Iterator[Judgement]:
    for line, row in table.rows():
        cell = table.cell(row, "grade")
        if not cell:  # a query, or a document, that nobody has judged yet
            continue
        grade = number(cell)
        if grade != grade:
            raise table.file.refuse(line, f"expected a number as the grade, found {cell!r:.60}")
        yield Judgement(table.topic(line, row), table.document(line, row), grade, line=line)


def rankings(file: InputFile) -> Records[Ranking]:
    """A row for each document; where there are no scores, the rank or else the order of the rows counts."""
    table = _Table(file, "rankings")
    return Records(
        _rankings(table), by_text=table.by_text, texts=table.texts, is_ordered="score" not in table.columns
    )


def _rankings(table: _Table) -> Iterator[Ranking]:
    by_topic: dict[str, list[tuple[float, str]]] = {}
    first: dict[str, int] = {}
    what = "score" if "score" in table.columns else "rank"
    for line, row in table.rows():
        value = number(cell := table.cell(row, what))
        if value != value:
            raise table.file.refuse(line, f"expected a number as the {what}, found {cell!r:.60}")
        topic = table.topic(line, row)
        first.setdefault(topic, line)
        by_topic.setdefault(topic, []).append((value, table.document(line, row)))
    for topic, documents in by_topic.items():
        if what == "rank":
            documents.sort(key=lambda pair: pair[0])
        scores = [value for value, _ in documents] if what == "score" else None
        yield Ranking(topic, [document for _, document in documents], scores, first[topic])


def topics(file: InputFile) -> Records[TopicRow]:
    """A row for each topic; further columns are tags."""
    table = _Table(file, "topics")
    return Records(_topics(table))


def _topics(table: _Table) -> Iterator[TopicRow]:
    tags = [(place, name) for place, name in enumerate(table.header) if place not in table.columns.values()]
    for line, row in table.rows():
        weight = None
        if "weight" in table.columns and not (weight := number(table.cell(row, "weight"))) > 0:
            raise table.file.refuse(line, f"expected a weight above 0, found {table.cell(row, 'weight')!r:.60}")
        values = {name: row[place].strip() for place, name in tags}
        yield TopicRow(table.topic(line, row), table.cell(row, "query"), values, weight, line)


class _Table:
    """The rows of one file; ``columns`` says which column holds what."""

    def __init__(self, file: InputFile, kind: Kind) -> None:
        self.file = file
        self._rows = file.table(_delimiter(file) or ",")
        _, header = next(self._rows, (1, []))
        self.header = [cell.strip() for cell in header]
        self.columns = places(header, _WANTED[kind])
        self.by_text = "topic" not in self.columns
        #: Topic -> query text, of tables that have both.
        self.texts: dict[str, str] = {}

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """The rows below the header, all of its length."""
        for line, row in self._rows:
            if len(row) != len(self.header):
                raise self.file.refuse(
                    line, f"expected {len(self.header)} columns as in the header, found {len(row)}"
                )
            yield line, row

    def cell(self, row: Sequence[str], what: str) -> str:
        """The cell that holds something, without spaces around it."""
        return row[self.columns[what]].strip()

    def topic(self, line: int, row: Sequence[str]) -> str:
        """The topic of a row: its id, or its query text where the table has no ids."""
        topic = self._filled(line, row, "query" if self.by_text else "topic")
        if not self.by_text and "query" in self.columns:
            self.texts.setdefault(topic, self.cell(row, "query"))
        return topic

    def document(self, line: int, row: Sequence[str]) -> str:
        """The document of a row."""
        return self._filled(line, row, "document")

    def _filled(self, line: int, row: Sequence[str], what: str) -> str:
        if not (cell := self.cell(row, what)):
            raise self.file.refuse(line, f"expected a {what} in column {self.columns[what] + 1}, found nothing")
        return cell


def write_judgements(
    grades: Mapping[str, Mapping[str, float]], texts: Mapping[str, str], *, delimiter: str = ","
) -> bytes:
    """A table with a row for each judgement."""
    header = ["query_id", *(["query"] if texts else []), "docid", "rating"]
    rows = (
        [t, *([texts.get(t, "")] if texts else []), d, f"{g:g}"] for t, ds in grades.items() for d, g in ds.items()
    )
    return _written(header, rows, delimiter)


def write_rankings(
    by_topic: Mapping[str, Sequence[tuple[str, float]]], texts: Mapping[str, str], *, delimiter: str = ","
) -> bytes:
    """A table with a row for each document, ranks from 1."""
    header = ["query_id", *(["query"] if texts else []), "docid", "rank", "score"]
    rows = (
        [topic, *([texts.get(topic, "")] if texts else []), document, str(rank), repr(score)]
        for topic, documents in by_topic.items()
        for rank, (document, score) in enumerate(documents, 1)
    )
    return _written(header, rows, delimiter)


def _written(header: Sequence[str], rows: Iterator[list[str]], delimiter: str) -> bytes:
    buffer = io.StringIO(newline="")
    table = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    table.writerow(header)
    table.writerows(rows)
    return buffer.getvalue().encode()


def _delimiter(file: InputFile) -> str | None:
    """The character between the columns of the first line; of several, the one that occurs most often."""
    line = file.first_line
    if file.looks_like_json or not any(character in line for character in _DELIMITERS):
        return None
    return max(_DELIMITERS, key=line.count)


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])
