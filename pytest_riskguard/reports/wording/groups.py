"""Which queries a sentence is about: those that lost, a group that stands out among them, the one that lost most."""

from __future__ import annotations

from pytest_riskguard.gates.findings import COUNTED, Explanation, ResponsibleTopic, TopicGroup
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import clean

#: A group is worth a sentence when it has this share of the loss ...
MIN_GROUP_SHARE = 1 / 3
#: ... and exceeds by this much the share of all topics with the tag, which is what chance would give.
MIN_EXCESS_SHARE = 0.2
#: A topic is worth a sentence when it alone has this share of the loss, and the headline when it has most of it.
MIN_TOPIC_SHARE, MOST = 0.2, 0.5
#: The longest name, of a topic, a tag or a system, that a sentence repeats whole.
MAX_NAME = 60


def name(text: str) -> str:
    """Other people's text on one line, short enough for a sentence; reports escape it."""
    return clean(text, limit=MAX_NAME)


def lost_topics(verdict: Verdict) -> tuple[ResponsibleTopic, ...]:
    """The topics that an answer counts: those that lost, or for a gate on single topics those that collapsed.

    Where wins stand in the way of a pass, those that won.
    """
    if verdict.asked.by_topic:
        return Shown(verdict).collapsed
    sign = -1 if Shown(verdict).explained_by_wins else 1
    return tuple(topic for topic in verdict.responsible_topics if sign * topic.difference < -COUNTED)


def number_lost(verdict: Verdict) -> int:
    """How many ``lost_topics`` there are, with those that a verdict on very many topics does not name."""
    return len(lost_topics(verdict)) + Shown(verdict).more_losers


def dominant_group(verdict: Verdict) -> TopicGroup | None:
    """The most telling group of losses: its share of the loss is far above its share of the topics."""
    best, largest_excess = None, MIN_EXCESS_SHARE
    change = "win" if Shown(verdict).explained_by_wins else "loss"
    for group in (verdict.explanation or Explanation()).groups:
        if group.change != change or number_of_members(verdict, group) < 2:
            continue
        expected = group.tagged / verdict.topics.count
        share = _share(verdict, group)
        if share is not None and share >= MIN_GROUP_SHARE and share - expected > largest_excess:
            best, largest_excess = group, share - expected
    return best


def _share(verdict: Verdict, group: TopicGroup) -> float | None:
    """The group's share of the loss; where each topic has its own limit, of the topics that exceed it."""
    if not verdict.asked.by_topic:
        return group.share
    return number_of_members(verdict, group) / max(number_lost(verdict), 1)


def number_of_members(verdict: Verdict, group: TopicGroup) -> int:
    """How many topics of the group the answer counts; at most so many, if the verdict does not name all that lost.

    0 where single topics decide and the verdict does not name enough of them to say it.
    """
    if (Shown(verdict).more_losers or group.left_out) and not verdict.asked.by_topic:
        return min(group.size, number_lost(verdict))
    counted_topics = {topic.topic for topic in lost_topics(verdict)}
    return 0 if _may_have_more(verdict, group, counted_topics) else len(counted_topics.intersection(group.topics))


def _may_have_more(verdict: Verdict, group: TopicGroup, counted_topics: set[str]) -> bool:
    """Whether topics that count may belong to the group though it does not name them, because lists are cut."""
    if Shown(verdict).more_losers:
        return True
    if not group.left_out:
        return False
    # a topic has one value of a tag, so one that another group names is not of this group
    groups = (verdict.explanation or Explanation()).groups
    named = {topic for other in groups if other.tag == group.tag for topic in other.topics}
    return not counted_topics <= named


def tagged(group: TopicGroup) -> str:
    """``kind=code``."""
    return f"{name(group.tag)}={name(group.value)}"


def heaviest(verdict: Verdict, *, least: float = MIN_TOPIC_SHARE) -> ResponsibleTopic | None:
    """The topic with the largest share of the loss, if that is large and other topics lost too."""
    topics = lost_topics(verdict)
    if verdict.asked.by_topic or len(topics) < 2:
        return None
    share = topics[0].share
    return topics[0] if share is not None and share >= least else None
