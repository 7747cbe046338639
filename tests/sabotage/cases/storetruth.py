"""Stores that lie although every digest fits, judgements that shrink, and commands that replace baselines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.sabotage.case import EVERY, Case, Sabotage, harmless
from tests.sabotage.sabotages import (
    CANDIDATE,
    PROD,
    QRELS,
    append,
    copy,
    delete,
    drop_topics,
    lower_scores,
    on_columns,
    on_lines,
    on_manifest,
    rename,
    replace_text,
    riskguard,
    sign,
)

TOPICS_FILE, YAML = "topics.tsv", "riskguard.yaml"
#: Topics in which the planted candidate loses.
LOSING = tuple(f"t{number:02d}" for number in range(1, 46))
BAD = ["baselines/prod", "bad_baseline"]
GONE = ["inputs_changed", "no longer ha", "riskguard baseline rescore prod"]
SWAPPED = ["inputs_changed", "its run no longer retrieves a relevant document", "riskguard baseline rescore prod"]
ASKED = ["inputs_changed", "different query text", "riskguard baseline update prod RUN"]


def grades(*topics: str) -> Sabotage:
    """Every grade of these topics set to 0."""
    return on_columns(QRELS, lambda c: [*c[:3], "0"] if c[0] in topics else c)


def swap_relevant(*topics: str) -> Sabotage:
    """Every grade of these topics set to 0, but for a document that no run retrieves."""
    none_retrieved = append(QRELS, "".join(f"{topic} 0 doc-{topic}-99 1\n" for topic in topics))

    def sabotage(folder: Path) -> None:
        grades(*topics)(folder)
        none_retrieved(folder)

    return sabotage


def query(change: Callable[[str], str]) -> Sabotage:
    """The query texts changed."""
    return on_lines(TOPICS_FILE, lambda lines: [lines[0], *("\t".join(_row(line, change)) for line in lines[1:])])


def _row(line: str, change: Callable[[str], str]) -> list[str]:
    topic, text, *tags = line.split("\t")
    return [topic, change(text), *tags]


def replaced(name: str, command: str, **settings: Any) -> Case:
    """A command that must not write."""
    return Case(name, command=command, **settings)


CASES = [
    # scores that their run does not have: the run's own count
    harmless("lowered-and-signed", [lower_scores(0.4), sign()]),
    Case(
        "verify-lowered-and-signed",
        [lower_scores(0.4), sign()],
        command="baseline verify",
        words=["does not hold the scores"],
    ),
    # another baseline under the name
    Case("renamed-to-prod", [delete(PROD), rename("baselines/old", PROD)], words=[*BAD, "named 'old'"]),
    Case("name-missing", on_manifest(lambda m: m.pop("name")), words=[*BAD, "name"]),
    Case("name-of-other-format", on_manifest(lambda m: m.update(format=3)), words=[*BAD, "format"]),
    Case("queries-missing", delete("baselines/prod/queries.tsv"), command="baseline verify", words=["queries.tsv"]),
    Case(
        "queries-changed",
        append("baselines/prod/queries.tsv", "t61\t0\n"),
        command="baseline verify",
        words=["queries.tsv was changed"],
    ),
    # the candidate as replicate
    Case(
        "candidate-as-replicate",
        riskguard(f"baseline add prod {CANDIDATE} --replicate"),
        words=["bad_baseline", "replicate 1 of prod", "riskguard baseline remove prod --replicate 1"],
        ways=EVERY,
    ),
    Case(
        "candidate-but-for-a-line-as-replicate",
        [
            copy(CANDIDATE, "runs/near.run"),
            on_lines("runs/near.run", lambda lines: lines[:-1]),
            riskguard("baseline add prod runs/near.run --replicate"),
        ],
        words=["bad_baseline", "scores the same on every topic", "riskguard baseline remove prod --replicate 1"],
    ),
    # judgements that shrink
    Case("losing-topics-deleted", drop_topics(QRELS, *LOSING), words=GONE, ways=EVERY),
    Case("one-topic-deleted", drop_topics(QRELS, "t02"), words=[*GONE, "t02"]),
    Case("losing-topics-graded-0", grades(*LOSING), words=GONE),
    Case("relevant-documents-swapped", swap_relevant(*LOSING), words=SWAPPED, ways=EVERY),
    Case("query-texts-changed", query(lambda text: f"easy {text}"), words=ASKED),
    # commands that replace
    replaced("update-without-note", f"baseline update prod {CANDIDATE}", status=2, words=["needs --note"]),
    replaced("dry-update", f"baseline update prod {CANDIDATE} --dry-run", status=0, words=["would replace", "fall"]),
    # harmless
    harmless("no-run-warns", riskguard("baseline remove old"), command="baseline verify"),
    harmless("topic-added", append(QRELS, "t61 0 doc-t61-01 1\n")),
    harmless("document-judged-again", replace_text(QRELS, "doc-t05-02 2", "doc-t05-02 1")),
    harmless(
        "topic-gone-and-rescored",
        [
            drop_topics(QRELS, "t60"),
            riskguard("baseline rescore prod"),
            riskguard("baseline rescore bm25"),
            riskguard("baseline rescore old"),
        ],
    ),
    harmless("judged-unknown", on_manifest(lambda m: m["topics"].update(judged=None))),
]
