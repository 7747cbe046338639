"""Columns of Arrow as ids and numbers, never a Python object for each row; Parquet, Arrow and Feather hold them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.headers import missing_columns
from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.input_files import FREE_BYTES, InputFile, Misfit, imported
from pytest_riskguard.data.named_columns import Table
from pytest_riskguard.data.records import Kind
from pytest_riskguard.errors import FileError
from pytest_riskguard.limits import LINE_BYTES, LINES, RATIO, Limit

if TYPE_CHECKING:
    import pyarrow as pa

#: Refuses ids that are too long, before anything is done with their text.
Check = Callable[[Ids], None]
#: Rows of documents that are Python objects at one time.
_BATCH_ROWS = 2**16
#: A text of at most so many bytes stands in its view; of a longer one, the view says where it is.
_IN_VIEW = 12
_FILE, _FEATHER_1 = b"ARROW1", b"FEA1"
_Opened = Callable[[InputFile], Table]


def pyarrow() -> Any:
    """The package; ``UsageError`` without it."""
    return imported("pyarrow", extra="arrow", what="Arrow")


def errors() -> tuple[type[Exception], ...]:
    """What pyarrow, and the reader of its messages, raise for data that are damaged."""
    others = (OSError, ValueError, KeyError, IndexError, NotImplementedError, TypeError, EOFError, OverflowError)
    return (pyarrow().ArrowException, struct.error, *others)


def column_of(column: Any, check: Check = lambda _ids: None) -> Any:
    """An array of Arrow, or a chunked one: ids for text, an array for numbers, a list for all else.

    Nothing is an id without bytes, or NaN. Text that was written as bytes is text, and a dictionary is what its codes
    stand for. One of ``errors`` for damaged data.
    """
    lib = pyarrow()
    types = lib.types
    column = column if isinstance(column, lib.ChunkedArray) else lib.chunked_array([column])
    if _text_name(column.type):
        ids = _stacked([_ids(chunk, check) for chunk in column.chunks])
        check(ids)
        return ids
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_null(column.type):
        return np.full(len(column), np.nan)
    if types.is_decimal(column.type):
        column = column.cast(lib.float64())
    if not (types.is_integer(column.type) or types.is_floating(column.type)):
        return column.to_pylist()
    return np.concatenate([_numbers(chunk, np.nan) for chunk in column.chunks] or [np.zeros(0)])


def _ids(array: pa.Array, check: Check) -> Ids:
    """The texts of an array; ``validate`` finds what damaged offsets would lead to."""
    array.validate()
    if pyarrow().types.is_dictionary(array.type):
        values = _stacked([_ids(array.dictionary, check), Ids.of([""])])
        array.validate(full=True)
        return values.at(_numbers(array.indices, len(array.dictionary)))
    name = _text_name(array.type)
    array = array.view(pyarrow().type_for_alias(name))
    ids = _viewed(array) if name == "string_view" else _sliced(array, "i8" if name == "large_string" else "i4")
    if array.null_count:
        present = _present(array)
        ids = Ids(ids.text, np.where(present, ids.starts, 0), np.where(present, ids.lengths, 0))
    check(ids)
    array.validate(full=True)
    return ids


def _sliced(array: pa.Array, integer: str) -> Ids:
    """Texts one after the other."""
    _, places, text = array.buffers()
    offsets = np.frombuffer(places, dtype=integer)[array.offset : array.offset + len(array) + 1]
    return Ids(_bytes(text), offsets[:-1], np.diff(offsets))


def _viewed(array: pa.Array) -> Ids:
    """Texts of which each view has the length and the text itself, or the number of a buffer and the place in it."""
    _, *buffers = array.buffers()
    rows = np.arange(array.offset, array.offset + len(array))
    views = np.frombuffer(buffers[0], dtype=np.int32).reshape(-1, 4)[rows]
    texts = [_bytes(buffer) for buffer in buffers]
    begins = np.cumsum([0, *map(len, texts)])
    is_long = views[:, 0] > _IN_VIEW
    elsewhere = begins[np.where(is_long, views[:, 2] + 1, 0)] + views[:, 3]
    return Ids(np.concatenate(texts), np.where(is_long, elsewhere, 16 * rows + 4), views[:, 0].astype(np.int64))


def _numbers(array: pa.Array, nothing: float) -> npt.NDArray[Any]:
    """Numbers, with what stands for nothing; ``to_numpy`` and ``fill_null`` would load pandas."""
    whole = pyarrow().Array.from_buffers(array.type, len(array), [None, array.buffers()[1]], offset=array.offset)
    values = np.from_dlpack(whole)
    return np.where(_present(array), values, nothing) if array.null_count else values


def _present(array: pa.Array) -> npt.NDArray[Any]:
    return np.from_dlpack(array.is_valid().cast(pyarrow().uint8())) > 0


def _bytes(buffer: Any) -> Any:
    return np.frombuffer(buffer or b"", dtype=np.uint8)


def _stacked(parts: Sequence[Ids]) -> Ids:
    """The ids of several columns, with their texts one after the other."""
    if len(parts) == 1:
        return parts[0]
    begins = np.cumsum([0, *(len(part.text) for part in parts)])
    return Ids(
        np.concatenate([part.text for part in parts] or [_bytes(None)]),
        np.concatenate([part.starts + begin for part, begin in zip(parts, begins, strict=False)] or [begins[:0]]),
        np.concatenate([part.lengths for part in parts] or [begins[:0]]),
    )


def _text_name(kind: pa.DataType) -> str:
    """What Arrow calls the type of text that a column holds, written as text or as bytes; empty for other columns."""
    if pyarrow().types.is_dictionary(kind):
        kind = kind.value_type
    name = str(kind).replace("binary", "string")
    return name if name in ("string", "large_string", "string_view") else ""


# Files: what their columns hold, once it is known that they hold no more than a file may.


def _table(file: InputFile, schema: pa.Schema, read: Callable[[str], pa.ChunkedArray]) -> Table:
    """The columns of text, numbers and truth values of a file, each read when it is wanted."""
    with _whole(file):
        names = [field.name for field in schema if _is_flat(field.type)]

    def check(ids: Ids) -> None:  # of texts that stand in few bytes, all may be one
        _refuse_more(file, (LINE_BYTES, int(ids.lengths.max(initial=0))), (file.limit, int(ids.lengths.sum())))

    def column(place: int) -> Any:
        with _whole(file):
            return column_of(read(names[place]), check)

    return Table(file, names, column)


def _is_flat(kind: pa.DataType) -> bool:
    types = pyarrow().types
    if types.is_dictionary(kind):
        return _is_flat(kind.value_type)
    return bool(_text_name(kind)) or types.is_primitive(kind) or types.is_decimal(kind) or types.is_null(kind)


def _refuse_more(file: InputFile, *found: tuple[Limit, int]) -> None:
    for limit, number in found:
        if number > limit.value:
            raise file.refuse(None, limit.problem(number))


def _refuse_large(file: InputFile, size: int) -> None:
    """So many bytes once they are unpacked."""
    times = size // len(file.content) if size > FREE_BYTES else 0
    _refuse_more(file, (file.limit, size), (RATIO, times))


@contextmanager
def _whole(file: InputFile) -> Iterator[None]:
    """Turns what pyarrow says of a damaged file into the error of the file."""
    try:
        yield
    except errors() as problem:
        raise file.refuse(None, f"expected a whole file of Arrow or Parquet: {problem}") from None


def _misfit(file: InputFile, kind: Kind, what: str, marks: tuple[bytes, ...], table: _Opened) -> Misfit | None:
    """Why a file does not begin so, or has other columns; None also if nobody can tell: then the reader says it."""
    if not file.start.startswith(marks):
        return Misfit(f"it is not {what}")
    try:
        problem = missing_columns(table(file).names, kind, file.columns)
    except FileError:
        return None
    return None if problem is None else Misfit(f"its columns do not fit: {problem}", 4)


# Parquet with named columns, as pandas, polars, ranx and data lakes write it.


def parquet_table(file: InputFile, _kind: Kind | None = None) -> Table:
    """The columns of a file; its error if it is damaged or holds too much."""
    parquet = imported("pyarrow.parquet", extra="arrow", what="a Parquet file")
    with _whole(file):
        content = pyarrow().BufferReader(file.content)
        metadata = parquet.read_metadata(content)
        schema = metadata.schema.to_arrow_schema()
        # nothing is asked of single columns: of damaged ones, that ends the process
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
    _refuse_more(file, (LINES, metadata.num_rows))
    _refuse_large(file, size)

    def read(name: str) -> Any:
        # a text that stands in a million rows is read once: dictionaries stay what they are
        texts = [name] if _text_name(schema.field(name).type) else []
        return parquet.ParquetFile(content, metadata=metadata, read_dictionary=texts).read([name]).column(0)

    return _table(file, schema, read)


def parquet_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the file begins as Parquet does, and has the columns that are needed."""
    return _misfit(file, kind, "Parquet", (b"PAR1",), parquet_table)


def parquet_cells(file: InputFile, wanted: Sequence[str]) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """The rows of a file, numbered from 1, by the ``wanted`` names of columns, as far as it has these."""
    table = parquet_table(file)
    places = {name.strip().lower(): place for place, name in enumerate(table.names)}
    columns = {name: table.column(places[name]) for name in wanted if name in places}
    rows = len(next(iter(columns.values()), ()))
    for start in range(0, rows, _BATCH_ROWS):
        some = slice(start, start + _BATCH_ROWS)
        cells = (column.at(some) if isinstance(column, Ids) else column[some] for column in columns.values())
        for number, row in enumerate(zip(*map(_cells, cells), strict=True), start + 1):
            yield number, dict(zip(columns, row, strict=True))


def _cells(column: Any) -> list[Any]:
    if isinstance(column, Ids):
        return column.strings()
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


# Arrow's own files, which Feather's are too, and its streams.


def arrow_table(file: InputFile, _kind: Kind | None = None) -> Table:
    """The columns of a file or a stream; its error if it is damaged or holds too much."""
    ipc = pyarrow().ipc
    content = pyarrow().py_buffer(file.content)
    if file.start.startswith(_FEATHER_1):
        raise file.refuse(
            None, "expected Feather of version 2, found version 1; write it again with pandas or polars"
        )
    is_file = file.start.startswith(_FILE)
    open_ = ipc.open_file if is_file else ipc.open_stream

    @cache
    def table() -> pa.Table:
        messages = _messages(content) if is_file else ipc.MessageReader.open_stream(content)
        _refuse_large(file, sum(map(_unpacked_bytes, messages)))
        found = open_(content).read_all()
        _refuse_more(file, (LINES, found.num_rows))
        found.validate()
        return found.combine_chunks()

    with _whole(file):
        schema = open_(content).schema
    return _table(file, schema, lambda name: table().column(name))


def _messages(content: Any) -> Iterator[Any]:
    """The messages that the table of contents at the end of a file names (Footer in Arrow's File.fbs)."""
    end = content.size - len(_FILE) - 4
    footer = content[end - struct.unpack_from("<i", content, end)[0] : end]
    for blocks in (2, 3):
        for start, head, body in struct.iter_unpack("<qi4xq", _listed(footer, 24, blocks)):
            yield pyarrow().ipc.read_message(content[start : start + head + body])


def _unpacked_bytes(message: Any) -> int:
    """How many bytes the packed columns of a message take once they are unpacked, which pyarrow does all at once.

    The message lists where each buffer begins in the body, and a packed one begins with its size (Message,
    DictionaryBatch and RecordBatch in Arrow's Message.fbs).
    """
    batch = {"record batch": (2,), "dictionary": (2, 1)}.get(message.type, ())
    if not batch or not _field(message.metadata, *batch, 3):
        return 0
    buffers = struct.iter_unpack("<qq", _listed(message.metadata, 16, *batch, 2))
    return sum(max(struct.unpack_from("<q", message.body, start)[0], 0) for start, length in buffers if length >= 8)


def _listed(packed: Any, size: int, *fields: int) -> Any:
    """The bytes of a list of things of one size, in FlatBuffers; empty if it is left out."""
    place = _field(packed, *fields)
    return packed[place + 4 : place + 4 + size * struct.unpack_from("<I", packed, place)[0]] if place else b""


def _field(packed: Any, *fields: int) -> int:
    """Where that begins to which the first field leads, then the next one in it, and so on; 0 if one is left out."""
    table: int = struct.unpack_from("<I", packed, 0)[0]
    for field in fields:
        layout = table - struct.unpack_from("<i", packed, table)[0]
        if 4 + 2 * field >= struct.unpack_from("<H", packed, layout)[0]:
            return 0
        (offset,) = struct.unpack_from("<H", packed, layout + 4 + 2 * field)
        if not offset:
            return 0
        table += offset + struct.unpack_from("<I", packed, table + offset)[0]
    return table


def arrow_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the file begins as those of Arrow do, and has the columns that are needed."""
    return _misfit(file, kind, "Arrow", (_FILE, _FEATHER_1, b"\xff\xff\xff\xff"), arrow_table)
