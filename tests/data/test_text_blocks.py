"""Columns of text read by blocks are those read line by line, or refused."""

from __future__ import annotations

import csv
import hashlib
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.text_blocks import RefusedError, numbers, text_blocks
from pytest_riskguard.errors import FileError
from pytest_riskguard.limits import Limit

SetLimit = Callable[[str, int], None]
LONGEST = 60
MOST = Limit(LONGEST, "bytes in a line of a test")


def blocks_of(content: bytes, fields: int, separator: str | None) -> list[tuple[int, list[str]]]:
    file = InputFile(Path("a.txt"), error=FileError, content=content)
    rows: list[tuple[int, list[str]]] = []
    for block in text_blocks(file, fields, longest=MOST, separator=separator):
        columns = [column.strings() for column in block.columns]
        rows += zip(block.lines.tolist(), map(list, zip(*columns, strict=True)), strict=True)
    assert file.digest == f"sha256:{hashlib.sha256(content).hexdigest()}"
    return rows


def words_of(content: bytes, fields: int) -> list[tuple[int, list[str]]]:
    lines = enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1)
    rows = [(number, line, [field.decode() for field in line.split()]) for number, line in lines]
    assert all(b"\0" not in line and len(line) <= LONGEST for _, line, _ in rows)
    assert all(len(row) in (0, fields) for _, _, row in rows)
    return [(number, row) for number, _, row in rows if row]


def cells_of(content: bytes, fields: int, separator: str) -> list[tuple[int, list[str]]]:
    text = content.removeprefix(b"\xef\xbb\xbf").decode()
    table = csv.reader(text.removesuffix("\n").split("\n"), delimiter=separator, strict=True)
    rows = [(table.line_num, [cell.strip() for cell in row]) for row in table if any(map(str.strip, row))]
    assert "\0" not in text
    assert all(len(line.encode()) <= LONGEST for line in text.split("\n"))
    assert all(len(row) == fields for _, row in rows)
    return rows


#: What lines are made of, so that many are right and many nearly so.
PIECES = ["a", "bc", "1.5", " ", "  ", "\t", "\n", "\n", "\r\n", "\r", ",", ",", '"', "é", "\u00a0", "\x1c", "\x0b"]
PIECES += ['"a"', '"b,c"', '""', "\0", "longer-than-eight", "\ufeff"]


@given(st.lists(st.sampled_from(PIECES), max_size=30), st.integers(1, 3), st.sampled_from([None, ",", "\t"]))
def test_columns_are_those_of_a_reader_of_lines(pieces: list[str], fields: int, separator: str | None) -> None:
    content = "".join(pieces).encode()
    try:
        rows = blocks_of(content, fields, separator)
    except (RefusedError, FileError):
        return
    assert rows == (words_of(content, fields) if separator is None else cells_of(content, fields, separator))


@pytest.mark.parametrize("separator", [None, " ", ",", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_usual_text_is_not_refused(separator: str | None, end: str) -> None:
    rows = [["topic", "é1", "0.5"], ["t2", "a-long-name-of-a-document", "-1e3"]] * 3
    content = (end or "\n").join((separator or " \t ").join(row) for row in rows) + end
    read = blocks_of(b"\xef\xbb\xbf" + content.encode(), 3, separator)
    assert read == list(enumerate(rows, 1))


@pytest.mark.parametrize(
    ("content", "separator"),
    [
        (b"a b\nc", None),
        (b"a b c d\n\n", None),
        (b"a b\nc d e\nf\n", None),
        (b"a \xff\n", None),
        (b"a \0b\n", None),
        (b"a " + b"b" * LONGEST, None),
        (b"a" * 10 * LONGEST, None),
        (b"a b\n" * 13, None),
        (b"a,b\nc\n", ","),
        (b"a,b,c,d\n", ","),
        (b'"a,"b"\n', ","),
        (b'"a",b"c\n', ","),
        (b'"a\nb",c\n', ","),
        (b'a,"b""c"\n', ","),
        (b'a," b"\n', ","),
        (b'a,"\n', ","),
        (b'"",""\n', ","),
        (b"a, b\n", ","),
        (b"a ,b\n", ","),
        ("a,\u00a0b\n".encode(), ","),
        (b"a,b\n,\n", ","),
        (b"a\r,b\n", ","),
        (b"a,b\0\n", ","),
        (b"a,\xe9\n", ","),
        (b"a," + b"b" * LONGEST, ","),
        (b"a,b\n" * 13, ","),
    ],
)
def test_what_is_unusual_is_refused(content: bytes, separator: str | None, set_limit: SetLimit) -> None:
    set_limit("LINES", 12)
    file = InputFile(Path("a.txt"), error=FileError, content=content)
    with pytest.raises((RefusedError, FileError)):
        list(text_blocks(file, 2, longest=MOST, separator=separator))


def test_quoted_cells_may_have_separators() -> None:
    rows = blocks_of(b'"a, b","",c\nd,"e","f,"\r\n', 3, ",")
    assert rows == [(1, ["a, b", "", "c"]), (2, ["d", "e", "f,"])]


def test_lines_go_on_in_the_next_block(tmp_path: Path) -> None:
    chance = random.Random(1)
    rows = [[f"q{row}", "d" * chance.randint(1, 90)] for row in range(60_000)]
    (tmp_path / "a.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    file = InputFile(tmp_path / "a.tsv", error=FileError)
    blocks = list(text_blocks(file, 2, longest=Limit(100, "bytes"), separator="\t"))
    assert len(blocks) > 2
    assert [place for block in blocks for place in block.lines.tolist()] == list(range(1, len(rows) + 1))
    for place in (0, 1):
        assert [cell for block in blocks for cell in block.columns[place].strings()] == [row[place] for row in rows]


@given(st.lists(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**70), 2**70)).map(repr)))
def test_numbers_are_those_that_python_reads(cells: list[str]) -> None:
    np.testing.assert_array_equal(numbers(Ids.of(cells)), [float(cell) for cell in cells])


def test_an_empty_cell_is_no_number() -> None:
    np.testing.assert_array_equal(numbers(Ids.of(["1", "", "2"])), [1, np.nan, 2])


@pytest.mark.parametrize("cell", ["x", "1_0", "nan", "inf", "-inf", "1e400", "0x1p3", "1,5", " 1", "1 2", "1" * 65])
def test_what_is_no_plain_number_is_refused(cell: str) -> None:
    with pytest.raises(RefusedError):
        numbers(Ids.of(["1.0", cell]))
