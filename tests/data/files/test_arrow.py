"""Parquet, Arrow and Feather: columns of ids and numbers; what is damaged or packed too well is refused."""

import io
import random
import resource
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_riskguard.data.arrow import arrow_table, column_of, parquet_table
from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.named_columns import Table
from pytest_riskguard.errors import RunFormatError, UsageError
from pytest_riskguard.limits import RUN_BYTES

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

Content = bytes
TEXT_TYPES = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")


def cells(column: Any) -> list[Any]:
    """A column as Python has it; None for a number that is not there."""
    if isinstance(column, Ids):
        return column.strings()
    return [None if cell != cell else cell for cell in np.asarray(column).tolist()]


@example(["x" * length for length in range(11, 15)], "string_view", 0, False, False)
@given(
    st.lists(st.none() | st.text(st.characters(codec="utf-8"), max_size=20), max_size=9),
    st.sampled_from(TEXT_TYPES),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
)
def test_texts_are_those_of_python_in_every_type_slice_and_chunk(texts, name, start, is_coded, is_chunked):
    kind = pa.type_for_alias(name)
    array = pa.array([None if text is None else text.encode() for text in texts], pa.binary())
    array = array.cast(pa.string()).cast(kind) if "string" in name else array.cast(kind)
    if is_coded:
        coded = pa.array(texts, pa.string()).dictionary_encode()
        values = coded.dictionary.cast(pa.binary()) if "binary" in name else coded.dictionary
        array = pa.DictionaryArray.from_arrays(coded.indices, values.cast(kind))
    array = array.slice(start)
    column = pa.chunked_array([array.slice(0, 2), array.slice(2)]) if is_chunked else array
    assert cells(column_of(column)) == [text or "" for text in texts[start:]]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, 2**64 - 1], pa.uint64()), [1, 2**64 - 1]),
        (pa.array([1, None], pa.int8()), [1.0, None]),
        (pa.array([Decimal("1.50"), None]), [1.5, None]),
        (pa.array([None, None]), [None, None]),
        (pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array([None, "a"])), ["a", "", ""]),
        (pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([], pa.string())), ["", ""]),
        (pa.chunked_array([], pa.string()), []),
    ],
)
def test_numbers_and_nothing_are_those_of_python(column, expected):
    found = cells(column_of(column))
    assert (found, list(map(type, found))) == (expected, list(map(type, expected)))


def table_of(content: Content, name: str = "run") -> Table:
    file = InputFile(Path(name), error=RunFormatError, content=content, limit=RUN_BYTES)
    return (parquet_table if content.startswith(b"PAR1") else arrow_table)(file)


def refusal(content: Content) -> str:
    """What is said of a file, of which every column is read; empty if it can be read."""
    try:
        table = table_of(content)
        for place in range(len(table.names)):
            table.column(place)
    except RunFormatError as error:
        return str(error)
    return ""


def packed(table: Any, maker: str, rows: int = 13, **options: Any) -> Content:
    """A table as a file of Parquet (``parquet``) or of Arrow (``new_file``, ``new_stream``), in groups of rows."""
    file = io.BytesIO()
    if maker == "parquet":
        parquet.write_table(table, file, row_group_size=rows, **options)
    else:
        with getattr(pa.ipc, maker)(file, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(table, max_chunksize=rows)
    return file.getvalue()


def _files() -> dict[str, Content]:
    rows = {
        "qid": [f"q{number // 7}" for number in range(40)],
        "docno": [f"document {number} with a long name" if number % 3 else f"d{number}" for number in range(40)],
        "score": [-float(number) for number in range(40)],
        "rank": [None if number == 5 else number for number in range(40)],
        "vector": [[1.0]] * 40,
    }
    plain = pa.table(rows)
    coded = plain.set_column(0, "qid", plain["qid"].dictionary_encode())
    viewed = plain.set_column(1, "docno", plain["docno"].cast(pa.string_view()))
    files: dict[str, Content] = {}
    for number, table in enumerate((plain, coded, viewed)):
        for maker, compression in (("new_file", None), ("new_file", "lz4"), ("new_stream", "zstd")):
            files[f"{maker} {compression} {number}"] = packed(table, maker, compression=compression)
        if table is not viewed:
            files[f"parquet {number}"] = packed(table, "parquet", compression="zstd")
    pl = pytest.importorskip("polars")
    for name in ("write_parquet", "write_ipc", "write_ipc_stream"):
        file = io.BytesIO()
        getattr(pl.DataFrame(rows), name)(file)
        files[name] = file.getvalue()
    return files


FILES = _files()


@pytest.mark.parametrize("name", FILES)
def test_every_writer_and_compression_gives_the_same_columns(name):
    table = table_of(FILES[name])
    assert table.names == ["qid", "docno", "score", "rank"]  # lists are passed over
    topics, documents = (cells(table.column(place)) for place in (0, 1))
    assert topics == [f"q{number // 7}" for number in range(40)]
    assert documents[:2] == ["d0", "document 1 with a long name"]
    assert cells(table.column(2)) == [-float(number) for number in range(40)]
    assert cells(table.column(3))[4:7] == [4, None, 6]


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_read_or_refused(name):
    whole, chance = FILES[name], random.Random(name)
    for _ in range(120):
        place, size = chance.randrange(len(whole)), chance.choice((1, 1, 4, 40))
        other = bytes([whole[place] ^ 1 << chance.randrange(8)]) if size == 1 else chance.randbytes(size)
        found = refusal(whole[:place] + chance.choice((other, b"")) + whole[place + size :])
        assert found.startswith(("", "run: expected "))
    assert refusal(whole[:-20]).startswith("run: expected a whole file of Arrow or Parquet: ") or "stream" in name


@pytest.mark.parametrize("name", ["string", "binary", "string_view"])
def test_bytes_that_are_no_text_are_refused(name):
    array = pa.array([b"a", b"\xff" * 20], pa.binary()).cast(pa.binary_view() if "view" in name else pa.binary())
    table = pa.table({"docno": array.view(pa.type_for_alias(name))})
    assert "Invalid UTF8" in refusal(packed(table, "new_file"))


@pytest.mark.parametrize(
    ("values", "others", "is_coded"),
    [
        ([0, 1, 2, 3], [0, 500_000, 2, 3], False),
        ([0, 1, 2], [0, 3, 2], True),
    ],
)
def test_places_beyond_the_text_are_refused(values, others, is_coded):
    names = pa.array(["a", "b", "c"] * 2)
    content = packed(pa.table({"docno": names.dictionary_encode() if is_coded else names}), "new_stream", 3)
    before, after = (np.array(places, dtype=np.int32).tobytes() for places in (values, others))
    assert before in content
    assert "expected a whole file" in refusal(after.join(content.rsplit(before, 1)))


def repeated(rows: int, length: int) -> Any:
    """A table with a long text in each row, which it holds once."""
    codes = pa.array(np.zeros(rows, dtype=np.int32))
    return pa.table({"docno": pa.DictionaryArray.from_arrays(codes, pa.array(["x" * length]))})


def _one_view() -> Content:
    _, view, text = pa.array(["x" * 1_000_000], type=pa.string_view()).buffers()
    views = pa.py_buffer(np.tile(np.frombuffer(view, dtype=np.uint8)[:16], 600_000).tobytes())
    column = pa.Array.from_buffers(pa.string_view(), 600_000, [None, views, text])
    return packed(pa.table({"docno": column}), "new_file", 600_000)


def _one_text(maker: str, compression: str | None) -> Content:
    return packed(pa.table({"docno": ["x" * 100_000_000]}), maker, compression=compression)


RATIO = "expected at most 100 times the compressed size after decompression"
IN_A_LINE = "expected at most 1,048,576 bytes in a line, found 100,000,000"
BOMBS: dict[str, tuple[Callable[[], Content], str]] = {
    "packed parquet": (lambda: _one_text("parquet", "zstd"), RATIO),
    "packed dictionary of a file": (
        lambda: packed(repeated(1, 100_000_000), "new_file", compression="lz4"),
        RATIO,
    ),
    "parquet of one text": (
        lambda: packed(repeated(60_000, 1_000_000), "parquet", 60_000, compression="none", store_schema=False),
        "bytes of text in a run, found",
    ),
    "arrow of one text": (
        lambda: packed(repeated(60_000, 1_000_000), "new_file", 60_000),
        "bytes of text in a run, found 60,000,000,000",
    ),
    "views of one text": (_one_view, "bytes of text in a run, found 600,000,000,000"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_text_that_is_too_long_is_refused_before_it_exhausts_anything(name):
    make, expected = BOMBS[name]
    content = make()
    before = resource.getrusage(resource.RUSAGE_SELF)
    assert expected in refusal(content)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime - before.ru_utime < 5
    assert after.ru_maxrss - before.ru_maxrss < 300_000  # kilobytes


@pytest.mark.parametrize("maker", ["parquet", "new_file", "new_stream"])
def test_rows_and_unpacked_bytes_are_limited(maker, set_limit):
    names = [f"{number:0100}" for number in range(1000)]
    content = packed(pa.table({"docno": names}), maker, compression="zstd")
    set_limit("LINES", 999)
    assert "expected at most 999 lines, found 1,000" in refusal(content)
    set_limit("LINES", 1000)
    set_limit("RUN_BYTES", 90_000)
    assert "expected at most 90,000 bytes of text in a run" in refusal(content)
    set_limit("RUN_BYTES", 200_000)
    assert not refusal(content)


@pytest.mark.parametrize("start", [b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff"])
def test_a_missing_package_is_named_with_its_extra_and_other_files_are_no_tables(monkeypatch, start):
    assert "expected a whole file of Arrow or Parquet" in refusal(start + b" and no more")
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"needs pyarrow: pip install 'pytest-riskguard\[arrow\]'$"):
        table_of(start + b" and no more")
