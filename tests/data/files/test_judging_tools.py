"""Files of tools in which documents are judged: what is read, and what is refused, with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_riskguard.data.collection import read_topics
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.records import Agreement, TopicKeys
from pytest_riskguard.errors import DataError
from tests.data.files.read import found, ranked, written

# Learning to rank

LTR = "\n3.0 qid:12 # d1 red shoes\n\n0.5 qid:12 1:0.3 2:7 # d2 red shoes\n1 qid:13 # d1\n"

# Quepid

CASE = 'query,docid,rating\nred shoes,1,3.0\nred shoes, -2,0.5\n" =1+1, please",a b,1\nboots,,\nred shoes,4,'
BOOK = "query,docid,Ann Lee,Bob\nshoes,1,3,2\nshoes,2,0,0\nshoes,3,,1.0\nshoes,4,,\n"
ANN = {"rating": 3.0, "user_email": "ann@x.org"}
PAIRS = [
    {"query_text": "shoes", "doc_id": "1", "judgements": [ANN, {"rating": 2}]},
    {"query_text": "shoes", "doc_id": "2", "judgements": [ANN | {"rating": 0}, {"rating": 0.0}]},
    {"query_text": "shoes", "doc_id": 3, "judgements": [ANN | {"unrateable": True}, {"rating": 1}]},
    {"query_text": "shoes", "doc_id": "4", "judgements": [ANN | {"rating": None}]},
    {"query_text": "shoes", "doc_id": "5"},
]
HEADER = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\r\n"
DETAILED = "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating,price\r\n"
SCORED = '"a, b",Case,7,shoes,d2,2,A 19"" monitor,3,9\r\n'
EXPORT = f"{DETAILED}{SCORED}t,Case,7,shoes,d1,1,,--,9\r\nt,Case,7,boots,,,,,\r\n"


def rows(*rows: tuple[str, str, str, object], time: str = "2026-01", header: str = HEADER) -> str:
    """A table of snapshots: name, query, document and position in each row."""
    return header + "".join(f"{name},{time},7,{query},{d},{position}\r\n" for name, query, d, position in rows)


ODD = ['19"" monitor', '""best"" shoes', '"red, or ""blue"""', '"two\nlines"', " =1+1"]
TWO = rows(("june", "shoes", "d1", 1), ('"july, new"', "shoes", "d2", 1))
TWICE = rows(("june", "boots", "d1", 1)) + rows(("june", "shoes", "d2", 1), time="2026-02", header="")


def snapshot(**changes: Any) -> dict[str, Any]:
    docs = {"12": [{"id": "d2"}, {"id": "d1", "rated_only": False}, {"id": "d9", "rated_only": True}], "13": []}
    queries = [{"query_id": 12, "query_text": "shoes"}, {"query_id": 13, "query_text": "boots"}]
    return {"id": 5, "name": "june", "docs": docs | {"99": [{"id": "d1"}]}, "queries": queries} | changes


JULY = snapshot(name="july", docs={"13": [{"id": 7}]})

# OpenSearch's Workbench


def hits(*sources: Any, total: Any = None) -> dict[str, Any]:
    kept = [{"_index": "i", "_id": str(place), "_source": source} for place, source in enumerate(sources)]
    total = total if isinstance(total, dict) else {"value": len(kept) if total is None else total}
    return {"timed_out": False, "_shards": {"failed": 0}, "hits": {"total": total, "hits": kept}}


def judged(name: str = "people", id_: str = "j1", **changes: Any) -> dict[str, Any]:
    ratings = [{"docId": "B1", "rating": "3.000"}, {"docId": "B2", "rating": "0.25"}, {"docId": "B3", "rating": ""}]
    rated = [{"query": "tv", "ratings": ratings}]
    return {"id": id_, "name": name, "status": "COMPLETED", "judgmentRatings": rated} | changes


CLICKS = judged("clicks", "j2", judgmentRatings=[{"query": "tv", "ratings": [{"docId": "B2", "rating": "1.7"}]}])
QUERIES = [{"queryText": "tv", "referenceAnswer": "a screen", "lang": "en", "stock": True}, {"queryText": "car"}]


def pairwise(**changes: Any) -> dict[str, Any]:
    sides = (("old", ["1", "2"]), ("new", ["2"]))
    snapshots = [{"searchConfigurationId": name, "docIds": ids} for name, ids in sides]
    results = [{"query_text": "tv", "snapshots": snapshots}]
    return {"id": "e", "status": "COMPLETED", "results": results} | changes


def evaluated(text: str = "tv", configuration: str = "old", **more: Any) -> dict[str, Any]:
    return {"searchConfigurationId": configuration, "searchText": text, "documentIds": ["2", "1"]} | more


EVALUATED = hits(evaluated(), evaluated("car"), evaluated(configuration="new"))
VARIANTS = hits(*(evaluated(experimentVariantId=name) for name in ("v1", "v2")))
POINTWISE = pairwise(results=[{"evaluationId": "v", "searchConfigurationId": "old", "queryText": "tv"}])

# _rank_eval


def rating(document: str, grade: object, index: str = "hotels") -> dict[str, Any]:
    return {"_index": index, "_id": document, "rating": grade}


def request(name: str, query: Any, *ratings: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "request": {"query": query}, "ratings": list(ratings)} | more


def requests(*asked: Any) -> dict[str, Any]:
    return {"requests": list(asked), "metric": {"dcg": {"k": 20}}}


MATCH = {"match": {"title": {"query": "red shoes", "operator": "and"}}}
BOTH = {"bool": {"should": [{"multi_match": {"query": "boots", "fields": ["a"]}}, {"match": {"title": "boots"}}]}}
ASKED = requests(request("q1", MATCH, rating("1", 3), rating("2", 0)), request("q2", BOTH, rating("1", 1)))
TEMPLATE = request("q1", {}, rating("1", 1), params={"query_string": "shoes", "size": "5"}, template_id="t")
TEXTS = {"bool": {"must": [{"match": {"a": "red"}}, {"match": {"b": "shoes"}}]}}
IN_TWO = requests(request("q1", {}, rating("1", 3), rating("1", 0, index="flights")))


def hit(document: str, score: object, index: str = "hotels") -> dict[str, Any]:
    return {"hit": {"_index": index, "_id": document, "_score": score}, "rating": None}


def response(failures: Any = None, **details: Any) -> dict[str, Any]:
    listed = {topic: {"hits": found} for topic, found in details.items()}
    return {"metric_score": 0.5, "details": listed, "failures": failures or {}}


ANSWER = response(q1=[hit("b", 2.5), hit("a", 2.5)], q2=[hit("x", None), hit("a", None)], q3=[])
ORDER = {"q1": ["b", "a"], "q2": ["x", "a"]}
LATE = {
    "q2": {"error": {"type": "parsing_exception", "reason": "no [matches] query"}},
    "q3": {"error": "late\x1b[2J"},
}

# The Rated Ranking Evaluator


def query(text: str, **more: Any) -> dict[str, Any]:
    return {"template": "t.json", "placeholders": {"$query": text, "$rows": "10"}} | more


GROUP = {
    "name": "shoes",
    "queries": [query("red shoes"), query("shoes red")],
    "relevant_documents": {"3": ["1", 2], "1": ["4"]},
}
GRADED = {"1": 3, "2": 3, "4": 1}
GAINS = {"1": {"gain": 3}, "4": {"gain": "0.5"}}
GAINED = {"1": 3, "4": 0.5}
HATS = GROUP | {"queries": [query("red shoes"), query("hats", relevant_documents=GAINS)]}
NAMED = {"placeholders": {"$q": "shoes", "$lang": "en"}, "relevant_documents": [{"1": {"gain": 1}}]}


def rated(**relevant: Any) -> dict[str, Any]:
    return {"queries": [query("a", relevant_documents=documents) for documents in relevant.values()]}


READ: list[Any] = [
    ("r.txt", LTR, None, {"12": {"d1": 3, "d2": 0.5}, "13": {"d1": 1}}),
    ("case.csv", CASE, None, {"red shoes": {"1": 3, "-2": 0.5}, "=1+1, please": {"a b": 1}}),
    (
        "case.json",
        {"queries": [{"query": "red shoes", "ratings": {"1": 3.0, "2": None}}, {"query": "boots", "ratings": {}}]},
        None,
        {"red shoes": {"1": 3}},
    ),
    ("book.csv", BOOK, None, {"shoes": {"1": 2.5, "2": 0, "3": 1}}),
    ("book.json", {"query_doc_pairs": PAIRS}, None, {"shoes": {"1": 2.5, "2": 0, "3": 1}}),
    ("quoted.csv", 'query,docid,"Lee, Ann"\nshoes,"",""\n"a ""b""",1,"2"\n', None, {'a "b"': {"1": 2}}),
    ("s.csv", rows(*(("june", "shoes", f"d{p}", p) for p in (2, 10, 1))), "june", {"shoes": ["d1", "d2", "d10"]}),
    ("s.csv", rows(*(("june", "shoes", d, 1) for d in ("b", "c", "a"))), "2026-01", {"shoes": ["b", "c", "a"]}),
    ("s.csv", TWO, "june", {"shoes": ["d1"]}),
    ("s.csv", TWO, "july, new", {"shoes": ["d2"]}),
    ("s.csv", TWICE, "2026-02", {"shoes": ["d2"]}),
    *(
        (name, rows(("june", '19"" monitor', "d1", 1)), "june", {'19" monitor': ["d1"]})
        for name in ("s.txt", "s.gz.csv", "latest", "S.CSV")
    ),
    ("s.json", snapshot(), "june", {"shoes": ["d2", "d1"]}),
    ("s.json", {"snapshots": [snapshot(), JULY]}, "july", {"boots": ["7"]}),
    ("s.json", [snapshot(), JULY | {"name": "june", "id": 6}], "6", {"boots": ["7"]}),
    ("export.csv", EXPORT, None, {"shoes": {"d2": 3}}),
    ("export.csv", EXPORT, "Case", {"shoes": ["d1", "d2"]}),
    (
        "older.csv",
        (DETAILED + SCORED).replace("Doc Position,", "").replace("d2,2,", "d2,"),
        "Case",
        {"shoes": ["d2"]},
    ),
    *(
        ("w.json", value, None, {"tv": {"B1": 3, "B2": 0.25}})
        for value in (hits(judged()), judged(), {"_id": "j1", "_source": judged()}, [{"_source": judged()}])
    ),
    *(("w.json", hits(judged(), CLICKS), part, {"tv": {"B2": 1.7}}) for part in ("clicks", "j2")),
    ("w.json", hits({"id": "s", "querySetQueries": QUERIES}), None, {"tv": "tv", "car": "car"}),
    ("w.json", QUERIES, None, {"tv": "tv", "car": "car"}),
    ("w.jsonl", QUERIES, None, {"tv": "tv", "car": "car"}),
    ("w.json", hits(pairwise()), "old", {"tv": ["1", "2"]}),
    ("w.json", pairwise(), "new", {"tv": ["2"]}),
    ("w.json", EVALUATED, "old", {"tv": ["2", "1"], "car": ["2", "1"]}),
    ("w.json", VARIANTS, "v2", {"tv": ["2", "1"]}),
    ("r.json", ASKED, None, {"q1": {"1": 3, "2": 0}, "q2": {"1": 1}}),
    ("r.json", ASKED, None, {"q1": "red shoes", "q2": "boots"}),
    ("r.json", requests(TEMPLATE), None, {"q1": "shoes"}),
    ("r.json", IN_TWO, None, {"q1": {"hotels/1": 3, "flights/1": 0}}),
    ("r.json", ANSWER, None, ORDER),
    ("r.json", {"rank_eval": ANSWER}, None, ORDER),
    (
        "r.json",
        response(q1=[hit("a", 1.0), hit("x", None), hit("b", 2.0)], q2=[hit("a", 1.0)]),
        None,
        {"q1": ["a", "x", "b"], "q2": ["a"]},
    ),
    ("r.json", response(q1=[hit("1", 2.0), hit("1", 1.0, index="flights")]), None, {"q1": ["hotels/1", "flights/1"]}),
    ("rre.json", {"query_groups": [GROUP]}, None, {"red shoes": GRADED, "shoes red": GRADED}),
    ("rre.json", {"topics": [{"query_groups": [HATS]}]}, None, {"red shoes": GRADED, "hats": GAINED}),
    (
        "rre.json",
        {"queries": [query("shoes", relevant_documents=GAINS), query("hats", relevant_documents={})]},
        None,
        {"shoes": GAINED},
    ),
    ("rre.json", {"query_placeholder": "$q", "queries": [NAMED]}, None, {"shoes": {"1": 1}}),
    (
        "rre.json",
        {"queries": [{"placeholders": {"$q": "shoes"}, "relevant_documents": GAINS}]},
        None,
        {"shoes": GAINED},
    ),
    ("rre.json", rated(one=GAINS, same=GAINS), None, {"a": GAINED}),
]


def kind_of(expected: Any) -> Any:
    """What a file is read as."""
    kinds: dict[type, str] = {dict: "judgements", list: "rankings", str: "topics"}
    return kinds[type(next(iter(expected.values())))]


@pytest.mark.parametrize(("name", "content", "part", "expected"), READ)
def test_what_a_tool_writes_is_read(write, name, content, part, expected):
    assert found(written(write, name, content), kind_of(expected), part) == expected


def test_quotes_are_doubled_even_in_cells_that_are_not_quoted(write):
    path = write("s.csv", rows(*(("june", cell, '"d,1"', 1) for cell in ODD)))
    assert ranked(path) == {
        text: ["d,1"] for text in ('"best" shoes', '19" monitor', "=1+1", 'red, or "blue"', "two lines")
    }


def test_texts_are_kept_and_find_the_topics(write):
    assert read_qrels(write("r.txt", LTR)).texts == {"12": "red shoes"}
    keys = TopicKeys({"q1": "Red shoes", "q2": "red  shoes"})
    assert set(read_qrels(write("case.csv", CASE), keys).grades) == {"q2", "=1+1, please"}
    tags = read_topics(written(write, "w.jsonl", QUERIES)).tags
    assert tags == {"tv": {"lang": "en", "stock": "true"}, "car": {}}


SAID = "2 judges disagree on 1 of 2 documents that several graded (50%); the median of their grades counts"


def test_judges_of_a_book_agree_or_not(write):
    for name, content in (("b.csv", BOOK), ("b.json", {"query_doc_pairs": PAIRS})):
        agreement = read_qrels(written(write, name, content)).agreement
        assert agreement == Agreement(judges=2, shared=2, disputed=1)
        assert str(agreement) == SAID
    assert read_qrels(write("b.csv", "query,docid,Ann\nshoes,1,3\n")).agreement is None
    never = read_qrels(write("b.csv", "query,docid,Ann,Bob\nshoes,1,3,\nshoes,2,,1\n")).agreement
    assert str(never).startswith("2 judges disagree on 0 of 0 documents that several graded;")


JUDGED = [
    ("r.txt", "3 qid:1 # d1 a\n3 qid:1\n", "r.txt:2: expected `rating qid:<id> # <docid> <query text>`"),
    ("r.txt", "3 qid:1 # d1 a\nhigh qid:1 # d2 a\n", "r.txt:2: expected `rating qid:<id>"),
    ("r.txt", "3 qid:1 1:0.5\n", "the nearest is ltr, but its first line names no document after a #"),
    ("a.csv", "query,docid,rating\na,1,2,3\n", "a.csv:2: expected 3 columns as in the header, found 4"),
    ("a.csv", "query,docid,rating\na,1,high\n", "a.csv:2: expected a number as the rating, found 'high'"),
    ("a.csv", "query,docid,rating\n,1,2\n", "a.csv:2: expected a query and a docid beside a rating"),
    ("a.csv", "query,docid,rating\na,,2\n", "a.csv:2: expected a query and a docid beside a rating"),
    ("a.csv", "query,docid,rating\na,1,2\na,1,2\n", "a.csv:3: expected each document once per topic"),
    ("a.csv", "query,docid,rating\na,1,2000\n", "a.csv:2: expected a number from -1000 to 1000"),
    ("a.csv", "query,docid,rating\na,1,\n", "expected judgements, found none"),
    ("a.json", {"queries": [{"query": "a", "ratings": {"1": "x"}}]}, "queries[0].ratings.1: expected a number"),
    ("a.json", {"queries": [{"query": "a", "ratings": []}]}, "queries[0].ratings: expected an object, found a list"),
    ("a.json", {"queries": [{"query": "", "ratings": {"1": 1}}]}, "queries[0].query: expected a text, found ''"),
    ("a.json", {"queries": [{"query": "a", "ratings": {"1": 1}}] * 2}, "each document once per topic"),
    ("a.json", {"queries": [{"query": "a", "ratings": {"1": 1}}, 7]}, "queries[1]: expected an object, found 7"),
    ("b.csv", "query,docid,Ann,Ann\nshoes,1,3,2\n", "b.csv:1: expected a name of its own for every judge"),
    ("b.csv", "query,docid,Ann,\nshoes,1,3,2\n", "b.csv:1: expected a name of its own for every judge"),
    ("b.csv", "query,docid,Ann\nshoes,1\n", "b.csv:2: expected 3 columns as in the header, found 2"),
    ("b.csv", "query,docid,Ann,Judge\nshoes,1,2,x\n", "expected judgements in a format that"),
    ("b.json", {"query_doc_pairs": [{"doc_id": "1"}]}, "query_doc_pairs[0]: expected a key 'query_text'"),
    (
        "b.json",
        {"query_doc_pairs": [{"query_text": "a", "doc_id": "1", "judgements": [{"rating": 1}, {"rating": 2}]}]},
        "expected each document once per topic, found '1' of topic 'a' twice",
    ),
    ("d.csv", f"{DETAILED}t,Case,7,shoes,d1,1,,good,9\r\n", "d.csv:2: expected a number as the rating, found 'good'"),
    ("w.json", hits(judged(), CLICKS), "expected one judgement list, found 2: 'people', 'clicks'; name one, as in"),
    ("w.json", hits(judged(), CLICKS | {"name": "people"}), "found 2: 'j1', 'j2'; name one, as in 'w.json#j1'"),
    ("w.json", hits(judged(status="PROCESSING")), "status: expected 'COMPLETED', found 'PROCESSING'"),
    (
        "w.json",
        hits(judged(judgmentRatings=[{"query": "tv", "ratings": [{"docId": "B1"}]}])),
        "hits.hits[0]._source.judgmentRatings[0].ratings[0]: expected a key 'rating', found an object with the keys",
    ),
    ("r.json", requests(request("q1", {}, {"_id": "1", "rating": 1})), "ratings[0]: expected a key '_index'"),
    ("r.json", requests(request("q1", {}, rating("1", "x"))), "ratings[0].rating: expected a number, found 'x'"),
    ("r.json", requests(request("q1", {}, rating("1", True))), "ratings[0].rating: expected a number, found True"),
    (
        "r.json",
        requests(request("q1", {}), {"id": None, "ratings": []}),
        "requests[1]: expected a key 'id', found null",
    ),
    ("rre.json", rated(one=GAINS, other={"1": {"gain": 1}}), "queries[1]: expected one list of relevant documents"),
    ("rre.json", rated(one={"high": ["1"]}), "relevant_documents.high: expected a number as the grade"),
    ("rre.json", rated(one={"1": {"boost": 1}}), "expected a key 'gain', found an object with the keys 'boost'"),
    ("rre.json", rated(one=[{"1": {"gain": 1}}, {"1": {"gain": 2}}]), "once per topic, found '1' of topic 'a' twice"),
    ("rre.json", rated(one={"2": ["1"], "3": ["1"]}), "once per topic, found '1' of topic 'a' twice"),
    (
        "rre.json",
        {"queries": [{"placeholders": {"$a": "x", "$b": "y"}, "relevant_documents": GAINS}]},
        "the placeholder '$query', found $a, $b",
    ),
    (
        "rre.json",
        {"query_groups": [GROUP, {"queries": [query("a")]}]},
        "query_groups[1].queries[0]: expected 'relevant_documents' of the query or of its group, found none",
    ),
]
RANKED = [
    ("s.csv", TWO, "expected one snapshot, found 2: 'june', 'july, new'; name one, as in 's.csv#june'"),
    ("s.csv#may", TWO, "expected a snapshot named 'may', found 'june', 'july, new'"),
    ("s.csv#june", TWICE, "expected one snapshot, found 2: '2026-01', '2026-02'"),
    ("s.csv", HEADER, "expected a snapshot, found none"),
    ("s.csv", rows(("june", "shoes", "d1", "first")), "s.csv:2: expected a number as the position, found 'first'"),
    ("s.csv", rows(("june", '"a\nb"', "d1", 1), ("june", "", "d1", 1)), "s.csv:4: expected a query text"),
    ("s.csv", f"{HEADER}june,now,7,shoes,d1\r\n", "s.csv:2: expected 6 columns as in the header, found 5"),
    ("s.csv", rows(("june", '"shoes', "d1", 1)), "s.csv:2: expected quotes around whole cells, found '\"shoes'"),
    ("s.csv", rows(("june", '"shoes"x', "d1", 1)), "s.csv:2: expected quotes around whole cells"),
    ("s.json", [snapshot(), JULY | {"name": "june", "id": 6}], "expected one snapshot, found 2: '5', '6'"),
    ("w.json", pairwise(), "expected one search configuration, found 2: 'old', 'new'"),
    ("w.json#old", POINTWISE, "in the index search-relevance-evaluation-result: export its"),
    (
        "w.json#old",
        hits(evaluated(), total=120),
        "hits.total.value: expected all documents, found 1 of 120; ask",
    ),
    ("w.json", hits(evaluated(), total={"value": 1, "relation": "gte"}), "found 1 of at least 1; ask with a larger"),
    (
        "w.json",
        hits(evaluated()) | {"timed_out": True},
        "expected a whole answer, found another: the search timed out",
    ),
    ("w.json", hits(evaluated()) | {"_shards": {"failed": 1}}, "found another: shards failed; ask again"),
    ("w.json", hits(evaluated(), evaluated()), "expected each topic once, found 'tv' again"),
    ("w.json#old", hits(pairwise(), pairwise()), "expected one experiment, found 2; export them one by one"),
    ("w.json#old", hits(pairwise(status="ERROR")), "status: expected 'COMPLETED', found 'ERROR'"),
    (
        "r.json",
        response(LATE, q1=[hit("1", 1.0)]),
        "failures: expected answers to all queries, found 2 that failed: 'q2' (no [matches] query), 'q3' (late[2J)",
    ),
]
TOPICS = [
    ("w.jsonl", [{"queryText": "tv"}, {"queryText": ""}], "w.jsonl:2: queryText: expected a text"),
    ("w.jsonl", [{"queryText": "tv"}, {"query": "car"}], "w.jsonl:2: expected a key 'queryText'"),
    *(
        ("r.json", requests(request("q1", query, rating("1", 1))), f"requests[0]: expected one query text {words}")
        for query, words in (
            (TEXTS, "in its request or its params, found 'red', 'shoes'"),
            ({"match_all": {}}, "in its request or its params, found none"),
        )
    ),
]


@pytest.mark.parametrize(
    ("kind", "name", "content", "problem"),
    [
        (kind, *case)
        for kind, cases in (("judgements", JUDGED), ("rankings", RANKED), ("topics", TOPICS))
        for case in cases
    ],
)
def test_bad_content_is_refused_with_its_place(write, kind, name, content, problem):
    file, _, part = name.partition("#")
    with pytest.raises(DataError) as caught:
        found(written(write, file, content), kind, part or None)
    assert problem in str(caught.value)
    assert json.dumps(str(caught.value)).isascii()
