"""Slices, topics that share the value of a tag: who lost there, and the comparison on each alone, corrected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_riskguard.data.topics import CLUSTER
from pytest_riskguard.gates.alignment import Aligned
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.families import adjusted_by_draws
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


def tagged(aligned: Aligned) -> list[tuple[str, str, IntArray]]:
    """Each tag and value with the places of its topics, by tag, then value.

    Not empty values, values that all topics have, or tags that name topics, not kinds. Clusters are no slices: each
    is a single observation.
    """
    topics, columns = aligned.candidate.topics, dict[str, dict[str, list[int]]]()
    for place, topic in enumerate(topics if aligned.about.tags else ()):
        for tag, value in aligned.about.tags.get(topic, {}).items():
            if value and (tag != CLUSTER or aligned.clusters is None):
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
    gate, aligned, tags = comparison.gate, comparison.aligned, tagged(comparison.aligned)
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
