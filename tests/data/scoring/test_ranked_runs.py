"""Rankings are those that the measure saw, ties included."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pytest_riskguard.data import judged_runs, read_qrels
from pytest_riskguard.data.judged_runs import LEAST_DEPTH, depth_of, kept_depth
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.ranked_runs import RankedRun
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.trec_files import fold_run
from tests.data.scoring.slow_judged_runs import judged_run

#: One measure for each provider that ranks in a way of its own, and the score of the first relevant document's rank.
BY_PROVIDER = {
    "RR": lambda rank: 1 / rank,
    "RR@100": lambda rank: 1 / rank,
    "ERR(max_rel=1)": lambda rank: 0.5 / rank,
    "Accuracy": lambda rank: 1 - (rank - 1) / 39,
}


def tied_run(seed: int) -> list[tuple[str, float]]:
    """40 documents with many ties; some only in 32 bits."""
    rng = random.Random(seed)
    documents = [f"d{number}" for number in rng.sample(range(1000), 40)]
    return [(name, rng.randrange(6) + rng.choice([0.0, 1e-12])) for name in documents]


def judging(document: str, *topics: str) -> Qrels:
    return Qrels("qrels.txt", "sha256:0", {topic: {document: 1} for topic in topics}, topics)


def ranked(run: Path, measure: str, *, qrels: Qrels | None = None) -> RankedRun:
    chunks, _ = fold_run(run, list)
    qrels = qrels or judging("never retrieved", "t")
    return RankedRun(judged_run(chunks, qrels), qrels, parse_measure(measure))


@pytest.mark.parametrize("measure", BY_PROVIDER)
@pytest.mark.parametrize("seed", range(3))
def test_a_document_has_the_rank_that_its_measure_gave_it(write, measure, seed):
    rows = tied_run(seed)
    run = write("a.run", "".join(f"t Q0 {name} 0 {score!r} x\n" for name, score in rows))
    ranks = ranked(run, measure).ranks("t")
    assert sorted(ranks) == sorted(name for name, _ in rows)
    assert list(ranks.values()) == list(range(1, 41))
    for document, rank in ranks.items():
        qrels = read_qrels(write("qrels.txt", f"t 0 {document} 1\n"))
        (scores,) = score_run(run, qrels, [measure])
        assert scores.values[0] == pytest.approx(BY_PROVIDER[measure](rank), abs=1e-12)


def test_ties_go_by_docid_one_way_or_the_other(write):
    run = write("a.run", "t Q0 b 1 2 x\nt Q0 a 2 2 x\nt Q0 c 3 2 x\n")
    rankings = {name: list(ranked(run, name).ranks("t")) for name in ("nDCG@10", "RR@10", "ERR@20")}
    assert rankings == {"nDCG@10": ["c", "b", "a"], "RR@10": ["a", "b", "c"], "ERR@20": ["c", "b", "a"]}


def test_only_scored_topics_have_ranks(write):
    run = ranked(write("a.run", "s Q0 a 1 2 x\nt Q0 a 2 2 x\nt Q0 b 3 1 x\n"), "AP", qrels=judging("b", "t", "u"))
    assert [run.ranks(topic) for topic in "stu"] == [{}, {"a": 1, "b": 2}, {}]
    assert [run.retrieved(topic) for topic in "stu"] == [0, 2, 0]
    assert run.first({"t"}, 1) == {"a"}
    assert run.first({"u"}, 1) == set()


@pytest.mark.parametrize(("name", "depth"), [("nDCG@20", 20), ("AP", 10), ("R@1000", 100), ("P@5", 5)])
def test_the_depth_is_the_cutoff(name, depth):
    assert depth_of(parse_measure(name)) == depth


@pytest.mark.parametrize(
    ("name", "topics", "depth"),
    [
        *[("nDCG@10", 250, 100), ("AP", 250, 100), ("R@1000", 250, 1000)],
        *[("nDCG@10", 5_000, 50), ("R@1000", 2_000, 125), ("R@1000", 20_000, 100)],
        *[("nDCG@10", 1_000_000, 10), ("R@50", 1_000_000, 20)],
    ],
)
def test_fewer_ranks_are_kept_of_many_topics_but_all_that_are_searched_or_shown(name, topics, depth):
    assert kept_depth(parse_measure(name), Qrels("q", "sha256:0", {}, ("t",) * topics)) == depth


def test_of_very_many_topics_no_more_ranks_are_kept_than_memory_allows(monkeypatch):
    monkeypatch.setattr(judged_runs, "MOST_KEPT", 30 * 15)
    monkeypatch.setattr(judged_runs, "KEPT_DOCUMENTS", 30 * 12)
    qrels = read_qrels({f"t{topic}": {"d": 1} for topic in range(30)})
    kept = {measure: kept_depth(parse_measure(measure), qrels) for measure in ("AP", "P@14", "P@15", "P@16", "P@300")}
    assert kept == {"AP": 12, "P@14": 14, "P@15": 15, "P@16": 15, "P@300": 15}
    monkeypatch.setattr(judged_runs, "MOST_KEPT", 30 * 2)
    assert kept_depth(parse_measure("P@300"), qrels) == LEAST_DEPTH
