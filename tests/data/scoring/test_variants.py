"""Scores of rankings that no run holds are those of ir-measures."""

from __future__ import annotations

import random

import pytest

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.given_file import AS_GIVEN
from pytest_riskguard.data.judged import RankedRun
from pytest_riskguard.data.measures import parse_measure, part_of
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.variants import Variants, values_of
from tests.data.tables import judged_run

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


def ranked(made, name):
    qrels = read_qrels(made[0])
    return RankedRun(judged_run(made[1], qrels), qrels, parse_measure(name))


def variant(run, topic, ranks):
    grades = run.qrels.grades[topic]
    return list(grades.values()), [ranks.get(document, 0) for document in grades], run.retrieved(topic)


@pytest.mark.parametrize("name", ADDITIVE + OTHERS)
def test_a_ranking_scores_what_the_run_scores(made, name):
    qrels, measure = read_qrels(made[0]), parse_measure(name)
    (scores,) = score_run(made[1], qrels, [name])
    run = ranked(made, name)
    topics = [variant(run, topic, run.ranks(topic)) for topic in qrels.topics]
    assert values_of(measure, Variants.of(topics), AS_GIVEN).tolist() == scores.values.tolist()


def test_a_ranking_without_documents_scores_as_an_unanswered_topic_does():
    variants = Variants.of([([1.0], [0], 0), ([1.0], [0], 3), ([1.0], [1], 3)])
    assert values_of(parse_measure("nDCG@10"), variants, AS_GIVEN).tolist() == [0.0, 0.0, 1.0]
    none = Variants.of([])
    assert values_of(parse_measure("nDCG@10"), none, AS_GIVEN).shape == (0,)


@pytest.mark.parametrize("name", ADDITIVE)
def test_a_sum_over_documents_is_the_score_up_to_a_factor_of_the_topic(made, name):
    qrels, measure = read_qrels(made[0]), parse_measure(name)
    run, part = ranked(made, name), part_of(measure)
    for topic in qrels.topics:
        grades, ranks = qrels.grades[topic], run.ranks(topic)
        other = {document: run.retrieved(topic) + 1 - rank for document, rank in ranks.items()}
        sums = [sum(part(grades[d], r) for d, r in side.items() if d in grades) for side in (ranks, other)]
        variants = Variants.of([variant(run, topic, side) for side in (ranks, other)])
        scores = values_of(measure, variants, AS_GIVEN).tolist()
        assert sums[0] * scores[1] == pytest.approx(sums[1] * scores[0], abs=1e-9)
        assert (sums[0] > 0) == (scores[0] > 0)


@pytest.mark.parametrize("name", OTHERS)
def test_other_measures_are_no_such_sum(name):
    assert part_of(parse_measure(name)) is None
