"""Parquet, Arrow and Feather: the columns of ir_measures, ranx and PyTerrier."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pytest_riskguard.data.input_files import Kind
from tests.data.world import Case, World


def _judged(world: World) -> dict[str, list[object]]:
    rows = [(t, d, g) for t, graded in world.grades.items() for d, g in graded.items()]
    topics, documents, grades = map(list, zip(*rows, strict=True))
    return {"query_id": topics, "doc_id": documents, "relevance": grades}


def _scored(world: World) -> dict[str, list[object]]:
    rows = [(t, d, s) for t, scored in world.scored.items() for d, s in scored.items()]
    topics, documents, scores = map(list, zip(*rows, strict=True))
    return {"q_id": topics, "doc_id": documents, "score": scores}


def _measured(world: World) -> dict[str, list[object]]:
    return {"topic": [*world.scores], "measure": ["AP"] * len(world.scores), "value": [*world.scores.values()]}


def _topics(world: World) -> dict[str, list[object]]:
    return {"qid": [*world.texts], "query": [*world.texts.values()]}


_KINDS: dict[Kind, tuple[str, Callable[[World], dict[str, list[object]]]]] = {
    "judgements": ("qrels", _judged),
    "rankings": ("candidate", _scored),
    "topics": ("queries", _topics),
}


def _parquet(columns: Callable[[World], dict[str, list[object]]], world: World) -> bytes:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    parquet.write_table(pa.table(columns(world)), file, row_group_size=7)
    return file.getvalue()


def _arrow(maker: str, columns: Callable[[World], dict[str, list[object]]], world: World) -> bytes:
    pa = pytest.importorskip("pyarrow")
    table, file = pa.table(columns(world)), io.BytesIO()
    new: Any = getattr(pa.ipc, maker)
    with new(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    return file.getvalue()


_NEEDS = ("pyarrow",)
CASES = (
    Case("parquet", "scores", "candidate.parquet", partial(_parquet, _measured), needs=_NEEDS),
    *(
        case
        for kind, (name, columns) in _KINDS.items()
        for case in (
            Case("parquet", kind, f"{name}.parquet", partial(_parquet, columns), needs=_NEEDS),
            Case("arrow", kind, f"{name}.arrow", partial(_arrow, "new_file", columns), needs=_NEEDS),
            Case("arrow", kind, f"{name}.arrows", partial(_arrow, "new_stream", columns), needs=_NEEDS),
        )
    ),
)
