"""Cranfield with a change planted in chosen topics: the verdict names these topics and these documents."""

from __future__ import annotations

import gzip
from collections import defaultdict
from pathlib import Path

import pytest

from pytest_riskguard.data import read_qrels
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.question import Question, RunFile
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict

#: How many topics lose the best document of their first ten, and in how many it falls to rank 30.
REMOVED, DEMOTED, TO = 8, 8, 30


@pytest.fixture(scope="module")
def cranfield(shared):
    return shared / "data" / "cranfield_runs"


@pytest.fixture(scope="module")
def planted(cranfield, tmp_path_factory):
    """A run that is bm25s_lucene but for 16 topics, and of each of them: the document, its old and its new rank."""
    rankings: dict[str, list[str]] = defaultdict(list)
    with gzip.open(cranfield / "runs/bm25s_lucene.run.gz", "rt") as file:
        for line in file:
            topic, _, document, *_ = line.split()
            rankings[topic].append(document)
    grades = read_qrels(cranfield / "qrels.txt").grades
    changed: dict[str, tuple[str, int, int | None]] = {}
    for topic in sorted(rankings, key=int)[::8]:
        ranking = rankings[topic]
        best = max(grades[topic].get(name, 0) for name in ranking[:10])  # what moves up in its place is no better
        relevant = [name for name in ranking[:5] if best >= 1 and grades[topic].get(name, 0) == best]
        if not relevant or len(changed) == REMOVED + DEMOTED:
            continue
        old = ranking.index(relevant[0])
        del ranking[old]
        new = None if len(changed) < REMOVED else TO
        if new is not None:
            ranking.insert(new - 1, relevant[0])
        changed[topic] = (relevant[0], old + 1, new)
    path = tmp_path_factory.mktemp("planted") / "planted.run"
    path.write_text(
        "".join(f"{t} Q0 {d} {r} {1000 - r} x\n" for t, ranking in rankings.items() for r, d in enumerate(ranking, 1))
    )
    return path, changed


def judged(cranfield: Path, candidate: Path, baseline: str, measure: str = "nDCG@10", **options) -> Verdict:
    engine = Engine(qrels=cranfield / "qrels.txt", measures=[measure], report=True)
    theirs = RunFile(cranfield / "runs" / f"{baseline}.run.gz")
    return engine.verdict(Question(gate_of("g", **options), RunFile(candidate), theirs, measure))


def test_topics_and_documents_are_those_that_were_planted(cranfield, planted):
    path, changed = planted
    assert len(changed) == REMOVED + DEMOTED
    verdict = judged(cranfield, path, "bm25s_lucene")
    assert verdict.outcome == "fail"
    assert {row.topic for row in verdict.responsible_topics} == set(changed)
    assert [topic.topic for topic in verdict.documents] == [row.topic for row in verdict.responsible_topics]
    for topic in verdict.documents:
        document, old, new = changed[topic.topic]
        worst = topic.moved[0]
        assert (worst.document, worst.baseline_rank, worst.candidate_rank) == (document, old, new)
        assert worst.effect < 0
        assert all(moved.effect > 0 for moved in topic.moved[1:])  # those that moved up in its place
        assert [moved.candidate_rank for moved in topic.replacements] == [10]
        assert topic.exact


def test_a_query_cut_short_loses_its_documents(cranfield):
    # SOURCE.md: bm25s_lucene with the queries of 23 words and more cut to 5, and identical elsewhere.
    cut = set((cranfield / "partial_longquery_trunc.topics.txt").read_text().split())
    verdict = judged(cranfield, cranfield / "runs/partial_longquery_trunc.run.gz", "bm25s_lucene")
    lost = [topic for topic in verdict.documents if topic.topic in {row.topic for row in verdict.responsible_topics}]
    assert len(lost) == len(verdict.responsible_topics) == 38
    assert {topic.topic for topic in lost} <= cut
    gone = [m for topic in lost for m in topic.moved if m.candidate_rank is None and m.baseline_rank is not None]
    assert gone
    assert all(moved.effect <= 0 for moved in gone)
