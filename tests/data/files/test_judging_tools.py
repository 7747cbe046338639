"""Files of tools in which documents are judged, in other forms than the usual ones: read, or refused with a place."""

import json
from typing import Any

import pytest

from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.errors import DataError
from tests.data.files.read import found, ranked
from tests.data.world import WORLD
from tests.data.written.judging_tools import CASES

TEXT = WORLD.texts["q01"]
FILES = {f"{case.content.__name__} {case.kind}": case for case in CASES}
#: Of these files the plain name says enough.
FILES |= {case.content.__name__: case for case in reversed(CASES)}


def changed(name: str, *change: Any) -> bytes:
    """A file as its tool writes it, of two topics, with another value at a place, or another text for one."""
    content = FILES[name].content(WORLD.only("q01", "q02"))
    for place, value in zip(change[::2], change[1::2], strict=True):
        if not FILES[name].file.endswith(".json"):
            assert place.encode() in content
            content = content.replace(place.encode(), value.encode(), 1)
            continue
        data = json.loads(content)
        *outer, last = (int(step) if step.isdecimal() else step for step in place.split("."))
        inner = data
        for step in outer:
            inner = inner[step]
        if isinstance(inner, list):
            inner[last : last + 1] = [value]
        else:
            inner[last] = value
        content = json.dumps(data).encode()
    return content


def read(write, name: str, content: bytes) -> Any:
    case = FILES[name]
    return found(write(case.file, content), case.kind, case.part)


IN_RESULTS = "hits.hits.0._source"
ONE_MORE = ("hits.total.value", 2, "hits.hits.1")
#: Changes that do not change what is read.
SAME: list[tuple[Any, ...]] = [
    ("_quepid_json", "queries.0.ratings.waiting", None),
    ("_book_json", "query_doc_pairs.0.judgements.2.rating", 3),
    ("_book_json", "query_doc_pairs.0.judgements.1.user_email", None),
    ("_snapshot_json", "docs.99", [{"id": "of-a-deleted-query"}]),
    ("_ltr", "# doc-2", "1:0.3 2:7 # doc-2"),
    ("_judgement_list", f"{IN_RESULTS}.judgmentRatings.0.ratings.3", {"docId": "waiting", "rating": ""}),
    ("_judgement_list", *ONE_MORE, {"_source": {"querySetQueries": []}}),
    *(("_rank_eval_response", "details.q01.hits.1.hit._score", score) for score in (None, 99)),
]


@pytest.mark.parametrize("change", SAME, ids=lambda change: f"{change[0]} {change[1]}")
def test_what_a_tool_may_also_write_is_read_as_the_usual(write, change):
    assert read(write, change[0], changed(*change)) == read(write, change[0], changed(change[0]))


def test_documents_may_stand_alone_in_a_list_or_in_an_object(write):
    for name in ("_judgement_list", "_pairwise"):
        data = json.loads(changed(name))
        stored = data["hits"]["hits"][0]
        for other in (stored, stored["_source"], [stored], [stored["_source"]]):
            assert read(write, name, json.dumps(other).encode()) == read(write, name, changed(name))
    snapshot, response = (json.loads(changed(name)) for name in ("_snapshot_json", "_rank_eval_response"))
    for name, other in (
        ("_pointwise", json.loads(changed("_pointwise"))["hits"]["hits"]),
        ("_quepid_json", json.loads(changed("_quepid_json").replace(b'"doc-2":', b'" doc-2 ":'))),
        ("_snapshot_json", {"snapshots": [snapshot]}),
        ("_rank_eval_response", {"rank_eval": response}),
    ):
        assert read(write, name, json.dumps(other).encode()) == read(write, name, changed(name))
    assert "only-rated" not in read(write, "_snapshot_json", changed("_snapshot_json"))[TEXT]


CASE = 'query,docid,rating\nred shoes, -2,0.5\n" =1+1, please",a b,1\nboots,,\nred shoes,4,'
QUERIES = '{"queryText": "tv", "referenceAnswer": "a", "lang": "en", "stock": true}\n\n{"queryText": "car"}\n'


def test_texts_are_kept_and_find_the_topics(write):
    qrels = read_qrels(write("case.csv", CASE))
    assert qrels.grades == {"red shoes": {"-2": 0.5}, "=1+1, please": {"a b": 1}}
    assert qrels.texts == {"red shoes": "red shoes", "=1+1, please": "=1+1, please"}
    keys = {"q1": "Red shoes", "q2": "red  shoes"}
    assert set(read_qrels(write("case.csv", CASE), keys).grades) == {"q2", "=1+1, please"}
    assert read_qrels(write("r.txt", "3 qid:12 # d1 red shoes\n1 qid:12 # d2 red shoe\n")).texts == {
        "12": "red shoes"
    }
    assert read_topics(write("w.jsonl", QUERIES)).tags == {
        "tv": {"referenceAnswer": "a", "lang": "en", "stock": "true"},
        "car": dict.fromkeys(("referenceAnswer", "lang", "stock"), ""),
    }


def book(*pairs: dict[str, float]) -> bytes:
    """A book of one query, whose documents 1, 2, ... have these ratings by judge."""
    judged = [[{"rating": rating, "user_email": judge} for judge, rating in pair.items()] for pair in pairs]
    rows = [{"query_text": "shoes", "doc_id": place, "judgements": one} for place, one in enumerate(judged, 1)]
    return json.dumps({"query_doc_pairs": rows}).encode()


def test_the_median_of_the_judges_of_a_book_counts(write):
    qrels = read_qrels(write("b.json", book({"Ann": 3, "Bob": 2}, {"Ann": 0, "Bob": 0}, {"Bob": 1}, {})))
    assert qrels.grades == {"shoes": {"1": 2.5, "2": 0, "3": 1}}


HEADER = "Snapshot Name,Snapshot Time,Case Name,Query Text,Doc ID,Doc Position\r\n"


def rows(*rows: tuple[str, str, object], name: str = "june", time: str = "2026-01") -> str:
    """Rows of a snapshot: query, document and position."""
    return "".join(f"{name},{time},7,{query},{d},{position}\r\n" for query, d, position in rows)


ODD = ['19"" monitor', '"red, or ""blue"""', '"two\nlines"', " =1+1"]
PLAIN = ['19" monitor', "=1+1", 'red, or "blue"', "two lines"]
JULY = rows(("shoes", "d2", 1), name='"july, new"')
LATER = rows(("shoes", "d2", 1), time="2026-02")


@pytest.mark.parametrize(
    ("content", "part", "expected"),
    [
        (rows(*(("a", f"d{place}", place) for place in (2, 10, 1))), None, {"a": ["d1", "d2", "d10"]}),
        (rows(("a", "d1", 1), ("nothing found", "", "")), None, {"a": ["d1"]}),
        (rows(*((cell, '" d,1"', 1) for cell in ODD)), None, {text: ["d,1"] for text in PLAIN}),
        (rows(("shoes", "d1", 1)) + JULY, "july, new", {"shoes": ["d2"]}),
        (rows(("shoes", "d1", 1)) + LATER, "2026-02", {"shoes": ["d2"]}),
        (rows(("shoes", "d1", 1)), "7", {"shoes": ["d1"]}),
    ],
)
def test_rows_of_a_snapshot_are_ranked_by_position(write, content, part, expected):
    for name in ("s.csv", "latest", "S.TXT"):
        assert ranked(write(name, HEADER + content), part) == expected


LIST = f"{IN_RESULTS}.judgmentRatings.0"
POINTWISE = [{"evaluationId": "v", "searchConfigurationId": "conf-2", "queryText": "tv"}]
FAILED: dict[str, Any] = dict.fromkeys(["q1", "q2\x1b[2J", *"abcd"])
OTHERS: list[dict[str, Any]] = [{"_source": {"name": name, "judgmentRatings": []}} for name in ("b", "imported")]
REFUSED: list[tuple[Any, ...]] = [
    ("_ltr", "# doc-3", "doc-3", ".txt:6: expected `rating qid:<id> # <docid> <query text>`"),
    ("_ltr", "0.0 qid", "low qid", ".txt:6: expected a number, found 'low'"),
    ("_quepid_csv", "doc-3,", "doc-2,", ".csv:3: expected each document once per topic"),
    ("_quepid_json", "queries.0.ratings.doc-2", "x", "queries.0.ratings.doc-2: expected a number, found 'x'"),
    ("_quepid_json", "queries.1.query", TEXT, "expected each document once per topic"),
    ("_book_json", "query_doc_pairs.0.judgements.1.user_email", "ann@example.org", "expected each document once per"),
    ("_judgement_list", *ONE_MORE, OTHERS[0], "found 2; name one as in judgments.json#NAME: 'imported', 'f1', 'b'"),
    ("_judgement_list", "hits.hits.1", OTHERS[0], "expected all documents, but found 2 hits of {'value': 1"),
    (
        "_judgement_list",
        f"{IN_RESULTS}.status",
        "PROCESSING",
        "status: expected 'COMPLETED', found 'PROCESSING'; exp",
    ),
    ("_rank_eval_response", "failures", FAILED, r"the keys 'q1', 'q2\x1b[2J', 'a', 'b', 'c'; ask again"),
    ("_snapshot_csv", '2""",doc-2,2', '2""",doc-2,first', ".csv:21: expected a whole number as the rank of 'doc-2'"),
    (
        "_snapshot_csv",
        '"red shoes, ""size 1"""',
        "",
        ".csv:2: expected 7 columns as in the header, and a query, found",
    ),
    ("_snapshot_csv", 'red shoes, ""size 2""",doc-2,2', 'a\nb",doc-2,1.5', ".csv:22: expected a whole number as the"),
    ("_snapshot_csv", ',1,19"" monitor', "", ".csv:2: expected 7 columns as in the header, and a query, found"),
    ("_pairwise", f"{IN_RESULTS}.results", POINTWISE, "expected a file with several rankings"),
    ("_pointwise", f"{IN_RESULTS}.experimentVariantId", "conf-2", "expected each topic once, found"),
    ("_pointwise", "hits.total.relation", "gte", "expected all documents, but found 4 hits of {'value': 4, "),
    ("_pointwise", "hits.total.value", 120, "expected all documents, but found 4 hits of {'value': 120, "),
    (
        "_pointwise",
        "hits.total.value",
        9,
        "timed_out",
        True,
        "expected all documents, but hits are missing: timed_out is True; ask again",
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[0]} {case[1]} {case[2]}"[:80])
def test_bad_content_is_refused_with_its_place(write, case):
    name, *change, problem = case
    with pytest.raises(DataError) as caught:
        read(write, name, changed(name, *change))
    assert problem in str(caught.value)


def test_other_tables_may_have_the_columns_of_a_snapshot(write):
    assert ranked(write("s.csv", "Query Text,Doc ID,score\na,d,1\n")) == {"a": ["d"]}


def test_one_of_several_snapshots_must_be_named(write):
    for content, names in (
        (JULY, "'june', 'july, new'"),
        (LATER, "'2026-01', '2026-02'"),
    ):
        path = write("s.csv", HEADER + rows(("shoes", "d1", 1)) + content)
        with pytest.raises(DataError, match=f"expected one snapshot, found 2; name one as in s.csv#NAME: {names}"):
            ranked(path)
    with pytest.raises(DataError, match=r"expected one snapshot named 'may', found 0; .*: '2026-01', '2026-02'"):
        ranked(path, "may")
    with pytest.raises(DataError, match="expected one snapshot, found 0; "):
        ranked(write("s.csv", HEADER))
