from __future__ import annotations

import re

import pytest

from pytest_riskguard.data import read_qrels
from pytest_riskguard.errors import QrelsFormatError


def test_topics_are_those_with_a_relevant_document_sorted_as_text(write):
    qrels = read_qrels(write("q.txt", "10 0 a 1\n9 0 a 2\n9 0 b -1\n2 0 a 0\n1 0 a -2\n"))
    assert qrels.topics == ("10", "9")
    assert qrels.without_relevant == ("1", "2")
    assert qrels.grades["9"] == {"a": 2, "b": -1}
    assert qrels.path_name == "q.txt"


def test_spaces_tabs_crlf_and_blank_lines_are_read_alike(write):
    plain = read_qrels(write("a", "1 0 d1 1\n2 0 d2 0\n"))
    other = read_qrels(write("b.gz", "\ufeff1\t0\td1\t1\r\n\r\n  2   0  d2   0  "))
    assert plain.grades == other.grades
    assert plain.digest != other.digest


def test_only_ascii_space_separates_columns(write):
    assert read_qrels(write("a", "1 0 caf\u00e9\u00a0noir 1\n")).grades["1"] == {"caf\u00e9\u00a0noir": 1}


def test_grades_may_be_real_numbers_and_whole_ones_are_whole(write):
    grades = read_qrels(write("a", "1 0 d1 3.0\n\n1 0 d2 0.5\n1 0 d3 -1.0\n1 0 d4 1e1\n")).grades["1"]
    assert grades == {"d1": 3, "d2": 0.5, "d3": -1, "d4": 10}
    assert [type(grade) for grade in grades.values()] == [int, float, int, int]


COLUMNS = "expected 4 columns (topic iteration docid grade)"
GRADE = "expected a number from -1000 to 1000 as the grade"
TWICE = "expected each document once per topic, found 'd1' of topic '1' also on line 1"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1 0 d1 1\n1 0 d2\n", f":2: {COLUMNS}, found 3: '1 0 d2'"),
        ("1 0 d1 1 x\n", f":1: {COLUMNS}, found 5: '1 0 d1 1 x'"),
        ("1 0 d1 1.0.0\n", f":1: {GRADE}, found 1.0.0"),
        ("1 0 d1 nan\n", f":1: {GRADE}, found nan"),
        ("1 0 d1 inf\n", f":1: {GRADE}, found inf"),
        ("1 0 d1 1000.5\n", f":1: {GRADE}, found 1000.5"),
        ("1 0 d1 yes\n", f":1: {GRADE}, found yes"),
        ("1 0 d1 1_0\n", f":1: {GRADE}, found 1_0"),
        ("1 0 d1 1001\n", f":1: {GRADE}, found 1001"),
        ("1 0 d1 -1001\n", f":1: {GRADE}, found -1001"),
        ("", f": {COLUMNS}, found an empty file"),
        ("\n \n", f": {COLUMNS}, found an empty file"),
        ("1 0 d1 0\n", ": expected at least one relevant document (grade above 0), found none"),
        (
            "1 0 d1 1\n\n1 0 d2 1\n1 0 d1 0\n",
            f":4: {TWICE} (grade 1, then 0); keep one of the two lines",
        ),
        ("1 0 d1 1\n1 0 d1 1\n", f":2: {TWICE} (grade 1 twice)"),
        (
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
            f":1: {COLUMNS}; found a Git LFS pointer instead of the file; run `git lfs pull`",
        ),
        ("1 0 d1 1\n<<<<<<< HEAD\n1 0 d2 1\n", f":2: {COLUMNS}; found a merge conflict marker"),
        (">>>>>>> 12ab (fix ties)\n", f":1: {GRADE}; found a merge conflict marker"),
    ],
)
def test_what_is_no_qrels_is_refused_with_file_and_line(write, text, problem):
    path = write("q.txt", text)
    with pytest.raises(QrelsFormatError, match=re.escape(f"{path}{problem}")) as caught:
        read_qrels(path)
    assert caught.value.reason == "bad_qrels"
    assert caught.value.problem.startswith("q.txt:")


def test_bad_lines_are_named_together(write):
    path = write("q.txt", "1 0 d1 1\n1 0 d2\n1 0 d3 high\n\n1 0 d4 1\n1 0 d5 2000\n")
    with pytest.raises(QrelsFormatError) as caught:
        read_qrels(path)
    assert str(caught.value) == f"{path}:2: {COLUMNS}, found 3: '1 0 d2' (lines 3, 6 are wrong, too)"


def test_cranfield_as_found_reads(shared):
    qrels = read_qrels(shared / "data/cranfield_runs/qrels.txt")
    assert (len(qrels.topics), qrels.without_relevant) == (225, ())


def test_web_2012_as_found_reads_with_its_negative_grades(shared):
    qrels = read_qrels(shared / "data/web2012_runs/qrels.adhoc.txt.gz")
    assert len(qrels.topics) == 50
    assert {grade for judged in qrels.grades.values() for grade in judged.values()} == {-2, 0, 1, 2, 3, 4}
