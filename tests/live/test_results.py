"""What searches of all kinds return, as ids and scores."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.live.retrieval import EXPECTED, MAX_ID, SearchError, pairs_of

PAIRS = [("a", 3.0), ("b", 2.0), ("c", 1.0)]


@dataclass
class Point:
    """As a client of a vector database gives it."""

    id: str
    score: float
    payload: Any = None


def generated() -> Iterator[dict[str, Any]]:
    for document, score in PAIRS:
        yield {"docno": document, "score": score, "qid": "1"}


SHAPES: dict[str, Any] = {
    "pairs": PAIRS,
    "lists": [list(pair) for pair in PAIRS],
    "ids": ["a", "b", "c"],
    "ids of numpy": np.array(["a", "b", "c"]),
    "a mapping, by score": {"c": 1.0, "a": 3.0, "b": np.float32(2)},
    "hits of Elasticsearch": [{"_id": d, "_score": s, "relevance": 0, "_source": {"id": "x"}} for d, s in PAIRS],
    "hits that were sorted": [{"_id": d, "_score": None, "sort": [7]} for d, _ in PAIRS],
    "hits of Algolia": [{"objectID": d} for d, _ in PAIRS],
    "a generator of hits": generated(),
    "objects": [Point(*pair) for pair in PAIRS],
    "documents with scores": [(SimpleNamespace(docid=d.upper, id=d), s) for d, s in PAIRS],
    "distances are no scores": [{"id": d, "distance": 0.1 * rank} for rank, (d, _) in enumerate(PAIRS)],
    "other values are no scores": [{"id": d, "value": 0.1 * rank} for rank, (d, _) in enumerate(PAIRS)],
}


@pytest.mark.parametrize("results", SHAPES.values(), ids=SHAPES)
def test_every_shape_is_read(results):
    assert pairs_of(results, 10) == PAIRS


@pytest.mark.parametrize("name", [name for name in SHAPES if not name.startswith("a generator")])
def test_no_more_than_the_depth_is_taken(name):
    assert [document for document, _ in pairs_of(SHAPES[name], 2)] == ["a", "b"]


@pytest.mark.parametrize(
    ("library", "kind"), [("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")]
)
def test_a_frame_is_read_and_one_without_ids_refused(library, kind):
    frame = getattr(pytest.importorskip(library), kind)
    results = frame({"qid": ["1"] * 3, "docno": ["a", "b", "c"], "score": [3.0, 2.0, 1.0], "rank": [0, 1, 2]})
    assert pairs_of(results, 10) == PAIRS
    assert [document for document, _ in pairs_of(results, 2)] == ["a", "b"]
    with pytest.raises(SearchError) as refused:
        pairs_of(frame({"title": ["a"], "score": [1.0]}), 10)
    assert str(refused.value).endswith(EXPECTED)


def test_ids_that_are_numbers_become_text():
    one = uuid.UUID(int=1)
    assert [document for document, _ in pairs_of([7, np.int64(8), one], 10)] == ["7", "8", str(one)]
    assert pairs_of([{"id": 7, "score": 2}], 10) == [("7", 2.0)]
    assert pairs_of(["x" * MAX_ID], 10) == [("x" * MAX_ID, 1.0)]


def test_no_results_are_an_answer():
    shapes: list[object] = [[], (), {}, iter(())]
    assert [pairs_of(nothing, 10) for nothing in shapes] == [[]] * 4


def test_equal_scores_of_a_mapping_keep_its_order():
    assert pairs_of({"b": 1.0, "a": 1.0, "c": 2.0}, 10) == [("c", 2.0), ("b", 1.0), ("a", 1.0)]


@pytest.mark.parametrize(
    "results",
    [
        None,
        {"a"},
        {"hits": {"hits": []}},
        [b"a"],
        [["a", 1.0, 2]],
        [{"title": "no id"}],
        [{"id": True, "score": 1.0}],
        [{"id": ["a"], "score": 1.0}],
        [{"id": "a", "score": "high"}],
        [{"id": "a" * 1001}],
        [("a", "1.0")],
        [("a" * 1001, 1.0)],
        [("a", 10**400)],
        [("a", Fraction(10**400, 3))],
        [("a", Decimal("sNaN"))],
    ],
)
def test_anything_else_is_refused(results):
    with pytest.raises(SearchError) as refused:
        pairs_of(results, 10)
    assert str(refused.value).endswith(EXPECTED)


def test_some_results_without_a_score_have_no_order_that_holds():
    with pytest.raises(SearchError, match="returned 1 of 2 results without a score"):
        pairs_of([{"id": "a", "score": 1.0}, {"id": "b"}], 10)
