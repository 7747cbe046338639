"""A file of one format as a file of another: what is written is read back, and what is missing then was lost."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_riskguard.data.collection import read_topics
from pytest_riskguard.data.formats import Format, format_for, format_of, kinds_of
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.headers import whole
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
#: What a conversion must not change: columns, and what they are called.
_KEPT: Mapping[Kind, tuple[tuple[str, ...], str]] = {
    "judgements": (("doc_id", "relevance"), "grades"),
    "rankings": (("doc_id", "rank", "score"), "the order or scores of documents"),
    "topics": ((), ""),
    "scores": ((), "scores"),  # all
}


@frozen
class Converted:
    """The content of the new file, what it holds in words, and what it lacks that the old one had."""

    content: bytes
    source: Format
    target: Format
    holds: str
    lost: tuple[str, ...]


@frozen
class _Held:
    """What a file holds as its table (``Qrels``, ``Run``, ``Topics``, scores) and as columns."""

    table: Any
    columns: Columns
    notes: tuple[str, ...] = ()


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
    held = _read(kind, given, {} if topics is None else topics.queries)
    try:
        content = _written(target, kind, held, out.name)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "converted"
            path.write_bytes(content)
            lost = _lost(kind, held.columns, _read(kind, GivenFile(path, format=target.name), {}).columns)
    except (ValueError, DataError) as problem:
        raise UsageError(f"{target.name} cannot hold what {given.path.name} holds: {problem}") from None
    return Converted(content, source, target, _in_words(kind, held.columns), (*held.notes, *lost))


def _kind(file: InputFile) -> Kind:
    kinds = kinds_of(file)
    if len(kinds) == 1:
        return kinds[0]
    what = f"may hold {' or '.join(kinds)}" if kinds else "has no known format"
    choices = " or ".join(f"--kind {kind}" for kind in kinds or KINDS)
    raise UsageError(f"{file.path}: {what}; say which it holds with {choices}")


def _read(kind: Kind, given: GivenFile, queries: Mapping[str, str]) -> _Held:
    keys = TopicKeys(queries)
    match kind:
        case "judgements":
            qrels = read_qrels(given, keys)
            judged = [(topic, *pair) for topic, grades in qrels.grades.items() for pair in grades.items()]
            notes = () if qrels.agreement is None else (f"who gave which grade: {qrels.agreement}",)
            columns = _columns(judged, ("query_id", "doc_id", "relevance"), {**qrels.texts, **queries})
            grades = [whole(grade) for grade in columns["relevance"]]
            if not all(isinstance(grade, int) for grade in grades):
                grades = list(map(float, grades))
            return _Held(qrels, {**columns, "relevance": grades}, notes)
        case "rankings":
            run = read_run(given, keys)
            ranked = [
                (topic, document, rank, score)
                for topic, documents in run.by_topic().items()
                for rank, (document, score) in enumerate(sorted(documents.items(), key=lambda pair: -pair[1]), 1)
            ]
            columns = _columns(ranked, ("query_id", "doc_id", "rank", "score"), {**run.texts, **queries})
            return _Held(run, columns, run.source.notes)
        case "topics":
            topics = read_topics(given)
            columns = {"query_id": list(topics.topics), "query": list(topics.texts)}
            columns |= {name: list(topics.columns[name]) for name in sorted(topics.columns)}
            if topics.weighting:
                columns["weight"] = list(topics.weighting)
            return _Held(topics, columns)
        case "scores":
            scores = read_scores(given)
            values = {str(one.measure): one.values.tolist() for one in scores}
            return _Held(scores, {"query_id": list(scores[0].topics), **values})


def _columns(rows: list[Any], names: tuple[str, ...], texts: Mapping[str, str]) -> Columns:
    """Rows as columns, with the query texts that are known beside the ids."""
    topics, *others = map(list, zip(*rows, strict=True))
    known = {"query": [texts.get(topic) for topic in topics]} if any(topic in texts for topic in topics) else {}
    return {"query_id": topics, **known, **dict(zip(names[1:], others, strict=True))}


def _written(target: Format, kind: Kind, held: _Held, name: str) -> bytes:
    buffer = io.BytesIO()
    match target.name:
        case "scores":
            buffer.write(scores_table(held.table, delimiter="," if ".csv" in name.lower()[-7:] else "\t"))
        case "trec" if kind == "rankings":
            write_run(buffer, held.table)
        case "trec":
            buffer.write(write_qrels(held.table.grades))
        case "tsv":
            buffer.write(write_topics(held.table))
        case "csv":
            text = io.StringIO(newline="")
            table = csv.writer(text, lineterminator="\n")
            table.writerow(held.columns)
            table.writerows(zip(*held.columns.values(), strict=True))
            buffer.write(text.getvalue().encode())
        case "jsonl":
            for row in zip(*held.columns.values(), strict=True):
                cells = {name: cell for name, cell in zip(held.columns, row, strict=True) if cell is not None}
                buffer.write(json.dumps(cells, ensure_ascii=False).encode() + b"\n")
        case "parquet":
            lib, parquet = (imported(one, extra="arrow", what="Parquet") for one in ("pyarrow", "pyarrow.parquet"))
            parquet.write_table(lib.table(held.columns), buffer)
    return buffer.getvalue()


def _lost(kind: Kind, before: Columns, after: Columns) -> list[str]:
    """What a reader of the new file misses, in words; ``ValueError`` if that is more than a format may leave out."""
    if missing := sorted({*before["query_id"]} ^ {*after["query_id"]}):
        raise ValueError(f"topics would change ({listed(tuple(missing), most=5)})")
    names, what = _KEPT[kind]
    kept = ("query_id", *(before if kind == "scores" else names))
    if {*zip(*(before[name] for name in kept), strict=True)} != {*zip(*(after[name] for name in kept), strict=True)}:
        raise ValueError(f"{what} would change")
    words = {"query": "query texts", "weight": "weights"}
    others = (name for name in before if name not in kept and _by_topic(before, name) != _by_topic(after, name))
    return list(dict.fromkeys(words.get(name, "tags") for name in others))


def _by_topic(columns: Columns, name: str) -> dict[str, str]:
    """What a column says of each topic, without its white space."""
    pairs = zip(columns["query_id"], columns.get(name, []), strict=False)
    return {topic: " ".join(str(cell).split()) for topic, cell in pairs if cell not in (None, "")}


def _in_words(kind: Kind, columns: Columns) -> str:
    topics = counted(len({*columns["query_id"]}), "topic")
    if kind == "topics":
        return topics
    if kind == "scores":
        return f"scores of {topics} with {listed(tuple(columns)[1:], most=5)}"
    what = "judgement" if kind == "judgements" else "document"
    return f"{counted(len(columns['query_id']), what)} of {topics}"
