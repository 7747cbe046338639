"""Columns of Arrow as ids and numbers, never a Python object for each row; Parquet, Arrow and Feather hold them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.input_files import FREE_BYTES, InputFile, Kind, Misfit, imported
from pytest_riskguard.data.named_columns import Table, columns_misfit, values_of
from pytest_riskguard.errors import FileError
from pytest_riskguard.limits import LINE_BYTES, LINES, RATIO

if TYPE_CHECKING:
    import pyarrow as pa

#: Refuses texts of these lengths, before anything is done with them.
Check = Callable[[npt.NDArray[Any]], None]
#: Rows of documents that are Python objects at one time.
_BATCH_ROWS = 2**16
_FILE = b"ARROW1"


def pyarrow() -> Any:
    """The package; ``UsageError`` without it."""
    return imported("pyarrow", extra="arrow", what="Arrow")


def column_of(column: Any, check: Check = lambda _lengths: None) -> Any:
    """An array of Arrow, or a chunked one: ids for text, an array for numbers, a list for all else.

    Nothing is an id without bytes, or NaN. Text that was written as bytes is text, and a dictionary is what its codes
    stand for. Raises what pyarrow does for damaged data.
    """
    lib = pyarrow()
    types = lib.types
    column = column if isinstance(column, lib.ChunkedArray) else lib.chunked_array([column])
    if _is_text(column.type):
        parts = [_ids(chunk, check) for chunk in column.chunks] or [Ids.of(())]
        check(parts[0].lengths if len(parts) == 1 else np.concatenate([part.lengths for part in parts]))
        return parts[0] if len(parts) == 1 else Ids.joined(parts)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_null(column.type) or types.is_decimal(column.type):
        column = column.cast(lib.float64())
    if not (types.is_integer(column.type) or types.is_floating(column.type)):
        return column.to_pylist()
    return np.concatenate([_numbers(chunk, np.nan) for chunk in column.chunks] or [np.zeros(0)])


def _is_text(kind: pa.DataType) -> bool:
    """Whether a column holds text, written as text or as bytes, each of its own or as the code of one."""
    kind = kind.value_type if pyarrow().types.is_dictionary(kind) else kind
    return str(kind).replace("binary", "string") in ("string", "large_string", "string_view")


def _ids(array: pa.Array, check: Check) -> Ids:
    """The texts of an array; ``validate`` finds what damaged offsets would lead to."""
    lib = pyarrow()
    array.validate()
    if "view" in str(array.type):  # each begins with the length of the text, which stands in several maybe
        check(np.frombuffer(array.buffers()[1], dtype=np.int32)[4 * array.offset :: 4][: len(array)])
    if lib.types.is_dictionary(array.type):
        array.validate(full=True)
        values = _ids(array.dictionary, check)
        ids = (values if len(values) else Ids.of([""])).at(_numbers(array.indices, 0))
    else:
        name = str(array.type).replace("binary", "string")
        array = array.view(lib.type_for_alias(name))
        array.validate(full=True)
        if name == "string_view":  # ``cast`` loads much
            array, name = array.cast(lib.large_string()), "large_string"
        _, places, text = array.buffers()
        offsets = np.frombuffer(places or bytes(8), dtype="i8" if name == "large_string" else "i4")
        offsets = offsets[array.offset :][: len(array) + 1]
        ids = Ids(np.frombuffer(text or b"", dtype=np.uint8), offsets[:-1], np.diff(offsets))
    if array.null_count:
        present = _present(array)
        ids = Ids(ids.text, np.where(present, ids.starts, 0), np.where(present, ids.lengths, 0))
    return ids


def _numbers(array: pa.Array, nothing: float) -> npt.NDArray[Any]:
    """Numbers, with what stands for nothing; ``to_numpy`` and ``fill_null`` would load pandas."""
    whole = pyarrow().Array.from_buffers(array.type, len(array), [None, array.buffers()[1]], offset=array.offset)
    values = np.from_dlpack(whole)
    return np.where(_present(array), values, nothing) if array.null_count else values


def _present(array: pa.Array) -> npt.NDArray[Any]:
    return np.from_dlpack(array.is_valid().cast(pyarrow().uint8())) > 0


# Files: what their columns hold, once it is known that they hold no more than a file may.


def _table(file: InputFile, schema: pa.Schema, read: Callable[[str], pa.ChunkedArray]) -> Table:
    """The columns of a file that hold one value in each row, each read when it is wanted."""

    def check(lengths: npt.NDArray[Any]) -> None:  # of texts that stand in few bytes, all may be one
        file.at_most(LINE_BYTES, int(lengths.max(initial=0)))
        file.at_most(file.limit, int(lengths.sum(dtype=np.int64)))

    def column(place: int) -> Any:
        with _whole(file):
            return column_of(read(names[place]), check)

    with _whole(file):
        names = [field.name for field in schema if not pyarrow().types.is_nested(field.type)]
    return Table(file, names, column)


def _refuse_large(file: InputFile, size: int) -> None:
    """So many bytes once they are unpacked."""
    file.at_most(file.limit, size)
    file.at_most(RATIO, size // len(file.content) if size > FREE_BYTES else 0)


@contextmanager
def _whole(file: InputFile) -> Iterator[None]:
    """Turns what pyarrow, and the reader of its messages, say of a damaged file into the error of the file."""
    others = (OSError, ValueError, KeyError, IndexError, NotImplementedError, TypeError, EOFError, OverflowError)
    try:
        yield
    except (pyarrow().ArrowException, struct.error, *others) as problem:
        raise file.refuse(None, f"expected a whole file of Arrow or Parquet: {problem}") from None


def _fits(file: InputFile, kind: Kind, table: Callable[[InputFile], Table], *starts: bytes) -> Misfit:
    """Whether a file begins so and has the columns that are needed; what is damaged the reader says."""
    if not file.start.startswith(starts):
        return ""
    try:
        return columns_misfit(file, kind, table(file).names)
    except FileError:
        return None


# Parquet with named columns, as pandas, polars, ranx and data lakes write it.


def parquet_fits(file: InputFile, kind: Kind) -> Misfit:
    """Whether the file begins as Parquet does, and has the columns that are needed."""
    return _fits(file, kind, parquet_table, b"PAR1")


def parquet_table(file: InputFile, _kind: Kind | None = None) -> Table:
    """The columns of a file; its error if it is damaged or holds too much."""
    parquet = imported("pyarrow.parquet", extra="arrow", what="a Parquet file")
    with _whole(file):
        content = pyarrow().BufferReader(file.content)
        metadata = parquet.read_metadata(content)
        schema = metadata.schema.to_arrow_schema()
        # nothing is asked of single columns: of damaged ones, that ends the process
        groups = range(metadata.num_row_groups)
        size = sum(metadata.row_group(group).total_byte_size for group in groups)
    file.at_most(LINES, metadata.num_rows)
    _refuse_large(file, size)

    def read(name: str) -> Any:
        opened = parquet.ParquetFile(content, metadata=metadata)
        if _is_text(schema.field(name).type):
            # a text may stand in a million rows, and in the file once: as a dictionary it is read once
            coded = parquet.ParquetFile(content, metadata=metadata, read_dictionary=[name])
            firsts = (batch for group in groups for batch in islice(coded.iter_batches(1, [group], [name]), 1))
            texts = [column_of(first.column(0).dictionary) for first in firsts]
            longest = max((int(some.lengths.max(initial=0)) for some in texts), default=0)
            if size + longest * metadata.num_rows > file.limit.value:
                opened = coded
        column = opened.read([name], use_threads=False).column(0)
        if len(column) != metadata.num_rows:
            raise ValueError(f"{len(column)} of {metadata.num_rows} rows in column {name!r:.60}")
        return column

    return _table(file, schema, read)


def parquet_cells(file: InputFile, wanted: Sequence[str]) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """The rows of a file, numbered from 1, by the ``wanted`` names of columns, as far as it has these."""
    table = parquet_table(file)
    named = enumerate(map(str.lower, table.names))
    columns = {name: table.column(place) for place, name in named if name in wanted}
    for start in range(0, len(next(iter(columns.values()), ())), _BATCH_ROWS):
        some = slice(start, start + _BATCH_ROWS)
        parts = (column.at(some) if isinstance(column, Ids) else column[some] for column in columns.values())
        for number, row in enumerate(zip(*map(values_of, parts), strict=True), start + 1):
            yield number, dict(zip(columns, row, strict=True))


# Arrow's own files, which Feather's are too, and its streams.


def arrow_fits(file: InputFile, kind: Kind) -> Misfit:
    """Whether the file begins as those of Arrow do, and has the columns that are needed."""
    return _fits(file, kind, arrow_table, _FILE, b"\xff\xff\xff\xff")


def arrow_table(file: InputFile, _kind: Kind | None = None) -> Table:
    """The columns of a file or a stream; its error if it is damaged or holds too much."""
    ipc = pyarrow().ipc
    content = pyarrow().py_buffer(file.content)
    is_file = file.start.startswith(_FILE)
    open_ = ipc.open_file if is_file else ipc.open_stream

    @cache
    def table() -> pa.Table:
        messages = _messages(content) if is_file else ipc.MessageReader.open_stream(content)
        _refuse_large(file, sum(map(_unpacked_bytes, messages)))
        found = open_(content).read_all()
        file.at_most(LINES, found.num_rows)
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
        for start, head, body in _listed(footer, "<qi4xq", blocks):
            yield pyarrow().ipc.read_message(content[start : start + head + body])


def _unpacked_bytes(message: Any) -> int:
    """How many bytes the packed columns of a message take once they are unpacked, which pyarrow does all at once.

    The message lists where each buffer begins in the body, and a packed one begins with its size (Message,
    DictionaryBatch and RecordBatch in Arrow's Message.fbs).
    """
    batch = {"record batch": (2,), "dictionary": (2, 1)}.get(message.type, ())
    if not batch or not _field(message.metadata, *batch, 3):
        return 0
    buffers = _listed(message.metadata, "<qq", *batch, 2)
    return sum(max(struct.unpack_from("<q", message.body, start)[0], 0) for start, length in buffers if length >= 8)


def _listed(packed: Any, form: str, *fields: int) -> Iterator[Any]:
    """A list in FlatBuffers of structures of one form; empty if it is left out."""
    place = _field(packed, *fields)
    count = struct.unpack_from("<I", packed, place)[0] if place else 0
    return struct.iter_unpack(form, packed[place + 4 : place + 4 + count * struct.calcsize(form)])


def _field(packed: Any, *fields: int) -> int:
    """Where that begins in FlatBuffers to which the first field leads, then the next one in it; 0 if one lacks."""
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
