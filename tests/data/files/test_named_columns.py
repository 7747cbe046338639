"""Tables with named columns: which column holds what, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.data.formats import format_of
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.errors import FileError, QrelsFormatError, RunFormatError


@pytest.mark.parametrize(
    "table",
    [
        "query_id,doc_id,title,text,relevance\nq1,d1,A,a,2\nq1,d2,B,b,0\n",
        "qid;docno;label\r\nq1;d1;2.0\r\nq1;d2;0\r\n",
        '\ufeff"QID"\t"docno"\t"label"\t"a; b"\n"q1"\t"d1"\t2\t\n"q1"\t"d2"\t0\t\n',
        ",qid,docid,docno,label\n0,q1,17,d1,2\n1,q1,18,d2,0\n",  # a frame with its index and inner ids
        "qid;docno;label;one, two, three, four, or five\nq1;d1;2;\nq1;d2;0;\n",
        'qid,docno,label,query\nq1,d1,2,"red, or 19"" wide\nin two lines"\nq1,d2,0,\nq1,d3,,\n',
        "qid, docno ,label\n\nq1 ,d1, 2\n,,\nq1,\u00a0d2,0\n",
    ],
)
def test_judgements_are_found_by_the_names_of_columns(write, table):
    assert read_qrels(write("qrels.csv", table)).grades == {"q1": {"d1": 2, "d2": 0}}


def test_columns_that_are_named_in_another_way_are_given(write):
    path = write("qrels.csv", "session;sku;docno;stars\nq1;d1;17;2\n")
    columns = {"topic": "session", "document": "SKU", "grade": "stars"}
    qrels, turned = (read_qrels(GivenFile(path, columns=dict(of))) for of in (columns, reversed(columns.items())))
    assert (qrels.grades, qrels.digest) == ({"q1": {"d1": 2}}, turned.digest)
    assert read_qrels(GivenFile(path, columns=columns | {"document": "docno"})).digest != qrels.digest
    with pytest.raises(QrelsFormatError, match=r"it has no column 'session_id', only 'session', 'sku', 'docno'"):
        read_qrels(GivenFile(path, columns=columns | {"topic": "session_id"}))
    with pytest.raises(QrelsFormatError, match=r"the nearest is csv, but .* it has no column 'sku', only 'x', 'y'"):
        read_qrels(GivenFile(write("a.txt", "x,y\n1,2\n"), columns={"document": "sku"}))


RANKED = "qid,docno,rank,score\nq1,a,1,2\n"


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (
            '[{"qid": "q1", "docno": "d1", "label": 1}, {"qid": "q1", "docno": [], "label": 1}]',
            r":2: expected text or a whole number as the document, found \[\]",
        ),
        ("query,docno,label\na,d1,1\n,d2,1\n", r":3: expected a query, found nothing"),
        ("qid,docno,label\nq1,d1,1_0\n", r":2: expected a number as the grade, found '1_0'"),
        (
            'qid,docno,label\nq1,"d1,1\n',
            r":2: expected lines that end with LF or CRLF, and quotes around whole cells only",
        ),
        ("qid,docno,label,Label\nq1,d1,1,2\n", r"expected one column 'label', found 2"),
        ("qid,docno,label\nq1,a,\nq1,b,1\nq1,b,0\n", ":4: .* found 'b' of topic 'q1' also on line 3"),
        (
            "qid,docno\nq1,d1\n",
            r"the nearest is csv, but its columns do not fit: it names no column for grade \(grade, label, rating, "
            r"relevance, ...\), only 'qid', 'docno'",
        ),
        (
            "qid,query,docid,rating\nq1,red shoes,d1,2\nq1,blue shoes,d2,1\n",
            r":3: expected one query text for each topic, found 'red shoes' and",
        ),
        (RANKED, "its scores stand beside ranks: it holds rankings"),
    ],
)
def test_bad_judgements_are_refused_with_the_line(write, table, problem):
    with pytest.raises(QrelsFormatError, match=problem):
        read_qrels(write("qrels.csv", table))


def test_scores_beside_ranks_may_be_called_grades(write):
    assert read_qrels(GivenFile(write("run.csv", RANKED), columns={"grade": "score"})).grades == {"q1": {"a": 2}}
    joined = "qid,docno,rank,score,label\nq1,a,1,7.5,2\n"  # results with their labels, as PyTerrier joins them
    assert read_qrels(write("joined.csv", joined)).grades == {"q1": {"a": 2}}


UPSIDE_DOWN = "qid,docno,rank,score\nq1,a,1,0.1\nq1,b,2,0.7\nq2,a,1,0.2\nq2,b,2,0.3\nq3,a,1,2\nq3,b,2,1\n"


@pytest.mark.parametrize(
    ("table", "how", "ranking"),
    [
        ("qid,docno,rank\nq2,c,1\nq1,a,2\nq1,b,1\n", {}, ["b", "a"]),
        ("qid,docno,rank,score\nq1,a,2,\nq1,b,1,\nq2,c,1,\n", {}, ["b", "a"]),
    ],
)
def test_scores_rank_documents_or_else_ranks(write, table, how: dict[str, Any], ranking):
    documents = read_run(GivenFile(write("run.csv", table), **how)).by_topic()["q1"]
    falling = sorted(documents, reverse=True)  # equal scores fall by id
    assert sorted(falling, key=lambda name: -documents[name]) == ranking


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (
            "qid,docno,rank\nq1,a,0\nq1,b,0\n",
            r":3: expected a whole number as the rank of 'b', each once in a topic, found 0 again",
        ),
        (
            RANKED + "q1,b,2,\n",
            r":3: expected a finite number as the score of 'b' in topic 'q1', found nothing",
        ),
        ("qid,docno,score\n", "expected rankings, found none"),
        (UPSIDE_DOWN, r"run.csv:[23]: .*every ranking is upside down.*ties: as_returned"),
        (
            ",".join(map(str, range(21))),
            "its first row is data, no header: '0, 1, 2, .*; add a header line query_id,doc_id,score",
        ),
    ],
)
def test_bad_rankings_are_refused_with_the_line(write, table, problem):
    with pytest.raises(RunFormatError, match=problem):
        read_run(write("run.csv", table))


MANY = "".join(f'"q{number}"\t"{number}"" monitor"\n' for number in range(5_000))


@pytest.mark.parametrize(
    ("name", "table", "queries", "tags"),
    [
        (
            *("a.csv", ',Unnamed: 0,__index_level_0__,lang,query,qid\n0,0,0,en,"red, shoes",q1\n'),
            *({"q1": "red, shoes"}, {"lang": "en"}),
        ),
        ("a.tsv", 'qid\tquery\n"q1"\t"19"" monitor"\n"q2"\t"shoes"\n', {"q1": '19" monitor', "q2": "shoes"}, {}),
        ("a.tsv", 'qid\tquery\n"q1"\t"red shoes"\n"q2"\t"19"" monitor"\n', {"q2": '19" monitor'}, {}),
        ("a.tsv", f"qid\tquery\n{MANY}", {"q7": '7" monitor'}, {}),  # the bytes looked at end within quotes
        ("a.csv", "Keywords\nred shoes\n", {"red shoes": "red shoes"}, {}),
    ],
)
def test_topics_have_tags_and_their_columns_any_order(write, name, table, queries, tags):
    topics = read_topics(write(name, table))
    assert {topic: topics.queries[topic] for topic in queries} == queries
    assert topics.tags[next(iter(queries))] == tags


@pytest.mark.parametrize(
    ("name", "named", "expected"),
    [
        ("a.csv", None, "csv"),
        ("a.tsv", None, "tsv"),
        ("A.CSV.gz", None, "csv"),
        ("a", None, "tsv"),
        ("irds:a", "csv", "csv"),
    ],
)
def test_the_format_that_is_named_counts_or_of_those_that_fit_the_name_of_a_file_decides(name, named, expected):
    given = GivenFile(Path(name), format=named)
    file = InputFile(given, error=FileError, content=b"qid\tdocno\tscore\nq1\td1\t1\n")
    assert format_of(file, "rankings").name == expected
