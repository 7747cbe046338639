"""Tables with a header that names their columns: comma, semicolon or tab between them, cells quoted where needed."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np

from pytest_riskguard.data.headers import WANTED, known_columns, missing_columns, number, places
from pytest_riskguard.data.ids import IntArray
from pytest_riskguard.data.input_files import START_BYTES, InputFile, Misfit
from pytest_riskguard.data.named_columns import Column, Table, joined, packed
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.text_blocks import RefusedError, numbers, text_blocks
from pytest_riskguard.data.topics import CLUSTER, STRATUM, WEIGHT, Topics, topics_of
from pytest_riskguard.limits import LINE_BYTES

#: How many rows of cells become columns together.
_ROWS = 2**14
_FEED = "\n"
_DELIMITERS = "\t;,"
#: A table with one column has no delimiter; only one of query texts makes sense.
_ONE_COLUMN = frozenset({"query", "query_text", "querytext"})


def csv_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the first line names the columns that are needed."""
    delimiter = _delimiter(file, kind)
    if delimiter is None:
        return Misfit("the first line has no comma, semicolon or tab")
    header = _cells(file.first_line, delimiter)
    problem = missing_columns(header, kind, file.columns)
    if problem is None:
        return None
    is_meant = known_columns(header, kind) > 0 or file.name.lower().removesuffix(".gz").endswith(".csv")
    nearness = 3 if file.columns else 2 if is_meant else 0
    return Misfit(f"its first line is not a header that fits: {problem}", nearness)


def csv_table(file: InputFile, kind: Kind) -> Table:
    """The rows below a header."""
    delimiter = _delimiter(file, kind) or ","
    with suppress(RefusedError):
        header = _cells(file.first_line, delimiter)
        return _stacked(file, header, _text_columns(file, kind, header, separator=delimiter))
    rows = file.table(delimiter)
    _, header = next(rows, (1, []))
    return _stacked(file, header, _cell_columns(file, header, rows))


tsv_table = csv_table
#: The lines of some rows, and their columns by place or by name.
_Block = tuple[Sequence[int] | IntArray, Mapping[Any, Column]]


def _stacked(file: InputFile, header: Sequence[str] | None, blocks: Iterable[_Block]) -> Table:
    """Rows one block below the other; without a header columns have names, and one may lack in a block."""
    lines, parts = [np.zeros(0, dtype=np.int64)], []
    for of_block, columns in blocks:
        lines.append(np.asarray(of_block, dtype=np.int64))
        parts.append((len(of_block), columns))
    names = header or list(dict.fromkeys(name for _, part in parts for name in part))

    def column(place: int) -> Column:
        key = names[place] if header is None else place
        return joined([part.get(key, [None] * size) for size, part in parts])

    return Table(file, names, column, np.concatenate(lines))


def _text_columns(
    file: InputFile, kind: Kind, header: Sequence[str], *, separator: str | None = None, below: bool = True
) -> Iterator[_Block]:
    """Rows of text, of which those columns are kept that hold something; ``below`` the first line, the header."""
    found = places(header, WANTED[kind], kind, file.columns)
    kept = range(len(header)) if kind == "topics" else found.values()
    numeric = {place for what, place in found.items() if what in ("rank", "score", "grade", "value")}
    for block in text_blocks(file, len(header), longest=LINE_BYTES, separator=separator):
        rows = slice(int(below), None)
        below = False
        columns = {place: block.columns[place].at(rows) for place in kept}
        yield (
            block.lines[rows],
            {place: numbers(ids) if place in numeric else ids.compact() for place, ids in columns.items()},
        )


def _cell_columns(file: InputFile, header: Sequence[str], rows: Iterator[tuple[int, list[str]]]) -> Iterator[_Block]:
    """Rows of cells, many at a time."""
    while some := list(islice(rows, _ROWS)):
        for line, row in some:
            if len(row) != len(header):
                raise file.refuse(line, f"expected {len(header)} columns as in the first line, found {len(row)}")
        lines, cells = zip(*some, strict=True)
        yield lines, dict(enumerate(map(packed, zip(*cells, strict=True))))


def _delimiter(file: InputFile, kind: Kind) -> str | None:
    """The character between the columns of the first line; of several, the one that separates most known names."""
    line = file.first_line
    if file.looks_like_json:
        return None
    present = [character for character in _DELIMITERS if character in line]
    if not present:
        return "," if kind == "topics" and line.strip().lower() in _ONE_COLUMN else None
    return max(present, key=lambda character: (known_columns(_cells(line, character), kind), line.count(character)))


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


# Tables with tabs: judgements and rankings with named columns; topics also without a header, or with tags.
#


#: How a header names its first two columns; a row with other names is not a header.
TOPIC_NAMES = ("topic", "id", "qid", "query_id")
TEXT_NAMES = ("query", "text", "title")
_TWO_COLUMNS = "2 columns (id, query text) with a tab between them"
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def tsv_topics(file: InputFile) -> Topics:
    """A table with tabs, without quoting.

    Without a header, two columns: id and query text. With a header, which begins with one of ``TOPIC_NAMES`` and of
    ``TEXT_NAMES``, further columns are tags; one named weight, in any case, is a number above 0.
    """
    rows = (
        (line, [cell.strip() for cell in text.decode().split("\t")]) for line, text in file.lines() if text.strip()
    )
    header, expected = ["", ""], f"{_TWO_COLUMNS} (further columns need a header line)"
    if _is_header(file.first_line):
        line, header = next(rows)
        header = [name.lower() if name.lower() in (CLUSTER, STRATUM, WEIGHT) else name for name in header]
        expected = f"{len(header)} columns ({', '.join(header)}) with tabs between them"
        for place, name in enumerate(header):
            if not name or name in header[:place]:
                problem = f"expected a name of its own for every column, found {name!r} in column {place + 1}"
                raise file.refuse(line, problem)
    lines, found = [], []
    for line, cells in rows:
        if len(cells) != len(header):
            raise file.refuse_line(line, "\t".join(cells).encode(), expected, str(len(cells)))
        if not cells[0]:
            raise file.refuse_line(line, "\t".join(cells).encode(), "a topic id", "an empty one")
        if WEIGHT in header and not number(cell := cells[header.index(WEIGHT)]) > 0:
            raise file.refuse(line, f"expected a weight that is a number above 0, found {cell!r:.60}")
        lines.append(line)
        found.append(cells)
    if not found:
        raise file.refuse(None, f"expected {_TWO_COLUMNS}, found an empty file")
    topics, texts, *others = zip(*found, strict=True)
    tags = dict(zip(header[2:], others, strict=True))
    weights = list(map(number, tags.pop(WEIGHT, ())))
    return topics_of(file, topics, texts, tags, weights, lines=lines, digest=file.digest)


def _is_header(line: str) -> bool:
    names = [cell.strip().lower() for cell in line.split("\t")]
    return len(names) > 1 and names[0] in TOPIC_NAMES and names[1] in TEXT_NAMES


def tsv_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the first line has a tab, and is a header where one is needed."""
    if "\t" not in file.first_line or file.looks_like_json:
        return Misfit("the first line has no tab", 0 if kind != "topics" or file.looks_like_json else 1)
    if kind != "topics":
        return csv_fits(file, kind)
    is_header = _is_header(file.first_line)
    if is_header and _is_quoted(file):
        return Misfit("its cells are quoted")
    if file.columns or (not is_header and csv_fits(file, kind) is None):
        return Misfit("its columns are named, and are not an id, then a query text")
    return None


def _is_quoted(file: InputFile) -> bool:
    """Whether cells are quoted as in CSV: some hold doubled quotes, and none begins with a quote otherwise."""
    lines = file.start.decode(errors="replace").splitlines()
    if len(file.start) == START_BYTES:  # the last line may go on
        del lines[-1]
    cells = [cell for line in lines for cell in line.split("\t")]
    quoted = [cell for cell in cells if cell.startswith('"')]
    return any('""' in cell[1:-1] for cell in quoted) and all(map(_QUOTED.fullmatch, quoted))


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
    problem = missing_columns(first, kind, file.columns)
    if problem is None:
        values = list(first.values())
        if any(
            isinstance(values[place], dict | list)
            for place in places(first, WANTED[kind], kind, file.columns).values()
        ):
            return Misfit("its columns hold objects or lists; write a row as an object (pandas: orient='records')", 4)
        return None
    nearness = 3 if file.columns else 1 + min(known_columns(first, kind), 2)
    return Misfit(f"its first object does not fit: {problem}", nearness)


def jsonl_table(file: InputFile, _kind: Kind) -> Table:
    """An object for each row."""
    if not _is_list(file):
        with suppress(RefusedError):
            return _stacked(file, None, map(_object_columns, _blocks_of_objects(file)))
    return _stacked(file, None, [_object_columns(_objects(file))])


_Objects = tuple[Sequence[int] | IntArray, Sequence[Mapping[str, Any]]]


def _object_columns(rows: _Objects) -> _Block:
    lines, objects = rows
    layouts = {tuple(one) for one in objects}
    if len(layouts) == 1:
        columns = {name: list(map(itemgetter(name), objects)) for layout in layouts for name in layout}
    else:
        columns = {name: [one.get(name) for one in objects] for layout in layouts for name in layout}
    return lines, {name: packed(cells) for name, cells in columns.items()}


def _blocks_of_objects(file: InputFile) -> Iterator[_Objects]:
    """Many lines at a time, an object in each; ``RefusedError`` for anything else, and for what is unusual."""
    for first, text in file.texts():
        text = text.removesuffix(b"\n")
        lines = np.arange(first, first + 1 + text.count(b"\n"))
        try:
            objects = json.loads(f"[{text.decode().replace(_FEED, ',')}]", parse_constant=_refuse)
        except (ValueError, RecursionError):
            raise RefusedError from None
        # a key that stands twice in an object is lost: there are then more of these than keys
        keys = text.count(b'":') + text.count(b'" :')
        if set(map(type, objects)) != {dict} or (len(lines), keys) != (len(objects), sum(map(len, objects))):
            raise RefusedError
        if b"\\ud" in text or b"\\uD" in text:  # it may be half a character
            raise RefusedError
        yield lines, objects


def _refuse(_constant: str) -> None:
    raise RefusedError


def _is_list(file: InputFile) -> bool:
    return file.first_line.lstrip().startswith("[")


def _objects(file: InputFile) -> _Objects:
    """The objects, with their lines in JSON Lines, with their places in a list."""
    rows = list(enumerate(file.json, 1) if _is_list(file) else file.json_lines())
    for line, row in rows:
        if not isinstance(row, dict):
            raise file.refuse(line, f"expected a JSON object, found {json.dumps(row):.60}")
    return [line for line, _ in rows], [row for _, row in rows]


# Runs as MS MARCO has them: query, passage and rank with tabs and without a header; a score may follow.


_MSMARCO = ("qid", "pid", "rank", "score")
_MSMARCO_EXPECTED = "3 columns (qid, pid, rank) or 4 (with the score) between tabs or spaces"


def msmarco_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has an id, another one, and a rank, which is where rankings start."""
    cells = file.first_line.split()
    nearness = 2 if "\t" in file.first_line else 0
    if file.looks_like_json or len(cells) not in (3, 4):
        return Misfit(f"its first line does not have {_MSMARCO_EXPECTED}")
    if not (cells[2].isascii() and cells[2].isdigit()):
        return Misfit(
            f"the third column of its first line is not a rank but {cells[2]!r:.40}; name the columns in a first "
            "line, such as qid, docid, score",
            nearness,
        )
    if len(cells) == 4 and math.isnan(number(cells[3])):
        return Misfit(f"the fourth column of its first line is not a score but {cells[3]!r:.40}", nearness)
    return None


def msmarco_table(file: InputFile, kind: Kind) -> Table:
    """The documents of each topic by their scores, or else by their ranks."""
    header = _MSMARCO[: len(file.first_line.split())]
    with suppress(RefusedError):
        return _stacked(file, header, _text_columns(file, kind, header, below=False))
    rows = ((line, content.decode().split()) for line, content in file.lines() if content.strip())
    return _stacked(file, header, _cell_columns(file, header, rows))
