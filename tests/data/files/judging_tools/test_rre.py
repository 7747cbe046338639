"""Ratings of RRE: documents by grade or with gains, for queries, groups and topics."""

from __future__ import annotations

import json

import pytest

from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.errors import QrelsFormatError


def query(text, **more):
    return {"template": "t.json", "placeholders": {"$query": text, "$rows": "10"}} | more


GROUP = {
    "name": "shoes",
    "queries": [query("red shoes"), query("shoes red")],
    "relevant_documents": {"3": ["1", 2], "1": ["4"]},
}
GAINS = {"1": {"gain": 3}, "4": {"gain": "0.5"}}


def read(write, value):
    return read_qrels(write("ratings.json", json.dumps(value))).grades


def test_queries_of_a_group_share_its_documents(write):
    graded = {"1": 3, "2": 3, "4": 1}
    assert read(write, {"index": "i", "query_groups": [GROUP]}) == {"red shoes": graded, "shoes red": graded}
    assert read(write, {"topics": [{"description": "d", "query_groups": [GROUP]}]}).keys() == {
        "red shoes",
        "shoes red",
    }


def test_documents_of_a_query_come_before_those_of_its_group(write):
    group = GROUP | {"queries": [query("red shoes"), query("hats", relevant_documents=GAINS)]}
    assert read(write, {"query_groups": [group]})["hats"] == {"1": 3, "4": 0.5}


def test_quepid_exports_queries_with_gains(write):
    value = {
        "id_field": "id",
        "queries": [query("shoes", relevant_documents=GAINS), query("hats", relevant_documents={})],
    }
    assert read(write, value) == {"shoes": {"1": 3, "4": 0.5}}


def test_the_placeholder_of_the_text_may_be_named(write):
    one = {"placeholders": {"$q": "shoes", "$lang": "en"}, "relevant_documents": [{"1": {"gain": 1}}]}
    assert read(write, {"query_placeholder": "$q", "queries": [one]}) == {"shoes": {"1": 1}}
    alone = {"placeholders": {"$q": "shoes"}, "relevant_documents": GAINS}
    assert read(write, {"queries": [alone]}).keys() == {"shoes"}


def test_the_same_query_in_two_templates_has_one_list_of_documents(write):
    same = [query("shoes", relevant_documents=GAINS)] * 2
    assert read(write, {"queries": same}).keys() == {"shoes"}
    other = [same[0], query("shoes", relevant_documents={"1": {"gain": 1}})]
    with pytest.raises(QrelsFormatError, match="found two for 'shoes'"):
        read(write, {"queries": other})


@pytest.mark.parametrize(
    ("one", "problem"),
    [
        (query("a", relevant_documents={"high": ["1"]}), "relevant_documents.high: expected a number as the grade"),
        (
            query("a", relevant_documents={"1": {"boost": 1}}),
            "expected a key 'gain', found an object with the keys 'boost'",
        ),
        (query("a", relevant_documents=[{"1": {"gain": 1}}, {"1": {"gain": 2}}]), "per query, found '1' twice"),
        (
            query("a", relevant_documents={"2": ["1"], "3": ["1"]}),
            "expected each document once per query, found '1' twice",
        ),
        (
            {"placeholders": {"$a": "x", "$b": "y"}, "relevant_documents": GAINS},
            "the placeholder '$query', found $a, $b",
        ),
    ],
)
def test_bad_content_is_refused_with_its_place(write, one, problem):
    with pytest.raises(QrelsFormatError) as caught:
        read(write, {"queries": [one]})
    assert problem in str(caught.value)


def test_a_query_without_documents_is_refused(write):
    with pytest.raises(QrelsFormatError, match=r"query_groups\[1\].queries\[0\]: expected 'relevant_documents'"):
        read(write, {"query_groups": [GROUP, {"queries": [query("a")]}]})
