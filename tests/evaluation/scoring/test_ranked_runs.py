"""Rankings are those that the measure saw, ties included."""

from __future__ import annotations

import random

import pytest

from pytest_riskguard.evaluation import rankings_as_run, read_qrels, score_run
from pytest_riskguard.evaluation.measures import parse_measure
from pytest_riskguard.evaluation.scoring.ranked_runs import RankedRun, pack_run

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


@pytest.mark.parametrize("measure", BY_PROVIDER)
@pytest.mark.parametrize("seed", range(3))
def test_a_document_has_the_rank_that_its_measure_gave_it(write, measure, seed):
    rows = tied_run(seed)
    run = write("a.run", "".join(f"t Q0 {name} 0 {score!r} x\n" for name, score in rows))
    ranking = RankedRun(pack_run(run, ["t"]), parse_measure(measure)).ranking("t")
    assert sorted(ranking) == sorted(name for name, _ in rows)
    for rank, document in enumerate(ranking, 1):
        qrels = read_qrels(write("qrels.txt", f"t 0 {document} 1\n"))
        (scores,) = score_run(run, qrels, [measure])
        assert scores.values[0] == pytest.approx(BY_PROVIDER[measure](rank), abs=1e-12)


def test_ties_go_by_docid_one_way_or_the_other(write):
    run = pack_run(write("a.run", "t Q0 b 1 2 x\nt Q0 a 2 2 x\nt Q0 c 3 2 x\n"), ["t"])
    ranked = {name: RankedRun(run, parse_measure(name)).ranking("t") for name in ("nDCG@10", "RR@10", "ERR@20")}
    assert ranked == {"nDCG@10": ["c", "b", "a"], "RR@10": ["a", "b", "c"], "ERR@20": ["c", "b", "a"]}


def test_a_run_in_memory_and_an_interleaved_file_are_ranked_alike(write):
    rows = {"s": tied_run(7), "t": tied_run(8)}
    lines = [
        f"{topic} Q0 {name} 0 {score!r} x\n"
        for pair in zip(*rows.values(), strict=True)
        for topic, (name, score) in zip(rows, pair, strict=True)
    ]
    measure = parse_measure("nDCG@10")
    file, live = pack_run(write("a.run.gz", "".join(lines)), rows), pack_run(rankings_as_run(rows), rows)
    for topic in rows:
        assert RankedRun(file, measure).ranking(topic) == RankedRun(live, measure).ranking(topic)


def test_only_the_topics_asked_for_are_kept(write):
    run = pack_run(write("a.run", "s Q0 a 1 2 x\nt Q0 a 2 2 x\n"), ["t", "u"])
    assert [topic in run for topic in "stu"] == [False, True, False]
    assert RankedRun(run, parse_measure("AP")).ranking("u") == []
    assert run.digest.startswith("sha256:")
