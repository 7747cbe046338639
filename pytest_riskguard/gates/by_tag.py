"""Slices, topics that share the value of a tag: who lost there, and the comparison on each alone, corrected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_riskguard.data.topics import CLUSTER
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.alignment import Aligned
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.families import Compared, adjusted_by_draws
from pytest_riskguard.gates.findings import Slice
from pytest_riskguard.gates.kinds import NotSignificantlyRisky
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.families import holm
from pytest_riskguard.risk import counts
from pytest_riskguard.risk.checks import IntArray

#: A tag with more values than this is a text for each topic, such as a URL, a date or a note.
MAX_VALUES = 50
#: With fewer topics than this per value, on average, a tag names topics rather than kinds of topics.
TOPICS_PER_VALUE = 2


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
    for place, topic in enumerate(topics if aligned.about.tags else ()):
        for tag, value in aligned.about.tags.get(topic, {}).items():
            if value and (tag != CLUSTER or aligned.clusters is None):
                columns.setdefault(tag, {}).setdefault(value, []).append(place)
    return tuple(
        Tagged(tag, value, np.array(places, dtype=np.int64))
        for tag, values in sorted(columns.items())
        if len(values) <= MAX_VALUES and TOPICS_PER_VALUE * len(values) <= sum(map(len, values.values()))
        for value, places in sorted(values.items())
        if len(places) < len(topics)
    )


def slices(comparison: Comparison, responsible: Sequence[str]) -> tuple[Slice, ...]:
    """The gate's question about the topics of each value, as if there were no others, and who is responsible there.

    The test is always for a loss: whether the slice is significantly below ``-tolerance``, for ``not_inferior`` too.
    A gate about single topics tests no mean, so its slices have estimates only.
    """
    gate, aligned, tags = comparison.gate, comparison.aligned, tagged(comparison.aligned)
    whole = Ruling(gate.as_kind(NotSignificantlyRisky), comparison.evidence)
    parts = [Ruling(whole.gate, whole.evidence.only(one.places)) for one in tags]
    tested = [place for place, part in enumerate(parts) if part.enough_topics and not gate.by_topic]
    adjusted = dict(zip(tested, _adjusted([tags[i] for i in tested], [parts[i] for i in tested]), strict=True))
    rows = []
    for place, (one, part) in enumerate(zip(tags, parts, strict=True)):
        inside = {comparison.topics[place] for place in one.places.tolist()}
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
                responsible=tuple(topic for topic in responsible if topic in inside),
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
