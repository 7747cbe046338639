"""A file of one format as a file of another: what is written is read back, and what is missing then was lost."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pytest_riskguard.data.collection import read_topics
from pytest_riskguard.data.formats import Format, format_for, format_of, kinds_of
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.input_files import InputFile, imported
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.records import KINDS, Kind, TopicKeys
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.scores import scores_table
from pytest_riskguard.data.topics import Topics, write_topics
from pytest_riskguard.data.trec import write_qrels, write_run
from pytest_riskguard.errors import DataError, FileError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import RUN_BYTES
from pytest_riskguard.text import counted, listed

#: Column -> its cells, None where there is nothing; ``query_id`` is one of them.
Columns = dict[str, list[Any]]


@frozen
class Converted:
    """The content of the new file, what it holds in words, and what it lacks that the old one had."""

    content: bytes
    source: Format
    target: Format
    holds: str
    lost: tuple[str, ...]


def convert(
    given: GivenFile, out: Path, *, kind: Kind | None = None, to: str | None = None, topics: Topics | None = None
) -> Converted:
    """The content of ``out``, whose name decides on the format unless ``to`` names it; nothing is written.

    ``topics`` has the ids and texts of queries, for formats that know these by texts. ``UsageError`` if the file may
    hold several kinds of data and ``kind`` is not given, if no format or several fit, or the format cannot hold the
    data; ``FileError`` for a file that cannot be read.
    """
    file = InputFile(given, error=FileError, limit=RUN_BYTES)
    kind = kind or _kind(file)
    source = format_of(file, kind)
    target = format_for(kind, out.name, named=to)
    table, columns = _read(kind, given, {} if topics is None else topics.queries)
    try:
        content = _written(target, kind, table, columns, out.name)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "converted"
            path.write_bytes(content)
            lost = _lost(kind, columns, _read(kind, GivenFile(path, format=target.name), {})[1])
    except (ValueError, DataError) as problem:
        raise UsageError(f"{target.name} cannot hold what {given.path.name} holds: {problem}") from None
    if kind == "judgements" and table.agreement is not None:
        lost.insert(0, f"who gave which grade: {table.agreement}")
    return Converted(content, source, target, _in_words(kind, columns), tuple(lost))


def _kind(file: InputFile) -> Kind:
    kinds = kinds_of(file)
    if len(kinds) == 1:
        return kinds[0]
    what = f"may hold {' or '.join(kinds)}" if kinds else "has no known format"
    choices = " or ".join(f"--kind {kind}" for kind in kinds or KINDS)
    raise UsageError(f"{file.path}: {what}; say which it holds with {choices}")


def _read(kind: Kind, given: GivenFile, queries: Mapping[str, str]) -> tuple[Any, Columns]:
    """What a file holds, as its table and as columns."""
    keys = TopicKeys(queries)
    match kind:
        case "judgements":
            qrels = read_qrels(given, keys)
            rows = [(topic, *pair) for topic, grades in qrels.grades.items() for pair in grades.items()]
            columns = _columns(rows, ("doc_id", "relevance"), {**qrels.texts, **queries})
            columns["relevance"] = np.array(columns["relevance"]).tolist()  # all are whole, or none is
            return qrels, columns
        case "rankings":
            run = read_run(given, keys)
            ranked = [
                (topic, document, rank, score)
                for topic, documents in run.by_topic().items()
                for rank, (document, score) in enumerate(sorted(documents.items(), key=lambda pair: -pair[1]), 1)
            ]
            columns = _columns(ranked, ("doc_id", "rank", "score"), {**run.texts, **queries})
            return run, columns
        case "topics":
            topics = read_topics(given)
            tags = {name: [*topics.columns[name]] for name in sorted(topics.columns)}
            weights = {"weight": [*topics.weighting]} if topics.weighting else {}
            return topics, {"query_id": [*topics.topics], "query": [*topics.texts], **tags, **weights}
        case "scores":
            scores = read_scores(given)
            values = {str(one.measure): one.values.tolist() for one in scores}
            return scores, {"query_id": [*scores[0].topics], **values}


def _columns(rows: list[Any], names: tuple[str, ...], texts: Mapping[str, str]) -> Columns:
    """Rows as columns, with the query texts that are known beside the ids."""
    topics, *others = map(list, zip(*rows, strict=True))
    known = {"query": [texts.get(topic) for topic in topics]} if any(topic in texts for topic in topics) else {}
    return {"query_id": topics, **known, **dict(zip(names, others, strict=True))}


def _written(target: Format, kind: Kind, table: Any, columns: Columns, name: str) -> bytes:
    buffer = io.BytesIO()
    match target.name:
        case "scores":
            return scores_table(table, delimiter="," if ".csv" in name.lower()[-7:] else "\t")
        case "trec" if kind == "judgements":
            return write_qrels(table.grades)
        case "trec":
            write_run(buffer, table)
        case "tsv":
            return write_topics(table)
        case "csv":
            text = io.StringIO(newline="")
            writer = csv.writer(text, lineterminator="\n")
            writer.writerows([columns, *zip(*columns.values(), strict=True)])
            return text.getvalue().encode()
        case "jsonl":
            for row in zip(*columns.values(), strict=True):
                cells = {name: cell for name, cell in zip(columns, row, strict=True) if cell is not None}
                buffer.write(json.dumps(cells, ensure_ascii=False).encode() + b"\n")
        case "parquet":
            lib, parquet = (imported(one, extra="arrow", what="Parquet") for one in ("pyarrow", "pyarrow.parquet"))
            parquet.write_table(lib.table(columns), buffer)
    return buffer.getvalue()


def _lost(kind: Kind, before: Columns, after: Columns) -> list[str]:
    """What a reader of the new file misses, in words; ``ValueError`` if that is more than a format may leave out."""
    lost = []
    for name, cells in before.items():
        if list(map(_plain, cells)) == list(map(_plain, after.get(name, []))):
            continue
        if name != "query" and (kind != "topics" or name == "query_id"):
            raise ValueError(f"its column {name} would change")
        lost.append({"query": "query texts", "weight": "weights"}.get(name, "tags"))
    return list(dict.fromkeys(lost))


def _plain(cell: object) -> str:
    """A cell without its white space."""
    return "" if cell is None else " ".join(str(cell).split())


def _in_words(kind: Kind, columns: Columns) -> str:
    topics = counted(len({*columns["query_id"]}), "topic")
    if kind == "topics":
        return topics
    if kind == "scores":
        return f"scores of {topics} with {listed(tuple(columns)[1:], most=5)}"
    what = "judgement" if kind == "judgements" else "document"
    return f"{counted(len(columns['query_id']), what)} of {topics}"
