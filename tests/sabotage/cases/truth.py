"""Claims of a stored baseline that can be checked: its run, its name, its topics and its judgements."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from tests.sabotage.case import CLI, SERIAL, Case, Sabotage
from tests.sabotage.project import TOPICS
from tests.sabotage.sabotages import (
    CANDIDATE,
    CONFIG,
    KEPT_RUN,
    PROD,
    TOPICS_FILE,
    delete,
    lower_scores,
    on_columns,
    on_lines,
    on_manifest,
    prefix_ids,
    replace_text,
    riskguard,
    run_program,
    sign,
)

LOST = TOPICS[:45]
OTHER_QUERIES = replace_text(TOPICS_FILE, "query about", "question on")


def without_run(folder: Path) -> None:
    """prod as it is stored with ``--no-run``."""
    run_program(f"gzip -dc {KEPT_RUN} > prod.run")(folder)
    riskguard("baseline update prod prod.run --no-run --note 'too large'")(folder)


def untrue(name: str, *breaks: Sabotage, **settings: Any) -> Case:
    """The files of prod make a false claim."""
    defaults: dict[str, Any] = {"words": ["baselines/prod", "bad_baseline"]}
    return Case(name, breaks, **(defaults | settings))


def verified(name: str, *breaks: Sabotage, **settings: Any) -> Case:
    """What ``riskguard baseline verify`` finds."""
    defaults: dict[str, Any] = {"words": ["baselines/prod"], "command": "baseline verify"}
    return Case(f"verify-{name}", breaks, **(defaults | settings))


def _losing_topics_score_nothing(folder: Path) -> None:
    """The kept run exchanged for one without the topics that the candidate loses, as the scores say then."""
    run = gzip.decompress((folder / KEPT_RUN).read_bytes()).decode()
    kept = [line for line in run.splitlines(keepends=True) if line.split()[0] not in LOST]
    (folder / KEPT_RUN).write_bytes(gzip.compress("".join(kept).encode(), mtime=0))


CASES = [
    # scores and run
    untrue("run-without-losing-topics", _losing_topics_score_nothing),
    untrue("run-without-losing-topics-and-signed", _losing_topics_score_nothing, sign(), words=["bad_baseline"]),
    verified("scores-lowered-and-signed", lower_scores(0.4), sign()),
    verified("run-exchanged-and-signed", _losing_topics_score_nothing, sign()),
    Case("no-run-says-that-nothing-backs-the-scores", without_run, status=1, words=["backs the stored scores"]),
    untrue(
        "says-no-run-is-kept",
        lower_scores(0.4),
        sign(),
        delete(KEPT_RUN),
        on_manifest(lambda m: m.update(run_kept=False)),
        status=0,
        words=["backs the stored scores"],
        in_pytest=1,
        ways=CLI,
    ),
    # topics
    Case(
        "queries-exchanged",
        on_lines(
            TOPICS_FILE,
            lambda lines: [
                lines[0],
                *(
                    f"{a.split(chr(9))[0]}\t" + b.split("\t", 1)[1]
                    for a, b in zip(lines[1:], lines[:0:-1], strict=True)
                ),
            ],
        ),
        words=["inputs_changed"],
    ),
    untrue("queries-removed-and-changed", delete(f"{PROD}/queries.tsv"), OTHER_QUERIES),
    untrue("queries-rewritten-and-changed", replace_text(f"{PROD}/queries.tsv", "t01\t", "t01\t0"), OTHER_QUERIES),
    # ids
    Case(
        "add-ids-prefixed",
        prefix_ids(CANDIDATE, "http://x/"),
        command=f"baseline add new {CANDIDATE}",
        words=["ids_do_not_match"[:3], "http://x/doc-t01"],
    ),
    # weights
    Case(
        "weights-leave-losses-nothing",
        [
            on_columns(
                TOPICS_FILE, lambda c: [*c, "weight" if c[0] == "topic" else "1e-9" if c[0] in LOST else "1"], "\t"
            ),
            replace_text(CONFIG, "alpha: 1}", "alpha: 1, weighted: true}"),
            replace_text("test_ranking.py", "alpha=1", "alpha=1, weighted=True"),
        ],
        ways=SERIAL,
        words=["weight"],
    ),
]
