"""Verdicts under each judge, under other panels, and with unjudged documents that may be relevant."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.gates.findings import IfJudged, Judgements
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.unjudged import Labels, Rejudged, rests_on_labels
from pytest_riskguard.gates.verdict import Outcome
from tests.gates.runs import Pair, ranked

DOCUMENTS = [f"d{number}" for number in range(8)]
NAMES = ("ann", "bob", "cy", "dee", "eve", "flo", "gus")


def judged(seed: int, *, judges: int, topics: int = 12) -> tuple[Pair, Qrels]:
    """Two runs, and what several judges say of their documents; the last one has seen the odd documents only."""
    rng = random.Random(seed)
    names = [f"t{number:02d}" for number in range(topics)]
    rows = [
        {"query_id": topic, "docid": document, "judge": judge, "grade": rng.choice([0, 0, 1, 2])}
        for topic in names
        for document in [*DOCUMENTS[:6], "sure"]
        for place, judge in enumerate(NAMES[:judges])
        if place < judges - 1 or document in ("d1", "d3", "d5", "sure")
    ]
    for row in rows:
        row["grade"] = 2 if row["docid"] == "sure" else row["grade"]
    qrels = read_qrels(rows)
    baseline = {topic: rng.sample(DOCUMENTS, 8) for topic in names}
    candidate = {topic: rng.sample(DOCUMENTS, 8) for topic in names}
    grades = {topic: dict(of_topic) for topic, of_topic in qrels.grades.items()}
    return Pair(candidate, baseline, grades, "nDCG@5", gate_of("g", alpha=1.0)), qrels


def rejudged(pair: Pair, qrels: Qrels) -> Rejudged:
    ours, theirs = (ranked(side, qrels, pair.measure) for side in (pair.candidate, pair.baseline))
    return Rejudged(pair.gate, Labels(pair.scores(), (ours, theirs)), pair.topics)


@pytest.mark.parametrize(
    "judges", [2, pytest.param(3, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.slow)]
)
def test_under_each_judge_the_gate_says_what_it_says_of_that_judges_grades(judges):
    pair, qrels = judged(judges, judges=judges)
    found = rejudged(pair, qrels).found.judges
    assert [one.case for one in found] == list(NAMES[:judges])
    for one in found:
        grades = qrels.under(one.case).grades
        verdict = replace(pair, grades=grades).verdict()
        assert one.urisk == pytest.approx(verdict.estimates.urisk, abs=1e-12)
        assert one.outcome == verdict.outcome


def test_a_judge_who_graded_nothing_leaves_the_grades_as_they_are():
    _, qrels = judged(4, judges=3)
    assert qrels.under("nobody").grades == qrels.grades


def test_a_judge_who_finds_nothing_relevant_leaves_scores_of_0():
    pair, qrels = judged(5, judges=3)
    nothing = {name: {**given, "ann": 0} for name, given in qrels.by_judge.items()}
    found = rejudged(pair, replace(qrels, by_judge=nothing)).found.judges
    ann = found[0]
    assert (ann.case, ann.outcome) == ("ann", "pass")
    assert ann.urisk == 0.0


def test_nothing_is_said_of_one_judge_of_a_crowd_and_of_grades_beyond_the_measure():
    pair, qrels = judged(6, judges=3)
    assert rejudged(pair, replace(qrels, by_judge=None)).found.judges == ()
    crowd = {("t00", "d1"): {f"judge {number}": 1.0 for number in range(51)}}
    assert rejudged(pair, replace(qrels, by_judge=crowd)).found.judges == ()
    wild = {("t00", "d1"): {"ann": 0.0, "bob": 9.0}}
    assert rejudged(replace(pair, measure="ERR@5"), replace(qrels, by_judge=wild)).found.judges == ()


def test_judges_who_decide_are_named_in_a_warning_whatever_the_outcome():
    judges = (IfJudged("ann", -0.1, "fail"), IfJudged("bob", 0.1, "pass"), IfJudged("cy", 0.2, "pass"))
    labels = Judgements(0, depends=False, judges=judges)
    outcomes: tuple[tuple[Outcome, int], ...] = (("pass", 2), ("fail", 1))
    for outcome, agree in outcomes:
        (notice,) = rests_on_labels(outcome, labels)
        assert notice.code == "rests_on_judges"
        assert notice.parameters == {"judges": 3, "agree": agree}
    agreed = replace(labels, judges=judges[1:])
    assert not list(rests_on_labels("pass", agreed))
