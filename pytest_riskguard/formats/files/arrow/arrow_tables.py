"""Rows of Arrow tables under named columns, a batch at a time, and tables made of rows.

Columns of text, numbers and truth values are read, dictionaries of these too; all others are passed over.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pytest_riskguard.errors import FileError, UsageError
from pytest_riskguard.formats.content import InputFile, Misfit, imported
from pytest_riskguard.formats.limits import LINE_BYTES, LINES
from pytest_riskguard.formats.named_rows import NamedRows, NumberedRow, missing_columns
from pytest_riskguard.formats.records import Kind

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
