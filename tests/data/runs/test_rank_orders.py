from __future__ import annotations

import itertools

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_riskguard.data import ranks as module
from pytest_riskguard.data.order import Order, as_scored, as_written
from pytest_riskguard.data.ranks import KINDS, ranked
from pytest_riskguard.data.row_blocks import Chunk, Documents, RowBlock

PROVIDERS = {
    Order.SINGLE_DESCENDING: "pytrec_eval",
    Order.DESCENDING: "riskguard",
    Order.ASCENDING: "judged",
    Order.STABLE: "cwl_eval",
}
#: Equal scores, scores that are equal only in 32 bits, and zeros of both signs.
SCORES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 2.0, 3.0, 1 + 2**-30, 1 - 2**-30, 1e30, -1e-40]),
    st.floats(-1e6, 1e6, allow_nan=False),
)
IDS = st.one_of(
    st.text(alphabet="ab\0", min_size=1, max_size=4).map(lambda name: "common-prefix-" + name),
    st.text(alphabet="ab\0é7", min_size=1, max_size=10),
)
RANKS = st.one_of(
    st.integers(-3, 12).map(lambda rank: b"%d" % rank),
    st.sampled_from(
        [b"+3", b"1_0", b"01", b"007", b"x", b"1.0", "٣".encode(), b"12345678", b"9" * 30, b"Q0", b"3\0"]
    ),
)


@st.composite
def topics(draw: st.DrawFn, with_ranks: bool) -> Documents:
    names = draw(st.lists(IDS, min_size=1, max_size=9, unique=True))
    size = len(names)
    scores = draw(st.lists(SCORES, min_size=size, max_size=size))
    kind = draw(st.sampled_from(["as drawn", "falling", "rising", "lines", "equal"]))
    if kind in ("falling", "rising"):
        scores.sort(reverse=kind == "falling")
    elif kind != "as drawn":
        first = draw(st.integers(0, 2))
        scores = [float(first + (place if kind == "lines" else 0)) for place in range(size)]
    documents = Documents(zip(names, scores, strict=True))
    if with_ranks:
        first = draw(st.integers(0, 2))
        numbers = [b"%d" % (first + place) for place in range(size)]
        drawn = draw(st.sampled_from(["usual", "shuffled", "backwards", "drawn"]))
        if drawn == "shuffled":
            numbers = draw(st.permutations(numbers))
        elif drawn == "drawn":
            numbers = draw(st.lists(RANKS, min_size=size, max_size=size))
        documents.ranks = numbers[::-1] if drawn == "backwards" else list(numbers)
    return documents


@st.composite
def chunks(draw: st.DrawFn) -> Chunk:
    with_ranks = draw(st.booleans())
    drawn = draw(st.lists(topics(with_ranks), min_size=1, max_size=5))
    return {f"t{place}": documents for place, documents in enumerate(drawn)}


def assert_ranked(chunk: Chunk) -> None:
    """That ranks of all topics at once are those of each topic alone."""
    found = ranked(block := RowBlock.of(chunk))
    for place, documents in enumerate(chunk.values()):
        rows = slice(int(block.offsets[place]), int(block.offsets[place + 1]))
        names, scores = list(documents), list(documents.values())
        written = as_written(names, scores, documents.ranks)
        assert KINDS[found.rank_columns[place]] is written.rank_column
        expected = {order: as_scored(names, scores, provider) for order, provider in PROVIDERS.items()}
        expected[Order.WRITTEN] = written.ranking
        for order, ranking in expected.items():
            rank_of = dict(zip(names, found.ranks[order][rows].tolist(), strict=True))
            assert rank_of == {name: rank for rank, name in enumerate(ranking, 1)}, order
        by_rank = np.arange(len(block.scores)) if found.written is None else found.written
        assert [names[row - rows.start] for row in by_rank[rows].tolist()] == list(written.ranking)


@given(chunks())
@example({"a": Documents(b=1.0)})
def test_ranks_of_all_topics_at_once_are_those_of_each_alone(chunk):
    assert_ranked(chunk)


def test_every_order_of_three_scores_and_ranks():
    chunk: Chunk = {}
    for scores, ranks in itertools.product(
        itertools.product([1.0, 1 + 2**-30, 2.0], repeat=3),
        itertools.product([b"0", b"1", b"2", b"-1", b"a"], repeat=3),
    ):
        documents = chunk[f"{scores} {ranks!r}"] = Documents(zip("bac", scores, strict=True))
        documents.ranks = list(ranks)
    assert_ranked(chunk)


def test_ranks_of_long_topics_are_compared_with_more_usual_ranks():
    for first in (0, 1):
        chunk: Chunk = {}
        for size in (1, 9, 10, 1_100, 17_000):
            documents = chunk[str(size)] = Documents((f"d{place}", float(-place // 3)) for place in range(size))
            documents.ranks = [b"%d" % (first + place) for place in range(size)]
        assert_ranked(chunk)
        documents.ranks = [*documents.ranks[:-1], b"16"]
        assert_ranked(chunk)


def test_topics_of_more_documents_than_are_compared_at_once(monkeypatch):
    """Ranks that stop rising beyond the limit number nothing, and those that go on agree."""
    monkeypatch.setattr(module, "_USUAL_LENGTH", 3)
    for ranks in ([1, 2, 3, 3, 3], [1, 2, 3, 4, 5], [0, 1, 2, 3, 4], [0, 1, 2, 2, 2], [5, 4, 3, 2, 1]):
        documents = Documents((name, float(-place)) for place, name in enumerate("abcde"))
        documents.ranks = [b"%d" % rank for rank in ranks]
        short = Documents(a=2.0, b=1.0)
        short.ranks = [b"1", b"2"]
        assert_ranked({"t": documents, "u": short})


def test_orders_that_agree_share_their_ranks():
    found = ranked(RowBlock.of({"1": Documents(a=3.0, b=2.0), "2": Documents(a=3.0, b=1.0)}))
    assert len({id(ranks) for ranks in found.ranks.values()}) == 1
    assert found.written is None
