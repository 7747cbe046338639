"""What a verdict rests on went missing, was cut or diluted: none of it may turn the planted regression green."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from tests.sabotage.case import CLI, PYTEST, SERIAL, Case, Sabotage, harmless
from tests.sabotage.project import TOPICS
from tests.sabotage.sabotages import (
    CONFIG,
    QRELS,
    TOPICS_FILE,
    drop_topics,
    on_lines,
    replace_text,
    riskguard,
)

BASELINE = "runs/prod.run"
#: What the candidate loses: 45 topics in part, three altogether.
LOST, COLLAPSED = TOPICS[:48], TOPICS[:3]
GATES = (
    "not_significantly_risky",
    "georisk_not_worse",
    "not_inferior --tolerance 0.02",
    "no_topic_collapse --set max_loss=0.6",
)
UNANSWERED = {"one-topic-answered": TOPICS[1:], "lost-topics-left-out": LOST, "collapsed-topics-left-out": COLLAPSED}
DRIFT = "  - {name: drift, kind: no_drift, baseline: prod/oldest, tolerance: 0.02}"


def partial(*topics: str) -> Sabotage:
    """The run of ``prod`` as a file, without these topics."""

    def sabotage(folder: Path) -> None:
        unpack(folder, "prod")
        drop_topics(BASELINE, *topics)(folder)

    return sabotage


def unpack(folder: Path, name: str) -> None:
    """The run of a stored baseline as a file."""
    (folder / f"runs/{name}.run").write_bytes(gzip.decompress((folder / f"baselines/{name}/run.gz").read_bytes()))


def compared(gate: str) -> dict[str, Any]:
    """A run on disk as the baseline of one gate."""
    return {"compare": f"runs/candidate.run --baseline prod={BASELINE} --gate {gate}", "ways": CLI}


def only(gate: str) -> Sabotage:
    """A riskguard.yaml with this gate alone."""
    return on_lines(CONFIG, lambda lines: [*lines[: lines.index("gates:") + 1], gate])


def diluted(*topics: str, grade: str = "1000") -> Sabotage:
    """A high grade for a document that no run finds: all scores of the topic become small, a loss with them."""
    return on_lines(QRELS, lambda lines: [*lines, *(f"{topic} 0 nowhere {grade}" for topic in topics)])


def _tiny(lines: list[str]) -> list[str]:
    rows = [line.split() for line in lines]
    rows = [[*row[:3], "1e-6"] if row[0] in LOST and row[2].endswith("-01") else row for row in rows]
    return [*(" ".join(row) for row in rows), *(f"{topic} 0 nowhere 2" for topic in LOST)]


def _one_low(lines: list[str]) -> list[str]:
    kept = [line for line in lines if line.split()[0] not in LOST]
    return [*kept, *(f"{topic} 0 doc-{topic}-10 1" for topic in LOST)]


def column(name: str, lost: str, others: str) -> Sabotage:
    """A new column of the topics, with one value where the candidate loses and another elsewhere."""

    def change(lines: list[str]) -> list[str]:
        head, *rows = lines
        values = (lost if row.split("\t")[0] in LOST else others.format(row.split("\t")[0]) for row in rows)
        return [f"{head}\t{name}", *(f"{row}\t{value}" for row, value in zip(rows, values, strict=True))]

    return on_lines(TOPICS_FILE, change)


def moved(folder: Path) -> None:
    """A baseline that moved twice, to the candidate in the end."""
    unpack(folder, "bm25")
    note = "--note better"
    riskguard(f"baseline update prod runs/bm25.run {note}")(folder)
    riskguard(f"baseline update prod runs/candidate.run {note}")(folder)


def without_history(folder: Path) -> None:
    """The same with its earlier runs taken out of the manifest and the store."""
    moved(folder)
    path = folder / "baselines/prod/manifest.json"
    manifest = json.loads(path.read_text())
    manifest |= {"number": 1, "predecessor": None}
    path.write_text(json.dumps(manifest))
    for place in sorted((folder / "baselines/prod/history").rglob("*"), reverse=True):
        place.rmdir() if place.is_dir() else place.unlink()


#: The stored baseline is the candidate's own run, the change that it made is all in its history.
_DRIFTED: dict[str, Any] = {"ways": SERIAL, "passes": 1}
_CHANGED = "had another"

CASES = [
    *(
        Case(
            f"{name}-{gate.split()[0]}",
            partial(*topics),
            words=["prod did not answer"],
            **compared(gate),
        )
        for name, topics in UNANSWERED.items()
        for gate in GATES
        if topics is not COLLAPSED or gate == GATES[-1]
    ),
    Case(
        "baseline-unanswered-check",
        partial(*LOST),
        command=f"check --baseline prod={BASELINE}",
        words=["prod did not answer 48 of 60 topics"],
    ),
    *(
        Case(
            f"baseline-unanswered-{name}",
            partial(*LOST),
            command=f"baseline {command}",
            words=["leaves 48 of 60 judged topics unanswered", "--allow-unanswered"],
        )
        for name, command in (
            ("add", f"add other {BASELINE}"),
            ("update", f"update prod {BASELINE} --note new"),
        )
    ),
    Case(
        "baseline-unanswered-live",
        [
            replace_text("search.py", "return RANKINGS[QUERIES[query]]", "return []"),
            replace_text(CONFIG, "candidate: runs/candidate.run", 'candidate: {retrieve: "search:retrieve"}'),
        ],
        command="baseline add other",
        absent=["stored other"],
    ),
    Case(
        "median-of-half-a-baseline",
        partial(*LOST),
        compare=f"runs/candidate.run --baseline 'median(prod={BASELINE})'",
        words=["did not answer 48 of 60 topics"],
        ways=CLI,
    ),
    harmless(
        "baseline-that-finds-nothing-is-taken-at-its-word",
        [
            partial(*TOPICS[:6]),
            riskguard(f"baseline update prod {BASELINE} --note new --allow-unanswered"),
        ],
        options="--gate not_significantly_risky",
        ways=CLI,
    ),
    *(
        Case(
            f"diluted-{name}-{gate.split()[0]}", breaks, words=["less than half"], ways=CLI, options=f"--gate {gate}"
        )
        for name, breaks in (
            ("lost-topics", diluted(*LOST)),
            ("collapsed-topics", diluted(*COLLAPSED)),
            ("tiny-grades", on_lines(QRELS, _tiny)),
            ("one-low-document", on_lines(QRELS, _one_low)),
        )
        for gate in (GATES[0], GATES[-1])
        if name != "collapsed-topics" or gate == GATES[-1]
    ),
    Case("diluted-in-pytest", diluted(*LOST), words=["less than half"], ways=PYTEST),
    Case(
        "diluted-verify",
        diluted(*LOST),
        command="baseline verify prod --qrels qrels.txt",
        words=["scores less than half of what it did when stored in 48 topics"],
    ),
    Case(
        "drift-without-history",
        only(DRIFT),
        words=["has no earlier run", "update adds one"],
        **_DRIFTED,
    ),
    Case(
        "drift-removed-and-added-again",
        [
            moved,
            riskguard("baseline remove prod"),
            riskguard("baseline add prod runs/candidate.run"),
            only(DRIFT),
        ],
        words=["has no earlier run"],
        **_DRIFTED,
    ),
    Case(
        "drift-forgotten",
        [
            moved,
            riskguard("baseline remove prod"),
            riskguard("baseline add prod runs/candidate.run"),
            only(DRIFT),
        ],
        words=["has no earlier run"],
        **_DRIFTED,
    ),
    Case("drift-entries-deleted", [without_history, only(DRIFT)], words=["history: its newest run"], **_DRIFTED),
    Case("topics-new-cluster", column("cluster", "one", "{}"), words=[f"{_CHANGED} cluster"]),
    Case(
        "topics-new-weight",
        [column("weight", "1", "999"), replace_text(CONFIG, "alpha: 1}", "alpha: 1, weighted: true}")],
        words=[f"{_CHANGED} weight"],
        options="no-risk",
        command="check no-risk",
    ),
    Case(
        "topics-new-stratum",
        [
            column("stratum", "small", "large"),
            replace_text(CONFIG, "topics: topics.tsv}", "topics: topics.tsv, strata: {small: 0.01, large: 0.99}}"),
        ],
        words=[f"{_CHANGED} stratum"],
        command="check no-risk",
    ),
]
