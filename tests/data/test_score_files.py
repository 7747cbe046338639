from __future__ import annotations

import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data import TopicScores, read_scores, write_scores
from pytest_riskguard.data.scores import MAX_SCORE
from pytest_riskguard.errors import ScoresFormatError, ScoringError


def test_a_csv_is_read_by_column(write):
    path = write("system.v1.csv", '\ufefftopic,nDCG@10,"AP(rel=2,judged_only=True)"\r\n9,1e-3,0\r\n\r\n10,0.5,1\r\n')
    ndcg, ap = read_scores(path)
    assert (ndcg.measure, ap.measure) == ("nDCG@10", "AP(rel=2,judged_only=True)")
    assert ndcg.topics == ("10", "9")
    assert ndcg.values.tolist() == [0.5, 0.001]
    assert ap.values.tolist() == [1.0, 0.0]
    assert ndcg.name == "system.v1"
    assert not ndcg.from_run
    assert ndcg.digest is not None
    assert ndcg.qrels_digest is None


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.tsv.gz", "a"])
def test_a_tab_in_the_header_means_tabs_whatever_the_name(write, name):
    (scores,) = read_scores(write(name, "topic\tAP(rel=2,judged_only=True)\n1\t0.5\n"))
    assert scores.measure == "AP(rel=2,judged_only=True)"


def test_columns_are_chosen_by_measure_however_it_is_written(write):
    path = write("a.csv", "topic,NDCG@10,AP\n1,0.5,0.25\n")
    ap, ndcg = read_scores(path, ["MAP", "nDCG@10"], name="mine")
    assert (ap.measure, ap.values.tolist(), ap.name) == ("AP", [0.25], "mine")
    assert (ndcg.measure, ndcg.values.tolist()) == ("nDCG@10", [0.5])


def test_a_column_of_the_users_own_has_no_range(write):
    (scores,) = read_scores(write("a.csv", "topic,clicks per visit,AP\n1,12.5,0.25\n"), ["clicks per visit"])
    assert (scores.measure, scores.values.tolist()) == ("clicks per visit", [12.5])


def test_columns_that_were_not_asked_for_are_not_checked(write):
    (scores,) = read_scores(write("a.csv", "topic,query,AP\n1,how to,0.25\n"), ["AP"])
    assert scores.values.tolist() == [0.25]


def test_unbounded_measures_may_exceed_one(write):
    retrieved, scaled = read_scores(write("a.csv", "topic,NumRet,SDCG(max_rel=4)@10\n1,100,-2\n"))
    assert (retrieved.values[0], scaled.values[0]) == (100.0, -2.0)


TABLE = "expected a table with the header topic,<measure>,... (commas or tabs)"
NUMBER = "expected a finite number in column 'nDCG@10'"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "topic,ndcg@10,AP\n1,0.5,1\n",
            ":1: expected a column 'nDCG@10', found 'ndcg@10', 'AP'; the nearest is 'ndcg@10'",
        ),
        ("\ntopic,AP\n1,0.5\n", ":2: expected a column 'nDCG@10', found 'AP'"),
        ("topic,nDCG@10\n1,0.5\n2,0.5,1\n", ":3: expected 2 columns as in the header, found 3: '2,0.5,1'"),
        ("topic,nDCG@10\n1\n", ":2: expected 2 columns as in the header, found 1"),
        ("topic,nDCG@10\n1,0.5\n1,0.6\n", ":3: expected each topic once, found topic '1' also on line 2"),
        ("topic,nDCG@10\n1,high\n", f":2: {NUMBER}, found 'high'"),
        ("topic,nDCG@10\n1,\n", f":2: {NUMBER}, found ''"),
        ("topic,nDCG@10\n1,NaN\n", f":2: {NUMBER}, found 'NaN'"),
        ("topic,nDCG@10\n1,inf\n", f":2: {NUMBER}, found 'inf'"),
        ("topic,nDCG@10\n1,1_0\n", f":2: {NUMBER}, found '1_0'"),
        ("topic\tnDCG@10\n1\t0,5\n", f":2: {NUMBER}, found '0,5'"),
        ("topic,nDCG@10\n1,1.5\n", ":2: expected nDCG@10 from 0 to 1, found 1.5"),
        ("topic,nDCG@10\n1,-0.5\n", ":2: expected nDCG@10 from 0 to 1, found -0.5"),
        ("topic,nDCG@10\n,0.5\n", ":2: expected a topic in the first column, found ''"),
        ('topic,nDCG@10\n"a\nb",0.5\n', ":3: expected a topic in the first column, found 'a\\nb'"),
        ("topic,nDCG@10,NDCG@10\n1,0,0\n", ":1: expected each measure once, found 'nDCG@10' in two columns"),
        ("topic,nDCG@10,\n1,0.5,\n", ":1: expected a measure as the name of column 3, found ''"),
        ("topic\n1\n", f":1: {TABLE}, found no column of scores"),
        ("topic;nDCG@10\n1;0.5\n", f":1: {TABLE}, found another first line: 'topic;nDCG@10'"),
        ("1,0.5\n2,0.6\n", f":1: {TABLE}, found another first line: '1,0.5'"),
        ("topic,nDCG@10\n", ": expected at least one topic below the header, found none"),
        ("", f": {TABLE}, found an empty file"),
        ("\n\n", f": {TABLE}, found an empty file"),
        ('topic,nDCG@10\n1,"0.5\n2,0.5\n', "expected quotes around whole cells only"),
        ('topic,nDCG@10\n1,"0.5"x\n', ":2: expected quotes around whole cells only"),
        ("version https://git-lfs.github.com/spec/v1\n", f":1: {TABLE}; found a Git LFS pointer"),
        (
            "topic,nDCG@10\n<<<<<<< HEAD\n1,0.5\n",
            ":2: expected 2 columns as in the header; found a merge conflict marker",
        ),
        ("\n\ntopic,nDCG@10\n\n1,x\n", ":5: expected a finite number"),
    ],
)
def test_what_is_no_table_of_scores_is_refused_with_file_and_line(write, text, problem):
    path = write("s.csv", text)
    with pytest.raises(ScoresFormatError, match=re.escape(problem)) as caught:
        read_scores(path, ["nDCG@10"])
    assert str(caught.value).startswith(str(path))
    assert caught.value.reason == "bad_scores"


def scores(measure, mapping):
    topics = tuple(sorted(mapping))
    return TopicScores("a", measure, topics, np.array([mapping[topic] for topic in topics]))


def test_a_table_is_written_sorted_with_tabs_and_exact_floats(tmp_path):
    path = tmp_path / "scores.tsv"
    write_scores(
        path,
        [
            scores("AP(rel=2,judged_only=True)", {"9": 0.1 + 0.2, "10": 0}),
            scores("NumRet", {"10": 3, "9": 1}),
        ],
    )
    assert path.read_bytes() == (
        b"topic\tAP(rel=2,judged_only=True)\tNumRet\n10\t0.0\t3.0\n9\t0.30000000000000004\t1.0\n"
    )


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), min_size=1).map(str.strip).filter(bool),
        st.floats(0, 1),
        min_size=1,
    )
)
def test_what_is_written_reads_back_exactly(tmp_path_factory, mapping):
    buffer = io.BytesIO()
    write_scores(buffer, [scores("AP", mapping)])
    path = tmp_path_factory.mktemp("scores") / "s.tsv"
    path.write_bytes(buffer.getvalue())
    (again,) = read_scores(path)
    assert again.topics == tuple(sorted(mapping))
    assert dict(zip(again.topics, again.values.tolist(), strict=True)) == mapping


def test_scores_that_make_no_table_are_refused():
    target = io.BytesIO()
    with pytest.raises(ValueError, match="all on the same topics"):
        write_scores(target, [])
    with pytest.raises(ValueError, match="all on the same topics"):
        write_scores(target, [scores("AP", {"1": 1}), scores("RR", {"2": 1})])
    with pytest.raises(ValueError, match="each once"):
        write_scores(target, [scores("AP", {"1": 1}), scores("AP", {"1": 1})])
    with pytest.raises(ValueError, match="measures with names"):
        write_scores(target, [scores(None, {"1": 1})])
    for topic in ("a\nb", "", " a"):
        with pytest.raises(ScoringError, match="expected topics on one line"):
            write_scores(target, [scores("AP", {topic: 1})])
    assert target.getvalue() == b""


def test_the_largest_score_is_a_score_and_the_next_is_none():
    for size in (MAX_SCORE, -MAX_SCORE):
        assert TopicScores.from_mapping({"q": size}, name="s").values.tolist() == [size]
        with pytest.raises(ScoringError, match="expected at most 1e\\+50"):
            TopicScores.from_mapping({"q": np.nextafter(size, size * 2)}, name="s")
