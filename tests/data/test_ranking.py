"""Ranks of all topics at once are those of each alone, in plain Python; so is what rank columns say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_riskguard.data.runs import Order, by_rank, rank_column, ranking
from tests.data import plain_orders
from tests.data.plain_orders import ranked
from tests.data.tables import in_lines

#: Documents with their scores in the order of the lines, and their ranks; None for what is no whole number.
Topic = tuple[dict[str, float], Sequence[int | None] | None]

#: Equal scores, scores that are equal only in 32 bits, and zeros of both signs.
SCORES = st.sampled_from([0.0, -0.0, 1.0, 2.0, 3.0, 1 + 2**-30, 1 - 2**-30, 1e30, -1e-40]) | st.floats(-1e6, 1e6)
IDS = st.text(alphabet="ab", min_size=1, max_size=4).map("common-prefix-{}".format) | st.text(
    alphabet="abé7", min_size=1, max_size=10
)


@st.composite
def topics(draw: st.DrawFn, with_ranks: bool) -> Topic:
    names = draw(st.lists(IDS, min_size=1, max_size=9, unique=True))
    size, first = len(names), draw(st.integers(0, 2))
    scores = draw(st.lists(SCORES, min_size=size, max_size=size))
    kind = draw(st.sampled_from(["as drawn", "falling", "rising", "lines", "equal"]))
    if kind in ("falling", "rising"):
        scores.sort(reverse=kind == "falling")
    elif kind != "as drawn":
        scores = [float(first + (place if kind == "lines" else 0)) for place in range(size)]
    documents = dict(zip(names, scores, strict=True))
    if not with_ranks:
        return documents, None
    usual = list(range(first, first + size))
    drawn = st.lists(st.integers(-3, 12) | st.none() | st.just(2**62), min_size=size, max_size=size)
    return documents, draw(st.just(usual) | st.just(usual[::-1]) | st.permutations(usual) | drawn)


def check(topics: Sequence[Topic]) -> None:
    """That ranks and rank columns of all topics at once are those of each topic alone."""
    names = [f"t{place:04}" for place in range(len(topics))]
    ranks = {name: column for name, (_, column) in zip(names, topics, strict=True) if column is not None}
    run = in_lines({name: documents for name, (documents, _) in zip(names, topics, strict=True)}, ranks or None)
    found = ranking(run.scores, run.ranks, run.offsets, run.documents)
    _, rises, falls = rank_column(run.scores, run.ranks, run.offsets)
    for place, (documents, column) in enumerate(topics):
        rows = slice(int(run.offsets[place]), int(run.offsets[place + 1]))
        ids, scores = list(documents), list(documents.values())
        assert (rises[place], falls[place]) == plain_orders.rank_column(scores, column)
        for order in Order:
            expected, rows_by_rank = ranked(order, ids, scores, column), by_rank(found[order], run.offsets)
            assert [ids[row - rows.start] for row in rows_by_rank[rows].tolist()] == expected, order
            assert found[order][rows].tolist() == [expected.index(name) + 1 for name in ids]


@given(st.booleans().flatmap(lambda with_ranks: st.lists(topics(with_ranks), min_size=1, max_size=5)))
@example([({"b": 1.0}, None)])
@example([({"b": 1.0, "a": 2.0}, [2, 1]), ({"b": 1.0, "a": 2.0}, [3, 2]), ({"b": 1.0, "a": 2.0}, [0, 0])])
def test_all_topics_at_once_are_ranked_as_each_alone(drawn):
    check(drawn)


@pytest.mark.parametrize(
    ("scores", "ranks", "written", "says"),
    [
        ("3 2 1", "4 9 120", "bac", "falls"),  # documents were filtered out
        ("3 3 1", "2 1 3", "abc", "falls"),  # ties go by rank
        ("3 3 3", "3 1 2", "acb", ""),  # equal scores contradict nothing
        ("3 1 2", "- - 1", "bca", "falls"),
        ("3 1 2", "1 2 3", "bca", "rises and falls"),
        ("1 2 3", "0 0 0", "cab", "rises"),
        ("2 3 4", "0 0 0", "cab", "falls"),
    ],
)
def test_the_plain_orders_are_those_that_people_mean(scores, ranks, written, says):
    numbers = [None if rank == "-" else int(rank) for rank in ranks.split()]
    topic = dict(zip("bac", map(float, scores.split()), strict=True)), numbers
    assert "".join(ranked(Order.WRITTEN, "bac", list(topic[0].values()), numbers)) == written
    assert plain_orders.rank_column(list(topic[0].values()), numbers) == ("rises" in says, "falls" in says)
    check([topic])
