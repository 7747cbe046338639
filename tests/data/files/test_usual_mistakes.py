"""Files as people save them by mistake: each message says what to do."""

from __future__ import annotations

import pytest

from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.errors import RunFormatError

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
            "a.xls",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            r"byte 0xd0; unpack it, unless .*; save a spreadsheet as CSV",
        ),
    ],
)
def test_a_run_that_cannot_be_read(write, name, content, problem):
    with pytest.raises(RunFormatError, match=problem):
        score_run(write(name, content), {"q1": {"d1": 1}}, ["nDCG"])


def test_judgements_that_are_given_as_a_run_are_known(write):
    path = write("qrels.txt", "q1 0 17 1\nq1 0 18 0\n")
    with pytest.raises(RunFormatError, match=r"but its first line is one of judgements .*: it is not a run"):
        score_run(path, {"q1": {"17": 1}}, ["nDCG"])
