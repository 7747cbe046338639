"""Responses of engines as files: how each query is found, and that no failure is read as an empty answer."""

from typing import Any

import pytest

from pytest_riskguard.data.given_file import GivenFile, Ties
from pytest_riskguard.data.runs import Run, read_run
from pytest_riskguard.errors import RunFormatError
from tests.data.engine_shapes import SHAPES, Hits
from tests.data.files.read import ranked, written

QUERIES = {"q2": "reset password", "q1": "cancel order", "q3": "zürich"}
HITS: dict[str, Hits] = {"q2": [("a", 3.5), ("b", 2.25)], "q1": [("c d", 1.5)], "q3": []}
EXPECTED = {"q1": ["c d"], "q2": ["a", "b"]}
#: Engines that repeat the query's text in their answers.
ECHO = ("algolia", "typesense", "meilisearch")

every_engine = pytest.mark.parametrize("engine", SHAPES)


def answers(engine: str) -> dict[str, dict[str, Any]]:
    return {topic: SHAPES[engine](QUERIES[topic], hits) for topic, hits in HITS.items()}


@every_engine
def test_the_query_stands_beside_its_answer_or_among_its_keys(write, engine):
    kept = answers(engine)
    beside: list[dict[str, Any]] = [
        {"query_id": topic, "response": {"query_id": "other"} | answer} for topic, answer in kept.items()
    ]
    among = [{"qid": topic} | answer for topic, answer in kept.items()]
    texts = zip(("query", "query_text", "queryText"), kept, strict=True)
    by_text = [{"_id": topic * 2, name: QUERIES[topic], "body": kept[topic]} for name, topic in texts]
    for name, content in (
        ("k.jsonl", beside),
        ("k.json", beside),
        ("k.jsonl", among),
        ("k.json", kept),
        ("k.jsonl", [{topic: answer} for topic, answer in kept.items()]),
        ("k.jsonl", by_text),
    ):
        assert ranked(written(write, name, content), queries=QUERIES) == EXPECTED
    with_texts = [{"text": QUERIES[row["query_id"]], **row} for row in beside]
    assert read_run(written(write, "k.jsonl", with_texts)).source.texts == QUERIES
    if engine in ECHO:
        assert ranked(written(write, "k.jsonl", list(kept.values())), queries=QUERIES) == EXPECTED


def rows(*answers: dict[str, Any]) -> list[dict[str, Any]]:
    """A first answer with an id, and others."""
    return [{"query_id": "q2", "response": answers[0]}, *answers[1:]]


SOLR = answers("solr")
ES = answers("elasticsearch")
OTHER = "'q1': Solr: expected hits in response.docs, found an object with the keys "
ERROR = {"query_id": "q1", "response": {"error": "late"}}
MIXED: list[tuple[Any, str]] = [
    (
        rows(SOLR["q2"], SOLR["q1"]),
        r"k\.jsonl:2: expected the id of its query beside each response, found none",
    ),
    ([{"query": "zürich"} | ES["q2"], {"query_id": "q1"} | ES["q1"]], ":2: expected the text of its query beside"),
    ([{"responses": [ES["q2"], ES["q1"]]}], "expected rankings in a format that riskguard reads"),
    (rows(SOLR["q2"], {"query_id": "q1", "response": ES["q1"]}), OTHER),
    ([ERROR] * 9 + rows(SOLR["q2"]), "'q1': Solr: expected hits in response.docs"),
    ([ERROR] * 10 + rows(SOLR["q2"]), "expected rankings in a format that riskguard reads"),
    ([{"q2": ES["q2"], "took": 3}], "'took': Elasticsearch: expected hits in hits.hits"),
]


@pytest.mark.parametrize(("content", "problem"), MIXED)
def test_every_answer_is_of_one_engine_and_has_a_query_if_the_first_has_one(write, content, problem):
    with pytest.raises(RunFormatError, match=problem):
        ranked(written(write, "k.jsonl", content), queries=QUERIES)


def changed(engine: str, place: str, value: Any) -> Any:
    """An answer in which a value is another, or the value alone."""
    answer = SHAPES[engine]("cancel order", [("c d", 1.5)])
    inner: Any = {"": answer}
    *outer, last = f".{place}".split(".")
    for key in outer:
        inner = inner[key]
    inner[last] = value
    return answer if place else value


def run_of(write, engine: str, place: str, value: Any, ties: Ties | None = None) -> Run:
    run = read_run(GivenFile(written(write, "k.json", {"q": changed(engine, place, value)}), ties=ties))
    assert isinstance(run, Run)
    return run


MATCH_PHASE = {"coverage": 60, "full": False, "degraded": {"match-phase": True, "timeout": False}}
SUMMARY = {"id": "index:help/0/c4", "fields": {"documentid": "id:help:article::7::b"}}
WHOLE: list[tuple[str, str, Any, list[str]]] = [
    ("elasticsearch", "hits.hits", [{"_id": "b", "_score": None}, {"_id": "a", "_score": None}], ["b", "a"]),
    ("elasticsearch", "hits.hits", [{"_id": "b", "_score": 1}, {"_id": "a", "_score": True}], ["b", "a"]),
    ("vespa", "root.coverage", MATCH_PHASE, ["c d"]),
    ("vespa", "root.children", [SUMMARY], ["7::b"]),
    ("meilisearch", "hits", [{"articleId": 7, "title": "x"}], ["7"]),
    ("meilisearch", "hits", [{"shop_id": 1, "id": "a"}], ["a"]),
]


@pytest.mark.parametrize(("engine", "place", "value", "expected"), WHOLE)
def test_a_whole_answer_gives_its_hits_in_their_order(write, engine, place, value, expected):
    assert list(run_of(write, engine, place, value).by_topic()["q"]) == expected


def test_hits_keep_their_order_where_scores_contradict_it(write):
    scored = [{"_id": name, "_score": score} for name, score in (("a", 1.0), ("b", 1.0), ("c", 2.0))]
    run = run_of(write, "elasticsearch", "hits.hits", scored)
    assert list(run.by_topic()["q"]) == ["a", "b", "c"]
    assert run.source.contradicted == ("q",)


HYBRID = [{"hybrid_search_info": {"rank_fusion_score": score}, "text_match": 1} for score in (1, 0)]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ([{"text_match": 2**62 + 1}, {"text_match": 2**62}], [2.0, 1.0]),  # compared exactly
        (HYBRID, [1.0, 0.0]),
    ],
)
def test_scores_of_typesense(write, more, expected):
    found = [{"document": {"id": name}} | score for name, score in zip("ab", more, strict=True)]
    run = run_of(write, "typesense", "hits", found, "docid")
    assert list(run.by_topic()["q"].values()) == expected
    assert not run.source.contradicted


SHARD = {"reason": {"type": "query_shard_exception", "reason": "no"}}
MISSING = {"error": {"type": "index_not_found_exception", "reason": "no such index [help]"}, "status": 404}
PARTIAL = {"coverage": 60, "full": False, "degraded": {"timeout": True, "match-phase": True}}


def are_true(places: str) -> list[tuple[str, Any, str]]:
    """Places where true says that hits are missing."""
    return [(place, True, f"hits are missing: {place} is True") for place in places.split()]


#: Engine -> a place in its answer (none for all of it), what stands there, and what is said.
FAILURES: dict[str, list[tuple[str, Any, str]]] = {
    "elasticsearch": [
        ("", MISSING, r"expected hits in hits.hits, found .*: index_not_found_exception: no such index \[help\]"),
        ("", {"error": "no handler found", "status": 400}, "'status': no handler found"),
        *are_true("timed_out terminated_early is_partial is_running error _shards.failed"),
        ("status", 400, "Elasticsearch: error 400$"),
        ("_shards", {"failed": 1, "failures": [SHARD]}, "_shards.failed is 1: query_shard_exception: no"),
        ("_shards.successful", 1, "only 1 of 2 shards answered"),
        ("_clusters", {"total": 3, "successful": 2, "skipped": 1}, "only 2 of 3 clusters answered"),
        ("hits.hits", [{"_score": 1.0}], "expected an id in _id, found None"),
    ],
    "solr": [
        ("", {"responseHeader": {"status": 400}, "error": {"msg": "no field x", "code": 400}}, "'error': no field x"),
        ("error", {"msg": "late"}, "error is an object with the keys 'msg': late"),
        *are_true("error responseHeader.status responseHeader.partialResults"),
        ("", {"responseHeader": {"status": 0}, "grouped": {"brand": {}}}, "expected hits in response.docs"),
    ],
    "vespa": [
        ("", {"root": {"errors": [{"code": 12, "summary": "Timed out", "message": "x"}]}}, "'root': Timed out: x"),
        ("root.errors", [{"code": 12}], "root.errors is a list"),
        *(
            ("root.coverage", {"full": True, "degraded": {cause: True}}, f"degraded.{cause} is True")
            for cause in ("timeout", "adaptive-timeout", "non-ideal-state")
        ),
        ("root.coverage", PARTIAL, "degraded.timeout is True"),
        ("root.coverage", {"full": False}, "root.coverage.full is False"),
        ("root.children", [{"id": "index:help/0/c4ca"}], "is not the id of a document"),
        ("root.children", [{"id": "group:brand"}], "is not the id of a document"),
        ("root.children", [{"relevance": 1.0}], "expected an id in root.children, found None"),
        ("root.children", {}, "expected hits in root.children"),
    ],
    "algolia": [
        ("", {"message": "Index help does not exist", "status": 404}, "'status': Index help does not exist"),
        *are_true("timeoutHits timeoutCounts"),
        ("exhaustive", {"rulesMatch": False}, "exhaustive.rulesMatch is False"),
        ("hits", [{"id": "d"}], "expected an id in objectID, found None"),
    ],
    "typesense": [
        ("", {"code": 404, "error": "Not found."}, "'error': Not found."),
        *are_true("search_cutoff"),
        ("", {"found": 1, "grouped_hits": [{"hits": []}]}, "expected hits in hits, found .* 'grouped_hits'"),
        ("hits", [{"id": "d"}], "expected an id in document.id, found None"),
    ],
    "meilisearch": [
        ("", {"message": "Not found.", "code": "no_index", "type": "x"}, ": Not found."),
        *are_true("remoteErrors degraded"),
        ("hits", [{"title": "x"}], "expected an id in a field id, or in the only one whose name ends so, found None"),
        ("hits", [{"articleId": 7, "shop_id": 1}], "whose name ends so, found None"),
    ],
}


@pytest.mark.parametrize(
    ("engine", "place", "value", "expected"),
    [(engine, *failure) for engine, failures in FAILURES.items() for failure in failures],
)
def test_a_failure_is_never_an_empty_answer(write, engine, place, value, expected):
    good = {"query_id": "q2", "response": answers(engine)["q2"]}
    bad = {"query_id": "q1", "response": changed(engine, place, value)}
    for content in ([good, bad], [bad, good]):
        with pytest.raises(RunFormatError, match=rf"query 'q1': .*{expected}"):
            ranked(written(write, "k.jsonl", content))
