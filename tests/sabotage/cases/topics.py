"""Topics files: query texts, tags and weights."""

from __future__ import annotations

from tests.sabotage.case import CLI, EVERY, SERIAL, Case, Sabotage
from tests.sabotage.sabotages import (
    CONFIG,
    TOPICS_FILE,
    append,
    bom,
    compress,
    conflict,
    crlf,
    delete,
    empty,
    encode,
    fifo,
    lfs_pointer,
    link,
    make_folder,
    on_columns,
    on_lines,
    prepend,
    replace_line,
    replace_text,
    truncate,
    write,
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
        "tag-moves-the-cursor-command",
        tagged("a\x1b[2Jb"),
        status=2,
        words=["has characters that cannot be printed"],
        absent=["\x1b[2J"],
        options="--slice intent",
        ways=CLI,
    ),
    Case(
        "tag-of-too-few-topics-moves-the-cursor",
        [tagged("a\x1b[2Jb"), replace_text(CONFIG, "slice: intent}", "slice: intent, smallest_slice: 61}")],
        words=["no value of 'intent' has 61 judged topics"],
        absent=["\x1b[2J"],
        ways=SERIAL,
    ),
    Case("truncated", truncate(TOPICS_FILE, 0.5), words=["topics.tsv"]),
    Case("empty", empty(TOPICS_FILE), words=["topics.tsv"], ways=EVERY),
    Case("header-only", on_lines(TOPICS_FILE, lambda lines: lines[:1]), words=["topics.tsv"]),
    Case("missing", delete(TOPICS_FILE), words=["topics.tsv", "no such file"]),
    Case("folder", make_folder(TOPICS_FILE), words=["topics.tsv"]),
    Case("fifo", fifo(TOPICS_FILE), words=["topics.tsv"], seconds=15),
    Case("link-to-device", link(TOPICS_FILE, "/dev/zero"), words=["topics.tsv"], seconds=15, megabytes=500),
    Case("link-to-nothing", link(TOPICS_FILE, "gone.tsv"), words=["topics.tsv"]),
    Case("lfs-pointer", lfs_pointer(TOPICS_FILE), words=["topics.tsv", "Git LFS"]),
    Case("conflict", conflict(TOPICS_FILE), words=["topics.tsv:2", "merge conflict"]),
    Case("utf-16", encode(TOPICS_FILE, "utf-16"), words=["topics.tsv"]),
    Case("latin-1", append(TOPICS_FILE, "t61\tcaf\xe9\tbuy\n".encode("latin-1")), words=["topics.tsv:62", "UTF-8"]),
    Case("nul-bytes", append(TOPICS_FILE, b"t61\ta\x00b\tbuy\n"), words=["topics.tsv:62"]),
    Case("topic-twice", append(TOPICS_FILE, "t01\tagain\tbuy\n"), words=["topics.tsv:62", "t01"]),
    Case("two-columns-in-a-row", replace_line(TOPICS_FILE, 5, "t04\tno tag"), words=["topics.tsv:5"]),
    Case("four-columns-in-a-row", replace_line(TOPICS_FILE, 5, "t04\ta\tb\tc"), words=["topics.tsv:5"]),
    Case("one-column", on_columns(TOPICS_FILE, lambda c: c[:1], TAB), words=["topics.tsv:1"]),
    Case("empty-id", replace_line(TOPICS_FILE, 5, "\tquery\tbuy"), words=["topics.tsv:5"]),
    Case("id-with-space", replace_line(TOPICS_FILE, 5, "t 4\tquery\tbuy"), status=1, words=["got worse"]),
    Case("commas", on_columns(TOPICS_FILE, lambda c: [",".join(c)], TAB), status=1, words=["got worse"]),
    Case("column-twice", replace_line(TOPICS_FILE, 1, "topic\tquery\tquery"), words=["topics.tsv:1", "query"]),
    Case("column-without-name", replace_line(TOPICS_FILE, 1, "topic\tquery\t"), words=["topics.tsv:1"]),
    Case("weight-a-word", weigh("much"), words=["topics.tsv:2", "much"]),
    Case("weight-0", weigh("0"), words=["topics.tsv:2", "0"]),
    Case("weight-negative", weigh("-1"), words=["topics.tsv:2", "-1"]),
    Case("weight-nan", weigh("nan"), words=["topics.tsv:2", "nan"]),
    Case("weight-inf", weigh("inf"), words=["topics.tsv:2", "inf"]),
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
    Case("compressed", compress(TOPICS_FILE), status=1, words=["45 of 60 queries", "query about subject 02"]),
    Case("topic-added", append(TOPICS_FILE, "t61\tnew\tbuy\n"), status=1, words=["45 of 60 queries"]),
    Case("other-tags", replace_text(TOPICS_FILE, "buy", "sell"), status=1, words=["45 of 60 queries"]),
    Case("escape-in-query", append(TOPICS_FILE, "t61\ta\x1b[2Jb\tbuy\n"), status=1, absent=["\x1b[2J"]),
    Case("quotes", prepend(TOPICS_FILE, ""), status=1, words=["45 of 60 queries"]),
    Case("html-page", write(TOPICS_FILE, "<!DOCTYPE html><html>404</html>\n"), words=["topics.tsv:1"]),
]
