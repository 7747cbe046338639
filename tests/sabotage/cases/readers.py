"""Files that are not regular, exhaust a reader, or hold numbers and text that no program reads."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.sabotage.case import CLI, EVERY, PYTEST, Case, Sabotage, harmless
from tests.sabotage.project import IMPROVED
from tests.sabotage.sabotages import (
    CANDIDATE,
    CONFIG,
    KEPT_RUN,
    MANIFEST,
    QRELS,
    TOPICS_FILE,
    append,
    bom,
    compress,
    crlf,
    fifo,
    make_folder,
    on_scores,
    prepend,
    riskguard,
    write,
)

NO_FILE = "expected a regular file, found a pipe or device"
REPORT = "report.json"
ANSWERS = "runs/answers.json"


def bomb(line: bytes, megabytes: int) -> bytes:
    """One line again and again, compressed to a thousandth."""
    block = line * (2**20 // len(line))
    return gzip.compress(block * megabytes, compresslevel=9, mtime=0)


def long_ids(name: str, write_to: Callable[[Any, Path], Any], words: str) -> Case:
    """A candidate that ``write_to`` writes with pyarrow, of few bytes and with an id of 100 million."""

    def sabotage(folder: Path) -> None:
        import pyarrow as pa

        table = pa.table({"query_id": ["t01"], "doc_id": ["x" * 100_000_000], "score": [1.0]})
        write_to(table, folder / f"runs/{name}")

    return Case(
        f"id-of-100-million-bytes-in-{name}",
        sabotage,
        compare=f"runs/{name} --baseline prod",
        words=[name, words],
        ways=CLI,
        seconds=10,
        megabytes=400,
    )


def packed_parquet(table: Any, path: Path) -> None:
    """Written with zstd."""
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, path, compression="zstd")


def packed_arrow(table: Any, path: Path) -> None:
    """Written with zstd."""
    import pyarrow.ipc

    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_file(str(path), table.schema, options=options) as writer:
        writer.write_table(table)


def as_json(table: Any, path: Path) -> None:
    """As ranx writes a run."""
    path.write_text(json.dumps({"t01": {table["doc_id"][0].as_py()[:20_000_000]: 1.0}}))


def responses(change: Callable[[dict[str, Any]], Any]) -> Sabotage:
    """The candidate's rankings as answers of Elasticsearch, the first of them changed."""

    def sabotage(folder: Path) -> None:
        answers: dict[str, dict[str, Any]] = {}
        for line in (folder / CANDIDATE).read_text().splitlines():
            topic, _, document, _, score, _ = line.split()
            answer = answers.setdefault(topic, {"took": 1, "timed_out": False, "hits": {"hits": []}})
            answer["hits"]["hits"].append({"_id": document, "_score": float(score)})
        change(next(iter(answers.values())))
        (folder / ANSWERS).write_text(json.dumps(answers))

    return sabotage


def partial(name: str, change: Callable[[dict[str, Any]], Any], *words: str) -> Case:
    """An answer that says that hits are missing, in a project whose candidate is better."""
    return Case(
        f"answer-{name}",
        responses(change),
        compare=f"{ANSWERS} --baseline prod",
        project=IMPROVED,
        words=["answers.json: query 't01': Elasticsearch: ", *words],
        ways=CLI,
    )


CASES = [
    # Files that are not regular
    Case("report-is-a-pipe", fifo(REPORT), command=f"show {REPORT}", words=[NO_FILE]),
    Case("report-is-a-folder", make_folder(REPORT), command=f"show {REPORT}", words=["found a folder"]),
    # Files that exhaust a reader
    *(
        Case(f"{name}-of-gzipped-{what}", write(path, bomb(line, 64)), words=[Path(path).name, words], megabytes=500)
        for name, path in {"run": CANDIDATE, "qrels": QRELS, "topics": TOPICS_FILE}.items()
        for what, line, words in (
            ("newlines", b"\n", "at most 100 times the compressed size after decompression"),
            ("spaces", b"    ", "bytes in a"),
            ("zeros", b"\0" * 8, "bytes in a"),
        )
    ),
    Case("kept-run-of-gzipped-newlines", write(KEPT_RUN, bomb(b"\n", 64)), words=["run.gz", "at most 100 times"]),
    Case("line-without-end", append(CANDIDATE, b"x" * 5_000_000), words=["bytes in a row", "RISKGUARD_LIMITS"]),
    Case(
        "too-many-documents",
        append(QRELS, b"".join(b"t01 0 x%d 0\n" % number for number in range(210_000))),
        words=["qrels.txt", "at most 200,000 documents in a topic, found 210,0"],
    ),
    Case("manifest-too-large", append(MANIFEST, b" " * 21_000_000), words=["at most 20,000,000 bytes in a manifest"]),
    Case(
        "settings-too-large", append(CONFIG, "#" * 1_000_001), 2, words=["bytes of settings"], in_pytest=1, ways=EVERY
    ),
    Case(
        "settings-of-values",
        append(CONFIG, "x: [" + "a," * 30_000 + "a]\n"),
        2,
        ["more than 20,000"],
        in_pytest=1,
        ways=EVERY,
    ),
    Case(
        "limit-of-the-user",
        env={"RISKGUARD_LIMITS": "0.005"},
        words=["expected at most 10 bytes in a row"],
    ),
    Case("limit-is-no-number", env={"RISKGUARD_LIMITS": "many"}, status=2, words=["RISKGUARD_LIMITS: expected"]),
    long_ids("a.parquet", packed_parquet, "at most 100 times the compressed size"),
    long_ids("a.arrow", packed_arrow, "at most 100 times the compressed size"),
    long_ids("a.json", as_json, "at most 2,048 bytes in a row"),
    # Answers of engines
    harmless("answers-of-an-engine", responses(lambda _: None), compare=f"{ANSWERS} --baseline prod", ways=CLI),
    partial("terminated-early", lambda answer: answer.update(terminated_early=True), "was terminated early"),
    partial("of-status-503", lambda answer: answer.update(status=503), "error 503"),
    partial(
        "with-failures-of-shards",
        lambda answer: answer.update(
            _shards={"total": 2, "successful": 1, "failures": [{"reason": {"type": "oom"}}]}
        ),
        "only 1 of 2 shards answered: oom",
    ),
    # Numbers
    Case(
        "scores-beyond-32-bits",
        on_scores(CANDIDATE, lambda score: score * 1e300),
        words=["largest number of 32 bits"],
    ),
    Case(
        "scores-of-1e300-and-warnings-are-errors-in-pytest",
        on_scores(CANDIDATE, lambda score: score * 1e300),
        words=["candidate.run:1: expected a finite number as the score", "largest number of 32 bits", "5 failed"],
        options="-W error",
        ways=PYTEST,
    ),
    # Reports
    Case(
        "report-on-another-commit",
        riskguard(
            f"compare {CANDIDATE} --baseline prod --json {REPORT}",
            status=1,
            env={"GITHUB_ACTIONS": "true", "GITHUB_SHA": "a" * 40, "GITHUB_EVENT_PATH": None},
        ),
        command=f"comment {REPORT} --commit {'b' * 40}",
        words=["No verdict for", f"expected a report on commit {'b' * 40}, found one on {'a' * 40}"],
    ),
    # Honest use
    harmless("compressed-run", compress(CANDIDATE)),
    harmless("compressed-qrels-and-topics", (compress(QRELS), compress(TOPICS_FILE))),
    harmless("windows-files", (crlf(CANDIDATE), crlf(QRELS), bom(QRELS), bom(TOPICS_FILE))),
    harmless("blank-lines", (append(CANDIDATE, "\n" * 1000), prepend(QRELS, "\n \n"))),
    harmless("limits-raised", env={"RISKGUARD_LIMITS": "1.5"}),
]
