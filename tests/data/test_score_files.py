"""Files of per-topic scores, as tools and people write them: what is read, and what is refused with file and line."""

import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from pytest_riskguard.data import TopicScores, read_scores, write_scores
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.measures import MAX_SCORE
from pytest_riskguard.data.memory import topic_scores
from pytest_riskguard.data.scores import named
from pytest_riskguard.errors import DataError, ScoresFormatError, ScoringError, UsageError

TABLE = "topic\tnDCG@10\tAP\nq1\t0.5\t0.25\nq2\t1.0\t0.125\n"
SAME = {
    "quotes.csv": '\ufeffquery_id,"nDCG@10",MAP\r\nq2,1e0,0.125\r\n\r\n"q1",0.5,.25\r\n',
    "tabs.csv": "\nqid\tndcg_cut_10\tAP\nq1\t0.5\t0.25\nq2\t1.0\t0.125",
    "trec_eval.txt": (
        "runid                 \tall\tbm25\nnum_q\tall\t2\n"
        "ndcg_cut_10           \tq1\t0.5\nmap\tq1\t0.25\n\nndcg_cut_10\tq2\t1.0000\nmap\tq2\t0.125\nmap\tall\t0.1\n"
    ),
    "ir_measures.tsv": ("q1\tnDCG@10\t0.5\nq2\tnDCG@10\t1\nq1\tAP\t0.25\nq2\tAP\t0.125\nall\tnDCG@10\t0.75\n"),
    "perquery.csv": (
        "name,qid,measure,value\nBM25,q1,nDCG@10,0.5\nBM25,q1,map,0.25\nBM25,q2,nDCG@10,1\nBM25,q2,map,0.125\n"
    ),
    "pytrec_eval.json": json.dumps({"q2": {"ndcg_cut_10": 1, "map": 0.125}, "q1": {"ndcg_cut_10": 0.5, "map": 0.25}}),
    "ranx.json": json.dumps({"ndcg@10": {"q2": 1, "q1": 0.5}, "map": {"q1": 0.25, "q2": 0.125}}),
}


@pytest.mark.parametrize("name", SAME)
def test_the_scores_of_every_tool_are_those_of_the_table(write, name):
    expected = read_scores(write("table.tsv.gz", TABLE))
    path = write(name, SAME[name])
    for found, table in zip(read_scores(path), expected, strict=True):
        assert (found.measure, found.topics, found.name) == (table.measure, ("q1", "q2"), name.partition(".")[0])
        assert found.values.tolist() == table.values.tolist()
        assert found.digest == f"sha256:{hashlib.sha256(SAME[name].encode()).hexdigest()}"
    ap, ndcg = read_scores(path, ["MAP", "ndcg_cut_10"], name="mine")  # in another order, under one digest
    assert (ap.measure, ap.values.tolist(), ap.name) == ("AP", [0.25, 0.125], "mine")
    assert (ndcg.measure, ndcg.digest) == ("nDCG@10", ap.digest)


def test_a_system_of_several_is_named_behind_the_file(write):
    path = write("perquery.csv", SAME["perquery.csv"] + "DPH,q1,map,0.5\nDPH,q2,map,0.75\n")
    (dph,) = read_scores(GivenFile.of(f"{path}#DPH"))
    assert (dph.name, dph.measure, dph.values.tolist()) == ("perquery#DPH", "AP", [0.5, 0.75])
    with pytest.raises(ScoresFormatError, match=re.escape("found 2; name one as in perquery.csv#NAME: 'BM25'")):
        read_scores(path)
    with pytest.raises(ScoresFormatError, match=r"expected one system named 'PL2', found 0; .*: 'BM25', 'DPH'"):
        read_scores(GivenFile(path, part="PL2"))
    wide = write("wide.csv", "topic,system,AP\nq1,BM25,0.5\nq1,DPH,0.25\n")
    assert read_scores(GivenFile.of(f"{wide}#DPH"))[0].values.tolist() == [0.25]


def test_columns_say_which_measure_each_holds(write):
    more, names = ",4,5,6,7,8,9,10", "'clicks', 'query_no', 'ndcg10', 'map', '4', '5', '6', '7', '8', '9'"
    rows = f"clicks,query_no,ndcg10,map{more}\nx,q2,1.0,0.125{more}\n3,q1,0.5,0.25{more}\n"
    path = write("wide.csv", rows)
    file = GivenFile(path, columns={"topic": "query_no", "nDCG@10": "ndcg10", "MAP": "map"})
    table = read_scores(write("table.tsv", TABLE))
    for measures, expected in ((None, table), (["AP"], table[1:])):
        for own, plain in zip(read_scores(file, measures), expected, strict=True):
            assert (own.measure, own.topics) == (plain.measure, plain.topics)
            assert own.values.tolist() == plain.values.tolist()
    with pytest.raises(ScoresFormatError, match=f"expected a column 'ap', found the columns {names}$"):
        read_scores(GivenFile(path, columns={"topic": "query_no", "AP": "ap"}))
    long = write("long.csv", "measure,q,result\nAP,q1,0.25\n")
    (ap,) = read_scores(GivenFile(long, columns={"topic": "q", "value": "result"}))
    assert (ap.measure, ap.values.tolist()) == ("AP", [0.25])


def test_a_column_of_the_users_own_has_no_range_and_others_are_not_read(write):
    path = write("a.csv", "topic,query,clicks per visit,NumRet,SDCG(max_rel=4)@10\nall,how to,12.5,100,-2\n")
    found = read_scores(path, ["clicks per visit", "NumRet", "SDCG(max_rel=4)@10"])
    assert [scores.values.tolist() for scores in found] == [[12.5], [100], [-2]]


def test_a_format_may_be_forced(write):
    path = write("a.txt", "clicks q1 7\nclicks q2 9\n")
    with pytest.raises(ScoresFormatError, match="but 'clicks' is not a measure of trec_eval"):
        read_scores(path)
    (clicks,) = read_scores(GivenFile(path, format="trec_eval"))
    assert (clicks.measure, clicks.values.tolist()) == ("clicks", [7, 9])
    with pytest.raises(UsageError, match="did you mean 'trec_eval'"):
        read_scores(GivenFile(path, format="trec"))


WIDE = "expected a table with the header topic,<measure>,... (commas, semicolons or tabs)"
ID = "on one line, without spaces around it, found"


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        # a table with a column for each measure
        ("s.csv", "topic,nDCG@1\n1,1\n", ": expected a measure 'nDCG@10', found 'nDCG@1'; did you mean 'nDCG@1'?"),
        ("s.csv", "topic,query\n1,a\n", ": expected a measure 'nDCG@10', found no measures"),
        ("s.csv", "topic,nDCG@10\n1,0\n2,0,1\n", ":3: expected 2 columns (topic, nDCG@10), found 3: '2,0,1'"),
        ("s.csv", "topic,nDCG@10\n1,0.5\n1,0.6\n", ":3: expected each topic once, found nDCG@10 of topic '1' twice"),
        *(
            ("s.csv", f"topic\tnDCG@10\n1\t{cell}\n", f":2: expected a number as the nDCG@10, found '{cell}'")
            for cell in ("high", "NaN", "inf", "1_0", "0,5")
        ),
        ("s.csv", "topic,nDCG@10\n2,1\n1,\n", ":3: expected nDCG@10 from 0 to 1, found nan (topic '1')"),
        ("s.csv", "topic,nDCG@10\n2,1\n1,1.5\n", ":3: expected nDCG@10 from 0 to 1, found 1.5"),
        ("s.csv", "topic,nDCG@10\n1,-0.5\n", ":2: expected nDCG@10 from 0 to 1, found -0.5"),
        ("s.csv", 'topic,nDCG@10\n"a\nb",0.5\n', f":3: expected a topic {ID} 'a\\nb'"),
        ("s.csv", "1,0.5\n2,0.6\n", f":1: {WIDE}, found another first line: '1,0.5'"),
        ("s.csv", "\n\n", f":1: {WIDE}, found another first line: ''"),
        ("s.csv", "topic,nDCG@10\n", ": expected per-topic scores, found none"),
        (
            "s.csv",
            'topic,nDCG@10\n1,"0.5"x\n',
            ":2: expected lines that end with LF or CRLF, and quotes around whole",
        ),
        ("s.csv", "version https://git-lfs.github.com/spec/v1\n", f":1: {WIDE}, found a Git LFS pointer"),
        # trec_eval and ir_measures
        ("a.txt", "map\tq1\t0.5\nmap\tq1\n", ":2: expected 3 columns (measure, topic, value), found 2"),
        ("a.txt", "map\tq1\t0.5\nmap\tq1\t0.5\n", ":2: expected each topic once, found AP of topic 'q1' twice"),
        (
            "a.txt",
            "map\tq1\t0.5\nbpref\tq1\t1\nmap\tq3\t1\nmap\tq2\t1\n",
            "for every topic, found topic 'q2' without Bpref",
        ),
        ("a.tsv", "q1\tAP\t0.5\nq1\tAP\n", ":2: expected 3 columns (topic, measure, value), found 2"),
        ("a.jsonl", '{"query_id":"1","measure":"AP","value":1}\n{"x":1}\n', f":2: expected a topic {ID} ''"),
        ("a.tsv", "q1\tAP\thigh\n", f":1: {WIDE}, found another first line"),
        # named columns
        ("a.csv", "qid,measure,value\nq1,AP,-\n", ":2: expected a number as the value, found '-'"),
        # JSON
        ("a.json", '{"map": {"q1": true}}', ": 'q1' of measure 'map': expected a number as the value, found True"),
        ("a.json", '{"x": {"y": 0.5}}', "but neither its outer nor its inner keys are all measures"),
        ("a.json", "[1]", "expected scores in a format that riskguard reads; "),
    ],
)
def test_what_holds_no_scores_is_refused_with_file_and_line(write, name, text, problem):
    path = write(name, text)
    with pytest.raises(ScoresFormatError, match=re.escape(problem)) as caught:
        read_scores(path, ["nDCG@10"] if name == "s.csv" else None)
    assert str(caught.value).startswith(str(path))
    assert caught.value.reason == "bad_scores"


@pytest.mark.parametrize(
    ("name", "standard"),
    [
        *(("map", "AP"), ("P_10", "P@10"), ("recall_100", "R@100"), ("recip_rank", "RR"), ("MAP", "AP")),
        *(("ndcg@10-l2", "nDCG@10"), ("map@100-l2", "AP(rel=2)@100"), ("mrr@10", "RR@10"), ("r-precision", "Rprec")),
        *(("hit_rate@5", "Success@5"), ("gm_map", "gm_map"), ("hits@10", "hits@10"), ("clicks", "clicks")),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
    ],
)
def test_measures_have_the_names_of_ir_measures(name, standard):
    assert named(name) == named(standard) == standard


def scores(measure, mapping):
    topics = tuple(sorted(mapping))
    return TopicScores("a", measure, topics, np.array([mapping[topic] for topic in topics]))


def test_a_few_topics_are_one_or_a_twentieth_of_all():
    assert [scores("AP", dict.fromkeys(map(str, range(count)), 0)).a_few for count in (5, 20, 60)] == [1, 1, 3]


def test_scores_grow_up_to_the_reach_of_their_measure():
    assert scores("AP", {"a": 0.25, "b": 0.5}).scaled({"a": 5.0}, reach=1.0).values.tolist() == [1.0, 0.5]


def test_of_some_topics_what_is_said_of_others_is_left_out():
    said = dict.fromkeys(["unanswered", "unknown", "without_relevant", "contradicted"], ("a", "b"))
    kept = replace(scores("AP", {"a": 0.25, "b": 0.5}), **said).only("b".__eq__)
    assert (kept.topics, kept.values.tolist()) == (("b",), [0.5])
    assert [getattr(kept, name) for name in said] == [("b",)] * 4


def test_a_table_is_written_sorted_with_tabs_and_exact_floats_and_read_back(tmp_path):
    path = tmp_path / "scores.tsv"
    written = [
        scores("AP(rel=2,judged_only=True)", {'a "b"': 0.1 + 0.2, "10": 0}),
        scores("NumRet", {"10": 3, 'a "b"': 1}),
    ]
    write_scores(path, written)
    assert path.read_bytes() == (
        b'topic\tAP(rel=2,judged_only=True)\tNumRet\n10\t0.0\t3.0\n"a ""b"""\t0.30000000000000004\t1.0\n'
    )
    for again, first in zip(read_scores(path), written, strict=True):
        assert (again.topics, again.values.tolist()) == (first.topics, first.values.tolist())


def test_the_largest_score_is_a_score_and_the_next_is_none():
    for size in (MAX_SCORE, -MAX_SCORE):
        assert topic_scores({"q": size}, "s").values.tolist() == [size]
        with pytest.raises(DataError, match=r"s, topic 'q': expected value from -1e\+50 to 1e\+50, found"):
            topic_scores({"q": np.nextafter(size, size * 2)}, "s")
        with pytest.raises(ScoringError, match=r"expected a finite number of at most 1e\+50 in size"):
            scores("AP", {"q": np.nextafter(size, size * 2)})
