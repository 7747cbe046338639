"""Scores of rankings under other judgements are those of ir-measures; unjudged documents are found."""

from __future__ import annotations

import random

import pytest

from pytest_riskguard.evaluation import read_qrels, score_run
from pytest_riskguard.evaluation.measures import parse_measure, part_of
from pytest_riskguard.evaluation.scoring.ranked_runs import (
    RankedRun,
    Unjudged,
    depth_of,
    pack_run,
    scores_of,
    unjudged,
)

ADDITIVE = [
    "nDCG",
    "nDCG@10",
    "nDCG(dcg='exp-log2')@10",
    "nDCG(gains={1: 5, 2: 7})@10",
    "P@5",
    "P(rel=2)@10",
    "R@5",
    "R(rel=2)@20",
    "SetR",
]
OTHERS = [
    "AP",
    "AP(rel=2)@10",
    "RR",
    "RR@10",
    "ERR@20",
    "Success@3",
    "Rprec",
    "Bpref",
    "SetP",
    "Judged@10",
    "Compat",
    "nDCG(judged_only=True)@5",
]


@pytest.fixture
def made(write):
    """A qrels file and a run of 30 topics without ties; some judged documents are not in it, one is short."""
    rng = random.Random(5)
    judged, rows = [], []
    for topic in range(30):
        documents = ["always", *(f"d{number}" for number in rng.sample(range(200), 60))]
        judged += [f"t{topic} 0 {name} {rng.choice([-1, 0, 0, 1, 2, 3])}\n" for name in documents[21:]]
        judged.append(f"t{topic} 0 always 1\n")
        length = 4 if topic == 3 else 40
        rows += [f"t{topic} Q0 {name} 0 {100 - rank} x\n" for rank, name in enumerate(documents[:length])]
    return write("qrels.txt", "".join(judged)), write("a.run", "".join(rows))


@pytest.mark.parametrize("name", ADDITIVE + OTHERS)
def test_a_ranking_scores_what_the_run_scores(made, name):
    qrels, measure = read_qrels(made[0]), parse_measure(name)
    (scores,) = score_run(made[1], qrels, [name])
    run = RankedRun(pack_run(made[1], qrels.topics), measure)
    found = scores_of(measure, ((qrels.grades[topic], run.ranking(topic)) for topic in qrels.topics))
    assert found == scores.values.tolist()


def test_a_ranking_without_documents_scores_as_an_unanswered_topic_does():
    assert scores_of(parse_measure("nDCG@10"), [({"a": 1}, []), ({"a": 1}, ["a"])]) == [0.0, 1.0]


@pytest.mark.parametrize("name", ADDITIVE)
def test_a_sum_over_documents_is_the_score_up_to_a_factor_of_the_topic(made, name):
    qrels, measure = read_qrels(made[0]), parse_measure(name)
    run, part = RankedRun(pack_run(made[1], qrels.topics), measure), part_of(measure)
    for topic in qrels.topics:
        grades, ranking = qrels.grades[topic], run.ranking(topic)
        other = ranking[::-1]
        sums = [sum(part(grades[d], r) for r, d in enumerate(side, 1) if d in grades) for side in (ranking, other)]
        scores = scores_of(measure, [(grades, ranking), (grades, other)])
        assert sums[0] * scores[1] == pytest.approx(sums[1] * scores[0], abs=1e-9)
        assert (sums[0] > 0) == (scores[0] > 0)


@pytest.mark.parametrize("name", OTHERS)
def test_other_measures_are_no_such_sum(name):
    assert part_of(parse_measure(name)) is None


@pytest.mark.parametrize(("name", "depth"), [("nDCG@20", 20), ("AP", 10), ("R@1000", 100), ("P@5", 5)])
def test_the_depth_is_the_cutoff(name, depth):
    assert depth_of(parse_measure(name)) == depth


def test_unjudged_documents_are_those_that_no_row_of_the_qrels_names(write):
    measure = parse_measure("nDCG@3")
    ours = write("a.run", "".join(f"t Q0 {name} 0 {9 - rank} x\n" for rank, name in enumerate("abcde")))
    theirs = write("b.run", "".join(f"t Q0 {name} 0 {9 - rank} x\n" for rank, name in enumerate("cbfad")))
    runs = [RankedRun(pack_run(path, ["t"]), measure) for path in (ours, theirs)]
    (gap,) = unjudged(["t"], {"t": {"b": 0, "e": 1}}, *runs, depth=3)
    assert gap == Unjudged("t", {"a": 1, "c": 3}, {"c": 1, "f": 3})
    assert gap.documents == ("a", "c", "f")
    assert [gap.favours(document) for document in gap.documents] == [1, -1, -1]
    assert gap.without({"c"}) == Unjudged("t", {"a": 1}, {"f": 3})
    assert list(unjudged(["t"], {"t": dict.fromkeys("abcf", 0)}, *runs, depth=3)) == []
