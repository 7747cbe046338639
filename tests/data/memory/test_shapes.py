"""What data in memory may be, and what an error says of those that may not."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from pytest_riskguard import run, score_run
from pytest_riskguard.data import read_qrels, read_topics
from pytest_riskguard.data.formats import AddedFormat
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.errors import DataError, FileError, RunFormatError
from pytest_riskguard.plugins import PluginError
from tests.data.memory.shapes import Query

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

GRADES = {"1": {"a": 1}, "2": {"a": 1}}
COLUMNS: dict[str, list[Any]] = {"qid": ["1", "1", "2"], "docno": ["a", "b", "c"], "score": [2.0, 1.0, 3.0]}


def frame(**columns: list[Any]) -> Any:
    return pd.DataFrame(COLUMNS | columns)


def ranked(data: Any) -> dict[str, list[str]]:
    """Topic -> documents, as a run in memory ranks them."""
    return {topic: list(ranking) for topic, ranking in run(data).by_topic().items()}


@dataclass
class Hit:
    query_id: int
    doc_id: UUID
    score: Decimal


class PlainHit:
    def __init__(self, topic: str, document: str, score: float) -> None:
        self.topic, self.document, self.score, self._private = topic, document, score, 0


FIRST = UUID(int=1)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"1": {"b": 1, "a": 2.5}}, {"1": ["a", "b"]}),
        ({"1": ["b", "a"]}, {"1": ["b", "a"]}),
        ({"1": [("a", 1), ["b", 2]]}, {"1": ["b", "a"]}),
        ({FIRST: {FIRST: 1.0}}, {str(FIRST): [str(FIRST)]}),
        (frame(docno=[7, FIRST, pd.NA]).head(2), {"1": ["7", str(FIRST)]}),
        (iter([Hit(1, FIRST, Decimal("1.5"))]), {"1": [str(FIRST)]}),
        ([PlainHit("1", "a", 1.0)], {"1": ["a"]}),
        ([{"qid": "1", "docno": "a", "score": 1}, {"docno": "b", "qid": "1", "score": 2}], {"1": ["b", "a"]}),
        (frame(vector=[[0.1], None, object()]), {"1": ["a", "b"], "2": ["c"]}),
        (frame().set_index("qid"), {"1": ["a", "b"], "2": ["c"]}),
        (frame(rank=[1, 0, 0]).drop(columns="score"), {"1": ["b", "a"], "2": ["c"]}),
        (
            pl.DataFrame(COLUMNS).with_columns(pl.col("score").cast(pl.Decimal(scale=2))),
            {"1": ["a", "b"], "2": ["c"]},
        ),
    ],
)
def test_rankings(data, expected):
    assert ranked(data) == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, r"run: expected a mapping by topic, .*; found nothing\Z"),
        ("a.run", r"found 'a.run' \(str\)"),
        (
            frame()["score"],
            r"a frame with named columns.*; found 0 2.0 1 1.0 2 3.0 Name: score, dtype: float64 \(Series\)",
        ),
        ([("1", "a", 1.0)], r"run: expected rows with named fields, .*; found \('1', 'a', 1.0\) \(tuple\) as row 1"),
        (pl.DataFrame(COLUMNS).lazy(), r"run: expected a frame in memory, found polars LazyFrame; collect it first"),
    ],
)
def test_another_shape_is_a_type_error(data, message):
    with pytest.raises(TypeError, match=message):
        run(data)


BAD_RANKINGS: list[tuple[Any, str]] = [
    (
        {"1": "a"},
        "run: expected a mapping document -> score, or a sequence of documents or pairs, for topic '1', "
        "found 'a' (str)",
    ),
    ({"1": {"a": "high"}}, "run, 'a' of topic '1': expected a number as the score, found 'high'"),
    (
        {"1": {"a": None}},
        "run, 'a' of topic '1': expected a finite number as the score of 'a' in topic '1', found nothing",
    ),
    ({"1": {"a": np.array([1.0, 2.0])}}, "run, 'a' of topic '1': expected a number as the score, found array("),
    ({"1": {"a": np.True_}}, "run, 'a' of topic '1': expected a number as the score, found "),
    ({"1": ["a", ("b", 2)]}, "expected text or a whole number as the document, found ('b', 2)"),
    ({"1": [("a", 1, 2)]}, "expected text or a whole number as the document, found ('a', 1, 2)"),
    ({"1": {"a"}}, "a sequence of documents or pairs, for topic '1', found {'a'} (set)"),
    ({1: ["a"], "1": ["b"]}, "as the rank of 'b', each once in a topic, found 0 again"),
    ({"1": {"\ud800": 1.0}}, "expected text as the document, found half of a character"),
    (
        {"1": ["a", "a"]},
        "run, 'a' of topic '1': expected each document once per topic, found 'a' of topic '1' twice",
    ),
    (frame(score=["1", "x", "2"]), "run, row 2: expected a number as the score, found 'x'"),
    (frame(qid=["1", None, "2"]), "run, row 2: expected a topic on one line, without spaces around it, found ''"),
    (frame().drop(columns="score"), "it names no column for score"),
    (pd.concat([frame(), frame()[["score"]]], axis=1), "run: expected columns with different names"),
    ([], "only none"),
]


@pytest.mark.parametrize(("data", "problem"), BAD_RANKINGS)
def test_bad_rankings_are_refused_where_they_come_in(data, problem):
    with pytest.raises(DataError) as raised:
        run(data)
    assert problem in str(raised.value)
    assert raised.value.reason == RunFormatError.reason
    with pytest.raises(DataError, match=r"\Amine[:,]"):
        run(data, name="mine")


class OfRanx:
    """As ``ranx.Run``, which takes seconds to import."""

    __module__ = "ranx.data_structures.run"
    name = "bm25"

    def to_dict(self) -> Any:
        return {"1": {"a": 1.0}}


def test_a_run_is_named_by_its_caller_or_by_ranx():
    theirs = OfRanx()
    assert (run(theirs).name, run(theirs, name="mine").name, run(GRADES).name) == ("bm25", "mine", "")
    assert score_run(theirs, GRADES, ["RR"])[0].name == "bm25"
    assert score_run(theirs, GRADES, ["RR"], name="mine")[0].name == "mine"


@pytest.mark.parametrize(
    ("data", "grades"),
    [
        ({"1": {"a": 1.0, "b": 0.5}}, {"1": {"a": 1, "b": 0.5}}),
        ({"1": {"a"}, "2": ["b"]}, {"1": {"a": 1}, "2": {"b": 1}}),
        (frame().rename(columns={"score": "label"}), {"1": {"a": 2, "b": 1}, "2": {"c": 3}}),
        (pl.DataFrame(COLUMNS | {"score": [None, 1, 2]}), {"1": {"b": 1}, "2": {"c": 2}}),
    ],
)
def test_judgements(data, grades):
    assert read_qrels(data).grades == grades


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"1": {"a": "high"}}, "judgements, 'a' of topic '1': expected a number as the grade, found 'high'"),
        (
            {"1": 1},
            "expected a mapping document -> grade, or a set of relevant documents, for topic '1', found 1",
        ),
        (
            {"1": {"a": 1e9}},
            "judgements, 'a' of topic '1': expected a number from -1000 to 1000 as the grade, found 1000000000",
        ),
        (frame().drop(columns="score"), "it names no column for grade"),
    ],
)
def test_bad_judgements(data, problem):
    with pytest.raises(DataError) as raised:
        read_qrels(data)
    assert problem in str(raised.value)
    assert raised.value.reason == "bad_qrels"


def test_topics_have_texts_weights_and_tags():
    mapping = read_topics({"1": {"query": "red dress", "lang": "de", "weight": 2}, "2": {"query": "tv", "weight": 1}})
    assert dict(mapping.queries) == {"1": "red dress", "2": "tv"}
    assert ({**mapping.tags["1"]}, {**mapping.weights}) == ({"lang": "de"}, {"1": 2.0, "2": 1.0})
    tags = {"lang": ["de", None], "size": [40.0, None], "new": [True, False]}
    table = pl.DataFrame({"qid": [1, 2], "query": ["red dress", "tv"], "weight": [2, 1], **tags})
    assert read_topics(table).tags["1"] == {"lang": "de", "size": "40", "new": "true"}
    assert (
        read_topics({"1": "red dress", "2": "tv"}).digest
        == read_topics([Query("1", "red dress"), Query("2", "tv")]).digest
    )
    bad: Any
    for bad, problem in (
        ({"1": {"lang": "de"}}, "it names no column for query"),
        ({"1": {"query": "tv", "weight": 0}}, "row 1: expected a weight above 0, found 0"),
        ({"1": {"query": "red dress", "weight": 2}, "2": "tv"}, "row 2: expected a weight above 0, found nan"),
        ({"1": ["tv"]}, "row 1: expected text or a whole number as the query"),
    ):
        with pytest.raises(DataError, match=problem):
            read_topics(bad)
    with pytest.raises(TypeError, match="topics: expected a mapping by topic"):
        read_topics(7)


@pytest.mark.parametrize(
    ("kind", "content", "error"),
    [
        ("rankings", [("1", "a")], PluginError),
        ("scores", 7, PluginError),
        ("judgements", {"1": {"a": "x"}}, FileError),
    ],
)
def test_what_a_plugin_reads_has_the_shapes_of_data_in_memory(kind, content, error):
    added = AddedFormat("shelf", "", kind, plugin="p", readers={kind: lambda _: content})
    with pytest.raises(
        error, match=r"format shelf fails|a.shelf: 'a' of topic '1': expected a number as the grade, found 'x'"
    ):
        added.reader(kind)(InputFile(Path("a.shelf"), error=FileError, content=b""))
    shelf = AddedFormat("shelf", "", "scores", plugin="p", readers={"scores": lambda _: {"1": 0.5}})
    (found,) = shelf.reader("scores")(InputFile(Path("a.shelf"), error=FileError, content=b""))
    assert (found.measure, found.values.tolist()) == ("shelf", [0.5])
