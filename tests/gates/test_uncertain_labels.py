"""Verdicts under each judge, under other panels, and with unjudged documents that may be relevant."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import numpy as np
import pytest

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.rankings.label_findings import IfJudged, Judgements, UnderJudges
from pytest_riskguard.gates.rankings.other_judgements import (
    half_width,
    panels_of,
    under_judges,
    variance_of_judges,
)
from pytest_riskguard.gates.rankings.unjudged import Rejudged, rests_on_labels
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
    return Rejudged(pair.gate, pair.scores(), (ours, theirs), pair.topics)


@pytest.mark.parametrize(
    "judges", [2, pytest.param(3, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.slow)]
)
def test_under_each_judge_the_gate_says_what_it_says_of_that_judges_grades(judges):
    pair, qrels = judged(judges, judges=judges)
    found = under_judges(rejudged(pair, qrels))
    assert [one.case for one in found.judges] == list(NAMES[:judges])
    for one in found.judges:
        grades = qrels.under([one.case]).grades
        verdict = replace(pair, grades=grades).verdict()
        assert one.urisk == pytest.approx(verdict.estimates.urisk, abs=1e-12)
        assert one.outcome == verdict.outcome
    assert found.depends == (len({one.outcome for one in found.judges}) > 1)
    assert found.panels == (math.comb(2 * judges - 1, judges) if judges <= 4 else judges)
    ways = (
        itertools.product(NAMES[:judges], repeat=judges) if judges <= 4 else itertools.combinations(NAMES[:judges], 4)
    )
    agree = [
        replace(pair, grades=qrels.under(panel).grades).verdict().outcome == pair.verdict().outcome for panel in ways
    ]
    assert found.agreeing == pytest.approx(np.mean(agree))


def test_all_judges_together_give_the_grades_as_they_are():
    _, qrels = judged(4, judges=3)
    assert qrels.under(NAMES[:3]).grades == qrels.grades
    assert qrels.under(["nobody"]).grades == qrels.grades


def test_a_judge_who_finds_nothing_relevant_leaves_scores_of_0():
    pair, qrels = judged(5, judges=3)
    nothing = {name: {**given, "ann": 0} for name, given in qrels.by_judge.items()}
    found = under_judges(rejudged(pair, replace(qrels, by_judge=nothing)))
    ann = found.judges[0]
    assert (ann.case, ann.outcome) == ("ann", "pass")
    assert ann.urisk == 0.0


def test_nothing_is_said_of_one_judge_of_a_crowd_and_of_grades_beyond_the_measure():
    pair, qrels = judged(6, judges=3)
    assert under_judges(rejudged(pair, replace(qrels, by_judge=None))) is None
    crowd = {("t00", "d1"): {f"judge {number}": 1.0 for number in range(51)}}
    assert under_judges(rejudged(pair, replace(qrels, by_judge=crowd))) is None
    wild = {("t00", "d1"): {"ann": 0.0, "bob": 9.0}}
    assert under_judges(rejudged(replace(pair, measure="ERR@5"), replace(qrels, by_judge=wild))) is None


@pytest.mark.parametrize("judges", range(2, 8))
def test_the_variance_of_a_mean_over_judges_is_the_usual_one(judges):
    values = np.random.default_rng(judges).normal(size=judges)
    panels = [([NAMES.index(name) for name in panel], chance) for panel, chance in panels_of(NAMES[:judges])]
    chances = np.array([chance for _, chance in panels])
    assert math.fsum(chances) == pytest.approx(1)
    estimates = [float(np.mean(values[panel])) for panel, _ in panels]
    assert variance_of_judges(estimates, chances, judges) == pytest.approx(np.var(values, ddof=1) / judges)


def test_a_sum_of_variances_has_a_width_between_those_of_its_parts():
    assert half_width((0.0, 9), (0.0, 1), level=0.95) == 0
    assert half_width((4.0, 9), (0.0, 1), level=0.95) == pytest.approx(2 * 2.262157)  # t tables, 9 df
    assert half_width((0.0, 9), (4.0, 1), level=0.95) == pytest.approx(2 * 12.706205)  # 1 df
    assert half_width((1.0, 9), (3.0, 1), level=0.95) == pytest.approx((2.262157 + 3 * 12.706205) / 2)


def false_alarms(*, topics: int, judges: int, between: float, within: float, rng: np.random.Generator) -> float:
    """How often the upper limit lies below the true mean of 0, where judges and topics are drawn at random."""
    alarms, repetitions = 0, 4000
    panels = [([NAMES.index(name) for name in panel], chance) for panel, chance in panels_of(NAMES[:judges])]
    chances = np.array([chance for _, chance in panels])
    for _ in range(repetitions):
        differences = rng.normal(size=(topics, 1)) + between * rng.normal(size=judges)
        differences = differences + within * rng.normal(size=differences.shape)
        by_judge, by_topic = np.mean(differences, axis=0), np.mean(differences, axis=1)
        variance = variance_of_judges([float(np.mean(by_judge[panel])) for panel, _ in panels], chances, judges)
        of_topics = float(np.var(by_topic, ddof=1)) / topics
        half = half_width((of_topics, topics - 1), (variance, judges - 1), level=0.95)
        alarms += bool(np.mean(by_topic) + half < 0)
    return alarms / repetitions


@pytest.mark.nightly
@pytest.mark.parametrize("topics", [10, 50])
@pytest.mark.parametrize("judges", [2, 3, 5])
@pytest.mark.parametrize(("between", "within"), [(0.0, 0.0), (0.0, 1.0), (0.05, 0.5), (0.2, 0.5), (1.0, 0.5)])
def test_false_alarms_stay_at_nominal_whether_judges_disagree_at_random_or_lean(topics, judges, between, within):
    rng = np.random.default_rng([topics, judges, round(100 * between), round(100 * within)])
    rate = false_alarms(topics=topics, judges=judges, between=between, within=within, rng=rng)
    assert 0.003 <= rate <= 0.033


def test_judges_who_decide_are_named_in_a_warning_whatever_the_outcome():
    judges = (IfJudged("ann", -0.1, "fail"), IfJudged("bob", 0.1, "pass"), IfJudged("cy", 0.2, "pass"))
    labels = Judgements(0, (), depends=False, panels=UnderJudges(judges, True, 10, 0.75))
    outcomes: tuple[tuple[Outcome, int], ...] = (("pass", 2), ("fail", 1))
    for outcome, agree in outcomes:
        (notice,) = rests_on_labels(outcome, labels)
        assert notice.code == "rests_on_judges"
        assert notice.parameters == {"judges": 3, "agree": agree, "agreeing": 0.75}
    agreed = replace(labels, panels=UnderJudges(judges[1:], False, 3, 1.0))
    assert not list(rests_on_labels("pass", agreed))
