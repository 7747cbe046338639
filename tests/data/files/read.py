"""Files of nested formats, as tests write and read them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.input_files import Kind
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.runs import Run, read_run
from pytest_riskguard.data.topics import read_topics

Write = Callable[[str, str], Path]


def written(write: Write, name: str, content: Any) -> Path:
    """A file with a text, with JSON, or, of a list in ``.jsonl``, with JSON Lines."""
    if not isinstance(content, str):
        rows = content if name.endswith("jsonl") else [content]
        content = "".join(f"{json.dumps(row)}\n" for row in rows)
    return write(name, content)


def ranked(path: Path, part: str | None = None, queries: dict[str, str] | None = None) -> dict[str, list[str]]:
    """The documents of each topic."""
    run = read_run(GivenFile(path, part=part), queries)
    assert isinstance(run, Run)
    return {topic: list(hits) for topic, hits in run.by_topic().items()}


def found(path: Path, kind: Kind, part: str | None = None) -> Any:
    """What a file says: grades, documents in their order, or query texts, by topic."""
    if kind == "judgements":
        return read_qrels(GivenFile(path, part=part)).grades
    if kind == "topics":
        return read_topics(GivenFile(path, part=part)).queries
    return ranked(path, part)
