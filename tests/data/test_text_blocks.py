"""Columns of text read by blocks are those read line by line, or refused."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data import input_files
from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.text_blocks import RefusedError, numbers, text_blocks
from pytest_riskguard.errors import FileError
from pytest_riskguard.limits import Limit


def test_lines_go_on_in_the_next_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(1)
    rows = [[f"q{row}", "d" * chance.randint(1, 90)] for row in range(600)]
    monkeypatch.setattr(input_files, "_BLOCK", 2**12)
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
    "inf",
    "1e400",
    "1,5",
    " 1",
    "1" * 65,
    "-",
    ".",
    "1/5",
]


@pytest.mark.parametrize("cell", NO_NUMBERS)
def test_what_is_no_plain_number_is_refused(cell: str) -> None:
    with pytest.raises(RefusedError):
        numbers(Ids.of(["1.0", cell]))
