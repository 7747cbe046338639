"""Why: topics responsible, groups of topics that changed together, the comparison on each slice."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pytest_riskguard.gates.alignment import Aligned
from pytest_riskguard.gates.evidence import BoolArray, Evidence
from pytest_riskguard.gates.findings import Explanation, ResponsibleTopic, Slice, TopicGroup
from pytest_riskguard.gates.kinds import NotSignificantlyRisky
from pytest_riskguard.gates.ruling import Comparison, Ruling
from pytest_riskguard.gates.sensitivity import LeftOut
from pytest_riskguard.inference import critical_value, holm
from pytest_riskguard.risk import counts, standard_error
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray
from pytest_riskguard.risk.urisk import varies

#: Losses and flagged wins.
Responsible = tuple[tuple[ResponsibleTopic, ...], tuple[ResponsibleTopic, ...]]


def responsible_topics(comparison: Comparison, alone: LeftOut) -> Responsible:
    """Every topic that lost, most harmful first, and separately the flagged wins.

    Flagged: TR_i lies outside the Student-t critical values of the gate's level (SIGIR'14 Eq. 21).
    """
    alpha, weights, exceeded = comparison.gate.alpha, comparison.aligned.weights, comparison.collapsed
    return topic_rows(
        comparison,
        parts=comparison.evidence.parts(alpha),
        standard=standardised_parts(comparison.evidence, alpha),
        alone=alone,
        more=lambda i: {"weight": None if weights is None else float(weights[i]), "exceeds": exceeded.get(i, ())},
    )


def topic_rows(
    comparison: Comparison,
    *,
    parts: FloatArray,
    standard: FloatArray,
    alone: LeftOut,
    more: Callable[[int], Mapping[str, Any]],
) -> Responsible:
    """Losses, most harmful first, and flagged wins, from each topic's part in the estimate.

    ``parts`` have the estimate as their mean, ``standard`` are the same in standard deviations; ``more`` gives
    further figures of a topic by its place.
    """
    candidate, baseline = comparison.aligned.candidate, comparison.aligned.baseline
    differences, n = comparison.differences, comparison.n
    critical = critical_value(n, level=comparison.gate.level) if n > 1 else math.inf
    lost = differences < -ROUNDING_ERROR
    total_loss = math.fsum(np.minimum(parts[lost], 0.0))
    losses = np.flatnonzero(lost)
    losses = losses[np.argsort(np.round(parts[losses], 12), kind="stable")]
    flagged_wins = np.flatnonzero((differences > ROUNDING_ERROR) & (standard > critical))
    flagged_wins = flagged_wins[np.argsort(-parts[flagged_wins], kind="stable")]

    def row(i: int) -> ResponsibleTopic:
        topic = candidate.topics[i]
        return ResponsibleTopic(
            topic=topic,
            query=candidate.queries.get(topic, baseline.queries.get(topic)),
            candidate=float(candidate.values[i]),
            baseline=float(baseline.values[i]),
            difference=float(differences[i]),
            contribution=float(parts[i] / n),
            share=float(min(parts[i], 0.0) / total_loss) + 0.0 if lost[i] and total_loss < 0 else None,
            standardised=float(standard[i]),
            flagged=bool(abs(standard[i]) > critical),
            flips_verdict=alone.failed and bool(alone.flips[i]),
            limit_without=float(alone.limits[i]) if math.isfinite(alone.limits[i]) else None,
            **more(i),
        )

    return tuple(map(row, losses.tolist())), tuple(map(row, flagged_wins.tolist()))


def explanation(comparison: Comparison, alone: LeftOut, *, parts: FloatArray, standard: FloatArray) -> Explanation:
    """Pivotal topics, groups and slices, from topics' parts in the estimate and these in standard deviations."""
    topics, n = comparison.aligned.candidate.topics, comparison.n
    tags = tagged(comparison.aligned)
    critical = critical_value(n, level=comparison.gate.level) if n > 1 else math.inf
    return Explanation(
        pivotal_topics=tuple(topics[i] for i in alone.pivots),
        groups=groups(comparison.differences, parts, topics, tags),
        slices=slices(comparison, tags, flagged=np.abs(standard) > critical),
    )


def standardised_parts(evidence: Evidence, alpha: float) -> FloatArray:
    """TR_i: each topic's part in standard deviations of the trade-off scores (SIGIR'14 Eq. 21)."""
    scores = evidence.scores(alpha)
    if evidence.n < 2 or not varies(scores):
        return np.zeros(evidence.n)
    return evidence.parts(alpha) / (standard_error(scores) * math.sqrt(evidence.n))


#: A tag with more values than this makes no groups: it is a text for each topic, such as a URL, a date or a note.
MAX_VALUES = 50
#: With fewer topics than this per value, on average, a tag names topics rather than kinds of topics.
TOPICS_PER_VALUE = 2
#: Fewer topics that changed the same way are not a group.
MIN_GROUP = 2


@dataclass(frozen=True, eq=False)
class Tagged:
    """The topics that carry one value of a tag, by their places in ascending order."""

    tag: str
    value: str
    places: npt.NDArray[np.intp]


def tagged(aligned: Aligned) -> tuple[Tagged, ...]:
    """By tag, then value; without empty values, tags that name topics rather than kinds, and tags of one value."""
    n = len(aligned.candidate.topics)
    columns: dict[str, dict[str, list[int]]] = {}
    for place, topic in enumerate(aligned.candidate.topics):
        for tag, value in aligned.tags.get(topic, {}).items():
            if value:
                columns.setdefault(tag, {}).setdefault(value, []).append(place)
    return tuple(
        Tagged(tag, value, np.array(places, dtype=np.intp))
        for tag, values in sorted(columns.items())
        if len(values) <= MAX_VALUES and TOPICS_PER_VALUE * len(values) <= sum(map(len, values.values()))
        for value, places in sorted(values.items())
        if len(places) < n
    )


def groups(differences: FloatArray, parts: FloatArray, topics: tuple[str, ...], tags: tuple[Tagged, ...]) -> Groups:
    """Topics of one tag that lost, and those that won, where there are at least two; the largest part first.

    ``parts`` (n_topics,) are each topic's part in the estimate, times the number of topics.
    """
    contributions = parts / parts.size
    all_groups = []
    for change, sign in _CHANGES:
        moved = sign * differences > ROUNDING_ERROR
        gains = np.maximum(sign * contributions, 0.0)
        total = math.fsum(gains[moved])
        for tagged_topics in tags:
            members = tagged_topics.places[moved[tagged_topics.places]]
            if members.size < MIN_GROUP:
                continue
            members = members[np.argsort(np.round(-sign * parts[members], 12), kind="stable")]
            all_groups.append(
                TopicGroup(
                    tag=tagged_topics.tag,
                    value=tagged_topics.value,
                    change=change,
                    topics=tuple(topics[int(i)] for i in members),
                    contribution=math.fsum(contributions[members]),
                    share=math.fsum(gains[members]) / total if total > 0 else None,
                    tagged=int(tagged_topics.places.size),
                )
            )
    all_groups.sort(key=lambda group: (-round(abs(group.contribution), 12), group.tag, group.value, group.change))
    return tuple(all_groups)


Groups = tuple[TopicGroup, ...]
_CHANGES: tuple[tuple[Literal["loss", "win"], float], ...] = (("loss", -1.0), ("win", 1.0))


def slices(comparison: Comparison, tags: tuple[Tagged, ...], *, flagged: BoolArray) -> tuple[Slice, ...]:
    """The gate's question about the topics of each value, as if there were no others; ``flagged`` by TR_i among all.

    What is tested is always a loss, whether the slice is significantly below ``-tolerance``, for ``not_inferior``
    too. A gate about single topics tests no mean, so its slices have estimates only.
    """
    ruling = Ruling(comparison.gate.as_kind(NotSignificantlyRisky), comparison.evidence)
    rows = [_slice(comparison, topics, ruling.only(topics.places), flagged) for topics in tags]
    p_values = {place: row.p_value for place, row in enumerate(rows) if row.p_value is not None}
    if p_values:
        for place, adjusted in zip(p_values, holm(list(p_values.values())).tolist(), strict=True):
            risky = adjusted <= 1 - comparison.gate.level
            rows[place] = replace(rows[place], adjusted_p_value=adjusted, risky=risky)
    return tuple(rows)


def _slice(comparison: Comparison, topics: Tagged, ruling: Ruling, flagged: BoolArray) -> Slice:
    aligned, places, evidence = comparison.aligned, topics.places, ruling.evidence
    candidate, baseline = aligned.candidate.values[places], aligned.baseline.values[places]
    changes = counts(candidate, baseline)
    lower = upper = p_value = None
    if ruling.enough_topics and not comparison.gate.by_topic:
        lower, upper, p_value = ruling.deciding.lower, ruling.deciding.upper, ruling.p_value
    return Slice(
        tag=topics.tag,
        value=topics.value,
        count=evidence.n,
        changed=evidence.changed(ruling.alpha),
        wins=changes.wins,
        losses=changes.losses,
        candidate_mean=evidence.mean(candidate),
        baseline_mean=evidence.mean(baseline),
        mean_difference=evidence.mean(evidence.differences),
        urisk=evidence.estimate(ruling.alpha),
        lower=lower,
        upper=upper,
        p_value=p_value,
        adjusted_p_value=None,
        risky=None,
        flagged=tuple(aligned.candidate.topics[int(i)] for i in places if flagged[i]),
    )
