"""Quepid's snapshots and its detailed export: rankings in the order of positions, quotes doubled without need."""

from __future__ import annotations

import json

import pytest

from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.errors import QrelsFormatError, RunFormatError

HEADER = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\r\n"
ROW = "{},2026-01-02T03:04:05Z,7,{},{},{}\r\n"


def order(path_or_file) -> dict[str, list[str]]:
    return {topic: list(ranking) for topic, ranking in read_run(path_or_file).by_topic().items()}


def test_rows_are_ranked_by_position(write):
    path = write("s.csv", HEADER + "".join(ROW.format("june", "shoes", f"d{p}", p) for p in (2, 10, 1)))
    assert order(path) == {"shoes": ["d1", "d2", "d10"]}


def test_rows_of_one_position_stay_in_their_order(write):
    path = write("s.csv", HEADER + "".join(ROW.format("june", "shoes", document, 1) for document in ("b", "c", "a")))
    assert order(path) == {"shoes": ["b", "c", "a"]}


def test_quotes_are_doubled_even_in_cells_that_are_not_quoted(write):
    cells = ['19"" monitor', '""best"" shoes', '"red, or ""blue"""', '"two\nlines"', " =1+1"]
    path = write("s.csv", HEADER + "".join(ROW.format("june", cell, "d,1".join('""'), 1) for cell in cells))
    assert list(order(path)) == ['"best" shoes', '19" monitor', "=1+1", 'red, or "blue"', "two lines"]
    assert {d for documents in order(path).values() for d in documents} == {"d,1"}


def test_one_of_several_snapshots_is_named(write):
    rows = ROW.format("june", "shoes", "d1", 1) + ROW.format("july, new", "shoes", "d2", 1).replace(
        "july, new", '"july, new"'
    )
    path = write("s.csv", HEADER + rows)
    assert order(GivenFile(path, part="june")) == {"shoes": ["d1"]}
    assert order(f"{path}#july, new") == {"shoes": ["d2"]}
    with pytest.raises(
        RunFormatError, match="expected one snapshot, found 2 \\('june', 'july, new'\\); name one, as in"
    ):
        read_run(path)
    with pytest.raises(RunFormatError, match="expected a snapshot named 'may', found 'june', 'july, new'"):
        read_run(GivenFile(path, part="may"))


def test_snapshots_of_the_same_name_are_told_apart_by_their_times_or_ids(write):
    later = ROW.format("june", "shoes", "d2", 1).replace("2026-01-02T03:04:05Z", "2026-02")
    path = write("s.csv", HEADER + ROW.format("june", "boots", "d1", 1) + later)
    assert order(GivenFile(path, part="2026-02")) == {"shoes": ["d2"]}
    both = write("s.json", json.dumps([snapshot(), snapshot(id=6, docs={"13": [{"id": 7}]})]))
    assert order(GivenFile(both, part="6")) == {"boots": ["7"]}
    with pytest.raises(RunFormatError, match="expected one snapshot, found 2 \\('5', '6'\\)"):
        read_run(both)


def snapshot(**changes):
    docs = {"12": [{"id": "d2"}, {"id": "d1", "rated_only": False}, {"id": "d9", "rated_only": True}], "13": []}
    queries = [{"query_id": 12, "query_text": "shoes"}, {"query_id": 13, "query_text": "boots"}]
    return {"id": 5, "name": "june", "docs": docs | {"99": [{"id": "d1"}]}, "queries": queries} | changes


def test_json_is_read_without_documents_that_only_have_a_rating(write):
    assert order(write("s.json", json.dumps(snapshot()))) == {"shoes": ["d2", "d1"]}
    both = {"snapshots": [snapshot(), snapshot(name="july", docs={"13": [{"id": 7}]})]}
    assert order(GivenFile(write("s.json", json.dumps(both)), part="july")) == {"boots": ["7"]}


DETAILED = "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating,price\r\n"


def test_the_detailed_export_has_ratings_and_a_ranking(write):
    rows = [
        '"a, b",Case,7,shoes,d2,2,A 19"" monitor,3,9\r\n',
        "t,Case,7,shoes,d1,1,,--,9\r\n",
        "t,Case,7,boots,,,,,\r\n",
    ]
    path = write("d.csv", DETAILED + "".join(rows))
    assert read_qrels(path).grades == {"shoes": {"d2": 3}}
    assert order(path) == {"shoes": ["d1", "d2"]}
    older = write("e.csv", (DETAILED + rows[0]).replace("Doc Position,", "").replace("d2,2,", "d2,"))
    assert order(older) == {"shoes": ["d2"]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (HEADER + ROW.format("june", "shoes", "d1", "first"), "s.csv:2: expected a number as the position"),
        (HEADER + "june,now,7,shoes,d1\r\n", "s.csv:2: expected at least 6 columns as in the header, found 5"),
        (HEADER + ROW.format("june", "", "d1", 1), "s.csv:2: expected a query text"),
        (HEADER + ROW.format("june", '"shoes', "d1", 1), "s.csv:2: expected the end of a quoted cell"),
        (HEADER + ROW.format("june", '"shoes"x', "d1", 1), "s.csv:2: expected a comma after a quoted cell"),
        (HEADER, "expected a snapshot, found none"),
    ],
)
def test_bad_content_is_refused_with_its_place(write, text, problem):
    with pytest.raises(RunFormatError) as caught:
        read_run(write("s.csv", text))
    assert problem in str(caught.value)


def test_a_bad_rating_is_refused(write):
    with pytest.raises(QrelsFormatError, match=r"d\.csv:2: expected a number as the rating, found 'good'"):
        read_qrels(write("d.csv", DETAILED + "t,Case,7,shoes,d1,1,,good,9\r\n"))


def test_the_name_of_the_file_does_not_make_it_a_plain_table(write):
    text = HEADER + ROW.format("june", '19"" monitor', "d1", 1)
    for name in ("s.txt", "s.csv.gz", "latest", "S.CSV"):
        assert order(write(name, text)) == {'19" monitor': ["d1"]}
