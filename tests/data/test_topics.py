import hashlib
import re

import pytest

from pytest_riskguard.data import read_topics
from pytest_riskguard.errors import TopicsFormatError


def test_two_columns_need_no_header(write):
    topics = read_topics(write("t.tsv", 'q1\treset "my" password\r\n\nq2\t\n'))
    assert topics.queries == {"q1": 'reset "my" password', "q2": ""}
    assert topics.tags == {"q1": {}, "q2": {}}
    assert topics.weights == {}
    assert topics.path_name == "t.tsv"
    assert topics.digest is not None


@pytest.mark.parametrize("header", ["topic\tquery", "ID\tText", "qid\ttitle", "query_id\tquery"])
def test_a_header_is_known_by_its_first_two_names(write, header):
    assert read_topics(write("t.tsv", f"\ufeff{header}\n1\ta b\n")).queries == {"1": "a b"}


def test_further_columns_are_tags_and_weight_is_a_number(write):
    topics = read_topics(write("t.tsv.gz", "id\tquery\tWeight\tmarket\n1\ta\t2.5\tde\n2\tb\t1e-3\tus\n"))
    assert topics.weights == {"1": 2.5, "2": 0.001}
    assert topics.tags == {"1": {"market": "de"}, "2": {"market": "us"}}


def test_clusters_are_known_in_any_case_and_an_empty_one_is_none(write):
    topics = read_topics(write("t.csv", "id,query,Cluster,Market\n1,a,c,de\n2,b,c,us\n3,c,,\n"))
    assert topics.tags["1"] == {"cluster": "c", "Market": "de"}
    assert (topics.tags["3"], topics.clusters) == ({"cluster": "", "Market": ""}, {"1": "c", "2": "c"})


def test_the_digest_is_that_of_the_file_and_in_memory_that_of_what_is_said(write):
    text = "topic,query,market,weight\n1,a b,de,2.5\n2,b,us,1.0\n"
    assert read_topics(write("t.csv", text)).digest == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    rows = [
        {"id": "1", "query": "a b", "weight": 2.5, "market": "de"},
        {"id": "2", "query": "b", "weight": 1.0, "market": "us"},
    ]
    turned = [{name: row[name] for name in reversed(row)} for row in reversed(rows)]
    assert read_topics(rows).digest == read_topics(turned).digest
    changed = [
        [{**rows[0], name: other}, rows[1]] for name, other in [("query", "c"), ("weight", 2.0), ("market", "x")]
    ]
    assert len({read_topics(given).digest for given in [rows, *changed]}) == 4


def test_topics_without_ids_are_named_by_their_texts(write):
    path = write("t.jsonl", '{"query": "a  b"}\n{"query": "c"}\n')
    assert read_topics(path).queries == {"a b": "a  b", "c": "c"}
    texts = ["x" * 60, "reset a " * 30 + "a", "reset a " * 30 + "b"]
    names = [*read_topics([{"query": text} for text in texts]).queries]
    assert names == [texts[0], *(f"{texts[1][:47]}~{digits}" for digits in ("410093d9", "3f543b95"))]
    with pytest.raises(TopicsFormatError, match=":2: expected each topic once, found 'a b' again"):
        read_topics(write("t.jsonl", '{"query": "a  b"}\n{"query": "a b"}\n'))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1\ta\n2 b\n", ":2: expected 2 columns (topic, query), found 1: '2 b'"),
        (
            "id\tmarket\tlang\n1\ta\tb\n",
            ": expected topics in a format that riskguard reads; the nearest is tsv, but its columns do not fit",
        ),
        ("id\tquery\tmarket\n1\ta\n", ":2: expected 3 columns (id, query, market), found 2"),
        ("1\ta\n1\tb\n", ":2: expected each topic once, found '1' again"),
        ("1\ta\n \tb\n", ":2: expected a topic on one line, without spaces around it, found ''"),
        ("id\tquery\tx\tx\n1\ta\tb\tc\n", ": expected one column 'x', in any case, found 2"),
        ("id\tquery\tcluster\tCluster\n1\ta\tb\tc\n", ": expected one column 'cluster', in any case, found 2"),
        ("id\tquery\tweight\n1\ta\t0\n", ":2: expected a weight above 0, found 0"),
        ("id\tquery\tweight\n1\ta\tx\n", ":2: expected a number as the weight, found 'x'"),
        ("id\tquery\n", ": expected topics, found none"),
        (
            "version https://git-lfs.github.com/spec/v1\n",
            ":1: expected 2 columns (topic, query), found a Git LFS pointer",
        ),
    ],
)
def test_what_is_no_table_of_topics_is_refused_with_file_and_line(write, text, problem):
    path = write("t.tsv", text)
    with pytest.raises(TopicsFormatError, match=re.escape(f"{path}{problem}")):
        read_topics(path)
