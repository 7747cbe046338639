"""Measures on grades that are not whole: the definitions' arithmetic, and ir-measures where grades are whole."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.given_file import GivenFile, LabelRules
from pytest_riskguard.data.grades import labels_for
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.providers import REAL_PROVIDER, dcg, ndcg, rbp
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.errors import DataError, QrelsFormatError, UsageError

NDCG = ("nDCG", "nDCG@5", "nDCG@10", "nDCG(gains={1:7,2:9})@20", "nDCG(judged_only=True)@10")
CLICKS = "query,docid,rating\nq1,a,0.7\nq1,b,0.25\nq1,c,0\nq2,a,0.1\nq2,d,2.5\nq3,e,0\n"


@pytest.fixture
def clicks(write):
    def read(**rules):
        return read_qrels(GivenFile(write("clicks.csv", CLICKS), labels=LabelRules(**rules)))

    return read


def by_topic(qrels, measure, rankings):
    (scores,) = score_run(rankings, qrels, [measure])
    return dict(zip(scores.topics, scores.values.tolist(), strict=True))


def computed(provider, measure, judged, run):
    metrics = provider.evaluator([measure], judged).iter_calc(run)
    return {metric.query_id: metric.value for metric in metrics}


def rows(path: Path):
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        for line in file:
            topic, _, document, _, score, _ = line.split()
            yield topic, document, float(score)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "qrels_name", "count"),
    [("cranfield_runs", "qrels.txt", 20), ("web2012_runs", "qrels.adhoc.txt.gz", 8)],
)
def test_ndcg_of_whole_grades_is_that_of_ir_measures_on_all_real_runs(shared, folder, qrels_name, count):
    qrels = read_qrels(shared / "data" / folder / qrels_name)
    judged = {topic: dict(grades) for topic, grades in qrels.grades.items()}
    paths = sorted((shared / "data" / folder / "runs").glob("*.run.gz"))
    assert len(paths) == count
    measures = [parse_measure(text) for text in NDCG]
    usual = ir_measures.providers.registry["pytrec_eval"]
    for path in paths:
        run: dict[str, dict[str, float]] = {}
        for topic, document, score in rows(path):
            run.setdefault(topic, {})[document] = score
        for measure in measures:
            expected = computed(usual, measure, judged, run)
            own = computed(REAL_PROVIDER, measure, judged, run)
            assert expected.keys() == own.keys()
            assert_allclose([own[topic] for topic in expected], list(expected.values()), rtol=0, atol=1e-12)


grades = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-2, 4), min_size=1)
answers = st.dictionaries(
    st.sampled_from("abcdefghijkl"), st.sampled_from([-1.0, 0.0, 0.5, 16777217.0, 16777216.0]), min_size=1
)


@given(grades, answers, st.sampled_from(NDCG))
def test_ndcg_of_whole_grades_is_that_of_ir_measures_with_ties_and_negative_grades(judged, run, text):
    measure = parse_measure(text)
    usual = ir_measures.providers.registry["pytrec_eval"]
    if "gains" in text:  # of negative grades pytrec_eval reads memory that is not its own, and may crash
        judged = {document: max(grade, 0) for document, grade in judged.items()}
    expected, own = (computed(one, measure, {"q": judged}, {"q": run}) for one in (usual, REAL_PROVIDER))
    assert own["q"] == pytest.approx(expected["q"], abs=1e-12)


def test_ndcg_and_dcg_of_real_grades_are_the_definitions(clicks):
    rankings = {"q1": [("c", 4.0), ("b", 3.0), ("x", 2.0), ("a", 1.0)], "q2": [("a", 1.0)]}
    own = 0.25 / math.log2(3) + 0.7 / math.log2(5)
    ideal = 0.7 + 0.25 / math.log2(3)
    assert by_topic(clicks(), "nDCG", rankings) == pytest.approx(
        {"q1": own / ideal, "q2": 0.1 / (2.5 + 0.1 / math.log2(3))}, abs=1e-15
    )
    assert by_topic(clicks(), "nDCG@2", rankings)["q1"] == pytest.approx(0.25 / math.log2(3) / ideal, abs=1e-15)
    assert by_topic(clicks(), "DCG", rankings) == pytest.approx({"q1": own, "q2": 0.1}, abs=1e-15)
    assert by_topic(clicks(), "DCG(dcg='exp-log2')@2", rankings)["q1"] == pytest.approx(
        (2**0.25 - 1) / math.log2(3), abs=1e-15
    )
    assert clicks().without_relevant == ("q3",)


def test_judged_and_nothing_else_ignores_grades(clicks):
    assert by_topic(clicks(), "Judged@2", {"q1": [("a", 2.0), ("x", 1.0)]})["q1"] == 0.5


def test_graded_rbp_of_real_grades_is_the_definition(clicks):
    run = {"q1": [("b", 3.0), ("a", 2.0)]}
    expected = 0.5 * (0.25 / 3 + 0.5 * 0.7 / 3)
    assert by_topic(clicks(), "RBP(p=0.5,max_rel=3)", run)["q1"] == pytest.approx(expected, abs=1e-15)
    assert rbp([1.0] * 60, p=0.5) == pytest.approx(1.0)
    with pytest.raises(UsageError, match="rel makes grades binary"):
        parse_measure("RBP(rel=1,max_rel=3)")
    with pytest.raises(DataError, match=r"expects grades of at most 1, found 2.5 .* write RBP\(max_rel=3\)"):
        by_topic(clicks(), "RBP(max_rel=1)", run)


def test_the_scale_is_that_of_err_and_other_grades_are_refused(clicks):
    run = {"q2": [("d", 1.0)]}
    assert by_topic(clicks(), "ERR", run)["q2"] == pytest.approx((2**2.5 - 1) / 2**4)
    assert by_topic(clicks(scale=(0, 2.5)), "ERR", run)["q2"] == pytest.approx((2**2.5 - 1) / 2**2.5)
    assert by_topic(clicks(scale=(0, 2.5)), "ERR(max_rel=4)", run)["q2"] == by_topic(clicks(), "ERR", run)["q2"]
    with pytest.raises(
        QrelsFormatError, match=r"expected grades from 0 to 2 \(scale\), found 2.5 \(topic 'q2', document 'd'\)"
    ):
        clicks(scale=(0, 2))


@pytest.mark.parametrize(
    "measure", ["P@5", "AP", "RR", "R@10", "Bpref", "Rprec", "Success@1", "SetP", "NumRet(rel=1)"]
)
def test_a_binary_measure_refuses_real_grades_and_names_the_setting(clicks, measure):
    with pytest.raises(DataError, match=r"found grade 0.7 .* needs binary labels; .*relevant_from: 0.5") as caught:
        by_topic(clicks(), measure, {"q1": [("a", 1.0)]})
    assert caught.value.reason == "bad_qrels"


def test_other_measures_refuse_real_grades_too(clicks):
    with pytest.raises(DataError, match="Compat needs whole grades; use nDCG, DCG, ERR or RBP"):
        by_topic(clicks(), "Compat", {"q1": [("a", 1.0)]})


def test_relevant_from_makes_binary_labels_and_decides_which_topics_count(clicks):
    run = {"q1": [("b", 3.0), ("a", 2.0)], "q2": [("a", 1.0)]}
    qrels = clicks(relevant_from=0.5)
    assert qrels.topics == ("q1", "q2")
    assert by_topic(qrels, "P@2", run) == {"q1": 0.5, "q2": 0.0}
    assert by_topic(qrels, "RR", run) == {"q1": 0.5, "q2": 0.0}
    assert by_topic(clicks(relevant_from=0.25), "AP", run) == {"q1": 1.0, "q2": 0.0}
    assert by_topic(qrels, "P(rel=2)@1", run | {"q2": [("d", 1.0)]}) == {"q1": 0.0, "q2": 1.0}
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
        for rules in ({}, {"scale": (0, 3)}, {"relevant_from": 0.5}, {"separator": "#"}, {"scale": (0, 4)})
    ]
    assert len(set(digests)) == len(digests)
    assert clicks(is_complete=True).digest == digests[0]
    assert clicks(relevant_from=1).digest == clicks(relevant_from=1.0).digest


def test_no_gain_at_all_scores_zero():
    assert ndcg([0.0], [0.0]) == 0.0
    assert dcg([]) == 0.0
