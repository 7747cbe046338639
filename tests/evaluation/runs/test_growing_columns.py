from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.evaluation.runs.growing_columns import Column, IdentifierColumn, OrderColumns
from pytest_riskguard.evaluation.runs.identifiers import Identifiers
from pytest_riskguard.evaluation.runs.order import Order

SIZES = st.lists(st.integers(0, 3_000), max_size=8)


@given(SIZES)
def test_a_column_holds_what_was_added(sizes):
    column, wide = Column(np.int32), Column(np.float64, width=2)
    whole = np.arange(sum(sizes))
    for part in np.split(whole, np.cumsum(sizes)[:-1]) if sizes else []:
        column.append(part)
        wide.append(np.column_stack([part, -part]))
    copy = column.copy()
    assert len(column) == len(whole)
    np.testing.assert_array_equal(column.array(), whole)
    np.testing.assert_array_equal(copy.array(), whole)
    np.testing.assert_array_equal(wide.array(), np.column_stack([whole, -whole]))


@given(st.lists(st.lists(st.text(max_size=400), max_size=20), max_size=5))
def test_ids_are_added_without_the_text_between_them(parts):
    column = IdentifierColumn()
    for part in parts:
        column.append(Identifiers.of(["between", *part, "them"]).at(slice(1, len(part) + 1)))
    ids = column.identifiers()
    assert ids.strings() == [name for part in parts for name in part]
    assert len(ids.text) == sum(ids.lengths)


@given(st.lists(st.tuples(st.text(max_size=40), st.booleans())), st.randoms(use_true_random=False))
def test_ids_that_are_kept_or_taken_stand_alone(named, random):
    column, names = IdentifierColumn(), [name for name, _ in named]
    column.append(Identifiers.of(names))
    kept = [place for place, (_, is_kept) in enumerate(named) if is_kept]
    column.keep(np.array(kept, dtype=np.int64))
    column.append(Identifiers.of(["added"]))
    left = [*(names[place] for place in kept), "added"]
    places = random.choices(range(len(left)), k=5)
    taken = column.taken(np.array(places, dtype=np.int32))
    assert taken.strings() == [left[place] for place in places]
    assert len(taken.text) == sum(taken.lengths)
    assert len(column.identifiers()) == 0


def test_many_ids_that_are_kept_move_within_their_text():
    names = [f"{number:x}" * (number % 5 + 1) for number in range(20_000)]
    column, kept = IdentifierColumn(), np.flatnonzero(np.arange(20_000) % 3 != 1)
    column.append(Identifiers.of(names))
    column.keep(kept)
    assert column.identifiers().strings() == [names[place] for place in kept.tolist()]


def test_values_that_are_kept_or_taken_leave_the_others():
    column = Column(np.int32)
    column.append(np.arange(10))
    column.keep(np.array([1, 4, 9]))
    column.append(np.array([11]))
    assert column.values.tolist() == [1, 4, 9, 11]
    assert column.taken(np.array([3, 0])).tolist() == [11, 1]
    assert len(column) == 0
    column.append(np.array([5, 6]))
    assert column.taken(None).tolist() == [5, 6]
    assert len(column) == 0


@given(st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), max_size=6), st.booleans())
def test_orders_share_a_column_until_they_differ(blocks, is_chosen):
    columns = OrderColumns()
    expected: dict[Order, list[int]] = {order: [] for order in Order}
    for number, block in enumerate(blocks):
        arrays = [np.array([10 * number + kind, number], dtype=np.int32) for kind in range(3)]
        columns.append({order: arrays[kind] for order, kind in zip(Order, block, strict=True)})
        for order, kind in zip(Order, block, strict=True):
            expected[order] += arrays[kind].tolist()
    found = columns.taken(np.arange(2 * len(blocks)) if is_chosen else None)
    assert {order: ranks.tolist() for order, ranks in found.items()} == expected
    assert len({id(ranks) for ranks in found.values()}) == len({tuple(ranks) for ranks in expected.values()})
