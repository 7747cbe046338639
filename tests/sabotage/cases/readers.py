"""Files that are not regular, exhaust a reader, or hold numbers and text that no program reads."""

import gzip
import json
from pathlib import Path
from typing import Any

from tests.sabotage.case import Sabotage
from tests.sabotage.sabotages import (
    CANDIDATE,
    QRELS,
    append,
    write,
)


def responses(change: dict[str, Any]) -> Sabotage:
    """The candidate's rankings as answers of Elasticsearch, the first of them changed."""

    def sabotage(folder: Path) -> None:
        answers: dict[str, dict[str, Any]] = {}
        for line in (folder / CANDIDATE).read_text().splitlines():
            topic, _, document, _, score, _ = line.split()
            answer = answers.setdefault(topic, {"took": 1, "timed_out": False, "hits": {"hits": []}})
            answer["hits"]["hits"].append({"_id": document, "_score": float(score)})
        next(iter(answers.values())).update(change)
        (folder / "runs/answers.json").write_text(json.dumps(answers))

    return sabotage


def bomb(path: str, line: str) -> Sabotage:
    """One line again and again, 64 MB that are compressed to a thousandth."""
    block = line.encode() * (2**20 // len(line))
    return write(path, gzip.compress(block * 64, compresslevel=9, mtime=0))


def long_id(path: str) -> Sabotage:
    """A candidate of few bytes, with an id of 100 million, as pyarrow or ranx writes it."""

    def sabotage(folder: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet

        name, target = "x" * 100_000_000, str(folder / path)
        table = pa.table({"query_id": ["t01"], "doc_id": [name], "score": [1.0]})
        if path.endswith(".parquet"):
            pyarrow.parquet.write_table(table, target, compression="zstd")
        elif path.endswith(".arrow"):
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            with pa.ipc.new_file(target, table.schema, options=options) as writer:
                writer.write_table(table)
        else:
            Path(target).write_text(json.dumps({"t01": {name[:20_000_000]: 1.0}}))

    return sabotage


def many_documents(folder: Path) -> None:
    """More judged documents than a topic may have."""
    lines = "".join(f"t01 0 x{number} 0\n" for number in range(210_000))
    append(QRELS, lines)(folder)
