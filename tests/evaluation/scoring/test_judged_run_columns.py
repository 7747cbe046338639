"""What a reading kept comes back from a file as it was, and only where it fits the judgements."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.evaluation.array_files import ArrayFile, ArrayFileError, decoded, encoded
from pytest_riskguard.evaluation.judgements.qrels import Qrels, read_qrels
from pytest_riskguard.evaluation.runs.identifiers import Identifiers
from pytest_riskguard.evaluation.runs.order import Order
from pytest_riskguard.evaluation.scoring.judged_run_columns import columns_of, judged_run_of
from pytest_riskguard.evaluation.scoring.judged_runs import JudgedRun
from tests.evaluation.scoring.slow_judged_runs import chunk_of, judged_run

QRELS = read_qrels({"1": {"a": 1, "b": 0, "é": 2}, "2": {"a": 1}, "3": {"c": 1}})
RUN = judged_run(
    [
        chunk_of(
            {
                "1": [("b", 3.0), ("日本", 2.0), ("x", 2.0), ("é", 1.0), ("y", 0.5)],
                "3": [("c", 2.0), ("z", 2.0)],
                "99": [("a", 1.0)],
            }
        )
    ],
    QRELS,
    depth=2,
)


def through_a_file(run: JudgedRun, qrels: Qrels) -> JudgedRun:
    return judged_run_of(decoded("run", encoded("run", *columns_of(run))), qrels)


def assert_same(one: JudgedRun, other: JudgedRun) -> None:
    for field in fields(JudgedRun):
        before, after = getattr(one, field.name), getattr(other, field.name)
        if isinstance(before, np.ndarray):
            assert (before.dtype, before.tolist()) == (after.dtype, after.tolist()), field.name
        elif isinstance(before, Identifiers):
            assert before.strings() == after.strings()
        elif field.name == "ranks":
            assert {order: ranks.tolist() for order, ranks in before.items()} == {
                order: ranks.tolist() for order, ranks in after.items()
            }
        else:
            assert before == after, field.name


def test_a_run_comes_back_as_it_was():
    assert_same(RUN, through_a_file(RUN, QRELS))
    assert RUN.unknown == ("99",)
    assert RUN.unjudged.strings() == ["日本", "x", "z"]


def test_ids_come_back_from_a_text_that_holds_more():
    ids = Identifiers(np.frombuffer("??z日本x??".encode(), dtype=np.uint8), np.array([3, 9, 2]), np.array([6, 1, 1]))
    assert ids.strings() == RUN.unjudged.strings()
    assert_same(RUN, through_a_file(replace(RUN, unjudged=ids), QRELS))


def test_equal_ranks_are_held_once_and_come_back_for_each_order():
    same = dict.fromkeys(Order, RUN.ranks[Order.WRITTEN]) | {Order.STABLE: RUN.ranks[Order.WRITTEN].copy()}
    run = replace(RUN, ranks=same)
    assert [name for name in columns_of(run)[1] if name.startswith("ranks")] == ["ranks.WRITTEN"]
    assert_same(run, through_a_file(run, QRELS))


documents = st.lists(st.sampled_from("abcdeé日xyz"), unique=True, min_size=1, max_size=8)
rankings = st.dictionaries(
    st.sampled_from("12345"),
    documents.map(lambda ids: [(name, float(place % 3)) for place, name in enumerate(ids)]),
    max_size=4,
)


@given(rankings, st.integers(1, 4))
def test_any_run_comes_back_as_it_was(rows, depth):
    run = judged_run([chunk_of(rows)], QRELS, depth=depth)
    assert_same(run, through_a_file(run, QRELS))


def changed(array: np.ndarray, place: int, value: int) -> np.ndarray:
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    "change",
    [
        {"qrels_digest": "sha256:other"},
        {"topics": ("1", "4")},
        {"topics": ("3", "1")},
        {"retrieved": changed(RUN.retrieved, 0, 1)},
        {"offsets": changed(RUN.offsets, 0, 1)},
        {"offsets": changed(RUN.offsets, 1, 9)},
        {"offsets": changed(RUN.offsets, 2, 5)},
        {"judgements": changed(RUN.judgements, 0, -2)},
        {"judgements": changed(RUN.judgements, 0, 3)},
        {"judgements": changed(RUN.judgements, 0, 10**9)},
        {"ranks": {**RUN.ranks, Order.STABLE: changed(RUN.ranks[Order.STABLE], 0, 0)}},
        {"ranks": {**RUN.ranks, Order.STABLE: changed(RUN.ranks[Order.STABLE], 0, 6)}},
        {"ranks": {Order.STABLE: RUN.ranks[Order.STABLE]}},
        {"unjudged": Identifiers.of(["x", "y", ""])},
    ],
)
def test_a_run_that_does_not_fit_the_judgements_is_refused(change):
    with pytest.raises(ArrayFileError, match="does not fit"):
        through_a_file(replace(RUN, **change), QRELS)


@pytest.mark.parametrize(
    "change",
    [
        {"topics": ("1",)},
        {"retrieved": RUN.retrieved.astype(np.int32)},
        {"judgements": changed(RUN.judgements, 0, -1)},
        {"ranks": {**RUN.ranks, Order.WRITTEN: RUN.ranks[Order.WRITTEN].astype(np.int64)}},
        {"ranks": {**RUN.ranks, Order.STABLE: RUN.ranks[Order.STABLE][1:]}},
        {"unjudged": Identifiers.of(["x", "y"])},
    ],
)
def test_arrays_of_another_length_or_type_are_refused(change):
    with pytest.raises(ArrayFileError, match="expected an array"):
        through_a_file(replace(RUN, **change), QRELS)


@pytest.mark.parametrize(("place", "value"), [(0, 0xFF), (0, 0x80)])
def test_bytes_that_are_no_text_are_refused(place, value):
    header, arrays = columns_of(RUN)
    with pytest.raises(ArrayFileError, match="does not fit"):
        judged_run_of(
            ArrayFile(header, arrays | {"unjudged.text": changed(arrays["unjudged.text"], place, value)}), QRELS
        )


def test_ids_that_cut_a_character_are_refused():
    header, arrays = columns_of(RUN)
    with pytest.raises(ArrayFileError, match="does not fit"):
        judged_run_of(ArrayFile(header, arrays | {"unjudged.lengths": np.array([5, 2, 1])}), QRELS)


@pytest.mark.parametrize(
    "change",
    [
        {"judged": [1, 2]},
        {"judged": None},
        {"topics": 3},
        {"ranks": {"OTHER": "ranks.STABLE"}},
        {"ranks": []},
        {"depth": "x"},
    ],
)
def test_headers_of_another_shape_are_refused(change):
    header, arrays = columns_of(RUN)
    with pytest.raises(ArrayFileError, match="expected a run as it was kept"):
        judged_run_of(ArrayFile(header | change, arrays), QRELS)
