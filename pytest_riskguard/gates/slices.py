"""Slices, the topics whose tag has one value (``TAG=VALUE``): gates about one slice, and tests of all, corrected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_riskguard.data.topics import CLUSTER
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import Slice
from pytest_riskguard.gates.kinds import MIN_SLICE_TOPICS, NotSignificantlyRisky, parse_slice
from pytest_riskguard.text import clean, nearest

if TYPE_CHECKING:
    from pytest_riskguard.data.scores import TopicScores
    from pytest_riskguard.gates.alignment import Aligned
    from pytest_riskguard.gates.comparison import Comparison


Tags = Mapping[str, Mapping[str, str]]
"""Topic to tag to value."""

_MAX_SHOWN = 12
_NO_TAGS: Mapping[str, str] = {}
#: A tag with more values than this makes no groups: it is a text for each topic, such as a URL, a date or a note.
MAX_VALUES = 50
#: With fewer topics than this per value, on average, a tag names topics rather than kinds of topics.
TOPICS_PER_VALUE = 2


def within(scores: TopicScores, asked: str, tags: Tags) -> TopicScores:
    """A system's scores on the topics of a slice ``TAG=VALUE``; what is said of other topics is left out as well.

    ``DataError`` (``no_common_topic``) if no topic with a score belongs to it.
    """
    tag, value = parse_slice(asked)

    def in_slice(topic: str) -> bool:
        return tags.get(topic, _NO_TAGS).get(tag) == value

    if not any(map(in_slice, scores.topics)):
        raise DataError(f"{scores.name} has no topic with {asked}", reason="no_common_topic")
    return scores.only(in_slice)


def all_within(systems: Sequence[TopicScores], asked: str, tags: Tags) -> list[TopicScores]:
    """All systems on the topics of a slice; raises like ``within``, and ``ValueError`` if no topic belongs to it."""
    try:
        return [within(scores, asked, tags) for scores in systems]
    except DataError:
        slices_of(asked, sorted({topic for scores in systems for topic in scores.topics}), tags)
        raise


def slices_of(entry: str, judged: Sequence[str], tags: Tags, *, smallest: int = MIN_SLICE_TOPICS) -> tuple[str, ...]:
    """The slices that an entry asks for, by value.

    ``TAG=VALUE`` asks for one, whatever its size; ``TAG`` for each of its values that at least ``smallest`` of the
    ``judged`` topics have. ``ValueError`` if there is no such tag
    or value, or none of its values has enough topics, or one of them cannot be printed.
    """
    tag, value = parse_slice(entry)
    sizes = _sizes(entry, tag, judged, tags)
    if value is not None:
        if value not in sizes:
            raise ValueError(f"no judged topic has {tag}={value}; {_instead(value, sizes, prefix=f'{tag}=')}")
        return (f"{tag}={value}",)
    large = tuple(f"{tag}={known}" for known in sorted(sizes) if sizes[known] >= smallest)
    if not large:
        largest = ", ".join(f"{clean(known)} {size}" for known, size in sizes.most_common(_MAX_SHOWN))
        raise ValueError(
            f"no value of {tag!r} has {smallest} judged topics (largest: {largest}); name the slices to "
            f"ask about, such as {tag}={clean(sizes.most_common(1)[0][0])}"
        )
    for part in large:
        if not part.isprintable():
            raise ValueError(f"{part!r} has characters that cannot be printed; change this value in the topics file")
    return large


def _sizes(entry: str, tag: str, judged: Iterable[str], tags: Tags) -> Counter[str]:
    """Judged topics for each value of a tag, most first, then by value."""
    tagged = [tags[topic] for topic in judged if topic in tags]
    known = sorted({name for of_topic in tagged for name in of_topic})
    if tag not in known:
        unnamable = [name for name in known if "=" in name and entry.startswith(name)]
        if unnamable:
            raise ValueError(
                f"tag {unnamable[0]!r} has a '=' in its name, which ends a tag's name here; rename this column of "
                "the topics file"
            )
        if not known:
            raise ValueError(
                "no judged topic has tags: they are further columns of the topics file, below a header line"
            )
        raise ValueError(f"there is no tag {tag!r}; {_instead(tag, known)}")
    sizes = Counter(value for of_topic in tagged if (value := of_topic.get(tag)))
    if not sizes:
        raise ValueError(f"no judged topic has a value of {tag!r}: its column of the topics file is empty")
    return Counter({value: sizes[value] for value in sorted(sizes)})


def _instead(word: str, known: Iterable[str], *, prefix: str = "") -> str:
    """The nearest known word, or all of them."""
    known = list(known)
    if close := nearest(word, known):
        return f"did you mean {prefix + close!r}?"
    more = ", ..." if len(known) > _MAX_SHOWN else ""
    return f"there are {', '.join(prefix + clean(name) for name in known[:_MAX_SHOWN])}{more}"


@frozen(eq=False)
class Tagged:
    """The topics that carry one value of a tag, by their places in ascending order."""

    tag: str
    value: str
    places: npt.NDArray[np.intp]


def tagged(aligned: Aligned) -> tuple[Tagged, ...]:
    """By tag, then value; not empty values, values that all topics have, or tags that name topics, not kinds.

    Clusters are no slices: each is a single observation.
    """
    topics, tags, clustered = aligned.candidate.topics, aligned.tags, aligned.clusters is not None
    columns: dict[str, dict[str, list[int]]] = {}
    for place, topic in enumerate(topics if tags else ()):
        for tag, value in tags.get(topic, _NO_TAGS).items():
            if value:
                columns.setdefault(tag, {}).setdefault(value, []).append(place)
    return tuple(
        Tagged(tag, value, np.array(places, dtype=np.intp))
        for tag, values in sorted(columns.items())
        if len(values) <= MAX_VALUES and TOPICS_PER_VALUE * len(values) <= sum(map(len, values.values()))
        if tag != CLUSTER or not clustered
        for value, places in sorted(values.items())
        if len(places) < len(topics)
    )


def slices(comparison: Comparison, tags: tuple[Tagged, ...]) -> tuple[Slice, ...]:
    """The gate's question about the topics of each value, as if there were no others.

    The test is always for a loss: whether the slice is
    significantly below ``-tolerance``, for ``not_inferior`` too. A gate about single topics tests no mean, so its
    slices have estimates only.
    """
    from pytest_riskguard.gates.families import Compared, adjusted_by_draws
    from pytest_riskguard.gates.ruling import Ruling  # not above: pytest collects slices without scipy
    from pytest_riskguard.inference.families import holm
    from pytest_riskguard.risk import counts

    asked, aligned = comparison.gate, comparison.aligned
    ruling = Ruling(asked.as_kind(NotSignificantlyRisky), comparison.evidence)
    rows: list[Slice] = []
    p_values: dict[int, float] = {}
    compared = []
    for topics in tags:
        places, part = topics.places, ruling.only(topics.places)
        changes = counts(aligned.candidate.values[places], aligned.baseline.values[places])
        tested = part.enough_topics and not asked.by_topic
        if tested:
            p_values[len(rows)] = part.p_value
            compared.append(Compared(tuple(map(str, places.tolist())), None, part.evidence))
        rows.append(
            Slice(
                tag=topics.tag,
                value=topics.value,
                count=part.evidence.n,
                wins=changes.wins,
                losses=changes.losses,
                mean_difference=part.evidence.mean(part.evidence.differences),
                urisk=part.evidence.estimate(part.alpha),
                lower=part.deciding.lower if tested else None,
                upper=part.deciding.upper if tested else None,
                adjusted_p_value=None,
                risky=None,
            )
        )
    if p_values:
        # a slice needs no level of its own, of which there is none beyond the highest
        p = list(p_values.values())
        drawn = adjusted_by_draws([ruling.gate] * len(p), p, compared)
        for place, adjusted in zip(p_values, (holm(p) if drawn is None else drawn[1]).tolist(), strict=True):
            rows[place] = replace(rows[place], adjusted_p_value=adjusted, risky=adjusted <= 1 - asked.level)
    return tuple(rows)
