"""Which arguments a search gets."""

import functools
import operator

import pytest

from pytest_riskguard.live.candidates import SignatureError, asked_by_topic
from pytest_riskguard.live.retrieval import Topic

TOPIC = Topic("red shoes", id="t1", tags={"lang": "en"})


class Engine:
    def search(self, query, k):
        return query, k

    def __call__(self, query, lang="en"):
        return query, lang


@pytest.mark.parametrize(
    ("search", "said"),
    [
        (lambda query: query, "red shoes"),
        (lambda text, /: text, "red shoes"),
        (lambda query, k: (query, k), ("red shoes", 50)),
        (lambda query, size=10: (query, size), ("red shoes", 10)),
        (lambda *arguments: arguments, ("red shoes",)),
        (lambda query, *, lang="en", **_: (query, lang), ("red shoes", "en")),
        (lambda topic: (topic.id, topic.text, topic.tags["lang"]), ("t1", "red shoes", "en")),
        (lambda topic, k: (topic.id, k), ("t1", 50)),
        (Engine().search, ("red shoes", 50)),
        (Engine(), ("red shoes", "en")),
        (functools.partial(Engine().search, k=3), ("red shoes", 3)),
        (functools.partial(lambda index, query: (index, query), "docs"), ("docs", "red shoes")),
        (str.upper, "RED SHOES"),
        (operator.methodcaller("title"), "Red Shoes"),
    ],
)
def test_arguments_follow_the_signature(search, said):
    assert asked_by_topic(search, depth=50)(TOPIC) == said


def test_a_query_is_plain_text_and_a_topic_can_be_used_as_text():
    assert type(asked_by_topic(lambda query: query, depth=5)(TOPIC)) is str
    topic = asked_by_topic(lambda topic: topic, depth=5)(TOPIC)
    assert isinstance(topic, Topic)
    assert f"{topic}!" == "red shoes!"
    assert type(topic.text) is str


@pytest.mark.parametrize(
    ("search", "said"),
    [
        (lambda: [], r"a search takes \(query\), .*, <lambda>\(\) does not \(too many positional arguments\)"),
        (lambda *, query: query, "too many positional arguments"),
        (lambda query, *, k: (query, k), "missing a required .*argument: 'k'"),
        (lambda query, k, index: (query, k, index), "missing a required argument: 'index'"),
    ],
)
def test_other_signatures_are_refused(search, said):
    with pytest.raises(SignatureError, match=said):
        asked_by_topic(search, depth=5)
