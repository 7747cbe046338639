"""Grades as measures take them: gains that need not be whole, a scale, and labels that a setting makes binary."""

import math

import pytest

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.given_file import GivenFile, LabelRules
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.scoring import labels_for
from pytest_riskguard.errors import DataError, QrelsFormatError

CLICKS = "query,docid,rating\nq1,a,0.7\nq1,b,0.25\nq1,c,0\nq2,a,0.1\nq2,d,2.5\nq3,e,0\n"
RUN = {"q1": [("c", 4.0), ("b", 3.0), ("x", 2.0), ("a", 1.0)], "q2": [("a", 1.0)]}


@pytest.fixture
def clicks(write):
    def read(**rules):
        return read_qrels(GivenFile(write("clicks.csv", CLICKS), labels=LabelRules(**rules)))

    return read


def by_topic(qrels, measure, rankings=RUN):
    (scores,) = score_run(rankings, qrels, [measure])
    return dict(zip(scores.topics, scores.values.tolist(), strict=True))


GAINED, IDEAL = 0.25 / math.log2(3) + 0.7 / math.log2(5), 0.7 + 0.25 / math.log2(3)
BY_HAND = {
    "nDCG": {"q1": GAINED / IDEAL, "q2": 0.1 / (2.5 + 0.1 / math.log2(3))},
    "nDCG@2": {"q1": 0.25 / math.log2(3) / IDEAL, "q2": 0.1 / (2.5 + 0.1 / math.log2(3))},
    "DCG": {"q1": GAINED, "q2": 0.1},
    "DCG(dcg='exp-log2')@2": {"q1": (2**0.25 - 1) / math.log2(3), "q2": 2**0.1 - 1},
    "RBP(p=0.5,max_rel=3)": {"q1": 0.5 * (0.5 * 0.25 / 3 + 0.125 * 0.7 / 3), "q2": 0.5 * 0.1 / 3},
    "Judged@3": {"q1": 2 / 3, "q2": 1.0},
    "ERR@2": {"q1": (2**0.25 - 1) / 16 / 2, "q2": (2**0.1 - 1) / 16},
}


@pytest.mark.parametrize("measure", BY_HAND)
def test_real_grades_are_the_definitions(clicks, measure):
    assert by_topic(clicks(), measure) == pytest.approx(BY_HAND[measure], abs=1e-15)
    assert clicks().without_relevant == ("q3",)


def test_a_scale_is_that_of_err_and_grades_above_it_are_refused(clicks):
    run = {"q2": [("d", 1.0)]}
    assert by_topic(clicks(), "ERR", run)["q2"] == pytest.approx((2**2.5 - 1) / 2**4)
    assert by_topic(clicks(scale=(0, 2.5)), "ERR", run)["q2"] == pytest.approx((2**2.5 - 1) / 2**2.5)
    assert by_topic(clicks(scale=(0, 2.5)), "ERR(max_rel=4)", run)["q2"] == by_topic(clicks(), "ERR", run)["q2"]
    found = r"2.5 \(topic 'q2', document 'd'\)"
    with pytest.raises(QrelsFormatError, match=rf"expected grades from 0 to 2 \(scale\), found {found}"):
        clicks(scale=(0, 2))
    for measure, written in (("RBP(max_rel=1)", "max_rel=3"), ("ERR(max_rel=2)@5", "max_rel=3")):
        with pytest.raises(DataError, match=rf"{found}, but .* expects grades of at most \d; give it ") as caught:
            by_topic(clicks(), measure)
        assert str(caught.value).endswith(written)
        assert caught.value.reason == "bad_qrels"


@pytest.mark.parametrize(
    "measure", ["P@5", "AP", "RR", "R@10", "Bpref", "Rprec", "Success@1", "SetP", "NumRet(rel=1)"]
)
def test_a_binary_measure_refuses_real_grades_and_names_the_setting(clicks, measure):
    with pytest.raises(DataError, match=r"found grade 0.7 .* needs binary labels; .*relevant_from: 0.5") as caught:
        by_topic(clicks(), measure)
    assert caught.value.reason == "bad_qrels"


def test_relevant_from_makes_binary_labels_and_decides_which_topics_count(clicks):
    run = {"q1": [("b", 3.0), ("a", 2.0)], "q2": [("a", 1.0)]}
    qrels = clicks(relevant_from=0.5)
    assert qrels.topics == ("q1", "q2")
    for measure in ("P@2", "SetP", "RR"):
        assert by_topic(qrels, measure, run) == {"q1": 0.5, "q2": 0.0}
    assert by_topic(clicks(relevant_from=0.25), "AP", run) == {"q1": 1.0, "q2": 0.0}
    assert by_topic(qrels, "P(rel=2)@1", {"q1": [("a", 1.0)], "q2": [("d", 1.0)]}) == {"q1": 0.0, "q2": 1.0}
    assert clicks(relevant_from=1).topics == ("q2",)
    with pytest.raises(QrelsFormatError, match=r"grade 3 or more \(relevant_from\)"):
        clicks(relevant_from=3)


def test_whole_negative_grades_stay_what_they_are_where_labels_become_binary(write):
    qrels = read_qrels(GivenFile(write("q", "1 0 a 2\n1 0 b 1\n1 0 c -1\n"), labels=LabelRules(relevant_from=2)))
    labels = labels_for(parse_measure("Bpref"), qrels.grades, qrels.rules)
    assert labels == {"1": {"a": 1, "b": 0, "c": -1}}
    assert labels_for(parse_measure("nDCG"), qrels.grades, qrels.rules) is qrels.grades


def test_rules_that_change_scores_change_the_digest(clicks):
    digests = [
        clicks(**rules).digest
        for rules in (
            {},
            {"scale": (0, 3)},
            {"relevant_from": 0.5},
            {"separator": "#"},
            {"separator": "/"},
            {"scale": (0, 4)},
        )
    ]
    assert len(set(digests)) == len(digests)
    assert clicks(is_complete=True).digest == digests[0]
    assert (LabelRules(is_complete=True).ungraded, LabelRules().ungraded) == (0, None)
    assert clicks(relevant_from=1).digest == clicks(relevant_from=1.0).digest
