"""Every format that is written holds what it was made of, or says what it lacks."""

from __future__ import annotations

import json

import pytest

from pytest_riskguard.data.conversion import convert
from pytest_riskguard.data.formats import FORMATS, kinds_of
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import FileError, UsageError

QRELS = "q1 0 d1 3\nq1 0 d2 0\nq1 0 d3 0.5\nq2 % d%201 1\n"
RUN = "q1 Q0 d2 1 2.5 x\nq1 Q0 d1 2 2.25 x\nq2 % d%201 1 -1e-07 x\n"
TOPICS = "topic\tquery\tkind\tweight\nq1\tred shoes\tbrowse\t2\nq2\twinter coat, long\t\t1\n"
SCORES = "topic\tnDCG@10\tAP\nq1\t0.30000000000000004\t0.25\nq2\t1.0\t1e-17\n"
CONTENT = {"judgements": QRELS, "rankings": RUN, "topics": TOPICS, "scores": SCORES}
OWN = {"judgements": "trec", "rankings": "trec", "topics": "tsv", "scores": "scores"}
TEXTS = Topics.of({"q1": "red shoes", "q2": "winter coat, long"})
WRITTEN = [(known.name, kind) for known in FORMATS for kind in known.writes]


@pytest.mark.parametrize(("name", "kind"), WRITTEN)
def test_what_is_written_and_read_again_is_the_same(write, tmp_path, name, kind):
    path = write("given", CONTENT[kind])
    there = convert(GivenFile(path), tmp_path / "there", kind=kind, to=name, topics=TEXTS)
    assert (there.source.name, there.target.name) == (OWN[kind], name)
    (tmp_path / "there").write_bytes(there.content)
    back = convert(GivenFile(tmp_path / "there", format=name), tmp_path / "x", kind=kind, to=OWN[kind], topics=TEXTS)
    canonical = convert(GivenFile(path), tmp_path / "x", kind=kind, to=OWN[kind]).content
    assert back.content == canonical


def test_what_a_format_cannot_hold_is_said(write, tmp_path):
    for kind in ("judgements", "rankings"):
        path = write("given", CONTENT[kind])
        lost = {to: convert(GivenFile(path), tmp_path, kind=kind, to=to, topics=TEXTS).lost for to in ("trec", "csv")}
        assert lost == {"trec": ("query texts",), "csv": ()}
    for to in ("csv", "jsonl", "tsv"):
        assert convert(GivenFile(write("given", TOPICS)), tmp_path, kind="topics", to=to).lost == ()


def test_that_several_judges_disagree_is_said(write, tmp_path):
    path = write("given.csv", "query_id,docid,rating,judge\nq1,d1,3,ann\nq1,d1,1,ben\nq1,d2,0,ann\n")
    converted = convert(GivenFile(path), tmp_path / "qrels.txt")
    assert converted.content == b"q1 0 d1 2\nq1 0 d2 0\n"
    assert converted.lost[0].startswith("who gave which grade: 2 judges disagree on 1 of 1 document")


def test_texts_of_queries_are_kept(write, tmp_path):
    results = [{"query_text": "red shoes", "snapshots": [{"searchConfigurationId": "c", "docIds": ["d2", "d1"]}]}]
    path = write("experiment.json", json.dumps({"results": results}))
    with_ids = convert(GivenFile(path), tmp_path / "a.csv", topics=TEXTS)
    assert with_ids.content == b"query_id,query,doc_id,rank,score\nq1,red shoes,d2,1,2.0\nq1,red shoes,d1,2,1.0\n"
    without = convert(GivenFile(path), tmp_path / "a.csv")
    assert without.content.splitlines()[1] == b"red shoes,red shoes,d2,1,2.0"
    assert without.lost == with_ids.lost == ()
    row = {"query_id": "q1", "query": "red shoes", "results": [{"corpus_id": "d1", "score": 0.5}]}
    beside = convert(GivenFile(write("predictions.jsonl", json.dumps(row))), tmp_path / "a.csv")
    assert beside.content == b"query_id,query,doc_id,rank,score\nq1,red shoes,d1,1,0.5\n"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (QRELS, ["judgements"]),
        (RUN, ["rankings"]),
        (TOPICS, ["topics"]),
        (SCORES, ["scores"]),
        ("topic,nDCG@10\nq1,0.5\n", ["scores"]),
        ("query_id,docid,rank,score\nq1,d1,1,2\n", ["rankings"]),
        ("query_id,docid,score\nq1,d1,2\n", ["judgements", "rankings"]),
        ("query_id,docid,rank,relevance\nq1,d1,1,2\n", ["judgements", "rankings"]),
        ("[q1 Q0 d1 1 2.5 x\n", ["rankings"]),
        ("query_id,query,docid,rating\nq1,shoes,d1,2\n", ["judgements"]),
        ("query-id\tcorpus-id\tscore\nq1\td1\t2\n", ["judgements"]),
        ("q1\td1\t1\nq1\td2\t2\n", ["rankings"]),
        ('{"_id": "q1", "text": "red shoes"}\n', ["topics"]),
        ("q1\tred shoes\nq2\tcoat\n", ["topics"]),
        (json.dumps({"q1": {"d1": 2}}), ["judgements", "rankings"]),
        (json.dumps({"map": {"q1": 0.5}}), ["scores"]),
        ("map\tq1\t0.5\n", ["scores"]),
        ("what is this\n", []),
    ],
)
def test_what_a_file_holds_is_seen_where_its_columns_say_it(write, text, kinds):
    assert list(kinds_of(InputFile(write("given", text), error=FileError))) == kinds


def test_what_is_not_read_back_is_refused(write, tmp_path, monkeypatch):
    monkeypatch.setattr("pytest_riskguard.data.conversion.write_qrels", lambda _: b"q1 0 d1 2\n")
    with pytest.raises(UsageError, match=r"trec cannot hold what a.txt holds: its column relevance would change"):
        convert(GivenFile(write("a.txt", "q1 0 d1 3\n")), tmp_path / "a.qrels")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_of_formats_that_fit_the_name_of_a_file_decides(write, tmp_path, name):
    converted = convert(
        GivenFile(write(name, "qid\tdocno\tscore\tnote\nq1\td1\t1\tx\n")), tmp_path / "a.run", kind="rankings"
    )
    assert converted.source.name == name[2:]


@pytest.mark.parametrize(
    ("name", "target"),
    [("a.txt", "trec"), ("a.run.gz", "trec"), ("a.csv", "csv"), ("A.jsonl", "jsonl"), ("a.pq", "parquet")],
)
def test_the_name_of_the_new_file_says_its_format(write, tmp_path, name, target):
    assert convert(GivenFile(write("given", RUN)), tmp_path / name).target.name == target


@pytest.mark.parametrize(
    ("content", "to", "problem"),
    [
        (QRELS, None, "x: the name does not say which format to write; say it with --to: "),
        (QRELS, "cvs", "--to: judgements are not written as 'cvs'; did you mean 'csv'"),
        (QRELS, "quepid", "--to: judgements are not written as 'quepid'; these are: parquet, jsonl, csv, trec"),
        ("q 1\td1\n", "scores", "--to: topics are not written as 'scores'"),
        ('{"q1": {"d1": 2}}', "csv", "may hold judgements or rankings; say which it holds with --kind judgements or"),
        ("what is this", "csv", "has no known format; say which it holds with --kind judgements or --kind"),
    ],
)
def test_what_cannot_be_converted_is_refused(write, tmp_path, content, to, problem):
    path = write("given", content)
    with pytest.raises(UsageError, match=problem):
        convert(GivenFile(path), tmp_path / "x", to=to)
