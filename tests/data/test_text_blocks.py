"""Columns of text read by blocks are those read line by line, or refused."""

from __future__ import annotations

import csv
import hashlib
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.text_blocks import RefusedError, numbers, text_blocks
from pytest_riskguard.errors import FileError
from pytest_riskguard.limits import Limit

SetLimit = Callable[[str, int], None]
LONGEST = 60
MOST = Limit(LONGEST, "bytes in a line of a test")


def rows_of(content: bytes, fields: int, separator: bytes | None = None) -> list[list[str]]:
    file = InputFile(Path("a.txt"), error=FileError, content=content)
    rows: list[list[str]] = []
    for columns in text_blocks(file, fields, longest=MOST, separator=separator):
        rows += map(list, zip(*(column.strings() for column in columns), strict=True))
    assert file.digest == f"sha256:{hashlib.sha256(content).hexdigest()}"
    return rows


#: What lines are made of, so that many are right and many nearly so.
PIECES = ["a", "bc", "1.5", " ", "  ", "\t", "\n", "\n", "\r\n", "\r", "é", "\u00a0", "\x1c", "\x0b", "\0", "\ufeff"]
PIECES += ["longer-than-eight", ",", ",", '"']


@example(["a", ",", "bc", "\n", ",", "\n"], 2, b",")
@example(["a", "\n", "\n", "bc", "\n"], 1, b",")
@given(st.lists(st.sampled_from(PIECES), max_size=30), st.integers(1, 3), st.sampled_from([None, b","]))
def test_columns_are_those_of_a_reader_of_lines(pieces: list[str], fields: int, separator: bytes | None) -> None:
    content = "".join(pieces).encode()
    try:
        rows = rows_of(content, fields, separator)
    except (RefusedError, FileError):
        return
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    assert all(b"\0" not in line and len(line) <= LONGEST for line in lines)
    if separator is None:
        assert rows == [[field.decode() for field in line.split()] for line in lines if line.split()]
    else:
        table = csv.reader(content.decode().removeprefix("\ufeff").removesuffix("\n").split("\n"), strict=True)
        assert rows == [row for row in table if any(row)]
    assert all(len(row) == fields for row in rows)


@pytest.mark.parametrize(
    "content",
    [
        b"a b\nc",
        b"a b c d\n\n",
        b"a b\nc d e\nf\n",
        b"a \xff\n",
        b"a \0b\n",
        b"a " + b"b" * LONGEST,
        b"a" * 10 * LONGEST,
        b"a b\n" * 13,
    ],
)
def test_what_is_unusual_is_refused(content: bytes, set_limit: SetLimit) -> None:
    set_limit("LINES", 12)
    with pytest.raises((RefusedError, FileError)):
        rows_of(content, 2)


def test_lines_go_on_in_the_next_block(tmp_path: Path) -> None:
    chance = random.Random(1)
    rows = [[f"q{row}", "d" * chance.randint(1, 90)] for row in range(60_000)]
    (tmp_path / "a.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    blocks = list(text_blocks(InputFile(tmp_path / "a.tsv", error=FileError), 2, longest=Limit(100, "bytes")))
    assert len(blocks) > 2
    for place in (0, 1):
        assert [cell for columns in blocks for cell in columns[place].strings()] == [row[place] for row in rows]


#: Numbers of few and of many digits, about the ends of words.
PLAIN = st.from_regex(r"[+-]?([0-9]{1,17}|[0-9]{0,9}\.[0-9]{1,9}|[0-9]{1,17}\.)", fullmatch=True)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.one_of(FLOATS.map(repr), st.integers(-(2**70), 2**70).map(repr), PLAIN)))
def test_numbers_are_those_that_python_reads(cells: list[str]) -> None:
    np.testing.assert_array_equal(numbers(Ids.of(cells)), [float(cell) for cell in cells])


NO_NUMBERS = [
    "x",
    "1_0",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "0x1p3",
    "1,5",
    " 1",
    "1 2",
    "1" * 65,
    "-",
    ".",
    "--1",
    "1/5",
]
NO_NUMBERS += [
    "1-2",
    "1..5",
    "1.2.3",
    "1.2345678.9",
    "x12345678.5",
    "1.23456789x",
    "1.2 345678",
    "1.5\x01",
    "\x011.5",
]


@pytest.mark.parametrize("cell", NO_NUMBERS)
def test_what_is_no_plain_number_is_refused(cell: str) -> None:
    with pytest.raises(RefusedError):
        numbers(Ids.of(["1.0", cell]))
