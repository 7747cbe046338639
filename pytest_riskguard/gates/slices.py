"""Slices, topics whose tag has one value (``TAG=VALUE``): which there are, gates about one, and all beside a gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import CLUSTER, Tags
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.families import adjusted_by_draws
from pytest_riskguard.gates.findings import Slice
from pytest_riskguard.gates.kinds import MIN_SLICE_TOPICS, NotSignificantlyRisky, parse_slice, single_slice
from pytest_riskguard.gates.rankings import Rankings
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.families import holm
from pytest_riskguard.risk import counts
from pytest_riskguard.risk.checks import IntArray
from pytest_riskguard.text import clean, did_you_mean, listed

System = TypeVar("System", TopicScores, Rankings)

_MAX_SHOWN = 12
#: A tag with more values than this is a text for each topic, such as a URL, a date or a note.
MAX_VALUES = 50
#: With fewer topics than this per value, on average, a tag names topics rather than kinds of topics.
TOPICS_PER_VALUE = 2


# ---- gates about a slice


def within(systems: Sequence[System], asked: str, tags: Tags) -> list[System]:
    """All systems on the topics of a slice ``TAG=VALUE``; what is said of other topics is left out as well.

    ``DataError`` (``no_common_topic``) if one has no topic of it, ``ValueError`` if none has.
    """
    tag, value = single_slice(asked)
    inside = {topic for topic, of_topic in tags.items() if of_topic.get(tag) == value}
    for scores in systems:
        if inside.isdisjoint(scores.topics):
            slices_of(asked, sorted({topic for one in systems for topic in one.topics}), tags)
            raise DataError(f"{scores.name} has no topic with {asked}", reason="no_common_topic")
    return [scores.only(inside.__contains__) for scores in systems]


def slices_of(entry: str, judged: Sequence[str], tags: Tags) -> tuple[str, ...]:
    """The slices that an entry asks for, by value.

    ``TAG=VALUE`` asks for one, whatever its size; ``TAG`` for each of its values that at least ``MIN_SLICE_TOPICS``
    of the ``judged`` topics have. ``ValueError`` if there is no such tag or value, or none of its values has enough
    topics, or one of them cannot be printed.
    """
    tag, value = parse_slice(entry)
    tagged = [tags[topic] for topic in judged if tags.get(topic)]
    if not tagged:
        raise ValueError("no judged topic has tags: they are further columns of the topics file, below a header line")
    known = sorted({name for of_topic in tagged for name in of_topic})
    if tag not in known:
        raise ValueError(f"there is no tag {tag!r}{_instead(tag, known)}")
    sizes = Counter(of_topic[tag] for of_topic in tagged if of_topic.get(tag))
    if value is not None:
        if value not in sizes:
            raise ValueError(f"no judged topic has {tag}={value}{_instead(value, sorted(sizes))}")
        return (f"{tag}={value}",)
    if not (large := sorted(known for known, size in sizes.items() if size >= MIN_SLICE_TOPICS)):
        largest = ", ".join(f"{clean(known)} {size}" for known, size in sizes.most_common(_MAX_SHOWN))
        raise ValueError(
            f"no value of {tag!r} has {MIN_SLICE_TOPICS} judged topics (largest: {largest or 'none'}); name the "
            f"slices to ask about, as {tag}=VALUE"
        )
    for part in large:
        if not part.isprintable():
            raise ValueError(f"{part!r} has characters that cannot be printed; change this value in the topics file")
    return tuple(f"{tag}={part}" for part in large)


def _instead(word: str, known: Sequence[str]) -> str:
    """The nearest known word, or all of them."""
    return did_you_mean(word, known) or f"; there are {listed(known, most=_MAX_SHOWN)}"


# ---- slices of a comparison


def groups(topics: Sequence[str], tags: Tags) -> list[tuple[str, str, IntArray]]:
    """Each tag and value with the places of its topics, by tag, then value.

    Not empty values, values that all topics have, or tags that name topics, not kinds.
    """
    columns = dict[str, dict[str, list[int]]]()
    for place, topic in enumerate(topics if tags else ()):
        for tag, value in tags.get(topic, {}).items():
            if value:
                columns.setdefault(tag, {}).setdefault(value, []).append(place)
    return [
        (tag, value, np.array(places, dtype=np.int64))
        for tag, values in sorted(columns.items())
        if len(values) <= MAX_VALUES and TOPICS_PER_VALUE * len(values) <= sum(map(len, values.values()))
        for value, places in sorted(values.items())
        if len(places) < len(topics)
    ]


def slices(comparison: Comparison, responsible: Sequence[str]) -> tuple[Slice, ...]:
    """The gate's question about the topics of each value, as if there were no others, and who is responsible there.

    The test is always for a loss: whether the slice is significantly below ``-tolerance``, for ``not_inferior`` too.
    A gate about single topics tests no mean, so its slices have estimates only.
    """
    gate, aligned = comparison.gate, comparison.aligned
    found = groups(aligned.candidate.topics, aligned.about.tags)
    # clusters are no slices: each is a single observation
    tags = [group for group in found if group[0] != CLUSTER or aligned.clusters is None]
    whole = Ruling(gate.as_kind(NotSignificantlyRisky), comparison.evidence)
    parts = [Ruling(whole.gate, whole.evidence.only(places)) for _, _, places in tags]
    tested = [i for i, part in enumerate(parts) if part.enough_topics and not gate.by_topic]
    adjusted = dict(zip(tested, _adjusted([tags[i][2] for i in tested], [parts[i] for i in tested]), strict=True))
    rows = []
    for i, ((tag, value, places), part) in enumerate(zip(tags, parts, strict=True)):
        inside = {comparison.topics[place] for place in places.tolist()}
        changes = counts(aligned.candidate.values[places], aligned.baseline.values[places])
        p_value, limits = adjusted.get(i), part.deciding if i in adjusted else None
        rows.append(
            Slice(
                tag=tag,
                value=value,
                count=part.evidence.n,
                wins=changes.wins,
                losses=changes.losses,
                mean_difference=part.evidence.mean(part.evidence.differences),
                urisk=part.evidence.estimate(part.alpha),
                lower=None if limits is None else limits.lower,
                upper=None if limits is None else limits.upper,
                adjusted_p_value=p_value,
                risky=None if p_value is None else p_value <= 1 - gate.level,
                responsible=tuple(topic for topic in responsible if topic in inside),
            )
        )
    return tuple(rows)


def _adjusted(places: Sequence[IntArray], parts: Sequence[Ruling]) -> list[float]:
    """P-values adjusted for their number; there is no level for each, of which there is none beyond the highest."""
    if not parts:
        return []
    p_values = [part.p_value for part in parts]
    topics = [tuple(one.tolist()) for one in places]
    drawn = adjusted_by_draws(parts, p_values, topics=topics, measures=[None] * len(parts))
    found: list[float] = (holm(p_values) if drawn is None else drawn[1]).tolist()
    return found
