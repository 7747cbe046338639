"""Per-topic scores as tools print them: what is read, and what is refused with file and line."""

from __future__ import annotations

import json
import re

import pytest

from pytest_riskguard.data import read_scores
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.measure_names import standard_name
from pytest_riskguard.errors import ScoresFormatError, UsageError

TABLE = "topic\tnDCG@10\tAP\nq1\t0.5\t0.25\nq2\t1.0\t0.125\n"
SAME = {
    "trec_eval.txt": (
        "runid                 \tall\tbm25\nnum_q\tall\t2\n"
        "ndcg_cut_10           \tq1\t0.5\nmap\tq1\t0.25\n\nndcg_cut_10\tq2\t1.0000\nmap\tq2\t0.125\nmap\tall\t0.1\n"
    ),
    "ir_measures.tsv": ("q1\tnDCG@10\t0.5\nq2\tnDCG@10\t1\nq1\tAP\t0.25\nq2\tAP\t0.125\nall\tnDCG@10\t0.75\n"),
    "ir_measures.jsonl": "".join(
        json.dumps({"query_id": topic, "measure": measure, "value": value}) + "\n"
        for measure, topic, value in [
            *(("nDCG@10", "q1", 0.5), ("nDCG@10", "q2", 1), ("AP", "q1", 0.25), ("AP", "q2", 0.125)),
            ("AP", "all", 0.1875),
        ]
    ),
    "perquery.csv": (
        "name,qid,measure,value\nBM25,q1,nDCG@10,0.5\nBM25,q1,map,0.25\nBM25,q2,nDCG@10,1\nBM25,q2,map,0.125\n"
    ),
    "ranx.json": json.dumps({"ndcg@10": {"q2": 1, "q1": 0.5}, "map": {"q1": 0.25, "q2": 0.125}}),
    "pytrec_eval.json": json.dumps(
        {"q1": {"ndcg_cut_10": 0.5, "map": 0.25}, "q2": {"ndcg_cut_10": 1.0, "map": 0.125}}
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_the_scores_of_every_tool_are_those_of_the_table(write, name):
    expected = read_scores(write("table.tsv", TABLE))
    for given, table in zip(read_scores(write(name, SAME[name])), expected, strict=True):
        assert (given.measure, given.topics, given.digest) == (table.measure, table.topics, table.digest)
        assert given.values.tolist() == table.values.tolist()


def test_one_measure_is_read_under_the_digest_of_the_whole_file(write):
    (ap,) = read_scores(write("bm25.eval", SAME["trec_eval.txt"]), ["MAP"])
    assert (ap.measure, ap.name) == ("AP", "bm25")
    assert ap.digest == read_scores(write("table.tsv", TABLE))[0].digest


def test_a_system_of_several_is_named_behind_the_file(write, tmp_path):
    path = write("perquery.csv", SAME["perquery.csv"] + "DPH,q1,map,0.5\nDPH,q2,map,0.75\n")
    (dph,) = read_scores(GivenFile.of(f"{path}#DPH"))
    assert (dph.name, dph.measure, dph.values.tolist()) == ("perquery#DPH", "AP", [0.5, 0.75])
    with pytest.raises(
        ScoresFormatError, match=re.escape("found 2: 'BM25', 'DPH'; name one of them, such as 'perqu")
    ):
        read_scores(path)
    with pytest.raises(ScoresFormatError, match="expected a system named 'PL2', found 'BM25', 'DPH'"):
        read_scores(GivenFile(path, part="PL2"))


def test_columns_say_which_measure_each_holds(write):
    path = write("wide.csv", "clicks,query_no,ndcg10,map\n7,q2,1.0,0.125\n3,q1,0.5,0.25\n")
    given = GivenFile(path, columns={"topic": "query_no", "nDCG@10": "ndcg10", "MAP": "map"})
    table = read_scores(write("table.tsv", TABLE))
    for measures, expected in ((None, table), (["AP"], table[1:])):
        for own, plain in zip(read_scores(given, measures), expected, strict=True):
            assert (own.measure, own.topics, own.digest) == (plain.measure, plain.topics, plain.digest)
            assert own.values.tolist() == plain.values.tolist()
    with pytest.raises(ScoresFormatError, match=":1: expected one column 'ap', which `columns` names, found none"):
        read_scores(GivenFile(path, columns={"topic": "query_no", "AP": "ap"}))


def test_the_topics_may_have_another_heading(write):
    (ap,) = read_scores(write("a.csv", "query_id,AP\n2,0.5\n"))
    assert (ap.measure, ap.topics) == ("AP", ("2",))


@pytest.mark.parametrize("average", ["all", "amean", "mean"])
def test_rows_of_averages_are_no_topics(write, average):
    (scores,) = read_scores(write("a.csv", f"qid,measure,value\nq1,AP,0.5\n{average},AP,0.5\n"))
    assert scores.topics == ("q1",)


def test_a_topic_may_be_named_as_a_measure_is(write):
    (scores,) = read_scores(write("a.txt", "utility\tnDCG@10\t0.5\nq2\tnDCG@10\t1\n"))
    assert (scores.measure, scores.topics) == ("nDCG@10", ("q2", "utility"))


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.txt", "map\tq1\t0.5\nmap\tq1\n", ":2: expected 3 columns (measure topic value), found 2"),
        ("a.txt", "map\tq1\tnan\n", ":1: expected a finite number as the value, found 'nan'"),
        ("a.txt", "map\tq1\t1.5\n", ":1: expected AP from 0 to 1, found 1.5 (topic 'q1')"),
        ("a.txt", "map\tq1\t0.5\nmap\tq1\t0.5\n", ":2: expected each topic once, found AP of topic 'q1' twice"),
        ("a.txt", "map\tq1\t0.5\nbpref\tq1\t1\nmap\tq2\t1\n", "found AP of topic 'q2' without Bpref"),
        ("a.txt", "map\tall\t0.5\n", "expected per-topic scores, found none"),
        ("a.tsv", "q1\tAP\t0.5\nq1\tAP\n", ":2: expected 3 columns (topic, measure, value), found 2"),
        ("a.tsv", "q1\tAP\t0.5\nq2\tAP\tx\n", ":2: expected a finite number as the value, found 'x'"),
        ("a.tsv", "q1\tAP\t0.5\n\tAP\t0.5\n", ":2: expected a topic and a measure, found '' and 'AP'"),
        ("a.jsonl", '{"query_id":"1","measure":"AP","value":1}\n{"x":1}\n', ":2: expected an object with query_id"),
        ("a.jsonl", '{"query_id":"1","measure":"AP","value":"1"}\n', ":1: expected a finite number as the value"),
        ("a.jsonl", '{"query_id":"1","measure":"AP","value":1}\n{\n', ":2: expected one JSON value in each line"),
        ("a.csv", 'qid,measure,value"\nq1,AP,1\n', ": expected named columns, but it names no column for value"),
        ("a.csv", "qid,measure,value\nq1,AP\n", ":2: expected 3 columns as in the header, found 2"),
        ("a.csv", "qid,measure,value\nq1,AP,-\n", ":2: expected a number as the value, found '-'"),
        ("a.csv", "qid,measure,value\n,AP,1\n", ":2: expected a topic in column 'qid', found nothing"),
        ("a.json", '{"map": {"q1": true}}', "the nearest is ranx-scores, but 'q1' of 'map' has no number"),
        ("a.json", '{"map": {"q1": 2}}', ": expected AP from 0 to 1, found 2.0 (topic 'q1')"),
        ("a.json", '{"x": {"y": 0.5}}', "but neither its outer nor its inner keys are all measures"),
        (
            "a.json",
            '{"stat_test": "fisher", "metrics": ["map"], "model_names": ["a"], "a": {"scores": {"map": 1}}}',
            "but a report of ranx holds only averages; write `run.scores` of each run to a file",
        ),
        (
            "a.json",
            '{"map": {"q\\u0000": 1}}',
            ": expected a topic on one line, without spaces around it, found 'q\\x00'",
        ),
        (
            "a.json",
            '{"map": {"q\\n1": 1}}',
            ": expected a topic on one line, without spaces around it, found 'q\\n1'",
        ),
        ("a.csv", 'qid,measure,value\nq1,"a\nb",1\n', ": expected a measure on one line, without spaces around it"),
        ("a.json", "[1]", "expected scores in a format that riskguard reads; "),
    ],
)
def test_what_holds_no_scores_is_refused_with_file_and_line(write, name, text, problem):
    path = write(name, text)
    with pytest.raises(ScoresFormatError, match=re.escape(problem)) as caught:
        read_scores(path)
    assert str(caught.value).startswith(str(path))


def test_a_format_may_be_forced(write):
    path = write("a.txt", "clicks q1 7\nclicks q2 9\n")
    with pytest.raises(ScoresFormatError, match="but 'clicks' is not a measure of trec_eval"):
        read_scores(path)
    (clicks,) = read_scores(GivenFile(path, format="trec_eval"))
    assert (clicks.measure, clicks.values.tolist()) == ("clicks", [7, 9])
    with pytest.raises(UsageError, match="did you mean 'trec_eval'"):
        read_scores(GivenFile(path, format="trec"))


@pytest.mark.parametrize(
    ("name", "standard"),
    [
        *(
            ("map", "AP"),
            ("P_10", "P@10"),
            ("recall_100", "R@100"),
            ("recip_rank", "RR"),
            ("iprec_at_recall_0.10",) * 2,
        ),
        *(("ndcg@10-l2", "nDCG@10"), ("map@100-l2", "AP(rel=2)@100"), ("mrr@10", "RR@10"), ("r-precision", "Rprec")),
        *(("hit_rate@5", "Success@5"), ("gm_map", "gm_map"), ("hits@10", "hits@10"), ("clicks", "clicks")),
    ],
)
def test_measures_have_the_names_of_ir_measures(name, standard):
    assert standard_name(name) == {"iprec_at_recall_0.10": "IPrec@0.1"}.get(standard, standard)
