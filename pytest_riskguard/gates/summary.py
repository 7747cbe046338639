"""A verdict in one paragraph of plain language, made of its own figures and nothing else.

The verdict alone goes in, so that a way in that learns more of it (which documents moved) can have it told again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_riskguard.gates.answers import answer
from pytest_riskguard.gates.findings import MovedDocument, Slice, TopicDocuments, TopicGroup
from pytest_riskguard.gates.phrases import (
    counted,
    explanation_of,
    has,
    line,
    lost_topics,
    opponent,
    percent,
    row,
    size,
)
from pytest_riskguard.gates.verdict import Verdict

#: A group is worth a sentence when it has this share of the loss ...
LARGE = 1 / 3
#: ... and so much more than the share of all topics that carry the tag, which is what chance would give it.
MORE = 0.2
#: A topic is worth a sentence when it alone has this share of the loss.
HEAVY = 0.2
#: Topics, or slices, that a sentence names; others are counted.
NAMED = 3


def summarised(verdict: Verdict) -> Verdict:
    """The verdict with its summary told anew; an incomparable one has none."""
    if verdict.explanation is None:
        return verdict
    return replace(verdict, explanation=replace(verdict.explanation, summary=summary(verdict)))


def summary(verdict: Verdict) -> str:
    """The answer and what it rests on, whose loss it is, what became of the documents, the mean."""
    sentences = [answer(verdict)]
    told = verdict.outcome == "fail" or has(verdict, "churn")
    group = _telling_group(verdict) if told else None
    if group is not None:
        sentences.append(_group(verdict, group))
    elif told:
        sentences += _heaviest(verdict)
    if verdict.documents:
        sentences += _documents(verdict, verdict.documents, group)
    if few := _few_changes(verdict):
        sentences.append(few)
    sentences += _pivots(verdict)
    if verdict.outcome == "pass":
        sentences += _slices(verdict)
    sentences.append(_mean(verdict))
    return " ".join(sentences)


def _telling_group(verdict: Verdict) -> TopicGroup | None:
    """The group of losses that says most: more of the loss than its number of topics would have by chance."""
    best, most = None, MORE
    for group in explanation_of(verdict).groups:
        if group.change != "loss" or len(_members(verdict, group)) < 2:
            continue
        expected = group.tagged / verdict.topics.count
        share = _share(verdict, group)
        if share is not None and share >= LARGE and share - expected > most:
            best, most = group, share - expected
    return best


def _share(verdict: Verdict, group: TopicGroup) -> float | None:
    """Of the loss; where each topic has a limit of its own, of the topics that exceed theirs."""
    if verdict.kind != "no_topic_collapse":
        return group.share
    return len(_members(verdict, group)) / max(len(lost_topics(verdict)), 1)


def _members(verdict: Verdict, group: TopicGroup) -> list[str]:
    """Topics of the group that the answer counts."""
    counted_topics = {topic.topic for topic in lost_topics(verdict)}
    return [topic for topic in group.topics if topic in counted_topics]


def _group(verdict: Verdict, group: TopicGroup) -> str:
    members, all_lost = len(_members(verdict, group)), len(lost_topics(verdict))
    everyone = "Both" if all_lost == 2 else f"All {all_lost}"
    whose = everyone if members == all_lost else f"{members} of these {all_lost}"
    text = f"{whose} are tagged {line(group.tag)}={line(group.value)}"
    if verdict.kind == "no_topic_collapse" or group.share is None or members == all_lost:
        return f"{text}."
    return f"{text}, worth {percent(group.share)} of the loss."


def _heaviest(verdict: Verdict) -> Iterator[str]:
    """The topic with the largest part, where that is much and there are others."""
    topics = lost_topics(verdict)
    if verdict.kind == "no_topic_collapse" or len(topics) < 2:
        return
    share = topics[0].share
    if share is not None and share >= HEAVY:
        yield f"Topic {line(topics[0].topic)} alone is {percent(share)} of the loss."


def _documents(verdict: Verdict, documents: tuple[TopicDocuments, ...], group: TopicGroup | None) -> Iterator[str]:
    """What became of the relevant document that cost most, in the topics told of."""
    told = {topic.topic for topic in lost_topics(verdict)}
    if group is not None:
        told &= {*group.topics}
    fallen = [(each, each.moved[0]) for each in documents if each.topic in told and each.moved]
    fallen = [(each, first) for each, first in fallen if first.effect < 0 and first.baseline_rank is not None]
    out = [
        (each, first)
        for each, first in fallen
        if first.candidate_rank is None or (each.depth > 0 and first.candidate_rank > each.depth)
    ]
    if not fallen:
        return
    looked_into = sum(each.topic in told for each in documents)
    stayed = [pair for pair in fallen if pair not in out]
    ways = [(way(pairs), len(pairs)) for way, pairs in ((_out_of, out), (_to, stayed)) if pairs]
    origin = _ranks([first.baseline_rank or 0 for _, first in fallen])
    if looked_into == 1:
        where = f"On {line(fallen[0][0].topic)}"
    else:
        where = f"On {'all' if len(fallen) == looked_into else f'{len(fallen)} of the'} {looked_into} looked into,"
    whither = ways[0][0] if len(ways) == 1 else " or ".join(f"{way} ({count})" for way, count in ways)
    yield f"{where} the relevant document that cost most moved from {origin} {whither}."


def _out_of(out: Sequence[tuple[TopicDocuments, MovedDocument]]) -> str:
    depths = {each.depth for each, _ in out}
    return f"to below rank {depths.pop()}" if len(depths) == 1 and 0 not in depths else "out of the results"


def _to(stayed: Sequence[tuple[TopicDocuments, MovedDocument]]) -> str:
    return f"to {_ranks([first.candidate_rank or 0 for _, first in stayed])}"


def _ranks(ranks: Sequence[int]) -> str:
    low, high = min(ranks), max(ranks)
    return f"rank {low}" if low == high else f"ranks {low}-{high}"


def _few_changes(verdict: Verdict) -> str | None:
    if verdict.outcome == "inconclusive" or not has(verdict, "few_changed_topics"):
        return None
    by_weight = ", by weight," if verdict.weighted else ""
    return f"Only {counted(verdict.topics.changed, 'topic')} changed: too few{by_weight} for one interval to decide."


def _pivots(verdict: Verdict) -> Iterator[str]:
    """The topics that carry the verdict alone."""
    pivots = explanation_of(verdict).pivotal_topics
    if verdict.kind == "no_topic_collapse" or not pivots:
        return
    other = "pass" if verdict.outcome == "fail" else "fail"
    if len(pivots) <= NAMED:
        either = {1: "topic", 2: "either of topics"}.get(len(pivots), "any one of topics")
        yield f"Without {either} {row(pivots)} it would {other}."
    else:
        yield f"It would {other} without any single one of {len(pivots)} topics, {line(pivots[0])} above all."


def _slices(verdict: Verdict) -> Iterator[str]:
    """Parts of the topics that are risky though the whole is not."""
    risky: list[Slice] = [each for each in explanation_of(verdict).slices if each.risky]
    if not risky:
        return
    risky.sort(key=lambda each: (each.adjusted_p_value or 0.0, each.tag, each.value))
    names = [f"{each.tag}={each.value}" for each in risky]
    shown = row(names[:NAMED]) + (f" and {len(names) - NAMED} more slices" if len(names) > NAMED else "")
    yield f"Taken alone, the topics of {shown} are significantly riskier."


def _mean(verdict: Verdict) -> str:
    difference = verdict.estimates.mean_difference or 0.0
    name = "The weighted mean" if verdict.weighted else "The mean"
    if verdict.pool is not None:
        against = opponent(verdict)
        if difference == 0:
            return f"{name} is that of {against}."
        return f"{name} is {size(difference)} {'above' if difference > 0 else 'below'} that of {against}."
    if difference == 0:
        return f"{name} did not change."
    verb = "rose" if difference > 0 else "fell"
    significantly = " significantly," if has(verdict, "refresh_baseline") else ""
    return f"{name} {verb}{significantly} by {size(difference)}."
