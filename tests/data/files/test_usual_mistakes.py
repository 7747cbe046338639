"""Files as people save them by mistake: each message says what to do."""

import pytest

from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.errors import FileError, RunFormatError

ROWS = "suchanfrage,artikel,punkte\nq1,d1,2.5\n"


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (
            "a.csv.gz",
            ROWS.encode(),
            r"the nearest is csv, .* names no column for document .*; `format:` and `columns:`",
        ),
        ("a.run", b"q1,Q0,d1,1,2.5,tag\n", r"a\.run:1: expected 6 columns .*, found 1"),
        ("a.csv", ROWS.encode("utf-16"), r"a\.csv:1: expected UTF-8 text, found byte 0xff; .* as UTF-8"),
        ("a.csv", b"qid,docno,score\rq1,d1,2.5\r", r"expected lines that end with LF or CRLF, .*new-line character"),
        (
            "a.csv",
            b"q1,d1,2.5\n",
            r"its first row is data, no header: 'q1, d1, 2.5'; add a header line query_id,doc",
        ),
        ("a.run", b"q1 Q0 d1 1 2.5 x\nq1 0 d2 1\n", r"a\.run:2: .* found 4: .*these are judgements"),
        ("a.run", b"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2", r"a\.run:2: .* found 4: .*may be cut off"),
        ("a.zip", b"PK\x03\x04no workbook", r"a\.zip:1: expected 6 columns"),
    ],
)
def test_a_run_that_cannot_be_read(write, name, content, problem):
    with pytest.raises(RunFormatError, match=problem):
        score_run(write(name, content), {"q1": {"d1": 1}}, ["nDCG"])


def test_judgements_that_are_given_as_a_run_are_known(write):
    path = write("qrels.txt", "q1 0 17 1\nq1 0 18 0\n")
    with pytest.raises(RunFormatError, match=r"but its first line is one of judgements .*: it is not a run"):
        score_run(path, {"q1": {"17": 1}}, ["nDCG"])


@pytest.mark.parametrize("read", [read_run, read_qrels, read_topics, read_scores])
@pytest.mark.parametrize("content", [b"PK\x03\x04...\xff xl/workbook.xml"])
def test_an_excel_file_is_refused_with_what_to_do(write, read, content):
    with pytest.raises(
        FileError, match=r"an Excel workbook; save the sheet as CSV, or pandas\.read_excel\('a\.dat'\)"
    ):
        read(write("a.dat", content))
