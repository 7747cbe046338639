"""A small made-up collection whose verdicts are known: 30 topics with one relevant document each.

The measure is AP, so that a topic's score is 1 over the rank of its relevant document. The baseline ``prod`` has it
at rank 2 everywhere (0.5); each candidate is said by the ranks at which it differs.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.baselines.store import Store

TOPICS = tuple(f"t{number:02d}" for number in range(1, 31))
QUERIES = {topic: f"query number {topic[1:]}" for topic in TOPICS}

#: 12 topics fall from 0.5 to 0.1, t07 to 0.05: the mean itself is down.
LOSS = dict.fromkeys(TOPICS[:12], 10) | {"t07": 20}
#: 15 topics rise to 1.0, 15 fall to 0.1 (t20 to 0.05): the mean is up, but at alpha 5 losses weigh six times.
CHURN = dict.fromkeys(TOPICS[:15], 1) | dict.fromkeys(TOPICS[15:], 10) | {"t20": 20}
#: 9 topics rise, 2 fall a little.
GOOD = dict.fromkeys(TOPICS[:9], 1) | {"t29": 3, "t30": 4}

#: A riskguard.yaml up to its gates.
HEAD = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
measures: [AP]
candidate: candidate.run
"""
#: Its gate tolerates nothing and fails on churn, so that verdicts are those of the papers; defaults have tests of
#: their own.
YAML = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
store: baselines
measures: [AP]
candidate: candidate.run
gates:
  - {name: no-risk, kind: not_significantly_risky, baseline: prod, alpha: %s, tolerance: 0, on_churn: fail}
"""
#: The line of the gate in it.
GATE_LINE = 6


def write_run(path: Path, ranks: Mapping[str, int], *, topics: tuple[str, ...] = TOPICS, tag: str = "x") -> None:
    """A run of 20 documents a topic with the relevant one at the rank given (2 where none is)."""
    rows = []
    for topic in topics:
        relevant = ranks.get(topic, 2)
        for rank in range(1, 21):
            document = "good" if rank == relevant else f"bad{rank}"
            rows.append(f"{topic} Q0 {document} {rank} {100 - rank} {tag}\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(rows), encoding="utf-8")


def write_collection(folder: Path, *, topics: tuple[str, ...] = TOPICS, queries: Mapping[str, str] = QUERIES) -> None:
    """qrels.txt and topics.tsv."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "qrels.txt").write_text("".join(f"{t} 0 good 1\n{t} 0 bad1 0\n" for t in topics), encoding="utf-8")
    (folder / "topics.tsv").write_text("".join(f"{t}\t{queries[t]}\n" for t in topics), encoding="utf-8")


def store(folder: Path, name: str = "prod", ranks: Mapping[str, int] | None = None, **options: Any) -> None:
    """A stored baseline."""
    run = folder / f"{name}.run"
    write_run(run, ranks or {}, topics=options.pop("topics", TOPICS))
    Store(folder / "baselines").add(
        name,
        run,
        qrels=folder / "qrels.txt",
        topics=folder / "topics.tsv",
        measures=["AP"],
        **options,
    )


def write_world(
    folder: Path,
    candidate: Mapping[str, int],
    *,
    alpha: str = "1",
    yaml: str | None = None,
    topics: tuple[str, ...] = TOPICS,
    queries: Mapping[str, str] = QUERIES,
) -> None:
    """Collection, stored baseline ``prod``, candidate run and riskguard.yaml in a folder."""
    write_collection(folder, topics=topics, queries=queries)
    store(folder, topics=topics)
    write_run(folder / "candidate.run", candidate, topics=topics)
    (folder / "riskguard.yaml").write_text(YAML % alpha if yaml is None else yaml, encoding="utf-8")


def differences(ranks: Mapping[str, int]) -> dict[str, tuple[float, float]]:
    """Topic -> (baseline, candidate), as the collection scores them."""
    return {topic: (0.5, 1 / ranks.get(topic, 2)) for topic in TOPICS}


def read_report(path: Path) -> dict[str, Any]:
    """A JSON report."""
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return report


def edit(path: Path, old: str, new: str) -> None:
    """Other words in a file, in place of some that are there."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def judge(
    pytester: pytest.Pytester, gates: Iterable[str], *, head: str = "", arguments: Iterable[str] = ()
) -> tuple[pytest.RunResult, dict[str, Any]]:
    """A run of gates, and their verdicts by name."""
    text = HEAD + head + "gates:\n" + "".join(f"  - {{{gate}}}\n" for gate in gates)
    pytester.path.joinpath("riskguard.yaml").write_text(text)
    result = pytester.runpytest("--riskguard", "--riskguard-report=report.json", *arguments)
    verdicts = read_report(pytester.path / "report.json")["verdicts"]
    return result, {verdict["gate"]: verdict for verdict in verdicts}


def flat(result: pytest.RunResult) -> str:
    """What a run printed, as one line: where paragraphs are wrapped does not matter."""
    return " ".join(" ".join(result.outlines).split())
