"""Tables read column by column: the same scores, refusals and digests as line by line."""

from __future__ import annotations

import string
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_riskguard.errors import ScoresFormatError
from pytest_riskguard.evaluation import plain_tables, score_files
from pytest_riskguard.evaluation.plain_tables import Column, ascending, is_ascending, read_columns
from pytest_riskguard.evaluation.score_files import read_score_table

CELLS = st.sampled_from(
    [
        "1",
        "0.5",
        " 0.25 ",
        "1e-3",
        "1.0000000001",
        "2",
        "-1",
        "nan",
        "inf",
        "1_0",
        "x",
        "",
        '"0.5"',
        "٣",
        "0x1",
        "\u2028",
    ]
)
TOPICS = st.sampled_from(
    [
        "1",
        "2",
        "10",
        "q1",
        " 3",
        "3",
        "",
        "é",
        "ü",
        "topic-with-a-long-name",
        "topic-with-a-long-namf",
        '"4"',
        "\x1c5",
    ]
)
ENDS = st.sampled_from(["\n", "\n", "\n", "\n", "\n\n", "\r\n", " \n", ",\n"])
GOOD = st.tuples(st.from_regex(r"[a-z0-9]{1,18}", fullmatch=True), st.integers(0, 100).map(lambda k: f"{k / 100}"))


def outcome(content: bytes) -> object:
    try:
        return [
            (s.measure, s.topics, s.values.tolist(), s.digest) for s in read_score_table(Path("t"), content=content)
        ]
    except ScoresFormatError as error:
        return str(error)


def line_by_line(content: bytes) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score_files, "read_columns", lambda *_, **__: None)
        patch.setattr(score_files, "_LAST_READ", {})
        return outcome(content)


@settings(deadline=None)
@given(
    st.sampled_from([",", "\t"]),
    st.lists(st.tuples(TOPICS, CELLS, CELLS, ENDS), max_size=4),
    st.sampled_from(["", "\ufeff", "\n \n"]),
    st.booleans(),
)
def test_unusual_tables_are_read_or_refused_alike(delimiter, rows, start, ends):
    text = start + delimiter.join(["topic", "AP", "mine"]) + "\n"
    text += "".join(delimiter.join(row[:3]) + row[3] for row in rows)
    content = (text if ends else text.rstrip("\n")).encode()
    assert outcome(content) == line_by_line(content)


@settings(deadline=None)
@given(st.lists(GOOD, min_size=1, max_size=60), st.sampled_from(["", "\ufeff"]))
def test_ordinary_tables_are_read_alike(rows, start):
    content = (start + "topic,AP\n" + "".join(f"{topic},{value}\n" for topic, value in rows)).encode()
    assert outcome(content) == line_by_line(content)


def test_ordinary_tables_are_not_read_line_by_line(monkeypatch):
    monkeypatch.setattr(score_files, "_topic", None)  # which would fail if it were called
    monkeypatch.setattr(score_files, "_LAST_READ", {})
    (scores,) = read_score_table(Path("t"), content=b"topic,AP\n10,0.5\n9,0.25\n1,1\n")
    assert (scores.topics, scores.values.tolist()) == (("1", "10", "9"), [1.0, 0.5, 0.25])


def test_a_table_read_before_is_not_parsed_again_but_is_held_to_its_limits(monkeypatch, set_limit):
    content = b"topic,AP,RR\n" + b"".join(b"%d,0.5,0.25\n" % topic for topic in range(20))
    monkeypatch.setattr(score_files, "_LAST_READ", {})
    read_score_table(Path("t"), content=content)
    monkeypatch.setattr(score_files, "read_columns", None)
    (scores,) = read_score_table(Path("other"), ["RR"], content=content)
    assert (scores.name, set(scores.values.tolist())) == ("other", {0.25})
    set_limit("TOPICS", 19)
    with pytest.raises(ScoresFormatError, match="expected at most 19 topics, found 20"):
        read_score_table(Path("t"), content=content)


def test_no_more_tables_are_kept_than_two(monkeypatch):
    monkeypatch.setattr(score_files, "_LAST_READ", {})
    for value in range(5):
        read_score_table(Path("t"), content=b"topic,AP\n1,0.%d\n" % value)
    assert len(score_files._LAST_READ) == 2


@settings(deadline=None)
@given(st.lists(st.sampled_from(["aaaaaaaa" + end for end in ("", "b", "a", "aa", "0123", "zzzzzzzz")]), min_size=1))
def test_texts_with_the_same_beginning_go_by_their_ends(texts):
    order = ascending(texts)
    assert (order is None) == (len(set(texts)) < len(texts))
    assert order is None or [texts[i] for i in order] == sorted(texts)


@pytest.mark.parametrize("cell", ["inf", "-inf", "nan", "1e999", "1_0", "", "x"])
def test_only_finite_numbers_are_scores(cell):
    asked = {"mine": Column(1)}
    assert read_columns(f"1,{cell}\n2,0\n".encode(), delimiter=",", width=2, topics=0, columns=asked) is None
    with pytest.raises(ScoresFormatError, match="t:2: expected a finite number in column 'mine'"):
        read_score_table(Path("t"), content=f"topic,mine\n1,{cell}\n2,0\n".encode())


@settings(deadline=None)
@given(st.lists(st.text(string.ascii_lowercase + string.digits + "é ", max_size=18)))
def test_texts_are_put_in_the_order_of_sorted(texts):
    order = ascending(texts) if texts else None
    if len(set(texts)) < len(texts) or not texts:
        assert order is None
        return
    assert order is not None
    assert [texts[i] for i in order] == sorted(texts)
    assert is_ascending(texts) == (texts == sorted(texts))


def test_tables_with_the_same_column_of_topics_share_it(monkeypatch):
    monkeypatch.setattr(plain_tables, "_LAST_TOPICS", [])
    asked = {"AP": Column(1)}
    first = read_columns(b"2,1\n1,0\n10,.5\n", delimiter=",", width=2, topics=0, columns=asked)
    second = read_columns(b"2\t.25\n1\t3\n10\t2", delimiter="\t", width=2, topics=0, columns=asked)
    third = read_columns(b"3,1\n1,0\n10,.5\n", delimiter=",", width=2, topics=0, columns=asked)
    assert first is not None
    assert second is not None
    assert third is not None
    assert first[0] is second[0]
    assert first[0] == ("1", "10", "2")
    assert third[0] == ("1", "10", "3")
    assert second[1]["AP"].tolist() == [3.0, 2.0, 0.25]


def test_topics_may_stand_in_any_column():
    found = read_columns(b"1, b \n0.5,a\n", delimiter=",", width=2, topics=1, columns={"AP": Column(0)})
    assert found is not None
    assert (found[0], found[1]["AP"].tolist()) == (("a", "b"), [0.5, 1.0])


def test_long_cells_are_left_to_the_csv_module(monkeypatch):
    monkeypatch.setattr(plain_tables, "MAX_CELL", 3)
    asked = {"AP": Column(1, 0.0, 1.0)}
    assert read_columns(b"1,0.5\n", delimiter=",", width=2, topics=0, columns=asked) is not None
    assert read_columns(b"1,0.55\n", delimiter=",", width=2, topics=0, columns=asked) is None
    assert read_columns(b"1,1.5\n", delimiter=",", width=2, topics=0, columns=asked) is None
    found = read_columns(b"2,.5\n1,1\n", delimiter=",", width=2, topics=0, columns=asked)
    assert found is not None
    assert found[0] == ("1", "2")
    assert np.array_equal(found[1]["AP"], [1.0, 0.5])
