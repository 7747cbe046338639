"""Responses of engines as files: how each query is found, and that no failure is read as an empty answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.data.records import TopicKeys
from pytest_riskguard.data.runs import Run, read_run
from pytest_riskguard.errors import RunFormatError
from tests.data.engine_shapes import SHAPES, Hits

QUERIES = {"q2": "reset password", "q1": "cancel order", "q3": "zürich"}
HITS: dict[str, Hits] = {"q2": [("a", 3.5), ("b", 2.25)], "q1": [("c d", 1.5)], "q3": []}
#: Engines that repeat the query's text in their answers.
ECHO = ("algolia", "typesense", "meilisearch")
#: Engines with several answers to one request, and their key.
SEVERAL = {"elasticsearch": "responses", "algolia": "results", "typesense": "results", "meilisearch": "results"}

every_engine = pytest.mark.parametrize("engine", SHAPES)


def answers(engine: str) -> dict[str, dict[str, Any]]:
    return {topic: SHAPES[engine](QUERIES[topic], hits) for topic, hits in HITS.items()}


def read(path: Path, content: object, *, lines: bool = False, keys: TopicKeys | None = None) -> Run:
    text = "\n".join(map(json.dumps, content)) if lines else json.dumps(content, indent=1)  # type: ignore[call-overload]
    path.write_text(f"{text}\n", encoding="utf-8")
    return read_run(path, keys)


def documents(run: Run) -> dict[str, list[str]]:
    return {topic: list(ranking) for topic, ranking in run.by_topic().items()}


EXPECTED = {"q1": ["c d"], "q2": ["a", "b"]}


@every_engine
def test_lines_with_an_id_beside_the_response(tmp_path: Path, engine: str) -> None:
    rows = [{"query_id": topic, "response": answer} for topic, answer in answers(engine).items()]
    assert documents(read(tmp_path / "kept.jsonl", rows, lines=True)) == EXPECTED
    assert documents(read(tmp_path / "kept.json", rows)) == EXPECTED


@every_engine
def test_an_id_among_the_keys_of_the_response(tmp_path: Path, engine: str) -> None:
    rows = [{"qid": topic} | answer for topic, answer in answers(engine).items()]
    assert documents(read(tmp_path / "kept.jsonl", rows, lines=True)) == EXPECTED


@every_engine
def test_an_object_that_maps_ids_to_responses(tmp_path: Path, engine: str) -> None:
    assert documents(read(tmp_path / "kept.json", answers(engine))) == EXPECTED


@every_engine
def test_texts_find_the_topics(tmp_path: Path, engine: str) -> None:
    rows = [{"query": QUERIES[topic], "response": answer} for topic, answer in answers(engine).items()]
    run = read(tmp_path / "kept.jsonl", rows, lines=True, keys=TopicKeys(QUERIES))
    assert documents(run) == EXPECTED


@pytest.mark.parametrize("engine", ECHO)
def test_the_text_that_the_engine_repeats_finds_the_topic(tmp_path: Path, engine: str) -> None:
    rows = list(answers(engine).values())
    assert documents(read(tmp_path / "kept.jsonl", rows, lines=True, keys=TopicKeys(QUERIES))) == EXPECTED


@pytest.mark.parametrize(("engine", "key"), SEVERAL.items())
def test_several_responses_with_their_ids(tmp_path: Path, engine: str, key: str) -> None:
    content = {key: list(answers(engine).values()), "query_ids": list(HITS)}
    assert documents(read(tmp_path / "kept.json", content)) == EXPECTED
    with pytest.raises(RunFormatError, match="found 2 query_ids beside 3 responses"):
        read(tmp_path / "kept.json", content | {"query_ids": ["q1", "q2"]})
    by_text = {key: content[key], "queries": [QUERIES[topic] for topic in HITS]}
    assert documents(read(tmp_path / "kept.json", by_text, keys=TopicKeys(QUERIES))) == EXPECTED


def test_several_responses_in_the_order_of_the_topics_file(tmp_path: Path) -> None:
    batches = [
        {"took": 2, "responses": batch}
        for batch in (list(answers("elasticsearch").values())[i:j] for i, j in ((0, 2), (2, 3)))
    ]
    run = read(tmp_path / "kept.jsonl", batches, lines=True, keys=TopicKeys(QUERIES))
    assert documents(run) == EXPECTED
    with pytest.raises(RunFormatError, match="found 3 rankings without the ids of their queries, and no topics file"):
        read_run(tmp_path / "kept.jsonl")
    with pytest.raises(RunFormatError, match="and 1 topics"):
        read_run(tmp_path / "kept.jsonl", TopicKeys({"q1": "cancel order"}))


@every_engine
def test_every_response_needs_a_query_if_the_first_has_one(tmp_path: Path, engine: str) -> None:
    first, second = list(answers(engine).values())[:2]
    rows = [{"query_id": "q2", "response": first}, second]
    with pytest.raises(RunFormatError, match=r"kept.jsonl:2: expected the query's id beside response 2"):
        read(tmp_path / "kept.jsonl", rows, lines=True)


def test_one_response_without_its_query_is_refused(tmp_path: Path) -> None:
    answer = answers("elasticsearch")["q1"]
    with pytest.raises(
        RunFormatError, match="only response of Elasticsearch has neither the query's id nor its text"
    ):
        read(tmp_path / "kept.json", answer)


def test_a_query_twice_is_refused(tmp_path: Path) -> None:
    row = {"query_id": "q1", "response": answers("solr")["q1"]}
    with pytest.raises(RunFormatError, match=r":2: expected each topic once, found 'q1' again"):
        read(tmp_path / "kept.jsonl", [row, row], lines=True)


def test_null_scores_leave_the_order_of_the_hits(tmp_path: Path) -> None:
    answer = SHAPES["elasticsearch"]("", [("b", 1.0), ("a", 2.0)])
    for hit in answer["hits"]["hits"]:
        hit["_score"] = None
    run = read(tmp_path / "kept.json", [{"query_id": "q", "response": answer}])
    assert documents(run) == {"q": ["b", "a"]}


def test_hits_keep_their_order_where_scores_contradict_it(tmp_path: Path) -> None:
    answer = SHAPES["elasticsearch"]("", [("a", 1.0), ("b", 1.0), ("c", 2.0)])
    run = read(tmp_path / "kept.json", [{"query_id": "q", "response": answer}])
    assert documents(run) == {"q": ["a", "b", "c"]}
    assert run.source.contradicted == ("q",)


def test_whole_numbers_of_64_bits_are_compared_exactly(tmp_path: Path) -> None:
    answer = SHAPES["typesense"]("", [("a", 1.0), ("b", 1.0)])
    for hit, score in zip(answer["hits"], (2**62 + 1, 2**62), strict=True):
        hit["text_match"] = score
    run = read(tmp_path / "kept.json", [{"query_id": "q", "response": answer}])
    assert list(run.by_topic()["q"].items()) == [("a", 2.0), ("b", 1.0)]


def test_the_score_of_hybrid_search_counts(tmp_path: Path) -> None:
    answer = SHAPES["typesense"]("", [("a", 1.0), ("b", 2.0)])
    for hit, score in zip(answer["hits"], (0.75, 0.5), strict=True):
        hit["hybrid_search_info"] = {"rank_fusion_score": score}
    run = read(tmp_path / "kept.json", [{"query_id": "q", "response": answer}])
    assert list(run.by_topic()["q"].items()) == [("a", 0.75), ("b", 0.5)]


def changed(engine: str, change: dict[str, Any]) -> dict[str, Any]:
    """An answer in which some values are others; ``a.b`` is a key in an object."""
    answer = SHAPES[engine]("cancel order", [("c d", 1.5)])
    for path, value in change.items():
        *outer, last = path.split(".")
        place = answer
        for key in outer:
            place = place[key]
        place[last] = value
    return answer


ES_ERROR = {"error": {"type": "index_not_found_exception", "reason": "no such index [help]"}, "status": 404}
FAILURES = [
    ("elasticsearch", ES_ERROR, r"error 404: index_not_found_exception: no such index \[help\]"),
    ("elasticsearch", {"error": "no handler found", "status": 400}, "error 400: no handler found"),
    ("elasticsearch", changed("elasticsearch", {"timed_out": True}), "the search timed out"),
    (
        "elasticsearch",
        changed(
            "elasticsearch",
            {
                "_shards.failed": 1,
                "_shards.failures": [{"reason": {"type": "query_shard_exception", "reason": "no"}}],
            },
        ),
        "1 of 2 shards failed: query_shard_exception: no",
    ),
    (
        "elasticsearch",
        changed("elasticsearch", {"_shards.failures": [{"reason": {"type": "circuit_breaking_exception"}}]}),
        "1 of 2 shards failed: circuit_breaking_exception",
    ),
    ("elasticsearch", changed("elasticsearch", {"terminated_early": True}), "the search was terminated early"),
    ("elasticsearch", changed("elasticsearch", {"status": 503}), "error 503"),
    ("elasticsearch", changed("elasticsearch", {"_shards.successful": 1}), "only 1 of 2 shards answered"),
    ("elasticsearch", changed("elasticsearch", {"is_partial": True}), "asynchronous search was not complete"),
    ("elasticsearch", changed("elasticsearch", {"_clusters": {"total": 3, "skipped": 1}}), "1 of 3 clusters skipped"),
    (
        "solr",
        {"responseHeader": {"status": 400, "QTime": 1}, "error": {"msg": "undefined field x", "code": 400}},
        "error 400: undefined field x",
    ),
    ("solr", changed("solr", {"responseHeader.partialResults": True}), "its results are partial"),
    ("solr", {"responseHeader": {"status": 0}, "grouped": {}}, "grouped results have no single order"),
    (
        "vespa",
        {
            "root": {
                "id": "toplevel",
                "relevance": 1.0,
                "errors": [{"code": 12, "summary": "Timed out", "message": "x"}],
            }
        },
        "error 12: Timed out: x",
    ),
    (
        "vespa",
        changed("vespa", {"root.coverage": {"coverage": 60, "full": False, "degraded": {"timeout": True}}}),
        "only 60 % of the documents were searched: timeout",
    ),
    (
        "vespa",
        changed("vespa", {"root.children": [{"id": "index:help/0/c4ca", "relevance": 1.0}]}),
        "is not the id of a document",
    ),
    ("algolia", {"message": "Index help does not exist", "status": 404}, "error 404: Index help does not exist"),
    ("algolia", changed("algolia", {"timeoutHits": True}), "the search timed out"),
    (
        "algolia",
        changed("algolia", {"exhaustiveNbHits": False, "timeoutCounts": True}),
        "the search timed out, so its hits are incomplete",
    ),
    (
        "algolia",
        changed("algolia", {"exhaustive": {"nbHits": False}, "timeoutCounts": True}),
        "the search timed out, so its hits are incomplete",
    ),
    ("algolia", changed("algolia", {"exhaustive": {"rulesMatch": False}}), "timed out before all rules were applied"),
    ("typesense", {"code": 404, "error": "Not found."}, "error 404: Not found."),
    ("typesense", {"message": "Not Found"}, "error: Not Found"),
    ("typesense", changed("typesense", {"search_cutoff": True}), "the search was cut off"),
    (
        "meilisearch",
        {"message": "Index `help` not found.", "code": "index_not_found", "type": "invalid_request", "link": "x"},
        "error: index_not_found: Index `help` not found.",
    ),
    ("meilisearch", changed("meilisearch", {"remoteErrors": {"ms-1": {}}}), "these servers did not answer: ms-1"),
    ("meilisearch", changed("meilisearch", {"degraded": True}), "the search was cut off"),
    (
        "vespa",
        changed("vespa", {"root.coverage.degraded": {"timeout": True}}),
        "only 100 % of the documents were searched: timeout",
    ),
    ("meilisearch", changed("meilisearch", {"hits": [{"title": "x"}]}), "expected a field id, or one whose"),
    (
        "meilisearch",
        changed("meilisearch", {"hits": [{"articleId": 7, "shop_id": 1}]}),
        "expected a field id, or one whose name ends so, found articleId, shop_id",
    ),
    (
        "elasticsearch",
        changed("elasticsearch", {"hits.hits": [{"_score": 1.0}]}),
        "expected an id in _id, found nothing",
    ),
]


@pytest.mark.parametrize(("engine", "answer", "expected"), FAILURES)
def test_a_failure_is_never_an_empty_answer(
    tmp_path: Path, engine: str, answer: dict[str, Any], expected: str
) -> None:
    good = {"query_id": "q2", "response": answers(engine)["q2"]}
    for rows in ([good, {"query_id": "q1", "response": answer}], [{"query_id": "q1", "response": answer}, good]):
        with pytest.raises(RunFormatError, match=rf"query 'q1': .*{expected}"):
            read(tmp_path / "kept.jsonl", rows, lines=True)


@every_engine
def test_a_status_of_failure_beside_a_response_is_no_whole_answer(tmp_path: Path, engine: str) -> None:
    rows = [{"query_id": topic, "status": 200, "response": answer} for topic, answer in answers(engine).items()]
    assert documents(read(tmp_path / "kept.jsonl", rows, lines=True)) == EXPECTED
    rows[1]["status"] = 503
    with pytest.raises(RunFormatError, match=r"query 'q1': \w+: error 503"):
        read(tmp_path / "kept.jsonl", rows, lines=True)


def test_counts_that_are_estimates_leave_the_first_hits_whole(tmp_path: Path) -> None:
    for change in ({"exhaustiveNbHits": False}, {"timeoutCounts": True}):
        assert documents(read(tmp_path / "kept.json", {"q1": changed("algolia", change)})) == {"q1": ["c d"]}


def test_the_failure_of_one_of_several_names_it(tmp_path: Path) -> None:
    content = {"responses": [answers("elasticsearch")["q2"], ES_ERROR]}
    with pytest.raises(RunFormatError, match=r"response 2: Elasticsearch: error 404"):
        read(tmp_path / "kept.json", content, keys=TopicKeys({"q2": "reset password", "q1": "cancel order"}))


def test_hits_that_a_rank_profile_limits_are_whole(tmp_path: Path) -> None:
    coverage = {"coverage": 60, "full": False, "degraded": {"match-phase": True, "timeout": False}}
    answer = changed("vespa", {"root.coverage": coverage})
    assert documents(read(tmp_path / "kept.json", {"q1": answer})) == {"q1": ["c d"]}


def test_groups_beside_hits_are_no_hits(tmp_path: Path) -> None:
    answer = changed("vespa", {})
    answer["root"]["children"].insert(0, {"id": "group:root:0", "relevance": 1.0, "children": []})
    assert documents(read(tmp_path / "kept.json", {"q1": answer})) == {"q1": ["c d"]}


def test_the_primary_key_is_found_as_meilisearch_finds_it(tmp_path: Path) -> None:
    answer = changed("meilisearch", {"hits": [{"articleId": 7, "title": "x"}]})
    assert documents(read(tmp_path / "kept.json", {"q1": answer})) == {"q1": ["7"]}


@every_engine
def test_a_response_of_another_kind_is_refused(tmp_path: Path, engine: str) -> None:
    rows = [{"query_id": "q2", "response": answers(engine)["q2"]}, {"query_id": "q1", "response": {"ok": True}}]
    with pytest.raises(RunFormatError, match=r"query 'q1': expected an answer of \w+, found an object with 'ok'"):
        read(tmp_path / "kept.jsonl", rows, lines=True)
