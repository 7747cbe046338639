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


@given(st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), max_size=6))
def test_orders_share_a_column_until_they_differ(blocks):
    columns = OrderColumns()
    expected: dict[Order, list[int]] = {order: [] for order in Order}
    for number, block in enumerate(blocks):
        arrays = [np.array([10 * number + kind, number], dtype=np.int32) for kind in range(3)]
        columns.append({order: arrays[kind] for order, kind in zip(Order, block, strict=True)})
        for order, kind in zip(Order, block, strict=True):
            expected[order] += arrays[kind].tolist()
    found = columns.ranks()
    assert {order: ranks.tolist() for order, ranks in found.items()} == expected
    assert len({id(ranks) for ranks in found.values()}) == len({tuple(ranks) for ranks in expected.values()})
