"""Ratings for learning to rank, as Quepid exports them."""

from __future__ import annotations

import pytest

from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.errors import QrelsFormatError


def test_rows_give_the_rating_the_document_and_the_text(write):
    qrels = read_qrels(
        write("r.txt", "\n3.0 qid:12 # d1 red shoes\n\n0.5 qid:12 1:0.3 2:7 # d2 red shoes\n1 qid:13 # d1\n")
    )
    assert qrels.grades == {"12": {"d1": 3, "d2": 0.5}, "13": {"d1": 1}}
    assert qrels.texts == {"12": "red shoes"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("3 qid:1 # d1 a\n3 qid:1\n", "r.txt:2: expected `rating qid:<id> # <docid> <query text>`"),
        ("3 qid:1 # d1 a\nhigh qid:1 # d2 a\n", "r.txt:2: expected a number as the rating, found 'high'"),
        ("3 qid:1 1:0.5\n", "the nearest is ltr, but its first line names no document after a #"),
    ],
)
def test_bad_content_is_refused(write, text, problem):
    with pytest.raises(QrelsFormatError) as caught:
        read_qrels(write("r.txt", text))
    assert problem in str(caught.value)
