"""Documents that moved, and what each is worth."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from pytest_riskguard.gates import documents
from pytest_riskguard.gates.documents import topic_documents
from pytest_riskguard.gates.findings import RankedDocument, ResponsibleTopic
from tests.gates.runs import Pair


def rows(pair: Pair) -> list[ResponsibleTopic]:
    """Every topic as a verdict would name it, those that lost most first."""
    ours, theirs = pair.scores()
    found = [
        ResponsibleTopic(t, None, float(c), float(b), float(c - b), 0.0, None, False)
        for t, c, b in zip(ours.topics, ours.values, theirs.values, strict=True)
    ]
    return sorted(found, key=lambda row: row.difference)


def told(pair: Pair):
    return topic_documents(rows(pair), (), *pair.ranked())


def test_what_a_document_is_worth_is_its_gain_at_both_ranks():
    pair = Pair(
        candidate={"t": ["x", "b", "y", "z"]},
        baseline={"t": ["a", "b", "x", "c", "d"]},
        grades={"t": {"a": 3, "b": 1, "c": 1, "x": 0}},
    )
    (topic,) = told(pair)
    ideal = 3 + 1 / math.log2(3) + 1 / 2  # grades 3, 1, 1
    assert (topic.depth, topic.exact) == (10, True)
    assert [(m.document, m.grade, m.baseline_rank, m.candidate_rank) for m in topic.moved] == [
        ("a", 3, 1, None),
        ("c", 1, 4, None),
    ]
    assert [m.effect for m in topic.moved] == pytest.approx([-3 / ideal, -1 / math.log2(5) / ideal], abs=1e-12)
    assert topic.replacements == (RankedDocument("y", None, None, 3, 0.0), RankedDocument("z", None, None, 4, 0.0))


def test_where_documents_depend_on_each_other_one_at_a_time_is_moved_back():
    pair = Pair(
        candidate={"t": ["x", "y", "a", "b"]},
        baseline={"t": ["a", "x", "y", "b", "c"]},
        grades={"t": {"a": 1, "b": 1, "c": 1}},
        measure="AP",
    )
    (topic,) = told(pair)
    now = (1 / 3 + 2 / 4) / 3
    with_a_back = (1 / 1 + 2 / 4) / 3  # a x y b
    with_c_back = (1 / 3 + 2 / 4 + 3 / 5) / 3  # x y a b c
    assert (topic.depth, topic.exact) == (0, False)
    assert [m.document for m in topic.moved] == ["a", "c"]
    effects = {m.document: m.effect for m in topic.moved}
    assert effects == pytest.approx({"a": now - with_a_back, "c": now - with_c_back}, abs=1e-12)


@pytest.mark.parametrize(
    "measure", ["nDCG@10", "nDCG", "nDCG(dcg='exp-log2')@10", "nDCG(gains={2: 9})@10", "P@5", "R(rel=2)@10", "R@5"]
)
def test_effects_add_up_to_the_difference_of_each_topic(measure):
    rng = random.Random(3)
    names = [f"d{number}" for number in range(30)]
    pair = Pair(
        candidate={f"t{i}": rng.sample(names, 20) for i in range(8)},
        baseline={f"t{i}": rng.sample(names, 20) for i in range(8)},
        grades={
            f"t{i}": {name: rng.randrange(-1, 4) for name in rng.sample(names, 15)} | {"sure": 2} for i in range(8)
        },
        measure=measure,
    )
    changed = [row for row in rows(pair) if row.difference]
    found = [topic_documents([row], (), *pair.ranked())[0] for row in changed]
    assert len(found) > 4
    for row, topic in zip(changed, found, strict=True):
        assert topic.exact
        assert math.fsum(m.effect for m in topic.moved) == pytest.approx(row.difference, abs=1e-9)
        assert [m.effect for m in topic.moved] == sorted(m.effect for m in topic.moved)


def test_a_sum_that_does_not_give_the_scores_is_not_claimed():
    pair = Pair({"t": ["x", "a"]}, {"t": ["a", "x", "b"]}, {"t": {"a": 1, "b": 1}})
    wrong = [replace(row, baseline=row.baseline / 2) for row in rows(pair)]
    (topic,) = topic_documents(wrong, (), *pair.ranked())
    assert not topic.exact


def test_a_measure_without_cutoff_tells_of_the_documents_that_matter_most(monkeypatch):
    monkeypatch.setattr(documents, "MAX_DOCUMENTS", 2)
    names = [f"d{number}" for number in (5, 4, 3, 2, 1, 0)]
    pair = Pair({"t": ["x", *names]}, {"t": names}, {"t": dict.fromkeys(names, 1)}, measure="nDCG")
    (topic,) = told(pair)
    assert [m.document for m in topic.moved] == ["d5", "d4"]
    assert topic.exact is False
    two = Pair({"t": ["x", *names[:2]]}, {"t": names[:2]}, {"t": dict.fromkeys(names[:2], 1)}, measure="nDCG")
    assert [(len(topic.moved), topic.exact) for topic in told(two)] == [(2, True)]


@pytest.mark.parametrize(("candidate", "baseline", "effect"), [("x", "a", -1.0), ("a", "x", 1.0)])
def test_what_only_one_ranking_found_is_its_whole_score(candidate, baseline, effect):
    found = {"u": ["b"]}
    pair = Pair({"t": [candidate], **found}, {"t": [baseline], **found}, {"t": {"a": 1}, "u": {"b": 1}})
    (topic,) = (topic for topic in told(pair) if topic.topic == "t")
    assert (topic.exact, [(m.document, m.effect) for m in topic.moved]) == (True, [("a", effect)])


def test_the_most_harmful_topics_come_first_and_the_rest_is_left_out(monkeypatch):
    topics = [f"t{number}" for number in range(5)]
    ranks = dict(zip(topics, (2, 6, 3, 9, 5), strict=True))
    pair = Pair(
        {t: [*(f"x{i}" for i in range(1, ranks[t])), "a"] for t in topics},
        {t: ["a"] for t in topics},
        {t: {"a": 1} for t in topics},
        measure="AP",
    )
    monkeypatch.setattr(documents, "MAX_LOSSES", 3)
    monkeypatch.setattr(documents, "MAX_WINS", 1)
    assert [topic.topic for topic in told(pair)] == ["t3", "t1", "t4"]
    assert [topic.topic for topic in topic_documents((), rows(pair), *pair.ranked())] == ["t3"]
    monkeypatch.setattr(documents, "MAX_ROWS", 2 * (9 + 6))  # each topic: its ranking and one with a moved back
    assert [topic.topic for topic in told(pair)] == ["t3", "t1"]


@pytest.mark.parametrize(
    ("measure", "candidate", "baseline", "exact", "moved"),
    [
        ("AP@2", ["x", "a"], ["x", "y", "a"], False, ["a"]),  # the last rank that the measure looks at counts
        ("AP@2", ["x", "y", "a"], ["x", "y", "z", "a"], False, []),  # ranks below it do not
        ("P@5", ["x", "y"], ["b", "a"], True, ["b", "a"]),  # of equal effects the better rank comes first
        ("P@5", ["x", "a"], ["a", "x"], True, ["a"]),  # a move without an effect is told as well
        ("P@5", ["x"], ["y"], False, []),  # nothing relevant was retrieved
        ("RR", ["x", "a", "b", "c"], ["x", "c", "a", "b"], False, ["a", "c", "b"]),
    ],
)
def test_which_documents_are_told_and_in_which_order(measure, candidate, baseline, exact, moved):
    grades = {"a": 1, "b": 1, "c": 1, "x": 0, "y": 0}
    pair = Pair({"t": candidate}, {"t": baseline}, {"t": grades}, measure=measure)
    (topic,) = told(pair)
    assert (topic.exact, [document.document for document in topic.moved]) == (exact, moved)
