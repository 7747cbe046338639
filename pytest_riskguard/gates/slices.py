"""Gates about part of the topics: those whose tag has one value, written ``TAG=VALUE``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.kinds import MIN_SLICE_TOPICS, parse_slice
from pytest_riskguard.text import nearest

if TYPE_CHECKING:
    from pytest_riskguard.evaluation.scores import TopicScores


Tags = Mapping[str, Mapping[str, str]]
"""Topic to tag to value."""

_MAX_SHOWN = 12


def within(scores: TopicScores, asked: str, tags: Tags) -> TopicScores:
    """A system's scores on the topics of a slice ``TAG=VALUE``; what is said of other topics is left out as well.

    ``DataError`` (``no_common_topic``) if the scores hold no topic of it.
    """
    tag, value = parse_slice(asked)
    places = [place for place, topic in enumerate(scores.topics) if tags.get(topic, {}).get(tag) == value]
    if not places:
        raise DataError(f"{scores.name} has no topic with {asked}", reason="no_common_topic")

    def those(topics: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(topic for topic in topics if tags.get(topic, {}).get(tag) == value)

    return replace(
        scores,
        topics=those(scores.topics),
        values=scores.values[places],
        unanswered=those(scores.unanswered),
        unknown=those(scores.unknown),
        without_relevant=those(scores.without_relevant),
    )


def slices_of(
    entry: str, judged: Sequence[str], tags: Tags, *, smallest: int = MIN_SLICE_TOPICS, option: str = "smallest_slice"
) -> tuple[str, ...]:
    """The slices that an entry asks for, by value.

    ``TAG=VALUE`` is that one, whatever its size; ``TAG`` each of its values that has ``smallest`` of the topics
    ``judged``. ``option`` is what the user calls ``smallest``. ``ValueError`` if there is no such tag or value,
    or none of its values has enough topics.
    """
    tag, value = parse_slice(entry)
    sizes = _sizes(entry, tag, judged, tags)
    if value is not None:
        if value not in sizes:
            raise ValueError(f"no judged topic has {tag}={value}; {_instead(value, sizes, prefix=f'{tag}=')}")
        return (f"{tag}={value}",)
    large = tuple(f"{tag}={known}" for known in sorted(sizes) if sizes[known] >= smallest)
    if not large:
        largest = ", ".join(f"{known} {size}" for known, size in sizes.most_common(_MAX_SHOWN))
        raise ValueError(
            f"no value of {tag!r} has {smallest} judged topics (largest: {largest}); set {option} lower, or name "
            f"the slices to ask about, such as {tag}={sizes.most_common(1)[0][0]}"
        )
    return large


def _sizes(entry: str, tag: str, judged: Iterable[str], tags: Tags) -> Counter[str]:
    """Judged topics for each value of a tag, most first, then by value."""
    known = sorted({name for topic in judged for name in tags.get(topic, {})})
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
    values = sorted(value for topic in judged if (value := tags.get(topic, {}).get(tag, "")))
    if not values:
        raise ValueError(f"no judged topic has a value of {tag!r}: its column of the topics file is empty")
    return Counter(values)


def _instead(word: str, known: Iterable[str], *, prefix: str = "") -> str:
    """The nearest known word, or all of them."""
    known = list(known)
    if close := nearest(word, known):
        return f"did you mean {prefix + close!r}?"
    more = ", ..." if len(known) > _MAX_SHOWN else ""
    return f"there are {', '.join(prefix + name for name in known[:_MAX_SHOWN])}{more}"
