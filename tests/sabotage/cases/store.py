"""Stored baselines whose files are damaged, incomplete, of another format or not what their digests say."""

from __future__ import annotations

from typing import Any

from tests.sabotage.case import CLI, EVERY, Case, Sabotage, harmless
from tests.sabotage.sabotages import (
    CANDIDATE,
    KEPT_RUN,
    MANIFEST,
    PROD,
    SCORES,
    append,
    conflict,
    copy,
    delete,
    empty,
    fifo,
    flip_byte,
    lfs_pointer,
    link,
    lower_scores,
    make_folder,
    on_lines,
    on_manifest,
    rename,
    replace_line,
    replace_text,
    sign,
    to_link,
    truncate,
    write,
)


def damaged(name: str, *breaks: Sabotage, **settings: Any) -> Case:
    """The baseline prod cannot be used, and the message names it."""
    defaults: dict[str, Any] = {"words": ["baselines/prod", "bad_baseline"]}
    return Case(name, breaks, **(defaults | settings))


def refused(name: str, *breaks: Sabotage, command: str = "baseline verify", **settings: Any) -> Case:
    """As above, by another command than ``compare``."""
    return Case(name, breaks, command=command, **({"words": ["baselines/prod"]} | settings))


def changed(name: str, change: Any, **settings: Any) -> Case:
    """The manifest of prod changed."""
    return damaged(f"manifest-{name}", on_manifest(change), **settings)


CASES = [
    damaged("manifest-missing", delete(MANIFEST), words=["prod"]),
    damaged("manifest-empty", empty(MANIFEST), ways=EVERY),
    damaged("manifest-truncated", truncate(MANIFEST, 0.5)),
    damaged("manifest-deep", write(MANIFEST, "[" * 100_000 + "]" * 100_000), seconds=15),
    damaged("manifest-folder", make_folder(MANIFEST)),
    damaged("manifest-fifo", fifo(MANIFEST), seconds=15),
    damaged("manifest-link-to-device", link(MANIFEST, "/dev/zero"), seconds=15, megabytes=500, ways=EVERY),
    damaged("manifest-link-to-nothing", link(MANIFEST, "gone.json"), words=["prod"]),
    damaged("manifest-lfs-pointer", lfs_pointer(MANIFEST)),
    damaged("manifest-conflict", conflict(MANIFEST)),
    damaged("manifest-integer-of-5000-digits", replace_text(MANIFEST, '"format"', f'"a": {"9" * 5000}, "format"')),
    changed("format-99", lambda m: m.update(format=99), words=["format", "99"], ways=EVERY),
    changed("digest-of-scores-null", lambda m: m["digests"].update(scores=None)),
    changed("digest-of-scores-other", lambda m: m["digests"].update(scores="sha256:" + "0" * 64)),
    changed("digest-of-run-other", lambda m: m["digests"].update(run="sha256:" + "0" * 64)),
    changed("measures-empty", lambda m: m.update(measures=[]), status=1, words=["45 of 60 queries"]),
    changed("measures-other", lambda m: m.update(measures=["AP"]), status=1, words=["45 of 60 queries"]),
    changed("topics-negative", lambda m: m["topics"].update(scored=-1), status=1, words=["45 of 60 queries"]),
    changed("topics-59", lambda m: m["topics"].update(scored=59), status=1, words=["45 of 60 queries"]),
    # scores
    damaged("scores-lowered", lower_scores(0.4), ways=EVERY),
    damaged("scores-missing", delete(SCORES)),
    damaged("scores-truncated", truncate(SCORES, 0.5)),
    damaged("scores-link-to-device", link(SCORES, "/dev/zero"), seconds=15, megabytes=500),
    damaged("scores-row-left-out", on_lines(SCORES, lambda lines: lines[:-1])),
    damaged("scores-of-another", copy("baselines/bm25/scores.tsv", SCORES)),
    damaged(
        "signed-scores-row-left-out",
        on_lines(SCORES, lambda lines: lines[:-1]),
        sign(),
        status=1,
        words=["45 of 60 queries"],
    ),
    damaged(
        "signed-scores-losing-rows-left-out",
        on_lines(SCORES, lambda lines: [lines[0], *lines[46:]]),
        sign(),
        status=1,
        words=["45 of 60 queries"],
    ),
    damaged("signed-scores-topic-twice", append(SCORES, "t01\t0.1\n"), sign(), words=["baselines/prod"]),
    damaged("signed-scores-topic-added", append(SCORES, "t61\t0.1\n"), sign(), words=["baselines/prod"]),
    damaged("signed-scores-nan", replace_line(SCORES, 2, "t01\tnan"), sign(), words=["baselines/prod"]),
    damaged("signed-scores-above-1", replace_line(SCORES, 2, "t01\t1.5"), sign(), words=["baselines/prod"]),
    damaged("signed-scores-a-word", replace_line(SCORES, 2, "t01\tlow"), sign(), words=["baselines/prod"]),
    damaged(
        "signed-scores-other-measure",
        replace_text(SCORES, "nDCG@10", "AP"),
        sign(),
        status=1,
        words=["45 of 60 queries"],
    ),
    # the kept run
    damaged("run-missing", delete(KEPT_RUN), words=["prod"]),
    damaged("run-truncated", truncate(KEPT_RUN, 0.9)),
    damaged("run-flipped", flip_byte(KEPT_RUN)),
    damaged("run-of-another", copy("baselines/old/run.gz", KEPT_RUN)),
    damaged("run-the-candidate", copy("runs/candidate.run", KEPT_RUN)),
    damaged("run-fifo", fifo(KEPT_RUN), seconds=15),
    damaged("run-link-to-device", link(KEPT_RUN, "/dev/zero"), seconds=15, megabytes=500),
    # whole baselines
    damaged("baseline-missing", delete(PROD), words=["prod"]),
    damaged("baseline-a-file", delete(PROD), write(PROD, "x"), words=["prod"]),
    damaged("baseline-an-empty-folder", make_folder(PROD), words=["prod"]),
    damaged("baseline-a-link-to-nothing", link(PROD, "gone"), words=["prod"]),
    damaged("baseline-in-capitals", rename(PROD, "baselines/PROD"), words=["prod"]),
    damaged("store-missing", delete("baselines"), words=["prod"]),
    damaged("store-a-file", delete("baselines"), write("baselines", "x"), words=["prod"]),
    damaged("store-a-link-to-itself", link("baselines", "baselines"), words=["prod"]),
    # names
    *[
        Case(f"name-{name}", compare=f"{CANDIDATE} --baseline {text}", ways=CLI, status=status, absent=["\x1b"])
        for name, text, status in [
            ("parent", "../baselines/prod", 3),
            ("folder", "baselines/prod", 3),
            ("absolute", "/etc/passwd", 3),
            ("dots", "..", 3),
            ("empty", "''", 3),
            ("nothing-before-equals", "=runs/candidate.run", 3),
            ("with-space", "'pr od'", 2),
            ("with-escape", "'pr\x1b[2Jod'", 2),
            ("of-10000-letters", "p" * 10_000, 2),
            ("misspelt", "prdo", 3),
        ]
    ],
    # other commands
    refused("verify-scores-lowered", lower_scores(0.4)),
    refused("verify-manifest-missing", delete(MANIFEST)),
    refused("verify-run-flipped", flip_byte(KEPT_RUN)),
    refused("verify-run-missing", delete(KEPT_RUN)),
    refused(
        "verify-too-old",
        on_manifest(lambda manifest: manifest.update(created="2020-01-01T00:00:00Z")),
        command="baseline verify --max-age 365",
        words=["baselines/prod: stored", "--max-age allows 365 days"],
    ),
    refused("show-manifest-truncated", truncate(MANIFEST, 0.5), command="baseline show prod"),
    *[
        refused(
            f"newer-format-{command.split()[1]}",
            on_manifest(lambda manifest: manifest.update(format=8)),
            command=command,
            words=["format: expected 2, found 8"],
        )
        for command in ("baseline rescore prod", "baseline show prod")
    ],
    refused("rescore-run-flipped", flip_byte(KEPT_RUN), command="baseline rescore prod"),
    refused("rescore-run-missing", delete(KEPT_RUN), command="baseline rescore prod"),
    refused("add-run-missing", command="baseline add new runs/no.run", words=["no.run", "no such file"]),
    refused(
        "add-run-truncated",
        truncate("runs/candidate.run", 0.5003),
        command="baseline add new runs/candidate.run",
        words=["candidate.run"],
    ),
    refused(
        "add-qrels-missing", delete("qrels.txt"), command="baseline add new runs/candidate.run", words=["qrels.txt"]
    ),
    refused("add-twice", command="baseline add prod runs/candidate.run", status=2, words=["prod", "update"]),
    *[
        refused(f"add-name-{name}", command=f"baseline add {text} runs/candidate.run", status=2, words=["name"])
        for name, text in [
            ("parent", "../prod"),
            ("absolute", "/var/prod"),
            ("escape", "'a\x1b[2Jb'"),
            ("long", "p" * 300),
            ("lock", ".lock"),
        ]
    ],
    # harmless
    harmless("manifest-spread-out", on_manifest(lambda manifest: manifest.update(note="changed by hand"))),
    harmless("store-linked", to_link("baselines")),
    harmless("verify", command="baseline verify"),
    harmless("verify-age", command="baseline verify --max-age 30"),
    harmless("list", command="baseline list"),
    harmless("show", command="baseline show prod"),
    harmless("rescore", command="baseline rescore prod", writes=True),
]
