"""No topic may lose more than it may: limits, protected topics and tags, and who is named."""

import numpy as np
import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.collapse import protected_topics
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.card import Card
from tests.gates.conftest import topic_scores

BASE = np.array([0.8, 0.6, 0.4, 0.2, 0.0, 0.9])


def collapse(*losses: float, topics: Topics | None = None, **limits: object) -> Verdict:
    candidate = BASE - np.pad(losses, (0, BASE.size - len(losses)))
    gate = gate_of("g", "no_topic_collapse", **limits)
    return judge(gate, topic_scores("new", candidate), topic_scores("old", BASE), topics=topics)


def guilty(verdict: Verdict) -> dict[str, tuple[str, ...]]:
    return {topic.topic: topic.exceeds for topic in verdict.responsible_topics if topic.exceeds}


LIMIT, SHARE = ("max_loss",), ("max_share",)
NO_LIMIT = {"max_loss": None}


@pytest.mark.parametrize(
    ("losses", "limits", "guilt"),
    [
        ((0.51, -0.3, -0.3, -0.3, -0.3), {}, {"t00000": LIMIT}),  # however many win
        ((0.7, 0.55, 0.1), {}, {"t00000": LIMIT, "t00001": LIMIT}),
        ((0.3, 0.3, 0.3), {**NO_LIMIT, "max_share": 0.5}, {"t00002": SHARE}),
        ((0.1,), {**NO_LIMIT, "max_share": 0.0}, {"t00000": SHARE}),
        ((0.8, 0.6), {**NO_LIMIT, "max_share": 1.0}, {}),
        (
            (0.7,),
            {"max_share": 0.5, "protected": ["t00000", "t00001"]},
            {"t00000": (*LIMIT, *SHARE, "protected")},
        ),
        ((0.0, 0.001), {"protected": ["t00001"]}, {"t00001": ("protected",)}),
        ((0.0, 1e-7), {"protected": ["t00001"]}, {}),  # too small for any tool to print
        ((0.2, 0.0), {"protected": ["t00001"]}, {}),
    ],
)
def test_topics_that_lose_more_than_they_may_fail_the_gate_and_are_named(losses, limits, guilt):
    verdict = collapse(*losses, **limits)
    assert (verdict.outcome, verdict.reason) == (("fail", "collapse") if guilt else ("pass", None))
    assert guilty(verdict) == guilt
    assert verdict.estimates.flip_set == tuple(guilt)
    assert len(verdict.responsible_topics) == sum(loss > 0 for loss in losses)


@pytest.mark.parametrize(("loss", "outcome"), [(0.5, "pass"), (0.5 + 1e-13, "pass"), (0.5 + 1e-9, "fail")])
def test_the_limit_itself_is_let_through(loss, outcome):
    assert collapse(loss).outcome == outcome


TAGS = Topics({}, tags={f"t{i:05d}": {"kind": "brand" if i < 2 else "other", "length": "2"} for i in range(6)})


def test_tags_protect_all_topics_that_have_them():
    verdict = collapse(0.01, 0.01, 0.01, topics=TAGS, protected=["kind=brand"])
    assert set(guilty(verdict)) == {"t00000", "t00001"}


def test_a_topic_wins_over_a_tag_of_the_same_spelling_and_spaces_do_not_matter():
    topics = ("a=b", "c")
    tags = {"c": {"a": "b"}}
    assert protected_topics(["a=b"], topics, tags) == {"a=b"}
    assert protected_topics([" a = b "], ("c",), tags) == {"c"}
    assert protected_topics(["url=a=b"], ("c", "d"), {"c": {"url": "a=b"}}) == {"c"}  # split at the first =


NEITHER = (
    "protected: {!r} is neither a judged topic nor the TAG=VALUE of one; a topic without relevant documents has no "
    "score and cannot be protected; {}"
)
THIRTEEN = Topics({}, tags={f"t{i:05d}": {"a": str(i), "b": str(i), "c": str(i // 5)} for i in range(6)})
FIRST_TWELVE = "a=0, a=1, a=2, a=3, a=4, a=5, b=0, b=1, b=2, b=3, b=4, b=5"


@pytest.mark.parametrize(
    ("entry", "topics", "hint"),
    [
        ("t99", None, "no topic has tags"),
        ("kind=brnd", TAGS, "known tags: kind=brand, kind=other, length=2"),
        ("kind", TAGS, "known tags: kind=brand, kind=other, length=2"),
        ("a=9", THIRTEEN, f"known tags: {FIRST_TWELVE}"),
        ("kind", Topics({}, tags={"t00000": {"kind": ""}}), "known tags: kind="),
    ],
)
def test_what_protects_nothing_is_a_mistake(entry, topics, hint):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the message is compared in full
        collapse(0.1, topics=topics, protected=[entry])
    assert str(refused.value) == NEITHER.format(entry, hint)


def test_few_topics_are_no_reason_to_say_nothing():
    gate = gate_of("g", "no_topic_collapse")
    verdict = judge(gate, topic_scores("new", [0.1]), topic_scores("old", [0.9]))
    assert (verdict.outcome, verdict.intervals, verdict.estimates.decision_p_value) == ("fail", (), None)


def test_an_unanswered_topic_has_collapsed():
    from dataclasses import replace

    candidate = replace(topic_scores("new", [0.0, 0.5]), unanswered=("t00000",))
    verdict = judge(gate_of("g", "no_topic_collapse"), candidate, topic_scores("old", [0.9, 0.5]))
    assert guilty(verdict) == {"t00000": ("max_loss",)}
    assert [warning.code for warning in verdict.warnings] == ["missing_topics"]


def tail(n: int, lost: int, **options: object) -> Verdict:
    """So many of n topics lose half of their score, all others gain a little."""
    candidate = np.where(np.arange(n) < lost, 0.5, 1.0)
    baseline = np.where(np.arange(n) < lost, 1.0, 0.95)
    gate = gate_of("g", "no_topic_collapse", **{"max_loss": 0.3, "allowed": 0.05, **options})
    return judge(gate, topic_scores("new", candidate), topic_scores("old", baseline))


@pytest.mark.parametrize(
    ("n", "allowed", "most"),
    [(100, 0.05, 5), (119, 0.05, 5), (120, 0.05, 6), (20, 0.05, 1), (19, 0.05, 0), (19, 0.5, 0), (100, 0.29, 29),
     (10, 3, 3), (100, 0, 0)],
)  # fmt: skip
def test_so_many_topics_may_lose_more_than_the_limit_and_one_more_fails(n, allowed, most):
    assert [tail(n, lost, allowed=allowed).outcome for lost in (most, most + 1)] == ["pass", "fail"]
    found = tail(n, most + 1, allowed=allowed)
    assert (found.estimates.collapsed, Card(found).may_collapse) == (most + 1, most)


def test_the_topics_that_must_go_are_as_few_as_are_needed():
    verdict = tail(100, 8)
    assert len(verdict.responsible_topics) == 8
    flips = verdict.estimates.flip_set
    assert flips == ("t00000", "t00001", "t00002", "t00003")  # of the 96 left 4 may lose so much, and 4 do
    assert tail(100, 5).estimates.flip_set == ()
    assert len(tail(80, 5, protected=["t00000"]).estimates.flip_set) == 2  # of the 79 others 3 may
    assert collapse(0.51, 0.6, allowed=1).estimates.flip_set == ("t00001",)  # the worst


def test_protected_topics_may_not_lose_at_all_however_many_may():
    assert tail(100, 1, protected=["t00000"], allowed=0.5).outcome == "fail"
    assert tail(100, 1, protected=["t00001"], allowed=0.5).outcome == "pass"


@pytest.mark.parametrize("allowed", [-1, 1.5, float("nan"), True, "0.05"])
def test_what_is_neither_a_share_nor_a_number_of_topics_is_refused(allowed):
    with pytest.raises(ValueError, match="allowed: expected a share of the topics from 0 to below 1"):
        gate_of("g", "no_topic_collapse", allowed=allowed)
