"""``_rank_eval``: ratings and texts of requests, rankings of responses, and failures that are no rankings."""

from __future__ import annotations

import json

import pytest

from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.errors import QrelsFormatError, RunFormatError, TopicsFormatError


def rating(document, grade, index="hotels"):
    return {"_index": index, "_id": document, "rating": grade}


def request(name, query, *ratings):
    return {"id": name, "request": {"query": query}, "ratings": list(ratings)}


def test_a_request_has_ratings_and_query_texts(write):
    match = {"match": {"title": {"query": "red shoes", "operator": "and"}}}
    both = {"bool": {"should": [{"multi_match": {"query": "boots", "fields": ["a"]}}, {"match": {"title": "boots"}}]}}
    requests = [request("q1", match, rating("1", 3), rating("2", 0)), request("q2", both, rating("1", 1))]
    path = write("r.json", json.dumps({"requests": requests, "metric": {"dcg": {"k": 20}}}))
    assert read_qrels(path).grades == {"q1": {"1": 3, "2": 0}, "q2": {"1": 1}}
    assert read_topics(path).queries == {"q1": "red shoes", "q2": "boots"}


def test_the_text_may_be_a_parameter_of_a_template(write):
    one = {
        "id": "q1",
        "template_id": "t",
        "params": {"query_string": "shoes", "size": "5"},
        "ratings": [rating("1", 1)],
    }
    path = write("r.json", json.dumps({"requests": [one]}))
    assert read_topics(path).queries == {"q1": "shoes"}


def test_a_request_with_two_texts_or_none_is_no_topic(write):
    two = {"bool": {"must": [{"match": {"a": "red"}}, {"match": {"b": "shoes"}}]}}
    for query, listed in ((two, "'red', 'shoes'"), ({"match_all": {}}, "none")):
        path = write("r.json", json.dumps({"requests": [request("q1", query, rating("1", 1))]}))
        with pytest.raises(TopicsFormatError, match=rf"requests\[0\]: expected one query text .* found {listed}"):
            read_topics(path)


def hit(document, score, index="hotels"):
    return {"hit": {"_index": index, "_id": document, "_score": score}, "rating": None}


def response(**details):
    return {
        "metric_score": 0.5,
        "details": {topic: {"hits": hits} for topic, hits in details.items()},
        "failures": {},
    }


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_hits_of_a_response_are_a_ranking(write, wrapped):
    value = response(q1=[hit("b", 2.5), hit("a", 2.5)], q2=[hit("x", None), hit("a", None)], q3=[])
    run = read_run(write("r.json", json.dumps({"rank_eval": value} if wrapped else value)))
    assert {topic: list(ranked) for topic, ranked in run.by_topic().items()} == {
        "q1": ["b", "a"],
        "q2": ["x", "a"],
    }


def test_hits_of_which_one_has_no_score_stay_in_their_order(write):
    run = read_run(write("r.json", json.dumps(response(q1=[hit("a", 1.0), hit("x", None), hit("b", 2.0)]))))
    assert list(run.by_topic()["q1"]) == ["a", "x", "b"]


def test_the_same_id_in_two_indices_is_two_documents(write):
    value = response(q1=[hit("1", 2.0), hit("1", 1.0, index="flights")])
    run = read_run(write("r.json", json.dumps(value)))
    assert run.by_topic() == {"q1": {"hotels/1": 2.0, "flights/1": 1.0}}
    requests = [request("q1", {}, rating("1", 3), rating("1", 0, index="flights"))]
    assert read_qrels(write("q.json", json.dumps({"requests": requests}))).grades == {
        "q1": {"hotels/1": 3, "flights/1": 0}
    }


def test_a_response_with_failures_is_no_run(write):
    failures = {
        "q2": {"error": {"type": "parsing_exception", "reason": "no [matches] query"}},
        "q3": {"error": "late\x1b[2J"},
    }
    path = write("r.json", json.dumps(response(q1=[hit("1", 1.0)]) | {"failures": failures}))
    with pytest.raises(RunFormatError) as caught:
        read_run(path)
    assert (
        "failures: expected answers to all queries, found 2 that failed: 'q2' (no [matches] query), 'q3' (late[2J)"
        in str(caught.value)
    )


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (
            {"requests": [request("q1", {}, {"_id": "1", "rating": 1})]},
            "requests[0].ratings[0]: expected a key '_index'",
        ),
        ({"requests": [request("q1", {}, rating("1", "x"))]}, "ratings[0].rating: expected a number, found 'x'"),
        (
            {"requests": [request("q1", {}, rating("1", 1)), request("q1", {})]},
            "requests[1]: expected each id once, found 'q1' again",
        ),
    ],
)
def test_bad_content_is_refused_with_its_place(write, value, problem):
    with pytest.raises(QrelsFormatError) as caught:
        read_qrels(write("r.json", json.dumps(value)))
    assert problem in str(caught.value)
