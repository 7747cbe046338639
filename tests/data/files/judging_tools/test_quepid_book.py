"""Judgements of a Quepid book: several judges, one grade, and how often they disagree."""

from __future__ import annotations

import json

import pytest

from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.records import Agreement
from pytest_riskguard.errors import QrelsFormatError

CSV = "query,docid,Ann Lee,Bob\nshoes,1,3,2\nshoes,2,0,0\nshoes,3,,1.0\nshoes,4,,\n"
PAIRS = [
    {
        "query_text": "shoes",
        "doc_id": "1",
        "judgements": [_a := {"rating": 3.0, "user_email": "ann@x.org"}, {"rating": 2}],
    },
    {"query_text": "shoes", "doc_id": "2", "judgements": [_a | {"rating": 0}, {"rating": 0.0}]},
    {
        "query_text": "shoes",
        "doc_id": 3,
        "judgements": [_a | {"unrateable": True}, {"rating": 1, "judge_later": False}],
    },
    {"query_text": "shoes", "doc_id": "4", "judgements": [_a | {"rating": None}]},
    {"query_text": "shoes", "doc_id": "5"},
]


@pytest.mark.parametrize(("name", "text"), [("b.csv", CSV), ("b.json", json.dumps({"query_doc_pairs": PAIRS}))])
def test_of_several_grades_the_median_counts(write, name, text):
    qrels = read_qrels(write(name, text))
    assert qrels.grades == {"shoes": {"1": 2.5, "2": 0, "3": 1}}
    assert qrels.agreement == Agreement(judges=2, shared=2, disputed=1)
    said = "2 judges disagree on 1 of 2 documents that several graded (50%); the median of their grades counts"
    assert str(qrels.agreement) == said


def test_a_single_judge_agrees_with_nobody(write):
    assert read_qrels(write("b.csv", "query,docid,Ann\nshoes,1,3\n")).agreement is None
    assert read_qrels(write("q.txt", "1 0 d 1\n")).agreement is None


def test_judges_who_never_saw_the_same_document(write):
    qrels = read_qrels(write("b.csv", "query,docid,Ann,Bob\nshoes,1,3,\nshoes,2,,1\n"))
    assert str(qrels.agreement).startswith("2 judges disagree on 0 of 0 documents that several graded;")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("b.csv", "query,docid,Ann,Ann\nshoes,1,3,2\n", "expected a name of its own for every judge, found 'Ann'"),
        ("b.csv", "query,docid,Ann,\nshoes,1,3,2\n", "expected a name of its own for every judge, found ''"),
        ("b.csv", "query,docid,Ann\nshoes,1\n", "b.csv:2: expected 3 columns as in the header, found 2"),
        (
            "b.csv",
            "query,docid,Ann\nshoes,1,good\n",
            "b.csv:2: expected a number as the grade of 'Ann', found 'good'",
        ),
        ("b.csv", "query,docid,Ann\nshoes,,2\n", "b.csv:2: expected a query and a docid beside a grade"),
        ("b.json", '{"query_doc_pairs":[{"doc_id":"1"}]}', "query_doc_pairs[0]: expected a key 'query_text'"),
        (
            "b.json",
            '{"query_doc_pairs":[{"query_text":"a","doc_id":"1","judgements":[{"rating":1},{"rating":2}]}]}',
            "expected each document once per topic, found '1' of topic 'a' (grade 1, then 2)",
        ),
    ],
)
def test_bad_content_is_refused_with_its_place(write, name, text, problem):
    with pytest.raises(QrelsFormatError) as caught:
        read_qrels(write(name, text))
    assert problem in str(caught.value)
