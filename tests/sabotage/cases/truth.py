"""Claims of a stored baseline that can be checked: its run, its name, its topics and its judgements."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from tests.sabotage.case import CLI, EVERY, SERIAL, Case, Sabotage, harmless
from tests.sabotage.project import TOPICS
from tests.sabotage.sabotages import (
    CANDIDATE,
    CONFIG,
    KEPT_RUN,
    PROD,
    QRELS,
    TOPICS_FILE,
    copy,
    delete,
    drop_topics,
    lower_scores,
    on_columns,
    on_lines,
    on_manifest,
    prefix_ids,
    rename,
    replace_line,
    replace_text,
    riskguard,
    run_program,
    sign,
)

LOST = TOPICS[:45]
OTHER_QUERIES = replace_text(TOPICS_FILE, "query about", "question on")
SHRINK = "collection: {{qrels: qrels.txt, topics: topics.tsv, shrink: {}}}"


def without_run(folder: Path) -> None:
    """prod as it is stored with ``--no-run``."""
    run_program(f"gzip -dc {KEPT_RUN} > prod.run")(folder)
    riskguard("baseline update prod prod.run --no-run --note 'too large'")(folder)


def shrink(value: object) -> Sabotage:
    """The setting of riskguard.yaml for judgements that are gone."""
    return replace_line(CONFIG, 1, SHRINK.format(value))


def untrue(name: str, *breaks: Sabotage, **settings: Any) -> Case:
    """The files of prod make a false claim."""
    defaults: dict[str, Any] = {"words": ["baselines/prod", "bad_baseline"]}
    return Case(name, breaks, **(defaults | settings))


def verified(name: str, *breaks: Sabotage, **settings: Any) -> Case:
    """What ``riskguard baseline verify`` finds."""
    defaults: dict[str, Any] = {"words": ["baselines/prod"], "command": "baseline verify"}
    return Case(f"verify-{name}", breaks, **(defaults | settings))


def shrunk(name: str, *breaks: Sabotage, **settings: Any) -> Case:
    """Judgements that prod was stored with are gone, which must be confirmed."""
    defaults: dict[str, Any] = {"words": ["inputs_changed", "rescore"]}
    return Case(name, breaks, **(defaults | settings))


def unjudged(*topics: str) -> Sabotage:
    """The grades of these topics set to 0."""
    return on_columns(QRELS, lambda c: [*c[:3], "0" if c[0] in topics else c[3]])


def _losing_topics_score_nothing(folder: Path) -> None:
    """The kept run exchanged for one without the topics that the candidate loses, as the scores say then."""
    run = gzip.decompress((folder / KEPT_RUN).read_bytes()).decode()
    kept = [line for line in run.splitlines(keepends=True) if line.split()[0] not in LOST]
    (folder / KEPT_RUN).write_bytes(gzip.compress("".join(kept).encode(), mtime=0))


CASES = [
    # scores and run
    untrue("scores-lowered-and-signed", lower_scores(0.4), sign(), ways=EVERY),
    untrue("scores-lowered-a-little-and-signed", lower_scores(0.001), sign()),
    untrue(
        "scores-lowered-below-another-gate",
        lower_scores(0.9, "bm25"),
        sign("bm25"),
        compare=f"{CANDIDATE} --baseline bm25",
        words=["baselines/bm25", "bad_baseline"],
        ways=CLI,
    ),
    untrue("run-without-losing-topics", _losing_topics_score_nothing),
    untrue("run-without-losing-topics-and-signed", _losing_topics_score_nothing, sign()),
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
    # name
    untrue("another-baseline-under-its-name", delete(PROD), rename("baselines/old", PROD), words=["prod", "old"]),
    untrue("another-baseline-copied", copy("baselines/bm25", PROD), words=["prod", "bm25"]),
    verified("another-baseline", copy("baselines/bm25", PROD), words=["prod", "bm25"]),
    untrue("name-missing", on_manifest(lambda m: m.pop("name"))),
    untrue("name-a-number", on_manifest(lambda m: m.update(name=1))),
    # the candidate's own run
    Case("candidate-is-a-replicate", riskguard(f"baseline add prod {CANDIDATE} --replicate"), words=["replicate"]),
    # topics
    Case("queries-changed", OTHER_QUERIES, words=["inputs_changed", "t01"]),
    Case(
        "one-query-changed",
        replace_line(TOPICS_FILE, 2, "t01\tanother query\tbrowse"),
        words=["inputs_changed", "t01"],
    ),
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
    verified("queries-removed", delete(f"{PROD}/queries.tsv")),
    verified("queries-rewritten", replace_text(f"{PROD}/queries.tsv", "t01\t", "t01\t0")),
    # judgements
    shrunk("lost-topics-deleted", drop_topics(QRELS, *LOST), ways=EVERY, words=["inputs_changed", "t01"]),
    shrunk("one-topic-deleted", drop_topics(QRELS, "t02"), words=["inputs_changed", "t02"]),
    shrunk("lost-topics-judged-0", unjudged(*LOST), ways=EVERY, words=["inputs_changed", "t01"]),
    shrunk("one-topic-judged-0", unjudged("t02"), words=["inputs_changed", "t02"]),
    shrunk("two-topics-deleted-one-allowed", drop_topics(QRELS, "t02", "t03"), shrink(1), words=["inputs_changed"]),
    Case("one-topic-deleted-one-allowed", [drop_topics(QRELS, "t60"), shrink(1)], status=1, words=["losses"]),
    Case("topics-deleted-allowed", [drop_topics(QRELS, *TOPICS[50:]), shrink("allow")], status=1, words=["losses"]),
    Case(
        "topic-deleted-and-rescored",
        [drop_topics(QRELS, "t60"), riskguard("baseline rescore prod")],
        status=1,
        words=["losses"],
        ways=CLI,
    ),
    harmless("topic-deleted-allowed", [drop_topics(QRELS, "t60"), shrink("allow")]),
    *[
        Case(f"shrink-{name}", shrink(value), status=2, words=["riskguard.yaml:1", "shrink"])
        for name, value in [
            ("negative", -1),
            ("a-word", "yes"),
            ("a-fraction", 0.5),
            ("nan", ".nan"),
            ("a-list", "[]"),
        ]
    ],
    # reasons
    *[
        Case(f"{command.split()[0]}-without-note", command=f"baseline {command}", status=2, words=["--note"])
        for command in (f"update prod {CANDIDATE}", f"promote prod {CANDIDATE}")
    ],
    *[
        harmless(f"{command.split()[0]}-tried", command=f"baseline {command} --note why --dry-run", words=["nDCG@10"])
        for command in (f"update prod {CANDIDATE}", f"promote prod {CANDIDATE} --kind release")
    ],
    # ids
    Case(
        "add-ids-prefixed",
        prefix_ids(CANDIDATE, "http://x/"),
        command=f"baseline add new {CANDIDATE}",
        words=["ids_do_not_match"[:3], "http://x/doc-t01"],
    ),
    Case(
        "update-ids-prefixed",
        prefix_ids(CANDIDATE, "x-"),
        command=f"baseline update prod {CANDIDATE} --note released",
        words=["x-doc-t01"],
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
