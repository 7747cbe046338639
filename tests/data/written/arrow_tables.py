"""Parquet, Arrow and Feather: the columns of ir_measures, ranx and PyTerrier."""

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pytest_riskguard.data.input_files import Kind
from tests.data.world import Case, World, columns

Columns = Callable[[World], dict[str, list[Any]]]


def _measured(world: World) -> dict[str, list[Any]]:
    return {"topic": [*world.scores], "measure": ["AP"] * len(world.scores), "value": [*world.scores.values()]}


_KINDS: dict[Kind, tuple[str, Columns]] = {
    "judgements": ("qrels", lambda world: columns(world.grades, "query_id", "doc_id", "relevance")),
    "rankings": ("candidate", lambda world: columns(world.scored, "q_id", "doc_id", "score")),
    "topics": ("queries", lambda world: {"qid": [*world.texts], "query": [*world.texts.values()]}),
}


def _parquet(made: Columns, world: World) -> bytes:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    parquet.write_table(pa.table(made(world)), file, row_group_size=7)
    return file.getvalue()


def _arrow(maker: str, made: Columns, world: World) -> bytes:
    pa = pytest.importorskip("pyarrow")
    table, file = pa.table(made(world)), io.BytesIO()
    new: Any = getattr(pa.ipc, maker)
    with new(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    return file.getvalue()


_NEEDS = ("pyarrow",)
CASES = (
    Case("parquet", "scores", "candidate.parquet", partial(_parquet, _measured), needs=_NEEDS),
    *(
        case
        for kind, (name, made) in _KINDS.items()
        for case in (
            Case("parquet", kind, f"{name}.parquet", partial(_parquet, made), needs=_NEEDS),
            Case("arrow", kind, f"{name}.arrow", partial(_arrow, "new_file", made), needs=_NEEDS),
            Case("arrow", kind, f"{name}.arrows", partial(_arrow, "new_stream", made), needs=_NEEDS),
        )
    ),
)
