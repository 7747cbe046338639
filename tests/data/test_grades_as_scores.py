"""Judgements given as a run, or a run as judgements, are no pass."""

from __future__ import annotations

import json

import pytest

from pytest_riskguard import check
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.errors import DataError

TOPICS = [f"q{number}" for number in range(12)]
GRADES = {topic: {"d1": 2, "d2": 0, "d3": 1} for topic in TOPICS}
WEAK = {topic: {"d2": 3.5, "d1": 2.5, "d3": 1.5} for topic in TOPICS}


def test_judgements_in_the_place_of_a_run_are_refused(tmp_path):
    (tmp_path / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n"
        + "".join(f"{topic}\t{document}\t{grade}\n" for topic in TOPICS for document, grade in GRADES[topic].items())
    )
    (tmp_path / "run.json").write_text(json.dumps(WEAK))
    for name in ("qrels.tsv", "run.json"):  # as run and as judgements
        with pytest.raises(DataError, match="with their grades as scores: one file was given as both") as raised:
            score_run(tmp_path / name, tmp_path / name, ["nDCG@10"])
        assert raised.value.reason == "bad_run"


def test_the_gate_does_not_pass():
    verdict = check("not_significantly_risky", GRADES, WEAK, qrels=GRADES, measure="nDCG@10")
    assert (verdict.outcome, verdict.reason) == ("incomparable", "bad_run")


@pytest.mark.parametrize(
    "ideal",
    [
        {topic: {"d1": 9.0, "d3": 8.0, "d2": 7.0} for topic in TOPICS},
        GRADES | {"q3": {"d1": 2, "d3": 1}},
        {topic: GRADES[topic] for topic in TOPICS[:9]},
    ],
    ids=["other scores", "another topic", "few topics"],
)
def test_an_ideal_run_is_a_run(ideal):
    assert {*score_run(ideal, GRADES, ["nDCG@3"])[0].values} <= {0.0, 1.0}


def test_one_right_answer_for_each_query_is_a_run():
    grades = {topic: {"d1": 1} for topic in TOPICS}
    (scores,) = score_run({topic: ["d1"] for topic in TOPICS}, grades, ["RR"])
    assert scores.values.mean() == 1


def test_ten_topics_with_two_documents_are_enough_if_they_are_half():
    grades = {topic: GRADES[topic] for topic in TOPICS[:10]} | {f"one {topic}": {"d1": 1} for topic in TOPICS[:10]}
    with pytest.raises(DataError, match="with their grades as scores"):
        score_run(grades, grades, ["nDCG@3"])
    grades["eleventh"] = {"d1": 1}
    assert score_run(grades, grades, ["nDCG@3"])[0].mean == 1
