"""Which topics a gate on a slice is about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.scores import Repeated, TopicScores
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.slices import slices_of, within

TAGS = {
    **{f"c{i:02d}": {"intent": "code", "length": "short"} for i in range(30)},
    **{f"h{i:02d}": {"intent": "howto", "length": "long"} for i in range(12)},
    "x00": {"intent": "", "length": "long"},
    "u00": {"intent": "code", "length": "short"},  # nobody judged it
}
JUDGED = sorted({*TAGS} - {"u00"})


def scores(*topics: str) -> TopicScores:
    return TopicScores.from_mapping({topic: index / 100 for index, topic in enumerate(topics)}, name="new")


def test_scores_and_what_is_said_of_topics_are_those_of_the_slice():
    whole = replace(
        scores("c00", "c01", "h00", "x00"),
        unanswered=("c01", "h00"),
        unknown=("nobody", "u00"),
        without_relevant=("c29", "h11"),
        contradicted=("c01", "x00"),
        repeated=Repeated(("c01", "h00"), ("h00",), (0.01, 0.02), (0.01, 0.3)),
    )
    part = within(whole, "intent=code", TAGS)
    assert (part.topics, part.values.tolist()) == (("c00", "c01"), [0.0, 0.01])
    assert (part.unanswered, part.unknown, part.without_relevant) == (("c01",), ("u00",), ("c29",))
    assert part.contradicted == ("c01",)
    assert part.repeated == Repeated(("c01",), (), (0.01,), (0.01,))
    assert within(whole, "length=short", TAGS).repeated == part.repeated
    assert (
        within(replace(scores("c00", "h01"), repeated=whole.repeated), "intent=x", {"h01": {"intent": "x"}}).repeated
        is None
    )
    assert (part.name, part.digest, part.from_run) == (whole.name, whole.digest, whole.from_run)


def test_scores_without_a_topic_of_the_slice_cannot_be_compared():
    with pytest.raises(DataError, match="new has no topic with intent=howto") as caught:
        within(scores("c00", "c01"), "intent=howto", TAGS)
    assert caught.value.reason == "no_common_topic"


@pytest.mark.parametrize(
    ("entry", "smallest", "expected"),
    [
        ("intent", 25, ("intent=code",)),  # u00 is not judged, x00 has no value
        ("intent", 30, ("intent=code",)),
        ("intent", 12, ("intent=code", "intent=howto")),
        ("length", 13, ("length=long", "length=short")),
        ("intent=howto", 25, ("intent=howto",)),  # named: whatever its size
        (" intent = howto ", 25, ("intent=howto",)),
    ],
)
def test_a_tag_stands_for_its_values_that_are_large_enough(entry, smallest, expected):
    assert slices_of(entry, JUDGED, TAGS, smallest=smallest) == expected


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("intend", "there is no tag 'intend'; did you mean 'intent'?"),
        ("colour=red", "there is no tag 'colour'; there are intent, length$"),
        ("intent=Codes", "no judged topic has intent=Codes; did you mean 'intent=code'?"),
        ("intent=zzz", "no judged topic has intent=zzz; there are intent=code, intent=howto$"),
        ("intent=", "expected TAG=VALUE or TAG"),
        ("=code", "expected TAG=VALUE or TAG"),
    ],
)
def test_what_there_is_not_is_refused_with_the_nearest(entry, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        slices_of(entry, JUDGED, TAGS)


@pytest.mark.parametrize(
    ("entry", "topics", "message"),
    [
        (
            "n",
            [("n", f"v{i:02d}") for i in range(14) for _ in range(1 + (i == 13))],
            "no value of 'n' has 25 judged topics (largest: v13 2, v00 1, v01 1, v02 1, v03 1, v04 1, v05 1, v06 1, "
            "v07 1, v08 1, v09 1, v10 1); set smallest_slice lower, or name the slices to ask about, such as n=v13",
        ),
        (
            "n=x",
            [("n", f"v{i:02d}") for i in range(13)],
            "no judged topic has n=x; there are n=v00, n=v01, n=v02, n=v03, n=v04, n=v05, n=v06, n=v07, n=v08, "
            "n=v09, n=v10, n=v11, ...",
        ),
        (
            "n=x",
            [("n", f"v{i:02d}") for i in range(12)],
            "no judged topic has n=x; there are n=v00, n=v01, n=v02, n=v03, n=v04, n=v05, n=v06, n=v07, n=v08, "
            "n=v09, n=v10, n=v11",
        ),
        (
            "a=b=c",
            [("a=b", "c")],
            "tag 'a=b' has a '=' in its name, which ends a tag's name here; rename this column of the topics file",
        ),
        ("intention", [("intent", "c")], "there is no tag 'intention'; did you mean 'intent'?"),
        ("z", [("a=b", "c"), ("n", "v")], "there is no tag 'z'; there are a=b, n"),
        (
            "n",
            [],
            "no judged topic has tags: they are further columns of the topics file, below a header line",
        ),
        ("n", [("n", "")], "no judged topic has a value of 'n': its column of the topics file is empty"),
        (
            "n",
            [("n", "a"), ("other", "b")],  # the second has no value of this tag
            "no value of 'n' has 25 judged topics (largest: a 1); set smallest_slice lower, or name the slices to "
            "ask about, such as n=a",
        ),
    ],
)
def test_what_is_wrong_with_an_entry_is_said_in_full(entry, topics, message):
    tags = {f"t{place:02d}": {tag: value} for place, (tag, value) in enumerate(topics)}
    with pytest.raises(ValueError) as refused:  # noqa: PT011 (the whole message is compared below)
        slices_of(entry, [*tags, "untagged"], tags)
    assert str(refused.value) == message


def test_a_tag_whose_values_are_all_small_says_their_sizes():
    with pytest.raises(ValueError, match=r"has 31 judged topics \(largest: code 30, howto 12\); set few lower, or"):
        slices_of("intent", JUDGED, TAGS, smallest=31, option="few")


@pytest.mark.parametrize("value", ["a\x1b[2Jb", "a\u202eb", "a\xa0b"])
def test_a_value_that_cannot_be_printed_is_refused(value):
    tags = {f"t{i}": {"intent": value} for i in range(30)}
    with pytest.raises(ValueError, match="has characters that cannot be printed; change this value") as refused:
        slices_of("intent", list(tags), tags)
    assert str(refused.value).isprintable()


def test_values_in_messages_are_printable():
    tags = {f"t{i}": {"intent": "a\x1b[2Jb", "kind\x1b": "b"} for i in range(9)}
    for entry in ("intent", "intent=z", "zzz"):
        with pytest.raises(ValueError, match=r"no value of|no judged topic|there is no tag") as refused:
            slices_of(entry, list(tags), tags)
        assert str(refused.value).isprintable()


def test_a_tag_with_an_equals_sign_cannot_be_named():
    tags = {"q1": {"a=b": "c"}}
    with pytest.raises(ValueError, match="tag 'a=b' has a '=' in its name"):
        slices_of("a=b=c", ["q1"], tags)


def test_topics_without_any_tag_say_where_tags_come_from():
    with pytest.raises(ValueError, match="no judged topic has tags: they are further columns"):
        slices_of("intent", ["q1"], {"q1": {}})
    with pytest.raises(ValueError, match="no judged topic has a value of 'intent'"):
        slices_of("intent", ["q1"], {"q1": {"intent": ""}})


def test_a_value_may_hold_an_equals_sign():
    tags = {f"q{i}": {"formula": "a=b"} for i in range(3)}
    assert slices_of("formula=a=b", list(tags), tags) == ("formula=a=b",)
    assert within(scores("q0", "q1"), "formula=a=b", tags).topics == ("q0", "q1")


@pytest.mark.parametrize("value", ["intent", "", "=x", 3])
def test_a_single_gate_is_about_one_slice(value):
    with pytest.raises(ValueError, match="TAG=VALUE"):
        gate_of("g", slice=value)
    assert gate_of("g", slice=" intent = code").slice == "intent=code"
