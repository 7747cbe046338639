"""Arrow's own files, which Feather's are too, and its streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.files.arrow import arrow_tables as tables
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
    source = lib.BufferReader(file.content)
    try:
        return lib.ipc.open_file(source) if file.start.startswith(_FILE) else lib.ipc.open_stream(source)
    except tables.errors() as problem:
        raise file.refuse(None, f"expected a whole file of Arrow: {problem}") from None


def write_judgements(grades: Mapping[str, Mapping[str, float]], texts: Mapping[str, str]) -> bytes:
    """A row for each judgement."""
    return _written(tables.judgement_columns(grades, texts))


def write_rankings(by_topic: Mapping[str, Sequence[tuple[str, float]]], texts: Mapping[str, str]) -> bytes:
    """A row for each document, ranks from 1."""
    return _written(tables.ranking_columns(by_topic, texts))


def write_topics(
    queries: Mapping[str, str], tags: Mapping[str, Mapping[str, str]], weights: Mapping[str, float]
) -> bytes:
    """A row for each topic, with its tags and weights."""
    return _written(tables.topic_columns(queries, tags, weights))


def _written(columns: Mapping[str, Sequence[Any]]) -> bytes:
    lib, table = tables.pyarrow(_WHAT), tables.table_of(columns)
    sink = lib.BufferOutputStream()
    with lib.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content
