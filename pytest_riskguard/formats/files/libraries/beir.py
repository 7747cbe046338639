"""BEIR's files: ``qrels/test.tsv`` with its header, and ``queries.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.files import named_columns
from pytest_riskguard.formats.named_rows import as_tag
from pytest_riskguard.formats.records import Judgement, Kind, Records, TopicRow

_HEADER = ("query-id", "corpus-id", "score")


def fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether a table has BEIR's header, or the first line BEIR's keys of a query."""
    if kind == "judgements":
        if tuple(file.first_line.split("\t")) == _HEADER:
            return None
        return Misfit(f"its first line is not {', '.join(_HEADER)} with tabs")
    query = file.first_object or {}
    if isinstance(query.get("_id"), str) and isinstance(query.get("text"), str) and "title" not in query:
        return None
    return Misfit("its first line is not a JSON object with _id and text", 1 if query else 0)


def judgements(file: InputFile) -> Records[Judgement]:
    """A row for each judged document."""
    return named_columns.judgements(file)


def topics(file: InputFile) -> Records[TopicRow]:
    """An object for each query; texts and numbers of its ``metadata`` are tags."""
    return Records(_topics(file))


def _topics(file: InputFile) -> Iterator[TopicRow]:
    for line, query in file.json_lines():
        row = query if isinstance(query, dict) else {}
        for key in ("_id", "text"):
            if not isinstance(row.get(key), str) or not row[key].strip():
                raise file.refuse(line, f"expected an object with text as {key!r}, found {row.get(key, query)!r:.60}")
        yield TopicRow(row["_id"].strip(), row["text"].strip(), _tags(row.get("metadata")), None, line)


def _tags(metadata: Any) -> dict[str, str]:
    given = metadata if isinstance(metadata, dict) else {}
    return {name.strip(): tag for name, value in given.items() if name.strip() and (tag := as_tag(value))}
