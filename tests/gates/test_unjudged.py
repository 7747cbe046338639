"""What the gate would have said, had unjudged documents been judged: against scoring it all again."""

import random
from dataclasses import replace
from functools import partial

import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.findings import Judgements
from pytest_riskguard.gates.kinds import Gate, gate_of
from pytest_riskguard.gates.unjudged import ToJudge, judge_next, together
from tests.gates.runs import Pair

TOPICS = [f"t{number:02d}" for number in range(30)]


def shuffled(seed: int, *, gate: Gate | None = None, measure: str = "nDCG@10") -> Pair:
    """30 topics, 30 documents each, half of them judged; the candidate is the baseline with some noise."""
    rng = random.Random(seed)
    names = [f"d{number:02d}" for number in range(30)]
    baseline = {topic: rng.sample(names, 30) for topic in TOPICS}

    def noisy_rank(topic: str, name: str) -> float:
        return baseline[topic].index(name) + rng.gauss(0, 6)

    candidate = {topic: sorted(names, key=partial(noisy_rank, topic)) for topic in TOPICS}
    grades = {
        topic: {name: rng.choice([0, 0, 1, 3]) for name in rng.sample(names, 15)} | {"sure": 2} for topic in TOPICS
    }
    return Pair(candidate, baseline, grades, measure, gate or gate_of("g"))


def test_cases_of_a_weighted_gate_are_weighted():
    weights = {topic: 1.0 + place for place, topic in enumerate(TOPICS)}
    pair = replace(shuffled(1, gate=gate_of("g", weighted=True)), topics=Topics({}, weights=weights))
    (as_scored, *_) = pair.rejudged().found.cases
    assert as_scored.urisk == pair.verdict().estimates.urisk != shuffled(1).verdict().estimates.urisk


def test_a_verdict_on_documents_that_are_all_judged_rests_on_nothing_else():
    pair = shuffled(1)
    whole = {t: {**dict.fromkeys([*pair.candidate[t], *pair.baseline[t]], 0), **pair.grades[t]} for t in TOPICS}
    rejudged = replace(pair, grades=whole).rejudged()
    found = rejudged.found
    assert (found.documents, found.depends) == (0, False)
    assert judge_next(rejudged) == ()


@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]
)
def test_what_is_listed_settles_the_verdict_and_less_of_it_does_not(seed):
    pair = shuffled(seed)
    listed = judge_next(pair.rejudged())
    assert 0 < len(listed) < pair.rejudged().found.documents

    def after(count: int) -> Judgements:
        grades = {topic: dict(judged) for topic, judged in pair.grades.items()}
        for one in listed[:count]:
            grades[one.topic][one.document] = 0
        return replace(pair, grades=grades).rejudged().found

    assert not after(len(listed)).depends
    assert after(len(listed) - 1).depends


def test_lists_of_several_verdicts_become_one():
    a, b, c = (ToJudge("t", name) for name in "abc")
    assert together([(a, b), (c, a), ()]) == (a, c, b)


def test_one_document_that_settles_the_verdict_is_all_that_is_listed():
    """The loss of t0 is gone if ``u`` is relevant; ``w``, which both runs have at the same rank, changes nothing."""
    pair = Pair(
        candidate={"t0": ["u", "x", "y", "rel"], "t1": ["rel", "w"]},
        baseline={"t0": ["rel", "x", "y"], "t1": ["rel", "w"]},
        grades={"t0": {"rel": 1, "x": 0, "y": 0}, "t1": {"rel": 1}},
        gate=gate_of("g", kind="no_topic_collapse", max_loss=0.3),
    )
    assert pair.verdict().outcome == "fail"
    cases = {case.case: case.outcome for case in pair.rejudged().found.cases}
    assert cases == {
        "irrelevant": "fail",
        "relevant": "pass",
        "candidate_relevant": "pass",
        "baseline_relevant": "fail",
        "lowest": "fail",
        "highest": "pass",
    }
    assert judge_next(pair.rejudged()) == (ToJudge("t0", "u"),)
    rows = {"t0": ["rel", "b"], "t1": ["b"]}
    alike = Pair({**rows, "t0": ["z", "y"]}, rows, {"t0": {"rel": 1, "b": 1}, "t1": {"b": 1}}, "P@5", pair.gate)
    assert judge_next(alike.rejudged()) == (ToJudge("t0", "y"), ToJudge("t0", "z"))
