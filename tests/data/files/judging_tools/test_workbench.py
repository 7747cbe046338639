"""OpenSearch's Workbench: judgement lists, query sets, experiments and evaluation results."""

from __future__ import annotations

import json

import pytest

from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.errors import QrelsFormatError, RunFormatError, TopicsFormatError


def hits(*sources, total=None):
    found = [{"_index": "i", "_id": str(place), "_source": source} for place, source in enumerate(sources)]
    total = {"value": len(found) if total is None else total} if not isinstance(total, dict) else total
    return {"timed_out": False, "_shards": {"failed": 0}, "hits": {"total": total, "hits": found}}


def judged(name="people", id_="j1", **changes):
    ratings = [{"docId": "B1", "rating": "3.000"}, {"docId": "B2", "rating": "0.25"}, {"docId": "B3", "rating": ""}]
    return {
        "id": id_,
        "name": name,
        "status": "COMPLETED",
        "judgmentRatings": [{"query": "tv", "ratings": ratings}],
    } | changes


def read(write, value, reader, **given):
    return reader(GivenFile(write("w.json", json.dumps(value)), **given))


def test_a_judgement_list_has_ratings_in_texts(write):
    for value in (hits(judged()), judged(), {"_id": "j1", "_source": judged()}):
        assert read(write, value, read_qrels).grades == {"tv": {"B1": 3, "B2": 0.25}}


def test_one_of_several_lists_is_named_by_its_name_or_id(write):
    clicks = judged("clicks", "j2", judgmentRatings=[{"query": "tv", "ratings": [{"docId": "B2", "rating": "1.7"}]}])
    for part in ("clicks", "j2"):
        assert read(write, hits(judged(), clicks), read_qrels, part=part).grades == {"tv": {"B2": 1.7}}
    with pytest.raises(QrelsFormatError, match="expected one judgement list, found 2 \\('people', 'clicks'\\)"):
        read(write, hits(judged(), clicks), read_qrels)
    with pytest.raises(QrelsFormatError, match="found 2 \\('j1', 'j2'\\)"):
        read(write, hits(judged(), clicks | {"name": "people"}), read_qrels)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"status": "PROCESSING"}, "status: expected 'COMPLETED', found 'PROCESSING'"),
        ({"judgmentRatings": [{"query": "tv", "ratings": [{"docId": "B1"}]}]}, "ratings[0]: expected a key 'rating'"),
        ({"judgmentRatings": [{"query": "tv", "ratings": []}] * 2}, "expected each query once, found 'tv' again"),
    ],
)
def test_bad_lists_are_refused(write, changes, problem):
    with pytest.raises(QrelsFormatError) as caught:
        read(write, hits(judged(**changes)), read_qrels)
    assert problem in str(caught.value)


def test_query_sets_are_topics_named_by_their_texts(write):
    query_set = {"id": "s", "name": "top", "querySetQueries": [{"queryText": "tv"}, {"queryText": "red dress"}]}
    assert read(write, hits(query_set), read_topics).queries == {"tv": "tv", "red dress": "red dress"}
    lines = (
        '{"queryText": "tv", "referenceAnswer": "a screen", "lang": "en", "stock": true}\n\n{"queryText": "car"}\n'
    )
    topics = read_topics(write("queries.ndjson", lines))
    listed = [{"queryText": "tv"}, {"queryText": "car"}]
    assert read(write, listed, read_topics).queries == {"tv": "tv", "car": "car"}
    assert topics.queries == {"tv": "tv", "car": "car"}
    assert topics.tags == {"tv": {"lang": "en", "stock": "true"}, "car": {}}
    with pytest.raises(TopicsFormatError, match=r"q\.ndjson:2: queryText: expected a text"):
        read_topics(write("q.ndjson", '{"queryText": "tv"}\n{"queryText": ""}\n'))


def order(run):
    return {topic: list(ranking) for topic, ranking in run.by_topic().items()}


def pairwise(**changes):
    snapshots = [
        {"searchConfigurationId": name, "docIds": ids} for name, ids in (("old", ["1", "2"]), ("new", ["2"]))
    ]
    results = [{"query_text": "tv", "snapshots": snapshots, "metrics": [{"metric": "jaccard", "value": 0.5}]}]
    return {"id": "e", "type": "PAIRWISE_COMPARISON", "status": "COMPLETED", "results": results} | changes


def test_a_pairwise_experiment_has_two_rankings(write):
    assert order(read(write, hits(pairwise()), read_run, part="old")) == {"tv": ["1", "2"]}
    assert order(read_run(f"{write('w.json', json.dumps(pairwise()))}#new")) == {"tv": ["2"]}
    with pytest.raises(
        RunFormatError, match="expected one search configuration, found 2 \\('old', 'new'\\); name one"
    ):
        read(write, pairwise(), read_run)


def test_a_pointwise_experiment_says_where_its_rankings_are(write):
    results = [{"evaluationId": "v", "searchConfigurationId": "old", "queryText": "tv"}]
    with pytest.raises(RunFormatError, match="in the index search-relevance-evaluation-result: export its documents"):
        read(write, pairwise(results=results), read_run)


def evaluated(text="tv", configuration="old", **more):
    return {
        "searchConfigurationId": configuration,
        "searchText": text,
        "documentIds": ["2", "1"],
        "metrics": [],
    } | more


def test_evaluation_results_are_rankings(write):
    value = hits(evaluated(), evaluated("car"), evaluated(configuration="new"))
    assert order(read(write, value, read_run, part="old")) == {"tv": ["2", "1"], "car": ["2", "1"]}
    variants = hits(*(evaluated(experimentVariantId=name) for name in ("v1", "v2")))
    assert order(read(write, variants, read_run, part="v2")) == {"tv": ["2", "1"]}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (
            hits(evaluated(), total=120),
            "hits.total.value: expected all documents, found 1 of 120; ask with a larger `size`",
        ),
        (
            hits(evaluated(), total={"value": 1, "relation": "gte"}),
            "expected all documents, found 1 of at least 1; ask with a larger `size`",
        ),
        (hits(evaluated()) | {"timed_out": True}, "expected a whole answer, found one that timed out"),
        (hits(evaluated()) | {"_shards": {"failed": 1}}, "or whose shards failed"),
        (hits(evaluated(), evaluated()), "expected each query once, found 'tv' again; export one experiment"),
        (hits(pairwise(), pairwise()), "expected one experiment, found 2"),
        (hits(pairwise(status="ERROR")), "status: expected 'COMPLETED', found 'ERROR'"),
    ],
)
def test_incomplete_or_mixed_results_are_refused(write, value, problem):
    with pytest.raises(RunFormatError) as caught:
        read(write, value, read_run)
    assert problem in str(caught.value)
