"""Groups of texts that are near copies, against all pairs; words of many languages."""

from __future__ import annotations

import random
import re
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_riskguard.evaluation import near_copies as module
from pytest_riskguard.evaluation.near_copies import near_copies, words_of
from pytest_riskguard.evaluation.topics import Topics, read_topics

TEN = "a b c d e f g h i j"
#: Texts of a few words, so that many of them are alike.
TEXTS = st.lists(
    st.lists(st.sampled_from(["red", "shoes", "for", "men", "12", "13", "size", "鞋", "!"]), max_size=9).map(
        " ".join
    ),
    max_size=14,
)


def are_copies(one: str, other: str) -> bool:
    """The definition, for one pair."""
    first, second = words_of(one), words_of(other)
    if not first or not second or any(re.search(r"\d", word) for word in first ^ second):
        return False
    return 5 * len(first & second) >= 4 * len(first | second)


def by_all_pairs(texts: list[str]) -> list[tuple[int, ...]]:
    """Groups that all pairs make, by spreading the smallest place until nothing changes."""
    labels = list(range(len(texts)))
    pairs = [pair for pair in combinations(labels, 2) if are_copies(texts[pair[0]], texts[pair[1]])]
    for _ in texts:
        for one, other in pairs:
            labels[one] = labels[other] = min(labels[one], labels[other])
    groups = [tuple(i for i, label in enumerate(labels) if label == first) for first in sorted({*labels})]
    return [group for group in groups if len(group) > 1]


@given(texts=TEXTS)
@settings(max_examples=400)
def test_groups_are_those_of_all_pairs(texts):
    assert near_copies(texts) == by_all_pairs(texts)


def test_a_word_more_is_found_however_many_texts_share_all_their_words():
    colours, sizes = ["red", "blue", "green", "black", "white"], ["small", "large", "wide", "long", "short"]
    kinds = product(colours, sizes, ["leather", "cotton", "wool", "silk"], ["shoe", "hat", "coat", "belt"])
    texts = [text for kind in kinds for text in (" ".join(kind), f"cheap {' '.join(kind)}")]
    found = near_copies([*texts, "12 red small wool shoe"])
    assert found == [(i, i + 1) for i in range(0, 800, 2)]


@pytest.mark.parametrize("seed", range(5))
def test_groups_of_long_texts_are_those_of_all_pairs(seed):
    rng = random.Random(seed)
    words = [f"w{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(200)]
    texts: list[str] = []
    for _ in range(120):
        copied = rng.choice(texts).split() if texts and rng.random() < 0.6 else rng.sample(words, rng.randint(4, 39))
        for _ in range(rng.randint(0, 4)):
            copied[rng.randrange(len(copied))] = rng.choice(words)
        rng.shuffle(copied)
        texts.append(" ".join(copied))
    groups = near_copies(texts)
    assert groups == by_all_pairs(texts)
    assert len(groups) > 5


@given(texts=TEXTS, seed=st.integers(0, 99))
@settings(max_examples=100)
def test_the_order_of_texts_is_irrelevant(texts, seed):
    order = random.Random(seed).sample(range(len(texts)), len(texts))
    found = near_copies([texts[i] for i in order])
    assert sorted(tuple(sorted(order[i] for i in group)) for group in found) == near_copies(texts)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Red  shoes!", "shoes, red"),
        ("red red shoes", "shoes red"),
        ("STRASSE in Köln", "straße in Ko\u0308ln"),
        ("Ｒｅｄ ｓｈｏｅｓ", "red shoes"),
        ("iPhone 12 case", "case iphone １２"),
        ("red shoes for women", "red shoes for women cheap"),
        (TEN, TEN.replace("j", "k")),
        ("红色鞋子 尺寸 42", "尺寸42红色鞋子"),
        ("हिन्दी भाषा", "भाषा, हिन्दी"),
    ],
)
def test_copies(one, other):
    assert near_copies([one, other]) == [(0, 1)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("", ""),
        ("!?", "..."),
        (" ", "red"),
        ("red shoes", "red boots"),
        ("shoes for women", "red shoes for women"),
        ("red shoes women sale", "red shoes men sale"),
        ("iphone 12", "iphone 13"),
        (f"{TEN} 1", f"{TEN} 2"),
        (TEN, f"{TEN} 2"),
        (f"{TEN} b2b", f"{TEN} b2c"),
        (TEN, "a b c d e f g h k l"),
        ("红色鞋子", "蓝色鞋子"),
        ("ราคาทองวันนี้", "ราคาน้ำมันวันนี้"),
        ("हिन्दी", "हिंदू"),
        ("दिन", "दीन"),  # day and poor: they differ in a vowel sign alone
    ],
)
def test_no_copies(one, other):
    assert near_copies([one, other]) == []


def test_words_of_scripts_without_spaces_are_pairs_of_neighbours():
    assert words_of("红色鞋子 iPhone12手机 鞋") == {"红色", "色鞋", "鞋子", "iphone12", "手机", "鞋"}
    assert words_of("靴を買う") == {"靴を", "を買", "買う"}
    assert words_of("빨간 신발") == {"빨간", "신발"}  # Korean leaves spaces


def test_a_copy_of_a_copy_belongs_to_the_group():
    texts = [TEN, TEN.replace("a", "x"), "something else", TEN.replace("a", "x").replace("b", "y")]
    assert near_copies(texts[::3]) == []
    assert near_copies(texts) == [(0, 1, 3)]


def test_groups_ascend_by_their_first_place():
    assert near_copies(["z z", "b", "a", "z", "a", "b"]) == [(0, 3), (1, 5), (2, 4)]


def test_the_same_words_are_found_among_any_number_of_texts():
    """Thousands of texts with the same rare words: the bound on comparisons never hides equal ones."""
    texts = [f"same four words here {chr(97 + i % 26)}{chr(97 + i // 26)}x" for i in range(400)]
    texts += ["quite another text altogether"] * 3
    assert near_copies(texts)[-1] == (400, 401, 402)


def test_work_is_linear_in_the_number_of_texts(monkeypatch):
    """However alike they are, no text is compared with more than a fixed number of others."""
    compared = 0

    class Counted(frozenset):  # type: ignore[type-arg]
        def __and__(self, other):
            nonlocal compared
            compared += 1
            return frozenset.__and__(self, other)

    monkeypatch.setattr(module, "frozenset", Counted, raising=False)
    names = [chr(97 + i % 26) + chr(97 + i // 26 % 26) + chr(97 + i // 676) + "x" for i in range(2000)]
    near_copies([f"how far is it to {name}" for name in names])
    assert 0 < compared <= 2000 * 2 * 16


def test_topics_keep_their_groups(monkeypatch, tmp_path):
    path = tmp_path / "topics.tsv"
    path.write_text("q1\tred shoes\nq2\tblue\nq3\tShoes (red)\nq4\tblue\n")
    topics = read_topics(path)
    assert topics.near_copies(("q1", "q2", "q3")) == [(0, 2)]
    assert topics.near_copies(("q2", "q3", "unknown", "q4")) == [(0, 3)]
    monkeypatch.setattr("pytest_riskguard.evaluation.topics.near_copies", lambda _: pytest.fail("again"))
    assert topics.near_copies(("q1", "q2", "q3")) == [(0, 2)]
    assert topics.near_copies(("q2", "q3", "unknown", "q4")) == [(0, 3)]
    assert Topics({}).near_copies(("q1", "q2")) == []
