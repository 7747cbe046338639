"""Parquet with named columns, as pandas, polars, ranx and data lakes write it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pytest_riskguard.formats.content import InputFile, Misfit, imported
from pytest_riskguard.formats.files.arrow import arrow_tables as tables
from pytest_riskguard.formats.input_files import FREE_BYTES
from pytest_riskguard.formats.limits import LINES, RATIO
from pytest_riskguard.formats.named_rows import NamedRows
from pytest_riskguard.formats.records import Judgement, Kind, Ranking, Records, Score, TopicRow

if TYPE_CHECKING:
    import pyarrow as pa

_MAGIC = b"PAR1"
_WHAT = "a Parquet file"


def fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the file begins as Parquet does, and has the columns that are needed."""
    if not file.start.startswith(_MAGIC):
        return Misfit("it is not Parquet")
    return tables.misfit_of(file, kind, lambda file: _opened(file).schema_arrow)


def judgements(file: InputFile) -> Records[Judgement]:
    """A row for each judged document; null as the grade means not judged."""
    return _rows(file, "judgements").judgements()


def rankings(file: InputFile) -> Records[Ranking]:
    """A row for each document; where there are no scores, the rank counts."""
    return _rows(file, "rankings").rankings()


def topics(file: InputFile) -> Records[TopicRow]:
    """A row for each topic; further columns are tags."""
    return _rows(file, "topics").topics()


def scores(file: InputFile) -> Records[Score]:
    """A row for each topic and measure, of the one system in the file, or of the one that ``file.part`` names."""
    by_system = _rows(file, "scores").scores()
    return Records(file.chosen(by_system, "system") if by_system else ())


def _rows(file: InputFile, kind: Kind) -> NamedRows:
    opened = _opened(file)
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
        with_dictionaries = _opened(file, read_dictionary=list(names))
        batched: Iterable[pa.RecordBatch] = with_dictionaries.iter_batches(tables.BATCH_ROWS, columns=list(names))
        return batched

    return tables.named_rows(file, kind, opened.schema_arrow, batches)


def _opened(file: InputFile, **options: Any) -> Any:
    """The file for pyarrow; ``UsageError`` without it, the error of the file if it is damaged."""
    parquet = imported("pyarrow.parquet", extra="arrow", what=_WHAT)
    try:
        opened = parquet.ParquetFile(tables.pyarrow(_WHAT).BufferReader(file.content), **options)
        _ = opened.schema_arrow
    except tables.errors() as problem:
        raise file.refuse(None, f"expected a whole Parquet file: {problem}") from None
    return opened
