"""Which topics a gate on a slice is about."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_riskguard.data.memory import topic_scores
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.slices import slices_of, within

TAGS = {
    **{f"c{i:02d}": {"intent": "code", "length": "short"} for i in range(30)},
    **{f"h{i:02d}": {"intent": "howto", "length": "long"} for i in range(12)},
    "x00": {"intent": "", "length": "long"},
    "u00": {"intent": "code", "length": "short"},  # nobody judged it
}
JUDGED = sorted({*TAGS} - {"u00"})


def scores(*topics: str) -> TopicScores:
    return topic_scores({topic: index / 100 for index, topic in enumerate(topics)}, "new")


def test_scores_and_what_is_said_of_topics_are_those_of_the_slice():
    whole = replace(
        scores("c00", "c01", "h00", "x00"),
        unanswered=("c01", "h00"),
        unknown=("nobody", "u00"),
        without_relevant=("c29", "h11"),
        contradicted=("c01", "x00"),
    )

    def part_of(one: TopicScores, asked: str, tags: Any = TAGS) -> TopicScores:
        (part,) = within([one], asked, tags)
        return part

    part = part_of(whole, "intent=code")
    assert (part.topics, part.values.tolist()) == (("c00", "c01"), [0.0, 0.01])
    assert (part.unanswered, part.unknown, part.without_relevant) == (("c01",), ("u00",), ("c29",))
    assert part.contradicted == ("c01",)
    assert (part.name, part.digest, part.from_run) == (whole.name, whole.digest, whole.from_run)


def test_scores_without_a_topic_of_the_slice_cannot_be_compared():
    with pytest.raises(DataError, match="new has no topic with intent=howto") as caught:
        within([scores("h00"), scores("c00", "c01")], "intent=howto", TAGS)
    assert caught.value.reason == "no_common_topic"
    with pytest.raises(ValueError, match="no judged topic has intent=zzz; there are code, howto"):
        within([scores("h00"), scores("c00")], "intent=zzz", TAGS)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("intent", ("intent=code",)),  # u00 is not judged, x00 has no value
        ("size", ("size=a", "size=b")),  # of 25 and 26 topics, c of 24
        ("intent=howto", ("intent=howto",)),  # named: whatever its size
        (" intent = howto ", ("intent=howto",)),
    ],
)
def test_a_tag_stands_for_its_values_that_are_large_enough(entry, expected):
    sizes = "a" * 25 + "b" * 26 + "c" * 24
    tags = {**TAGS, **{f"s{i:02d}": {"size": size} for i, size in enumerate(sizes)}}
    assert slices_of(entry, [topic for topic in tags if topic != "u00"], tags) == expected


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("intend", "there is no tag 'intend'; did you mean 'intent'?"),
        ("colour=red", "there is no tag 'colour'; there are intent, length$"),
        ("intent=Codes", "no judged topic has intent=Codes; did you mean 'code'?"),
        ("intent=zzz", "no judged topic has intent=zzz; there are code, howto$"),
        ("intent=", "expected TAG=VALUE or TAG"),
        ("=code", "expected TAG=VALUE or TAG"),
    ],
)
def test_what_there_is_not_is_refused_with_the_nearest(entry, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        slices_of(entry, JUDGED, TAGS)


@pytest.mark.parametrize("value", ["a\x1b[2Jb", "a\u202eb", "a\xa0b"])
def test_a_value_that_cannot_be_printed_is_refused(value):
    tags = {f"t{i}": {"intent": value} for i in range(30)}
    with pytest.raises(ValueError, match="has characters that cannot be printed; change this value") as refused:
        slices_of("intent", list(tags), tags)
    assert str(refused.value).isprintable()


def test_topics_without_any_tag_say_where_tags_come_from():
    with pytest.raises(ValueError, match="no judged topic has tags: they are further columns"):
        slices_of("intent", ["q1"], {"q1": {}})
    with pytest.raises(ValueError, match=r"no value of 'intent' has 25 judged topics \(largest: none\)"):
        slices_of("intent", ["q1"], {"q1": {"intent": ""}})


@pytest.mark.parametrize(("count", "more"), [(12, ""), (13, " and 1 more")])
def test_twelve_values_are_named_and_no_more(count, more):
    tags = {f"q{number}": {"n": f"v{number:02}"} for number in range(count)}
    with pytest.raises(ValueError, match=f", v11{more}$"):
        slices_of("n=zzz", list(tags), tags)
