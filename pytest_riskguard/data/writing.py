"""Judgements, rankings and topics as named columns, and these as CSV, JSON Lines or Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_riskguard.data.content import imported
from pytest_riskguard.data.headers import whole

#: Column -> its cells, None where there is nothing.
Columns = dict[str, list[Any]]


def judgements(grades: Mapping[str, Mapping[str, float]], texts: Mapping[str, str]) -> Columns:
    """A row for each judgement; grades that are all whole are integers."""
    rows = [(topic, document, grade) for topic, graded in grades.items() for document, grade in graded.items()]
    numbers = [whole(grade) for *_, grade in rows]
    if not all(isinstance(number, int) for number in numbers):
        numbers = [float(number) for number in numbers]
    topics, documents = [topic for topic, *_ in rows], [document for _, document, _ in rows]
    return {"query_id": topics, **_queries(texts, topics), "doc_id": documents, "relevance": numbers}


def rankings(by_topic: Mapping[str, Sequence[tuple[str, float]]], texts: Mapping[str, str]) -> Columns:
    """A row for each document, ranks from 1."""
    topics = [topic for topic, documents in by_topic.items() for _ in documents]
    hits = [hit for documents in by_topic.values() for hit in enumerate(documents, 1)]
    return {
        "query_id": topics,
        **_queries(texts, topics),
        "doc_id": [document for _, (document, _) in hits],
        "rank": [rank for rank, _ in hits],
        "score": [float(score) for _, (_, score) in hits],
    }


def topics(
    queries: Mapping[str, str], tags: Mapping[str, Mapping[str, str]], weights: Mapping[str, float]
) -> Columns:
    """A row for each topic, a column for each tag, and the weights if there are any."""
    names = sorted({name for tagged in tags.values() for name in tagged})
    return {
        "query_id": list(queries),
        "query": list(queries.values()),
        **{name: [tags.get(topic, {}).get(name) for topic in queries] for name in names},
        **({"weight": [weights[topic] for topic in queries]} if weights else {}),
    }


def _queries(texts: Mapping[str, str], topics: Sequence[str]) -> Columns:
    return {"query": [texts.get(topic) for topic in topics]} if texts else {}


def _csv(columns: Columns) -> bytes:
    buffer = io.StringIO(newline="")
    table = csv.writer(buffer, lineterminator="\n")
    table.writerow(columns)
    table.writerows(zip(*columns.values(), strict=True))
    return buffer.getvalue().encode()


def _json_lines(columns: Columns) -> bytes:
    rows = (zip(columns, row, strict=True) for row in zip(*columns.values(), strict=True))
    objects = ({name: cell for name, cell in row if cell is not None} for row in rows)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in objects).encode()


def _parquet(columns: Columns) -> bytes:
    lib, parquet = (imported(name, extra="arrow", what="Parquet") for name in ("pyarrow", "pyarrow.parquet"))
    sink = lib.BufferOutputStream()
    parquet.write_table(lib.table(columns), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


#: The content of a file, by the name of its format.
WRITERS: Mapping[str, Callable[[Columns], bytes]] = {"csv": _csv, "jsonl": _json_lines, "parquet": _parquet}
