"""Arrow's own files, which Feather's are too, and its streams."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.files.arrow import arrow_tables as tables
from pytest_riskguard.formats.input_files import FREE_BYTES
from pytest_riskguard.formats.limits import RATIO
from pytest_riskguard.formats.named_rows import NamedRows
from pytest_riskguard.formats.records import Judgement, Kind, Ranking, Records, TopicRow

if TYPE_CHECKING:
    import pyarrow as pa

_FILE, _FEATHER_1, _STREAM = b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"
_WHAT = "a file of Arrow or Feather"


def fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the file begins as those of Arrow do, and has the columns that are needed."""
    if not file.start.startswith((_FILE, _FEATHER_1, _STREAM)):
        return Misfit("it is neither Arrow nor Feather")
    return tables.misfit_of(file, kind, lambda file: _opened(file).schema)


def judgements(file: InputFile) -> Records[Judgement]:
    """A row for each judged document; null as the grade means not judged."""
    return _rows(file, "judgements").judgements()


def rankings(file: InputFile) -> Records[Ranking]:
    """A row for each document; where there are no scores, the rank counts."""
    return _rows(file, "rankings").rankings()


def topics(file: InputFile) -> Records[TopicRow]:
    """A row for each topic; further columns are tags."""
    return _rows(file, "topics").topics()


def _rows(file: InputFile, kind: Kind) -> NamedRows:
    opened = _opened(file)
    is_file = file.start.startswith(_FILE)
    batches: Iterable[pa.RecordBatch] = (
        (opened.get_batch(index) for index in range(opened.num_record_batches)) if is_file else opened
    )
    return tables.named_rows(file, kind, opened.schema, lambda _names: batches)


def _opened(file: InputFile) -> Any:
    """The file for pyarrow; ``UsageError`` without it, the error of the file if it is damaged."""
    lib = tables.pyarrow(_WHAT)
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
    except tables.errors() as problem:
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
                yield tables.pyarrow(_WHAT).ipc.read_message(content[start : start + head + body])


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
