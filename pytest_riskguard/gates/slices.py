"""Gates about a slice, the topics whose tag has one value (``TAG=VALUE``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.kinds import MIN_SLICE_TOPICS, parse_slice
from pytest_riskguard.text import clean, nearest

if TYPE_CHECKING:
    from pytest_riskguard.data.scores import TopicScores


Tags = Mapping[str, Mapping[str, str]]
"""Topic to tag to value."""

_MAX_SHOWN = 12


def within(systems: Sequence[TopicScores], asked: str, tags: Tags) -> list[TopicScores]:
    """All systems on the topics of a slice ``TAG=VALUE``; what is said of other topics is left out as well.

    ``DataError`` (``no_common_topic``) if one has no topic of it, ``ValueError`` if none has.
    """
    tag, value = parse_slice(asked)
    inside = {topic for topic, of_topic in tags.items() if of_topic.get(tag) == value}
    for scores in systems:
        if inside.isdisjoint(scores.topics):
            slices_of(asked, sorted({topic for one in systems for topic in one.topics}), tags)
            raise DataError(f"{scores.name} has no topic with {asked}", reason="no_common_topic")
    return [scores.only(inside.__contains__) for scores in systems]


def slices_of(entry: str, judged: Sequence[str], tags: Tags, *, smallest: int = MIN_SLICE_TOPICS) -> tuple[str, ...]:
    """The slices that an entry asks for, by value.

    ``TAG=VALUE`` asks for one, whatever its size; ``TAG`` for each of its values that at least ``smallest`` of the
    ``judged`` topics have. ``ValueError`` if there is no such tag
    or value, or none of its values has enough topics, or one of them cannot be printed.
    """
    tag, value = parse_slice(entry)
    tagged = [tags[topic] for topic in judged if tags.get(topic)]
    if not tagged:
        raise ValueError("no judged topic has tags: they are further columns of the topics file, below a header line")
    known = sorted({name for of_topic in tagged for name in of_topic})
    if tag not in known:
        raise ValueError(f"there is no tag {tag!r}; {_instead(tag, known)}")
    sizes = Counter(of_topic[tag] for of_topic in tagged if of_topic.get(tag))
    if value is not None:
        if value not in sizes:
            raise ValueError(f"no judged topic has {tag}={value}; {_instead(value, sorted(sizes), prefix=f'{tag}=')}")
        return (f"{tag}={value}",)
    if not (large := sorted(known for known, size in sizes.items() if size >= smallest)):
        largest = ", ".join(f"{clean(known)} {size}" for known, size in sizes.most_common(_MAX_SHOWN))
        raise ValueError(
            f"no value of {tag!r} has {smallest} judged topics (largest: {largest or 'none'}); name the slices to "
            f"ask about, as {tag}=VALUE"
        )
    for part in large:
        if not part.isprintable():
            raise ValueError(f"{part!r} has characters that cannot be printed; change this value in the topics file")
    return tuple(f"{tag}={part}" for part in large)


def _instead(word: str, known: Sequence[str], *, prefix: str = "") -> str:
    """The nearest known word, or all of them."""
    if close := nearest(word, known):
        return f"did you mean {prefix + close!r}?"
    more = ", ..." if len(known) > _MAX_SHOWN else ""
    return f"there are {', '.join(prefix + clean(name) for name in known[:_MAX_SHOWN])}{more}"
