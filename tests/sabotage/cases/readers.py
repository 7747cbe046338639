"""Files that are not regular, exhaust a reader, or hold numbers and text that no program reads."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.sabotage.case import CLI, EVERY, PYTEST, Case, Sabotage, harmless
from tests.sabotage.sabotages import (
    CANDIDATE,
    CONFIG,
    KEPT_RUN,
    MANIFEST,
    QRELS,
    SCORES,
    TOPICS_FILE,
    append,
    bom,
    compress,
    crlf,
    fifo,
    link,
    make_folder,
    on_scores,
    on_text,
    prepend,
    riskguard,
    write,
)

NO_FILE = "expected a regular file, found a pipe, socket or device"
ROW = b"t01 Q0 doc-t01-01 1 50 tag\n"
REPORT = "report.json"
JUDGED = riskguard(f"compare {CANDIDATE} --baseline prod --json {REPORT}", status=1)


def bomb(line: bytes, megabytes: int) -> bytes:
    """One line again and again, compressed to a thousandth."""
    block = line * (2**20 // len(line))
    return gzip.compress(block * megabytes, compresslevel=9, mtime=0)


def on_report(change: Callable[[dict[str, Any]], Any]) -> Sabotage:
    """The first verdict of a written report changed as an object."""

    def changed(text: str) -> str:
        report = json.loads(text)
        change(report["verdicts"][0])
        return json.dumps(report)

    def sabotage(folder: Path) -> None:
        JUDGED(folder)
        on_text(REPORT, changed)(folder)

    return sabotage


def damaged(name: str, change: Callable[[dict[str, Any]], Any], words: str) -> Case:
    """A report with one field changed, which ``show`` must refuse."""
    return Case(name, on_report(change), command=f"show {REPORT}", words=["report.json: ", words])


def whole_report(name: str, content: str, words: str) -> Case:
    """Something in place of a report."""
    return Case(name, write(REPORT, content), command=f"show {REPORT}", words=["report.json: ", words])


CASES = [
    # Files that are not regular
    *(
        Case(f"{name}-is-a-{what}", make(path), words=[Path(path).name, words], is_slow=name != "run")
        for name, path in {"run": CANDIDATE, "qrels": QRELS, "topics": TOPICS_FILE}.items()
        for what, make, words in (
            ("pipe", fifo, NO_FILE),
            ("folder", make_folder, "found a folder without files" if name == "run" else "found a folder"),
            ("device", lambda path: link(path, "/dev/zero"), NO_FILE),
        )
    ),
    *(
        Case(f"{name}-is-a-{what}", make(path), words=["baselines/prod", Path(path).name])
        for name, path in {"manifest": MANIFEST, "scores": SCORES, "kept-run": KEPT_RUN}.items()
        for what, make in (("pipe", fifo), ("folder", make_folder), ("device", lambda path: link(path, "/dev/zero")))
    ),
    Case("report-is-a-pipe", fifo(REPORT), command=f"show {REPORT}", words=[NO_FILE]),
    Case("report-is-a-device", link(REPORT, "/dev/zero"), command=f"show {REPORT}", words=[NO_FILE]),
    Case("report-is-a-folder", make_folder(REPORT), command=f"show {REPORT}", words=["found a folder"]),
    Case("link-to-itself", link(CANDIDATE, "candidate.run"), words=["candidate.run", "cannot be read"]),
    # Files that exhaust a reader
    *(
        Case(f"{name}-of-gzipped-{what}", write(path, bomb(line, 64)), words=[Path(path).name, words], megabytes=500)
        for name, path in {"run": CANDIDATE, "qrels": QRELS, "topics": TOPICS_FILE}.items()
        for what, line, words in (
            ("newlines", b"\n", "at most 100 times the compressed size after decompression"),
            ("spaces", b"    ", "bytes in a"),
            ("zeros", b"\0" * 8, "found a NUL byte"),
        )
    ),
    Case("kept-run-of-gzipped-newlines", write(KEPT_RUN, bomb(b"\n", 64)), words=["run.gz", "at most 100 times"]),
    Case("empty-gzip-members", write(CANDIDATE, gzip.compress(b"") * 500_000), words=["without any"]),
    Case(
        "line-without-end", append(CANDIDATE, b"x" * 5_000_000), words=["bytes in a row", "RISKGUARD_MAX_ROW_BYTES"]
    ),
    Case(
        "too-many-documents",
        append(QRELS, b"".join(b"t01 0 x%d 0\n" % number for number in range(210_000))),
        words=["qrels.txt", "at most 200,000 documents in a topic, found 200,001"],
    ),
    Case("manifest-too-large", append(MANIFEST, b" " * 21_000_000), words=["at most 20,000,000 bytes in a manifest"]),
    Case("manifest-nested", write(MANIFEST, "[" * 100_000), words=["nested too deeply"], ways=EVERY),
    Case(
        "manifest-of-values", write(MANIFEST, '{"a": [' + "[]," * 3_000_000 + "1]}"), words=["values in a JSON file"]
    ),
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
    Case("limit-of-the-user", env={"RISKGUARD_MAX_LINES": "100"}, words=["expected at most 100 lines, found"]),
    Case(
        "limit-is-no-number", env={"RISKGUARD_MAX_LINES": "many"}, status=2, words=["RISKGUARD_MAX_LINES: expected"]
    ),
    # Numbers
    Case(
        "scores-beyond-32-bits",
        on_scores(CANDIDATE, lambda score: score * 1e300),
        words=["largest number of 32 bits"],
    ),
    Case(
        "scores-of-1e300-and-warnings-are-errors",
        on_scores(CANDIDATE, lambda score: score * 1e300),
        words=["candidate.run:1: expected a score", "largest number of 32 bits"],
        env={"PYTHONWARNINGS": "error"},
        options="--alpha 1",
        ways=CLI,
    ),
    Case(
        "scores-of-1e300-and-warnings-are-errors-in-pytest",
        on_scores(CANDIDATE, lambda score: score * 1e300),
        words=["candidate.run:1: expected a score", "largest number of 32 bits", "5 failed"],
        options="-W error",
        ways=PYTEST,
    ),
    *(
        Case(
            f"score-of-{name}",
            prepend(CANDIDATE, ROW.replace(b" 50 ", f" {score} ".encode())),
            words=["candidate.run:1: expected a", f"found {score}"],
        )
        for name, score in {
            "nan": "nan",
            "infinity": "-inf",
            "1e999": "1e999",
            "a-word": "high",
            "1_0": "1_0",
        }.items()
    ),
    # Reports
    damaged("count-of-2-to-the-64", lambda verdict: verdict["topics"].update(count=2**64), "more than 64 bits"),
    damaged("count-below-0", lambda verdict: verdict["topics"].update(count=-1), "at least 0"),
    damaged("count-of-none", lambda verdict: verdict["topics"].update(count=0), "add up to it, found 0"),
    damaged("count-is-text", lambda verdict: verdict["topics"].update(count="60"), "expected a whole number"),
    damaged("alpha-is-null", lambda verdict: verdict.update(alpha=None), "alpha"),
    damaged("no-baseline", lambda verdict: verdict.update(baselines=[]), "baselines: expected at least 1"),
    damaged("outcome-of-its-own", lambda verdict: verdict.update(outcome="fine"), "outcome: expected 'pass'"),
    damaged("no-kind", lambda verdict: verdict.pop("kind"), "missing key 'kind'"),
    damaged("topics-are-a-list", lambda verdict: verdict.update(topics=[]), "topics: expected an object"),
    whole_report("report-nested", '{"a": ' + "[" * 200 + "]" * 200 + "}", "nested too deeply"),
    whole_report("report-with-nan", '{"schema": NaN}', "NaN is not a number"),
    whole_report("report-of-1e999", '{"schema": 1e999}', "larger than any number of 64 bits"),
    whole_report("report-with-a-key-twice", '{"schema": 1, "schema": 2}', "key 'schema' appears twice"),
    whole_report("report-empty", "", "empty"),
    # Honest use
    harmless("compressed-run", compress(CANDIDATE), is_quick=True),
    harmless("compressed-qrels-and-topics", (compress(QRELS), compress(TOPICS_FILE))),
    harmless("windows-files", (crlf(CANDIDATE), crlf(QRELS), bom(QRELS), bom(TOPICS_FILE))),
    harmless("blank-lines", (append(CANDIDATE, "\n" * 1000), prepend(QRELS, "\n \n"))),
    harmless("limits-raised", env={"RISKGUARD_MAX_LINES": "1000000", "RISKGUARD_MAX_RUN_BYTES": "900000000"}),
]
