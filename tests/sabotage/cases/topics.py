"""Topics files: query texts, tags and weights."""

from __future__ import annotations

from tests.sabotage.case import CLI, EVERY, SERIAL, Case, Sabotage
from tests.sabotage.sabotages import (
    CONFIG,
    TOPICS_FILE,
    append,
    bom,
    conflict,
    crlf,
    delete,
    empty,
    lfs_pointer,
    link,
    on_columns,
    replace_line,
    replace_text,
    truncate,
)

TAB = "\t"
WEIGHTED = replace_text(CONFIG, "alpha: 1}", "alpha: 1, weighted: true}")


def weigh(weight: str) -> Sabotage:
    """A weight column with the same weight everywhere."""
    return on_columns(TOPICS_FILE, lambda c: [*c, "weight" if c[0] == "topic" else weight], TAB)


def tagged(intent: str) -> Sabotage:
    """Every topic has this intent, and a gate is about each intent."""
    tag = on_columns(TOPICS_FILE, lambda c: c if c[0] == "topic" else [*c[:2], intent], TAB)
    slices = replace_text(CONFIG, "alpha: 1}", "alpha: 1, slice: intent}")
    return lambda folder: (tag(folder), slices(folder))


CASES = [
    Case(
        "tag-moves-the-cursor",
        tagged("a\x1b[2Jb"),
        words=["riskguard.yaml:6: slice of gate 'no-risk':", "has characters that cannot be printed"],
        absent=["\x1b[2J"],
        ways=SERIAL,
    ),
    Case(
        "tag-of-too-few-topics-moves-the-cursor",
        [
            on_columns(TOPICS_FILE, lambda c: c if c[0] == "topic" else [*c[:2], f"a\x1b[2Jb{c[0][1]}"], TAB),
            replace_text(CONFIG, "alpha: 1}", "alpha: 1, slice: intent}"),
        ],
        words=["no value of 'intent' has 25 judged topics"],
        absent=["\x1b[2J"],
        ways=SERIAL,
    ),
    Case("truncated", truncate(TOPICS_FILE, 0.5), words=["topics.tsv"]),
    Case("empty", empty(TOPICS_FILE), words=["topics.tsv"], ways=EVERY),
    Case("missing", delete(TOPICS_FILE), words=["topics.tsv", "no such file"]),
    Case("link-to-device", link(TOPICS_FILE, "/dev/zero"), words=["topics.tsv"], seconds=15, megabytes=500),
    Case("lfs-pointer", lfs_pointer(TOPICS_FILE), words=["topics.tsv", "Git LFS"]),
    Case("conflict", conflict(TOPICS_FILE), words=["topics.tsv:2", "merge conflict"]),
    Case("latin-1", append(TOPICS_FILE, "t61\tcaf\xe9\tbuy\n".encode("latin-1")), words=["topics.tsv:62", "UTF-8"]),
    Case("topic-twice", append(TOPICS_FILE, "t01\tagain\tbuy\n"), words=["topics.tsv:62", "t01"]),
    Case("two-columns-in-a-row", replace_line(TOPICS_FILE, 5, "t04\tno tag"), words=["topics.tsv:5"]),
    Case(
        "column-twice",
        replace_line(TOPICS_FILE, 1, "topic\tquery\tquery"),
        words=["topics.tsv", "expected one column 'query'"],
    ),
    Case("weight-a-word", weigh("much"), words=["topics.tsv:2", "much"]),
    Case("weight-negative", weigh("-1"), words=["topics.tsv:2", "-1"]),
    Case("weight-nan", weigh("nan"), words=["topics.tsv:2", "nan"]),
    Case("weighted-without-weights", WEIGHTED, words=["weight"], ways=SERIAL, status=1),
    Case("weighted-command-without-weights", options="--set weighted=true", status=2, words=["weight"], ways=CLI),
    Case("weighted", [weigh("2"), WEIGHTED], status=1, ways=SERIAL, words=["got worse"]),
    Case(
        "slice-of-nothing",
        options="--slice intent=none",
        words=["intent"],
        status=2,
        ways=CLI,
    ),
    Case(
        "slice-without-tags",
        [on_columns(TOPICS_FILE, lambda c: c[:2], TAB)],
        options="--slice intent=buy",
        words=["no judged topic has tags"],
        status=2,
        ways=CLI,
    ),
    # another form of the same topics changes nothing
    Case("bom", bom(TOPICS_FILE), status=1, words=["45 of 60 queries", "query about subject 02"]),
    Case("crlf", crlf(TOPICS_FILE), status=1, words=["45 of 60 queries", "query about subject 02"]),
    Case("topic-added", append(TOPICS_FILE, "t61\tnew\tbuy\n"), status=1, words=["45 of 60 queries"]),
    Case("escape-in-query", append(TOPICS_FILE, "t61\ta\x1b[2Jb\tbuy\n"), status=1, absent=["\x1b[2J"]),
]
