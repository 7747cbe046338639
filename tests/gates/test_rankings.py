"""What changed between rankings: overlap, RBO, what to judge first, and causes."""

import string

import pytest
from numpy.testing import assert_allclose

from pytest_riskguard.gates import rankings
from pytest_riskguard.gates.rankings import Difference, Rankings

TEN = tuple(string.ascii_lowercase[:10])


def change(before, after):
    return rankings.change("q", tuple(before), tuple(after))


def difference(before, after):
    return Difference(*(Rankings(name, None, lists, {}) for name, lists in (("prod", before), ("new", after))))


def slow_rbo(before, after, p=0.9):
    """Prefix by prefix, as the paper writes it, over the depth that there is."""
    depths = range(1, max(len(before), len(after)) + 1)
    agreement = {d: len(set(before[:d]).intersection(after[:d])) / d for d in depths}
    return sum(p ** (d - 1) * agreement[d] for d in depths) / sum(p ** (d - 1) for d in depths)


@pytest.mark.parametrize("after", ["abc", "acb", "cba", "abx", "xyz", "ab", "abcd", "a", "xa"])
def test_rbo_is_the_weighted_mean_of_the_agreement_at_each_depth(after):
    assert_allclose(change("abc", after).rbo, slow_rbo("abc", after), rtol=1e-12)


def test_equal_lists_of_any_length_have_1_and_disjoint_ones_0():
    for length in (1, 3, 10):
        assert change(TEN[:length], TEN[:length]).rbo == pytest.approx(1, abs=1e-15)
        assert change(TEN[:length], TEN[:length]).overlap == 1
        assert change(TEN[:length], string.digits[:length]).rbo == 0


def test_a_swap_at_the_top_weighs_more_than_one_at_the_end():
    top, end = change(TEN, ("b", "a", *TEN[2:])), change(TEN, (*TEN[:8], "j", "i"))
    assert top.rbo < end.rbo < 1
    assert (top.overlap, end.overlap) == (1, 1)
    assert (top.what, end.what) == (("other first result",), ())


def test_an_empty_answer_is_empty_not_shorter_and_an_answer_to_another_query_is_new():
    assert (change("ab", "").what, change("", "a").what) == (("empty",), ("new",))


def test_a_shorter_list_is_told_from_a_longer_one():
    assert (change("abc", "ab").what, change("ab", "abc").what) == (("shorter",), ())


def test_those_that_moved_most_come_first_and_only_the_first_ten_count():
    long = tuple(f"d{n}" for n in range(30))
    found = difference({"a": long, "b": long, "c": long}, {"a": long[:20], "b": long[1:], "c": ("x", *long)})
    assert [one.topic for one in found.changes] == ["b", "c", "a"]
    assert found.changed == found.changes[:2]


def test_five_documents_of_each_of_the_ten_queries_that_moved_most_are_judged():
    before, after = ({f"q{n:02d}": side for n in range(12)} for side in (TEN, (*TEN[5:], *TEN[:5])))
    judged = difference(before, after).to_judge
    assert {topic for topic, _ in judged} == {f"q{n:02d}" for n in range(10)}
    assert [name for _, name in judged[:5]] == ["a", "f", "b", "g", "c"]
    assert difference({"a": ("1",)}, {"a": ("2",)}).to_judge == []
    assert difference({"a": TEN}, {"a": (*TEN[:8], "j", "i")}).to_judge == [("a", "i"), ("a", "j")]


def test_two_results_that_change_places_are_no_reversed_ranking():
    assert difference({"a": TEN[:2]}, {"a": TEN[1::-1]}).cause == ""


BEFORE = {f"q{n}": tuple(f"d{n}-{rank}" for rank in range(30)) for n in range(20)}


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({topic: ranked[:3] for topic, ranked in BEFORE.items()}, "cut at k = 3"),
        ({topic: ranked[::-1] for topic, ranked in BEFORE.items()}, "reversed"),
        ({topic: tuple(f"x{d}" for d in ranked) for topic, ranked in BEFORE.items()}, "ids of another collection"),
        ({topic: ranked[1:] for topic, ranked in BEFORE.items()}, ""),
        *(({topic: ranked[:depth] for topic, ranked in BEFORE.items()}, "") for depth in (10, 20)),
        (BEFORE, ""),
    ],
)
def test_what_happened_to_nearly_all_rankings_points_to_its_cause(after, said):
    for found in (difference(BEFORE, after).cause, difference(after, BEFORE).cause):
        assert said in found
        assert bool(said) is bool(found)
