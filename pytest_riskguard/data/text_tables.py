"""Text with named columns: CSV, tables with tabs, JSON Lines, and MS MARCO's, whose columns need no names."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from pytest_riskguard.data.headers import SYNONYMS, number, places
from pytest_riskguard.data.input_files import InputFile, Misfit
from pytest_riskguard.data.named_columns import (
    Column,
    Table,
    columns_misfit,
    joined,
    packed,
    table_of_rows,
    topics_of_table,
)
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.text_blocks import RefusedError, text_blocks
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.limits import LINE_BYTES

#: How many rows of cells become columns together.
_ROWS = 2**14
_DELIMITERS = "\t;,"


#: The line of a row, and its cells.
_Row = tuple[int, list[str]]


def table_of(
    file: InputFile,
    kind: Kind,
    header: Sequence[str],
    rows: Iterator[_Row],
    *,
    separator: str | None = None,
    first: int = 1,
) -> Table:
    """The columns that say something, from the first row on, which is below the header.

    With a ``separator`` lines that have nothing but one between two cells are read together, others from ``rows``.
    """
    kept: Collection[int] = range(len(header))
    if kind in ("judgements", "rankings"):
        kept = places(header, kind, file.columns).values()
    parts: list[Mapping[int, Column]] = []
    try:
        if separator is None:
            raise RefusedError
        read, most, mark = 0, LINE_BYTES, separator.encode()
        for block in text_blocks(file, len(header), longest=most, separator=mark, has_header=first > 0):
            parts.append({place: block[place].compact() for place in kept})
            read += len(block[0])
        lines: Sequence[int] = range(1 + first, 1 + first + read)
    except RefusedError:
        rows = islice(rows, first, None)
        parts, lines = [], []
        while some := list(islice(rows, _ROWS)):
            for line, row in some:
                if len(row) != len(header):
                    expected = f"{len(header)} columns ({', '.join(header)[:200]})"
                    raise file.refuse_line(line, ",".join(row).encode(), expected, str(len(row))) from None
                lines.append(line)
            parts.append({place: packed([row[place] for _, row in some]) for place in kept})
    return Table(file, header, lambda place: joined([part[place] for part in parts]), lines)


def rows_of(file: InputFile, separator: str | None) -> Iterator[_Row]:
    """The lines that are not blank, without quotes."""
    return ((line, text.decode().split(separator)) for line, text in file.lines() if text.strip())


# Tables with a header: comma, semicolon or tab between the columns, cells quoted where needed.


def csv_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the first line names the columns that are needed."""
    if (delimiter := _delimiter(file, kind)) is None:
        return Misfit("the first line has no comma, semicolon or tab")
    is_csv = file.name.lower().removesuffix(".gz").endswith(".csv")
    return columns_misfit(file, kind, _cells(file.first_line, delimiter), 2 * is_csv)


def csv_table(file: InputFile, kind: Kind) -> Table:
    """The rows below a header."""
    delimiter = _delimiter(file, kind) or ","
    header = _cells(file.first_line, delimiter)
    return table_of(file, kind, header, file.table(delimiter), separator=delimiter)


def _delimiter(file: InputFile, kind: Kind) -> str | None:
    """The character between the columns of the first line; of several, the one that separates most known names."""
    line = file.first_line
    if file.looks_like_json:
        return None
    present = [character for character in _DELIMITERS if character in line]
    if not present:  # one column; only one of query texts makes sense
        return "," if kind == "topics" and line.strip().lower() in SYNONYMS["query"] else None
    return max(present, key=lambda character: (len(places(_cells(line, character), kind)), line.count(character)))


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


# Tables with tabs; topics without quotes, and with a header or without.


tsv_table = csv_table
#: How a header names the first two columns of topics; a row with other names is not a header.
_TOPIC_NAMES, _TEXT_NAMES = ("topic", "id", "qid", "query_id"), ("query", "text", "title")
#: A cell that is quoted as in CSV, since it has quotes.
_QUOTED = re.compile(rb'(?:^|[\t\n])"[^\t\n]*""[^\t\n]*"[\t\r\n]')


def tsv_topics(file: InputFile) -> Topics:
    """Without a header, two columns: id and query text; further columns of a header are tags."""
    has_header = _is_header(file.first_line)
    header = [name.strip() for name in file.first_line.split("\t")] if has_header else ["topic", "query"]
    table = table_of(file, "topics", header, rows_of(file, "\t"), separator="\t", first=int(has_header))
    return topics_of_table(table, {"topic": header[0], "query": header[1]})


def _is_header(line: str) -> bool:
    names = [cell.strip().lower() for cell in line.split("\t")]
    return len(names) > 1 and names[0] in _TOPIC_NAMES and names[1] in _TEXT_NAMES


def tsv_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the first line has a tab, and is a header where one is needed."""
    if "\t" not in file.first_line or file.looks_like_json:
        return Misfit("the first line has no tab", int(kind == "topics" and not file.looks_like_json))
    if kind != "topics":
        return csv_fits(file, kind)
    is_header = _is_header(file.first_line)
    if is_header and _QUOTED.search(file.start):
        return Misfit("its cells are quoted")
    if file.columns or (not is_header and csv_fits(file, kind) is None):
        return Misfit("its columns are named, and are not an id, then a query text")
    return None


# JSON Lines with named keys: an object for each row, one in a line, or all in one JSON list.


def jsonl_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the first object has the keys that are needed."""
    if not file.looks_like_json:
        return Misfit("it is not JSON")
    first = file.first_object
    if _is_list(file):
        rows = file.json_or_none
        first = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else None
    if first is None:
        return Misfit("it is neither one JSON object in each line nor a list of objects", 1)
    if kind == "topics" and {"title", "text"} <= first.keys() and "query" not in first:
        return Misfit("its objects have titles and texts: they are documents", 2)
    values = list(first.values())
    misfit = columns_misfit(file, kind, first, 1)
    if misfit is None and any(
        isinstance(values[place], dict | list) for place in places(first, kind, file.columns).values()
    ):
        return Misfit("its columns hold objects or lists; write a row as an object (pandas: orient='records')", 4)
    return misfit


def jsonl_table(file: InputFile, _kind: Kind) -> Table:
    """An object for each row."""
    lines: list[int] = []

    def rows() -> Iterator[dict[str, Any]]:
        for line, row in enumerate(file.json, 1) if _is_list(file) else file.json_lines():
            if not isinstance(row, dict):
                raise file.refuse(line, f"expected a JSON object, found {json.dumps(row):.60}")
            lines.append(line)
            yield row

    return table_of_rows(file, rows(), lines)


def _is_list(file: InputFile) -> bool:
    return file.first_line.lstrip().startswith("[")


# Runs as MS MARCO has them: query, passage and rank with tabs and without a header; a score may follow.


_MSMARCO = "3 columns (qid, pid, rank), the third a whole number, or 4 (with the score)"


def msmarco_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has an id, another one, and a rank, which is where rankings start."""
    cells = file.first_line.split()
    has_columns = len(cells) in (3, 4)
    if has_columns and cells[2].isdecimal() and not math.isnan(number(cells[-1])):
        return None
    expected = "name the columns in a first line, such as qid, docid, score"
    return Misfit(
        f"its first line is {file.first_line!r:.60}, not {_MSMARCO}; {expected}", 2 * ("\t" in file.first_line)
    )


def msmarco_table(file: InputFile, kind: Kind) -> Table:
    """The documents of each topic by their scores, or else by their ranks."""
    separator = "\t" if "\t" in file.first_line else " "
    names = ("qid", "pid", "rank", "score")[: len(file.first_line.split())]
    return table_of(file, kind, names, rows_of(file, None), separator=separator, first=0)
