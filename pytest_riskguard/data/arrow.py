"""Rows of Arrow tables under named columns, a batch at a time, and tables made of rows.

Columns of text, numbers and truth values are read, dictionaries of these too; all others are passed over.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.columns import NamedRows, NumberedRow, missing_columns
from pytest_riskguard.data.content import InputFile, Misfit, imported
from pytest_riskguard.data.input_files import FREE_BYTES
from pytest_riskguard.data.records import Judgement, Kind, Ranking, Records, TopicRow
from pytest_riskguard.data.scores import TopicScores, scores_of_rows
from pytest_riskguard.errors import FileError, UsageError
from pytest_riskguard.limits import LINE_BYTES, LINES, RATIO

if TYPE_CHECKING:
    import pyarrow as pa


#: A table is read in batches of that many rows.
BATCH_ROWS = 2**16


def pyarrow(what: str) -> Any:
    """The package; ``UsageError`` without it."""
    return imported("pyarrow", extra="arrow", what=what)


def misfit_of(file: InputFile, kind: Kind, schema_of: Callable[[InputFile], pa.Schema]) -> Misfit | None:
    """Why the columns do not hold rows of this kind; None also if nobody can tell, which the reader then says."""
    try:
        problem = missing_columns(_flat_names(schema_of(file)), kind, file.columns)
    except (UsageError, FileError):  # no pyarrow, a damaged file
        return None
    return None if problem is None else Misfit(f"its columns do not fit: {problem}", 4)


def named_rows(
    file: InputFile, kind: Kind, schema: pa.Schema, batches: Callable[[Sequence[str]], Iterable[pa.RecordBatch]]
) -> NamedRows:
    """The rows of a table, numbered from 1; ``batches`` gives those of some columns."""
    names = _flat_names(schema)
    return NamedRows(names, _rows(file, names, batches(names)), kind, file.refuse, file.columns)


def errors() -> tuple[type[Exception], ...]:
    """What pyarrow, and the reader of its messages, raise for files that are damaged."""
    lib = pyarrow("Arrow")
    ours = (struct.error, EOFError, OverflowError)
    return (lib.ArrowException, OSError, ValueError, KeyError, NotImplementedError, TypeError, *ours)


def _rows(file: InputFile, names: Sequence[str], batches: Iterable[pa.RecordBatch]) -> Iterator[NumberedRow]:
    number, size, most_rows, most_bytes, most_text = 0, 0, LINES.value, file.limit.value, LINE_BYTES.value
    try:
        for batch in batches:
            batch.validate()
            size += batch.nbytes
            if size > most_bytes:
                raise file.refuse(None, file.limit.problem(size))
            for name in names:
                lengths = _lengths(batch.column(name))
                if (longest := int(lengths.max(initial=0))) > most_text:
                    raise file.refuse(None, f"column {name!r:.60}: {LINE_BYTES.problem(longest)}")
                if (text := int(lengths.sum())) > most_bytes:  # views of one text stand in few bytes
                    raise file.refuse(None, file.limit.problem(text))
            # the offsets of a damaged file may point outside its memory, which would end the process
            batch.validate(full=True)
            for row in zip(*(_cells(batch.column(name)) for name in names), strict=True):
                number += 1
                yield number, row
            if number > most_rows:
                raise file.refuse(None, LINES.problem(number))
    except errors() as problem:
        raise file.refuse(None, f"expected a whole file of Arrow or Parquet: {problem}") from None


def _lengths(column: pa.Array) -> npt.NDArray[np.int64]:
    """The bytes of each text, of each distinct one in a dictionary, before any is made; none for other columns."""
    lib, compute = pyarrow("Arrow"), imported("pyarrow.compute", extra="arrow", what="Arrow")
    types = lib.types
    if types.is_dictionary(column.type):
        return _lengths(column.dictionary)
    if types.is_string_view(column.type) or types.is_binary_view(column.type):
        _, views, *_ = column.buffers()  # of 16 bytes, the first four of which are the length
        numbers = np.frombuffer(views, dtype="<i4").reshape(-1, 4)[column.offset : column.offset + len(column), 0]
        present = column.is_valid().to_numpy(zero_copy_only=False)
        return np.where(present, numbers, 0).astype(np.int64)
    if _is_text(column.type):
        lengths = compute.binary_length(column).fill_null(0)
        return lengths.cast(lib.int64()).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    return np.zeros(0, dtype=np.int64)


def _cells(column: pa.Array) -> list[Any]:
    types = pyarrow("Arrow").types
    if types.is_dictionary(column.type):
        values = _cells(column.dictionary)
        return [None if index is None else values[index] for index in column.indices.to_pylist()]
    cells: list[Any] = column.to_pylist()
    if _is_binary(column.type):
        return [None if cell is None else cell.decode() for cell in cells]
    return [None if cell is None else float(cell) for cell in cells] if types.is_decimal(column.type) else cells


def _flat_names(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if _is_flat(field.type)]


def _is_flat(kind: pa.DataType) -> bool:
    types = pyarrow("Arrow").types
    if types.is_dictionary(kind):
        return _is_flat(kind.value_type)
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return _is_text(kind) or any(test(kind) for test in tests)


def _is_text(kind: pa.DataType) -> bool:
    types = pyarrow("Arrow").types
    tests = (types.is_string, types.is_large_string, types.is_string_view, _is_binary)
    return any(test(kind) for test in tests)


def _is_binary(kind: pa.DataType) -> bool:
    """Whether texts were written without saying so, as some programs do in Parquet."""
    types = pyarrow("Arrow").types
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind))


# Parquet with named columns, as pandas, polars, ranx and data lakes write it.


_MAGIC = b"PAR1"
_PARQUET_WHAT = "a Parquet file"


def parquet_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the file begins as Parquet does, and has the columns that are needed."""
    if not file.start.startswith(_MAGIC):
        return Misfit("it is not Parquet")
    return misfit_of(file, kind, lambda file: _parquet_opened(file).schema_arrow)


def parquet_judgements(file: InputFile) -> Records[Judgement]:
    """A row for each judged document; null as the grade means not judged."""
    return _parquet_rows(file, "judgements").judgements()


def parquet_rankings(file: InputFile) -> Records[Ranking]:
    """A row for each document; where there are no scores, the rank counts."""
    return _parquet_rows(file, "rankings").rankings()


def parquet_topics(file: InputFile) -> Records[TopicRow]:
    """A row for each topic; further columns are tags."""
    return _parquet_rows(file, "topics").topics()


def parquet_scores(file: InputFile) -> tuple[TopicScores, ...]:
    """A row for each topic and measure, of the one system in the file, or of the one that ``file.part`` names."""
    by_system = _parquet_rows(file, "scores").scores()
    return scores_of_rows(file, file.chosen(by_system, "system") if by_system else ())


def parquet_cells(file: InputFile, wanted: Sequence[str]) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """The rows of a file, numbered from 1, by the ``wanted`` names of columns, as far as it has these."""
    schema, batches = _parquet_batches(file)
    own = {name.strip().lower(): name for name in _flat_names(schema)}
    names = [name for name in wanted if name in own]
    columns = [own[name] for name in names]
    for number, row in _rows(file, columns, batches(columns)):
        yield number, dict(zip(names, row, strict=True))


def _parquet_rows(file: InputFile, kind: Kind) -> NamedRows:
    schema, batches = _parquet_batches(file)
    return named_rows(file, kind, schema, batches)


def _parquet_batches(file: InputFile) -> tuple[pa.Schema, Callable[[Sequence[str]], Iterable[pa.RecordBatch]]]:
    """The columns of a file, and what gives the rows of some of them."""
    opened = _parquet_opened(file)
    metadata = opened.metadata
    size = sum(metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups))
    if metadata.num_rows > LINES.value:
        raise file.refuse(None, LINES.problem(metadata.num_rows))
    if size > file.limit.value:
        raise file.refuse(None, file.limit.problem(size))
    if size > FREE_BYTES and size > RATIO.value * len(file.content):
        raise file.refuse(None, RATIO.problem(size // len(file.content)))

    def batches(names: Sequence[str]) -> Iterable[pa.RecordBatch]:
        # a value that stands in a million rows is read once: dictionaries stay what they are
        with_dictionaries = _parquet_opened(file, read_dictionary=list(names))
        batched: Iterable[pa.RecordBatch] = with_dictionaries.iter_batches(BATCH_ROWS, columns=list(names))
        return batched

    return opened.schema_arrow, batches


def _parquet_opened(file: InputFile, **options: Any) -> Any:
    """The file for pyarrow; ``UsageError`` without it, the error of the file if it is damaged."""
    parquet = imported("pyarrow.parquet", extra="arrow", what=_PARQUET_WHAT)
    try:
        opened = parquet.ParquetFile(pyarrow(_PARQUET_WHAT).BufferReader(file.content), **options)
        _ = opened.schema_arrow
    except errors() as problem:
        raise file.refuse(None, f"expected a whole Parquet file: {problem}") from None
    return opened


# Arrow's own files, which Feather's are too, and its streams.


_FILE, _FEATHER_1, _STREAM = b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"
_ARROW_WHAT = "a file of Arrow or Feather"


def arrow_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the file begins as those of Arrow do, and has the columns that are needed."""
    if not file.start.startswith((_FILE, _FEATHER_1, _STREAM)):
        return Misfit("it is neither Arrow nor Feather")
    return misfit_of(file, kind, lambda file: _arrow_opened(file).schema)


def arrow_judgements(file: InputFile) -> Records[Judgement]:
    """A row for each judged document; null as the grade means not judged."""
    return _arrow_rows(file, "judgements").judgements()


def arrow_rankings(file: InputFile) -> Records[Ranking]:
    """A row for each document; where there are no scores, the rank counts."""
    return _arrow_rows(file, "rankings").rankings()


def arrow_topics(file: InputFile) -> Records[TopicRow]:
    """A row for each topic; further columns are tags."""
    return _arrow_rows(file, "topics").topics()


def _arrow_rows(file: InputFile, kind: Kind) -> NamedRows:
    opened = _arrow_opened(file)
    is_file = file.start.startswith(_FILE)
    batches: Iterable[pa.RecordBatch] = (
        (opened.get_batch(index) for index in range(opened.num_record_batches)) if is_file else opened
    )
    return named_rows(file, kind, opened.schema, lambda _names: batches)


def _arrow_opened(file: InputFile) -> Any:
    """The file for pyarrow; ``UsageError`` without it, the error of the file if it is damaged."""
    lib = pyarrow(_ARROW_WHAT)
    if file.start.startswith(_FEATHER_1):
        raise file.refuse(
            None, "expected Feather of version 2, found version 1; write it again with pandas or polars"
        )
    content = lib.py_buffer(file.content)
    try:
        if file.start.startswith(_FILE):
            size = sum(map(_unpacked_bytes, _messages(content)))
            opened = lib.ipc.open_file(content)
        else:
            size = sum(map(_unpacked_bytes, lib.ipc.MessageReader.open_stream(content)))
            opened = lib.ipc.open_stream(content)
    except errors() as problem:
        raise file.refuse(None, f"expected a whole file of Arrow: {problem}") from None
    if size > file.limit.value:
        raise file.refuse(None, file.limit.problem(size))
    if size > FREE_BYTES and size > RATIO.value * len(file.content):
        raise file.refuse(None, RATIO.problem(size // len(file.content)))
    return opened


def _messages(content: Any) -> Iterator[Any]:
    """The messages that the table of contents at the end of a file names (Footer in Arrow's File.fbs)."""
    end = content.size - len(_FILE) - 4
    footer = content[end - struct.unpack_from("<i", content, end)[0] : end]
    for blocks in (_field(footer, _inner(footer, 0), number) for number in (2, 3)):
        if blocks:
            listed = _inner(footer, blocks)
            (count,) = struct.unpack_from("<I", footer, listed)
            for place in range(listed + 4, listed + 4 + 24 * count, 24):
                start, head, body = struct.unpack_from("<qi4xq", footer, place)
                yield pyarrow(_ARROW_WHAT).ipc.read_message(content[start : start + head + body])


def _unpacked_bytes(message: Any) -> int:
    """How many bytes the packed columns of a message take once they are unpacked, which pyarrow does all at once.

    The message lists where each buffer begins in the body, and a packed one begins with its size (FlatBuffers;
    Message, DictionaryBatch and RecordBatch in Arrow's Message.fbs).
    """
    if message.type not in ("dictionary", "record batch"):
        return 0
    packed = message.metadata
    table = _inner(packed, _field(packed, _inner(packed, 0), 2))
    if message.type == "dictionary":
        table = _inner(packed, _field(packed, table, 1))
    buffers = _field(packed, table, 2)
    if not (_field(packed, table, 3) and buffers):
        return 0
    listed = _inner(packed, buffers)
    (count,) = struct.unpack_from("<I", packed, listed)
    size = 0
    for place in range(listed + 4, listed + 4 + 16 * count, 16):
        start, length = struct.unpack_from("<qq", packed, place)
        if length >= 8:
            size += max(struct.unpack_from("<q", message.body, start)[0], 0)
    return size


def _inner(packed: Any, place: int) -> int:
    """Where what a reference at a place leads to begins."""
    return place + int(struct.unpack_from("<I", packed, place)[0])


def _field(packed: Any, table: int, number: int) -> int:
    """Where a field of a table is; 0 if it is left out."""
    layout = table - struct.unpack_from("<i", packed, table)[0]
    (size,) = struct.unpack_from("<H", packed, layout)
    if 4 + 2 * number >= size:
        return 0
    (offset,) = struct.unpack_from("<H", packed, layout + 4 + 2 * number)
    return table + int(offset) if offset else 0
