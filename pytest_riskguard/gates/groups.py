"""Topics that belong together: they carry the same tag, and changed the same way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from pytest_riskguard.gates.align import Aligned
from pytest_riskguard.gates.evidence import FloatArray
from pytest_riskguard.gates.explanation import TopicGroup
from pytest_riskguard.rounding import ROUNDING_ERROR

#: A tag with more values than this divides nothing: it is a text for each topic, such as a URL, a date, a note.
MOST_VALUES = 50
#: With fewer topics than this to a value, on the average, a tag names topics rather than kinds of them.
TOPICS_PER_VALUE = 2
#: Fewer topics that changed the same way are no group.
SMALLEST = 2


@dataclass(frozen=True, eq=False)
class Tagged:
    """The topics that carry one value of a tag, by their places in ascending order."""

    tag: str
    value: str
    places: npt.NDArray[np.intp]


def tagged(aligned: Aligned) -> tuple[Tagged, ...]:
    """By tag, then value; without tags that name topics rather than kinds, and without empty values.

    Nor a tag of which all topics have one value, as in a gate about a slice: it parts nothing.
    """
    n = len(aligned.candidate.topics)
    columns: dict[str, dict[str, list[int]]] = {}
    for place, topic in enumerate(aligned.candidate.topics):
        for tag, value in aligned.tags.get(topic, {}).items():
            if value:
                columns.setdefault(tag, {}).setdefault(value, []).append(place)
    return tuple(
        Tagged(tag, value, np.array(places, dtype=np.intp))
        for tag, values in sorted(columns.items())
        if len(values) <= MOST_VALUES and TOPICS_PER_VALUE * len(values) <= sum(map(len, values.values()))
        for value, places in sorted(values.items())
        if len(places) < n
    )


def groups(differences: FloatArray, parts: FloatArray, topics: tuple[str, ...], tags: tuple[Tagged, ...]) -> Groups:
    """Topics of one tag that lost, and those that won, where there are at least two.

    Parameters
    ----------
    differences : array, shape (n_topics,)
        Candidate minus baseline, in units of the measure.
    parts : array, shape (n_topics,)
        Each topic's part in the estimate, times the number of topics.
    topics : tuple of str
    tags : tuple of Tagged

    Returns
    -------
    tuple of TopicGroup
        The largest part first.
    """
    contributions = parts / parts.size
    found = []
    for change, sign in _CHANGES:
        moved = sign * differences > ROUNDING_ERROR
        gains = np.maximum(sign * contributions, 0.0)
        total = math.fsum(gains[moved])
        for each in tags:
            members = each.places[moved[each.places]]
            if members.size < SMALLEST:
                continue
            members = members[np.argsort(np.round(-sign * parts[members], 12), kind="stable")]
            found.append(
                TopicGroup(
                    tag=each.tag,
                    value=each.value,
                    change=change,
                    topics=tuple(topics[int(i)] for i in members),
                    contribution=math.fsum(contributions[members]),
                    share=math.fsum(gains[members]) / total if total > 0 else None,
                    tagged=int(each.places.size),
                )
            )
    found.sort(key=lambda group: (-round(abs(group.contribution), 12), group.tag, group.value, group.change))
    return tuple(found)


Groups = tuple[TopicGroup, ...]
_CHANGES: tuple[tuple[Literal["loss", "win"], float], ...] = (("loss", -1.0), ("win", 1.0))
