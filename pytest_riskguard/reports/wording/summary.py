"""A verdict in one paragraph of plain language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_riskguard.gates.findings import Explanation, MovedDocument, Slice, TopicDocuments, TopicGroup
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.wording.answers import answer, line, lost_topics, opponent, percent, row, size
from pytest_riskguard.text import counted

#: A group is worth a sentence when it has this share of the loss ...
MIN_GROUP_SHARE = 1 / 3
#: ... and exceeds by this much the share of all topics with the tag, which is what chance would give.
MIN_EXCESS_SHARE = 0.2
#: A topic is worth a sentence when it alone has this share of the loss.
MIN_TOPIC_SHARE = 0.2
#: Topics, or slices, that a sentence names; others are counted.
MAX_NAMED = 3


def summary(verdict: Verdict) -> str:
    """The answer and its basis, which topics lost, what happened to their documents, and the mean."""
    sentences = [answer(verdict)]
    risky = verdict.outcome == "fail" or Shown(verdict).has("churn")
    group = _dominant_group(verdict) if risky else None
    if group is not None:
        sentences.append(_group(verdict, group))
    elif risky:
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


def _dominant_group(verdict: Verdict) -> TopicGroup | None:
    """The most telling group of losses: its share of the loss is far above its share of the topics."""
    best, largest_excess = None, MIN_EXCESS_SHARE
    for group in (verdict.explanation or Explanation()).groups:
        if group.change != "loss" or len(_members(verdict, group)) < 2:
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
    if verdict.asked.by_topic or group.share is None or members == all_lost:
        return f"{text}."
    return f"{text}, worth {percent(group.share)} of the loss."


def _heaviest(verdict: Verdict) -> Iterator[str]:
    """The topic with the largest share, if that is large and other topics lost too."""
    topics = lost_topics(verdict)
    if verdict.asked.by_topic or len(topics) < 2:
        return
    share = topics[0].share
    if share is not None and share >= MIN_TOPIC_SHARE:
        yield f"Topic {line(topics[0].topic)} alone accounts for {percent(share)} of the loss."


def _documents(verdict: Verdict, documents: tuple[TopicDocuments, ...], group: TopicGroup | None) -> Iterator[str]:
    """Where the costliest relevant document moved to, in the topics that the summary is about."""
    about = {topic.topic for topic in lost_topics(verdict)}
    if group is not None:
        about &= {*group.topics}
    examined = [topic for topic in documents if topic.topic in about]
    dropped = [
        (topic, topic.moved[0])
        for topic in examined
        if topic.moved and topic.moved[0].effect < 0 and topic.moved[0].baseline_rank is not None
    ]
    if not dropped:
        return
    gone = [(topic, document) for topic, document in dropped if _is_gone(topic, document)]
    kept = [pair for pair in dropped if pair not in gone]
    ways = [(way(pairs), len(pairs)) for way, pairs in ((_out_of, gone), (_to, kept)) if pairs]
    origin = _ranks([document.baseline_rank or 0 for _, document in dropped])
    if len(examined) == 1:
        where = f"In {line(examined[0].topic)}"
    else:
        which = f"all {len(examined)}" if len(dropped) == len(examined) else f"{len(dropped)} of the {len(examined)}"
        where = f"In {which} topics examined"
    text = f"{where}, the costliest relevant document dropped from {origin}"
    if len(ways) == 1:
        yield f"{text} {ways[0][0]}."
    else:
        yield f"{text}: {', '.join(f'{way} in {count}' for way, count in ways)}."


def _is_gone(topic: TopicDocuments, document: MovedDocument) -> bool:
    """Whether the document left the ranks that the measure looks at."""
    return document.candidate_rank is None or 0 < topic.depth < document.candidate_rank


def _out_of(gone: Sequence[tuple[TopicDocuments, MovedDocument]]) -> str:
    depths = {topic.depth for topic, _ in gone}
    return f"out of the top {depths.pop()}" if len(depths) == 1 and 0 not in depths else "out of the results"


def _to(kept: Sequence[tuple[TopicDocuments, MovedDocument]]) -> str:
    return f"to {_ranks([document.candidate_rank or 0 for _, document in kept])}"


def _ranks(ranks: Sequence[int]) -> str:
    low, high = min(ranks), max(ranks)
    return f"rank {low}" if low == high else f"ranks {low}-{high}"


def _few_changes(verdict: Verdict) -> str | None:
    if verdict.outcome == "inconclusive" or not Shown(verdict).has("few_changed_topics"):
        return None
    by_weight = ", by weight," if verdict.weighted else ""
    return f"Only {counted(verdict.topics.changed, 'topic')} changed: too few{by_weight} for one interval to decide."


def _pivots(verdict: Verdict) -> Iterator[str]:
    """The topics that each decide the verdict alone."""
    pivots = (verdict.explanation or Explanation()).pivotal_topics
    if verdict.asked.by_topic or not pivots:
        return
    if len(pivots) == 1:
        which = f"topic {line(pivots[0])}"
    elif len(pivots) <= MAX_NAMED:
        which = f"{'either' if len(pivots) == 2 else 'any one'} of topics {row(pivots)}"
    else:
        which = f"any one of {len(pivots)} topics, {line(pivots[0])} above all,"
    yield f"Leaving out {which} would make it {'pass' if verdict.outcome == 'fail' else 'fail'}."


def _slices(verdict: Verdict) -> Iterator[str]:
    """Slices that are risky although all topics together are not."""
    risky: list[Slice] = [part for part in (verdict.explanation or Explanation()).slices if part.risky]
    if not risky:
        return
    risky.sort(key=lambda part: (part.adjusted_p_value or 0.0, part.tag, part.value))
    names = [f"{part.tag}={part.value}" for part in risky]
    shown = row(names[:MAX_NAMED]) + (f" and {len(names) - MAX_NAMED} more slices" if len(names) > MAX_NAMED else "")
    yield f"On their own, the topics of {shown} are significantly risky."


def _mean(verdict: Verdict) -> str:
    difference = verdict.estimates.mean_difference or 0.0
    name = "The weighted mean" if verdict.weighted else "The mean"
    if verdict.pool is not None:
        against = opponent(verdict)
        if difference == 0:
            return f"{name} equals that of {against}."
        return f"{name} is {size(difference)} {'above' if difference > 0 else 'below'} that of {against}."
    if difference == 0:
        return f"{name} did not change."
    verb = "rose" if difference > 0 else "fell"
    significantly = " significantly," if Shown(verdict).has("refresh_baseline") else ""
    return f"{name} {verb}{significantly} by {size(difference)}."
