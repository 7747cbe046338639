"""Ratings of a Quepid case: what is read, what is refused, and what is written."""

from __future__ import annotations

import json

import pytest

from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.records import TopicKeys
from pytest_riskguard.errors import QrelsFormatError

CSV = 'query,docid,rating\nred shoes,1,3.0\nred shoes, -2,0.5\n" =1+1, please",a b,1\nboots,,\nred shoes,4,'


def test_the_basic_csv_is_read_with_its_leading_spaces_and_empty_cells(write):
    qrels = read_qrels(write("case.csv", CSV))
    assert qrels.grades == {"red shoes": {"1": 3, "-2": 0.5}, "=1+1, please": {"a b": 1}}
    assert qrels.topics == ("=1+1, please", "red shoes")
    assert qrels.texts == {"red shoes": "red shoes", "=1+1, please": "=1+1, please"}


def test_topics_are_found_by_their_texts(write):
    keys = TopicKeys({"q1": "Red shoes", "q2": "red  shoes"})
    assert set(read_qrels(write("case.csv", CSV), keys).grades) == {"q2", "=1+1, please"}


def test_json_is_read(write):
    queries = [{"query": "red shoes", "ratings": {"1": 3.0, "2": None}}, {"query": "boots", "ratings": {}}]
    assert read_qrels(write("case.json", json.dumps({"queries": queries}))).grades == {"red shoes": {"1": 3}}


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.csv", "query,docid,rating\na,1,2,3\n", "a.csv:2: expected 3 columns"),
        ("a.csv", "query,docid,rating\na,1,high\n", "a.csv:2: expected a number as the rating, found 'high'"),
        ("a.csv", "query,docid,rating\n,1,2\n", "a.csv:2: expected a query and a docid beside a rating"),
        ("a.csv", "query,docid,rating\na,1,2\na,1,2\n", "a.csv:3: expected each document once per topic"),
        ("a.csv", "query,docid,rating\na,1,2000\n", "a.csv:2: expected a number from -1000 to 1000"),
        ("a.csv", "query,docid,rating\na,1,\n", "expected judgements, found none"),
        ("a.json", '{"queries":[{"query":"a","ratings":{"1":"x"}}]}', "queries[0].ratings.1: expected a number"),
        (
            "a.json",
            '{"queries":[{"query":"a","ratings":[]}]}',
            "queries[0].ratings: expected an object, found a list",
        ),
        ("a.json", '{"queries":[{"query":"","ratings":{}}]}', "queries[0].query: expected a text"),
        (
            "a.json",
            '{"queries":[{"query":"a","ratings":{"1":1}},{"query":"a","ratings":{}}]}',
            "queries[1]: expected each query once, found 'a' again",
        ),
    ],
)
def test_bad_content_is_refused_with_its_place(write, name, text, problem):
    with pytest.raises(QrelsFormatError) as caught:
        read_qrels(write(name, text))
    assert problem in str(caught.value)
