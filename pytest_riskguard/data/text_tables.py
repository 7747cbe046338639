"""Text with named columns: CSV, tables with tabs, JSON Lines, and MS MARCO's, whose columns need no names."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from pytest_riskguard.data.headers import SYNONYMS, number, places
from pytest_riskguard.data.input_files import InputFile, Kind, Misfit
from pytest_riskguard.data.json_nodes import outline
from pytest_riskguard.data.named_columns import Column, Table, columns_misfit, joined, packed, table_of_rows
from pytest_riskguard.data.text_blocks import RefusedError, text_blocks
from pytest_riskguard.limits import LINE_BYTES

#: How many rows of cells become columns together.
_ROWS = 2**14
_DELIMITERS = "\t;,"
#: A cell between tabs that is quoted as in CSV, since it has quotes.
_QUOTED = re.compile(rb'(?:^|[\t\n])"[^\t\n]*""[^\t\n]*"[\t\r\n]')


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
        rows = whole_rows(file, header, islice(rows, first, None))
        parts, lines = [], []
        while some := list(islice(rows, _ROWS)):
            lines += [line for line, _ in some]
            parts.append({place: packed([row[place] for _, row in some]) for place in kept})
    return Table(file, header, lambda place: joined([part[place] for part in parts]), lines)


def whole_rows(file: InputFile, header: Sequence[str], rows: Iterator[_Row]) -> Iterator[_Row]:
    """The same rows, none shorter or longer than the header."""
    for line, row in rows:
        if len(row) != len(header):
            expected = f"{len(header)} columns ({', '.join(header)[:200]})"
            raise file.refuse_line(line, ",".join(row).encode(), expected, str(len(row))) from None
        yield line, row


def rows_of(file: InputFile, separator: str | None) -> Iterator[_Row]:
    """The lines that are not blank, without quotes."""
    return ((line, text.decode().split(separator)) for line, text in file.lines() if text.strip())


# Tables with a header: comma, semicolon or tab between the columns, cells quoted where needed. In topics with tabs
# quotes are characters like others, unless they are doubled.


def csv_fits(file: InputFile, kind: Kind) -> Misfit:
    """Whether the first line names the columns that are needed."""
    if (delimiter := _delimiter(file, kind)) is None:
        return ""
    names, is_csv = _cells(file.first_line, delimiter), file.name.lower().removesuffix(".gz").endswith(".csv")
    misfit = columns_misfit(file, kind, names)
    is_near = file.columns or (kind != "scores" and (is_csv or places(names, kind, {})))
    return misfit if misfit is None or is_near else ""


def csv_table(file: InputFile, kind: Kind) -> Table:
    """The rows below a header."""
    delimiter = _delimiter(file, kind) or ","
    header = _cells(file.first_line, delimiter)
    is_plain = kind == "topics" and delimiter == "\t" and not _QUOTED.search(file.start)
    rows = rows_of(file, delimiter) if is_plain else file.table(delimiter)
    return table_of(file, kind, header, rows, separator=delimiter)


def _delimiter(file: InputFile, kind: Kind) -> str | None:
    """The character between the columns of the first line; one column makes sense only with query texts."""
    if file.looks_like_json:
        return None
    is_queries = kind == "topics" and file.first_line.strip().lower() in SYNONYMS["query"]
    return next((character for character in _DELIMITERS if character in file.first_line), "," if is_queries else None)


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


# Tables with tabs; topics may stand without a header.


def tsv_fits(file: InputFile, kind: Kind) -> Misfit:
    """Whether the first line has a tab, and is a header, or an id and a query text."""
    if "\t" not in file.first_line or file.looks_like_json:
        return ""
    is_pair = kind == "topics" and file.first_line.count("\t") == 1 and not file.columns
    return None if is_pair else csv_fits(file, kind)


def tsv_table(file: InputFile, kind: Kind) -> Table:
    """The rows below a header; of topics without one, two columns: id and query text."""
    if kind == "topics" and csv_fits(file, kind) is not None:
        return table_of(file, kind, ["topic", "query"], rows_of(file, "\t"), separator="\t", first=0)
    return csv_table(file, kind)


# JSON Lines with named keys: an object for each row, one in a line, or all in one JSON list.


def jsonl_fits(file: InputFile, kind: Kind) -> Misfit:
    """Whether the first object has the keys that are needed."""
    if not file.looks_like_json:
        return ""
    first = file.first_object
    if _is_list(file):
        rows = file.json_or_none
        first = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else None
    if first is None:
        return "it is neither one JSON object in each line nor a list of objects"
    if kind == "topics" and {"title", "text"} <= first.keys() and "query" not in first:
        return "its objects have titles and texts: they are documents"
    return columns_misfit(file, kind, first)


def jsonl_table(file: InputFile, _kind: Kind) -> Table:
    """An object for each row."""
    return table_of_rows(file, (row for _, row in objects_of(file)), lambda: [line for line, _ in objects_of(file)])


def objects_of(file: InputFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON list, with their numbers, or of JSON Lines, with their lines."""
    for line, value in enumerate(file.json, 1) if _is_list(file) else file.json_lines():
        if not isinstance(value, dict):
            raise file.refuse(line, f"expected a JSON object, found {outline(value)}")
        yield line, value


def _is_list(file: InputFile) -> bool:
    return file.first_line.lstrip().startswith("[")


# Runs as MS MARCO has them: query, passage and rank with tabs and without a header; a score may follow.


_MSMARCO = "3 columns (qid, pid, rank), the third a whole number, or 4 (with the score)"


def msmarco_fits(file: InputFile, _kind: Kind) -> Misfit:
    """Whether the first line has an id, another one, and a rank, which is where rankings start."""
    cells = file.first_line.split()
    has_columns = len(cells) in (3, 4)
    if len(cells) == 4 and cells[1] == "0":
        return "its first line is one of judgements (topic, iteration, docid, grade): it is not a run"
    if has_columns and cells[2].isdecimal() and not math.isnan(number(cells[-1])):
        return None
    return f"its first line is {file.first_line!r:.60}, not {_MSMARCO}" if "\t" in file.first_line else ""


def msmarco_table(file: InputFile, kind: Kind) -> Table:
    """The documents of each topic by their scores, or else by their ranks."""
    separator = "\t" if "\t" in file.first_line else " "
    names = ("qid", "pid", "rank", "score")[: len(file.first_line.split())]
    return table_of(file, kind, names, rows_of(file, None), separator=separator, first=0)
