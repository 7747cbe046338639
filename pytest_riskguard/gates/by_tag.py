"""Topics that share the value of a tag: groups that changed alike, and the comparison on each slice, corrected."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pytest_riskguard.data.topics import CLUSTER
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.alignment import Aligned
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.families import Compared, adjusted_by_draws
from pytest_riskguard.gates.findings import Slice, TopicGroup
from pytest_riskguard.gates.kinds import NotSignificantlyRisky
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.families import holm
from pytest_riskguard.risk import counts
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, IntArray, exact_sum

#: A tag with more values than this is a text for each topic, such as a URL, a date or a note.
MAX_VALUES = 50
#: With fewer topics than this per value, on average, a tag names topics rather than kinds of topics.
TOPICS_PER_VALUE = 2
#: The fewest topics that changed the same way and make a group.
MIN_GROUP = 2
#: Ways to change, with the sign of their differences.
CHANGES: tuple[tuple[Literal["loss", "win"], float], ...] = (("loss", -1.0), ("win", 1.0))


@frozen(eq=False)
class Tagged:
    """The topics that carry one value of a tag, by their places in ascending order."""

    tag: str
    value: str
    places: IntArray


def tagged(aligned: Aligned) -> tuple[Tagged, ...]:
    """By tag, then value; not empty values, values that all topics have, or tags that name topics, not kinds.

    Clusters are no slices: each is a single observation.
    """
    topics, columns = aligned.candidate.topics, dict[str, dict[str, list[int]]]()
    for place, topic in enumerate(topics if aligned.tags else ()):
        for tag, value in aligned.tags.get(topic, {}).items():
            if value and (tag != CLUSTER or aligned.clusters is None):
                columns.setdefault(tag, {}).setdefault(value, []).append(place)
    return tuple(
        Tagged(tag, value, np.array(places, dtype=np.int64))
        for tag, values in sorted(columns.items())
        if len(values) <= MAX_VALUES and TOPICS_PER_VALUE * len(values) <= sum(map(len, values.values()))
        for value, places in sorted(values.items())
        if len(places) < len(topics)
    )


def groups(
    differences: FloatArray, parts: FloatArray, topics: tuple[str, ...], tags: tuple[Tagged, ...]
) -> tuple[TopicGroup, ...]:
    """Topics of one tag that lost, and those that won, where there are at least two; the largest part first.

    ``parts`` (n_topics,) are each topic's part in the estimate, times the number of topics.
    """
    contributions, found = parts / parts.size, []
    for change, sign in CHANGES:
        moved, gains = sign * differences > ROUNDING_ERROR, np.maximum(sign * contributions, 0.0)
        total = exact_sum(gains[moved])
        for part in tags:
            members = part.places[moved[part.places]]
            members = members[np.argsort(np.round(-sign * parts[members], 12), kind="stable")]
            if members.size < MIN_GROUP:
                continue
            found.append(
                TopicGroup(
                    tag=part.tag,
                    value=part.value,
                    change=change,
                    topics=tuple(topics[i] for i in members.tolist()),
                    contribution=exact_sum(contributions[members]),
                    share=exact_sum(gains[members]) / total if total > 0 else None,
                    tagged=int(part.places.size),
                )
            )
    found.sort(key=lambda group: (-round(abs(group.contribution), 12), group.tag, group.value, group.change))
    return tuple(found)


def slices(comparison: Comparison, tags: tuple[Tagged, ...]) -> tuple[Slice, ...]:
    """The gate's question about the topics of each value, as if there were no others.

    The test is always for a loss: whether the slice is significantly below ``-tolerance``, for ``not_inferior`` too.
    A gate about single topics tests no mean, so its slices have estimates only.
    """
    gate, aligned = comparison.gate, comparison.aligned
    whole = Ruling(gate.as_kind(NotSignificantlyRisky), comparison.evidence)
    parts = [whole.only(one.places) for one in tags]
    tested = [place for place, part in enumerate(parts) if part.enough_topics and not gate.by_topic]
    adjusted = dict(zip(tested, _adjusted([tags[i] for i in tested], [parts[i] for i in tested]), strict=True))
    rows = []
    for place, (one, part) in enumerate(zip(tags, parts, strict=True)):
        changes = counts(aligned.candidate.values[one.places], aligned.baseline.values[one.places])
        p_value, limits = adjusted.get(place), part.deciding if place in adjusted else None
        rows.append(
            Slice(
                tag=one.tag,
                value=one.value,
                count=part.evidence.n,
                wins=changes.wins,
                losses=changes.losses,
                mean_difference=part.evidence.mean(part.evidence.differences),
                urisk=part.evidence.estimate(part.alpha),
                lower=None if limits is None else limits.lower,
                upper=None if limits is None else limits.upper,
                adjusted_p_value=p_value,
                risky=None if p_value is None else p_value <= 1 - gate.level,
            )
        )
    return tuple(rows)


def _adjusted(tags: list[Tagged], parts: list[Ruling]) -> list[float]:
    """P-values adjusted for their number; there is no level for each, of which there is none beyond the highest."""
    if not parts:
        return []
    p_values = [part.p_value for part in parts]
    compared = [
        Compared(tuple(map(str, one.places.tolist())), None, part.evidence)
        for one, part in zip(tags, parts, strict=True)
    ]
    drawn = adjusted_by_draws([part.gate for part in parts], p_values, compared)
    found: list[float] = (holm(p_values) if drawn is None else drawn[1]).tolist()
    return found
